import { expect, test } from 'vitest'
import { payloadOf, shapeOf } from '../../../src/actors/inspector/shape.js'
import { SvcError } from '../../../src/protocol/errors.js'

test('tells keys, types and lengths', () => {
  const event = { type: 'told', runId: 'run_12', parts: [1, 2], nested: { count: 3, flag: true, none: null, gone: undefined } }
  expect(shapeOf(event, 'type')).toBe(
    '{runId: string(6), parts: array(2), nested: {count: number, flag: boolean, none: null, gone: undefined}}',
  )
  expect([shapeOf('secret'), shapeOf(null), shapeOf(new Error('secret')), shapeOf(new Uint8Array(3)), shapeOf(new Map())]).toEqual([
    'string(6)',
    'null',
    'error',
    'bytes(3)',
    'object',
  ])
})

test('hides keys that may be data, and runs nobody’s getters', () => {
  const value = Object.defineProperty({ 'sk-1234': 1, 'a key with words': 2, snake_case: 3 }, 'trap', {
    enumerable: true,
    get() {
      throw new Error('run')
    },
  })
  expect(shapeOf(value)).toBe('{key(7): number, key(16): number, key(10): number, trap: computed}')
})

test('survives whatever it is given, in bounded length', () => {
  const round: Record<string, unknown> = {}
  round['self'] = round
  const broken = new Proxy(
    {},
    {
      ownKeys() {
        throw new Error('no')
      },
    },
  )
  expect(shapeOf(round)).toBe('{self: {self: {1}}}')
  expect(shapeOf(broken)).toBe('unreadable')
  const wide = Object.fromEntries(
    Array.from({ length: 500 }, (_, index) => [`k${'x'.repeat(20)}${String.fromCharCode(97 + (index % 26))}`, round]),
  )
  expect(shapeOf({ wide, other: wide }).length).toBeLessThan(2500)
})

test('no text of a value is ever part of a shape', () => {
  const random = seeded(7)
  for (let round = 0; round < 2000; round++) {
    const secrets: string[] = []
    const told = shapeOf(payload(random, secrets, 4), 'type')
    for (const secret of secrets) expect(told).not.toContain(secret)
  }
})

test('a payload is JSON, cut, without what JSON cannot say', () => {
  expect(payloadOf({ text: 'hello', big: 12n, bytes: new Uint8Array(2), made: new Map() }, 100)).toBe(
    '{"text":"hello","big":"12","bytes":"bytes(2)","made":"object"}',
  )
  expect(payloadOf({ error: new SvcError('plugin.failed', 'it broke') }, 100)).toBe('{"error":{"error":"it broke","code":"plugin.failed"}}')
  expect(payloadOf({ text: 'x'.repeat(50) }, 10)).toBe('{"text":"x…')
  const round: Record<string, unknown> = {}
  round['self'] = round
  expect(payloadOf(round, 10)).toBe('unreadable')
})

/** A value of any JSON kind; texts in it, and keys that are data, are noted. */
function payload(random: () => number, secrets: string[], depth: number): unknown {
  const secret = () => {
    const made = `S${Math.floor(random() * 1e12).toString(36)}-${Math.floor(random() * 1e9)}`
    secrets.push(made)
    return made
  }
  const kind = Math.floor(random() * (depth === 0 ? 4 : 7))
  if (kind === 0) return secret()
  if (kind === 1) return random()
  if (kind === 2) return new Error(secret())
  if (kind === 3) return new TextEncoder().encode(secret())
  const size = Math.floor(random() * 5)
  if (kind === 4) return Array.from({ length: size }, () => payload(random, secrets, depth - 1))
  const key = kind === 5 ? secret : () => 'abcdefgh'.slice(0, 1 + Math.floor(random() * 8))
  return Object.fromEntries(Array.from({ length: size }, () => [key(), payload(random, secrets, depth - 1)]))
}

function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}
