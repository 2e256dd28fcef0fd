// Holds laws §4.6.
import { describe, expect, test } from 'vitest'
import { joinDeltas } from '../../../src/actors/session/run/step/joined-deltas.js'
import type { StreamPart } from '../../../src/ports/provider-adapter.js'

/** Of one turn, which pass as they come. */
const AT_ONCE = 4
const text = (delta: string): StreamPart => ({ type: 'text', delta })

/** Deltas and the end of the turn, which the test decides. */
function joined(fault?: Error) {
  const passed: StreamPart[] = []
  const faults: unknown[] = []
  let endTurn = () => {}
  const deltas = joinDeltas(
    (part) => {
      if (fault !== undefined && passed.length >= AT_ONCE) throw fault
      passed.push(part)
    },
    (error) => faults.push(error),
    ((run: () => void) => {
      endTurn = run
    }) as typeof setImmediate,
  )
  return { passed, faults, ...deltas, endTurn: () => endTurn() }
}

describe('deltas of one turn', () => {
  test('pass as they come while they are few', () => {
    const { push, passed } = joined()
    for (const piece of ['a', 'b', 'c']) push(text(piece))
    expect(passed).toEqual([text('a'), text('b'), text('c')])
  })

  test('are joined when they are many', () => {
    const { push, passed, endTurn } = joined()
    for (let piece = 0; piece < 10_000; piece++) push(text('x'))
    expect(passed).toHaveLength(AT_ONCE)
    endTurn()
    expect(passed.slice(AT_ONCE)).toEqual([text('x'.repeat(10_000 - AT_ONCE))])
    push(text('y'))
    expect(passed.at(-1)).toEqual(text('y'))
  })

  test('keep their order among themselves and among other parts', () => {
    const { push, passed, flush } = joined()
    for (let piece = 0; piece < AT_ONCE; piece++) push(text('x'))
    push(text('a'))
    push(text('b'))
    push({ type: 'reasoning', id: 'r', delta: 'c' })
    push({ type: 'reasoning', id: 's', delta: 'd' })
    push({ type: 'tool-input', callId: '1', delta: 'e' })
    push({ type: 'tool-input', callId: '1', delta: 'f' })
    push({ type: 'tool-call', callId: '1', tool: 't', input: 'ef' })
    push(text('g'))
    flush()
    expect(passed.slice(AT_ONCE)).toEqual([
      text('ab'),
      { type: 'reasoning', id: 'r', delta: 'c' },
      { type: 'reasoning', id: 's', delta: 'd' },
      { type: 'tool-input', callId: '1', delta: 'ef' },
      { type: 'tool-call', callId: '1', tool: 't', input: 'ef' },
      text('g'),
    ])
  })

  test('are not joined beyond a length', () => {
    const { push, passed } = joined()
    for (let piece = 0; piece < AT_ONCE; piece++) push(text('x'))
    for (let piece = 0; piece < 3; piece++) push(text('y'.repeat(10_000)))
    expect(passed.slice(AT_ONCE)).toEqual([text('y'.repeat(10_000)), text('y'.repeat(10_000))])
  })

  test('that cannot be passed at the end of the turn are told', () => {
    const { push, faults, endTurn } = joined(new Error('too long'))
    for (let piece = 0; piece < 33; piece++) push(text('x'))
    endTurn()
    expect(faults).toEqual([new Error('too long')])
  })
})
