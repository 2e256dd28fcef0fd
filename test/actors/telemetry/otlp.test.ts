import { createTraceState, SpanKind, SpanStatusCode } from '@opentelemetry/api'
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer'
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'
import { expect, test } from 'vitest'
import type { Attributes } from '../../../src/actors/telemetry/genai.js'
import { createOtlp } from '../../../src/actors/telemetry/otlp.js'
import { OwnContext, SpanRecord } from '../../../src/actors/telemetry/span-record.js'

type Drawn = ReadableSpan & SpanRecord

const SCOPE = { name: 'svc', version: '1.2.3' }
const RESOURCE = defaultResource().merge(resourceFromAttributes({ 'service.name': 'svc', team: 'Zürich', long: 'x'.repeat(300) }))
const TEXTS = ['', 'chat', 'x'.repeat(42), 'é'.repeat(42), 'x'.repeat(43), '😀'.repeat(50), '\ud800 half', 'a\u0000b', 'x'.repeat(127)]
const LONG = ['y'.repeat(128), 'z'.repeat(16_384), 'ü'.repeat(70_000), `${'x'.repeat(64 * 1024 - 1)}😀`]
const NUMBERS = [
  0,
  -0,
  1,
  127,
  128,
  16_384,
  2 ** 31,
  2 ** 32,
  2 ** 35 + 1,
  2 ** 53,
  2 ** 63,
  -1,
  -128,
  -(2 ** 32),
  -(2 ** 63),
  0.25,
  -1e300,
]
const NOT_WHOLE = [Number.NaN, Number.POSITIVE_INFINITY]

function drawer(seed: number) {
  let state = seed
  const below = (count: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * count)
  }
  const one = <T>(list: readonly T[]): T => list[below(list.length)] as T
  const id = (digits: number) => Array.from({ length: digits }, () => below(16).toString(16)).join('')
  const text = () => (below(60) === 0 ? one(LONG) : one(TEXTS))
  const value = () =>
    one([text, text, () => one(NUMBERS), () => one(NOT_WHOLE), () => below(2) === 0, () => Array.from({ length: below(4) }, text)])()
  const attributes = (prefix: string): Attributes =>
    Object.fromEntries(
      Array.from({ length: below(9) }, () => [`${below(4) === 0 ? 'both' : prefix}.${text().slice(0, 20)}${below(9)}`, value()]),
    )

  function span(): Drawn {
    const spans: Drawn[] = []
    const owner = { resource: RESOURCE, instrumentationScope: SCOPE, ended: (each: Drawn) => void spans.push(each) }
    const state = below(4) === 0 ? createTraceState('x=y,z=1') : undefined
    const remote = { traceId: id(32), spanId: id(16), traceFlags: below(2), isRemote: below(2) === 0 }
    const parent = one([undefined, remote, new OwnContext(id(32), id(16), true, state)])
    const from = one([0, 1_700_000_000_123, 1_700_000_000_200.5, 4_294_967_296_000.001, 17_000_000_000_000 + below(1e9)])
    const context = new OwnContext(id(32), id(16), true, state)
    const begun = new SpanRecord(
      owner,
      { name: text(), attributes: attributes('given') },
      one([SpanKind.CLIENT, SpanKind.INTERNAL]),
      from,
      context,
      parent,
    )
    begun.end(from + below(100_000) - 10, attributes('more'), below(2) === 0)
    return spans[0] as Drawn
  }

  return { below, span }
}

const official = (spans: ReadableSpan[]) => Buffer.from(ProtobufTraceSerializer.serializeRequest(spans) ?? []).toString('hex')

test('what is written of spans is byte by byte what the official serializer writes of them, whatever they hold', () => {
  const { below, span } = drawer(7)
  const write = createOtlp(RESOURCE, SCOPE)
  for (let n = 0; n < 60; n++) {
    const spans = Array.from({ length: 1 + below(6) }, span)
    expect(Buffer.from(write(spans)).toString('hex') === official(spans), `batch ${n}`).toBe(true)
  }
})

test('every other field of a span is seen by that comparison', () => {
  const { span } = drawer(3)
  const write = createOtlp(RESOURCE, SCOPE)
  const first = Object.assign(span(), { more: { said: 'a', list: ['b'] } })
  const changes: Partial<Record<keyof SpanRecord, unknown>>[] = [
    { context: new OwnContext(first.context.traceId, '1'.repeat(16), true, undefined) },
    { parent: new OwnContext(first.context.traceId, '2'.repeat(16), true, undefined) },
    { parent: { traceId: first.context.traceId, spanId: '2'.repeat(16), traceFlags: 1, isRemote: true } },
    { name: 'another' },
    { kind: SpanKind.SERVER },
    { from: first.from - 1 },
    { to: first.to + 1 },
    { given: { another: 1 } },
    { more: { said: 'a', list: ['c'] } },
    { code: first.code === SpanStatusCode.ERROR ? SpanStatusCode.UNSET : SpanStatusCode.ERROR },
  ]
  const told = changes.map((change) => {
    const changed = Object.assign(Object.create(first) as Drawn, change)
    return [official([changed]), Buffer.from(write([changed])).toString('hex')]
  })
  expect(told.every(([wanted, written]) => wanted === written)).toBe(true)
  expect(new Set([official([first]), ...told.map(([wanted]) => wanted)]).size).toBe(changes.length + 1)
})

test('what it has answered stays as it is when more is written', () => {
  const { span } = drawer(5)
  const write = createOtlp(RESOURCE, SCOPE)
  const one = [span()]
  const bytes = write(one)
  const before = Buffer.from(bytes).toString('hex')
  write(Array.from({ length: 50 }, span))
  expect(Buffer.from(bytes).toString('hex')).toBe(before)
})
