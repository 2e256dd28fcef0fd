// Holds laws §4.6.
import { describe, expect, test } from 'vitest'
import { joinDeltas } from '../../../src/actors/session/run/step/joined-deltas.js'
import type { StreamPart } from '../../../src/ports/provider-adapter.js'

const text = (delta: string): StreamPart => ({ type: 'text', delta })

/** Deltas and the end of the turn, which the test decides. */
function joined(fault?: Error) {
  const passed: StreamPart[] = []
  const faults: unknown[] = []
  let endTurn = () => {}
  const deltas = joinDeltas(
    (part) => {
      if (fault !== undefined && passed.length > 0) throw fault
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
  test('stay as they are while they are few, behind the first, which passes as it comes', () => {
    const { push, passed, endTurn } = joined()
    for (const piece of ['a', 'b', 'c', 'd']) push(text(piece))
    expect(passed).toEqual([text('a')])
    endTurn()
    expect(passed).toEqual(['a', 'b', 'c', 'd'].map(text))
  })

  test('are joined behind the first when they are many', () => {
    const { push, passed, endTurn } = joined()
    for (let piece = 0; piece < 10_000; piece++) push(text('x'))
    expect(passed).toEqual([text('x')])
    endTurn()
    expect(passed).toEqual([text('x'), text('x'.repeat(9999))])
    push(text('y'))
    expect(passed.at(-1)).toEqual(text('y'))
  })

  test('keep their order among themselves and among other parts', () => {
    const { push, passed, flush } = joined()
    push(text('x'))
    for (const piece of ['a', 'b', 'c', 'd']) push(text(piece))
    push({ type: 'reasoning', id: 'r', delta: 'c' })
    push({ type: 'reasoning', id: 's', delta: 'd' })
    push({ type: 'tool-input', callId: '1', delta: 'e' })
    push({ type: 'tool-input', callId: '1', delta: 'f' })
    push({ type: 'tool-call', callId: '1', tool: 't', input: 'ef' })
    push(text('g'))
    flush()
    expect(passed.slice(1)).toEqual([
      text('abcd'),
      { type: 'reasoning', id: 'r', delta: 'c' },
      { type: 'reasoning', id: 's', delta: 'd' },
      { type: 'tool-input', callId: '1', delta: 'e' },
      { type: 'tool-input', callId: '1', delta: 'f' },
      { type: 'tool-call', callId: '1', tool: 't', input: 'ef' },
      text('g'),
    ])
  })

  test('are not joined beyond a length', () => {
    const { push, passed } = joined()
    push(text('x'))
    for (let piece = 0; piece < 3; piece++) push(text('y'.repeat(10_000)))
    expect(passed.slice(1)).toEqual([text('y'.repeat(10_000)), text('y'.repeat(10_000))])
  })

  test('that cannot be passed at the end of the turn are told', () => {
    const { push, faults, endTurn } = joined(new Error('too long'))
    push(text('x'))
    push(text('y'))
    endTurn()
    expect(faults).toEqual([new Error('too long')])
  })
})
