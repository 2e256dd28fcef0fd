// Holds plugin-protocol §4.9.
import { describe, expect, test } from 'vitest'
import { newStream, stepStream, type StreamInput, type StreamState } from '../../../src/machines/plugin/plugin-stream.js'

const frame = (kind: 'open' | 'item' | 'end' | 'error', rest: { requestId?: number | undefined; bytes?: number; error?: string } = {}) =>
  ({ type: 'frame', kind, requestId: 5, ...rest }) satisfies StreamInput
const fresh = newStream(5)
const opened: StreamState = { phase: 'opened', requestId: 5, bytes: 0, queued: 0 }
const violation = (reason: string) => ({ type: 'failed', reason, cancel: true })

describe('a stream of a plugin', () => {
  test.each<[string, StreamState, StreamInput, object, StreamState['phase']]>([
    ['opens', fresh, frame('open'), { type: 'opened' }, 'opened'],
    ['fails when it is opened twice', opened, frame('open'), violation('opened more than once'), 'closed'],
    ['fails on an item before it is open', fresh, frame('item', { bytes: 1 }), violation('item before open'), 'closed'],
    ['queues an item', opened, frame('item', { bytes: 1 }), { type: 'queued' }, 'opened'],
    ['queues an item of exactly 262,144 bytes', opened, frame('item', { bytes: 262_144 }), { type: 'queued' }, 'opened'],
    ['fails on a larger item', opened, frame('item', { bytes: 262_145 }), violation('byte budget exceeded'), 'closed'],
    ['takes 16 MiB in all', { ...opened, bytes: 16_777_206 }, frame('item', { bytes: 10 }), { type: 'queued' }, 'opened'],
    ['fails beyond 16 MiB', { ...opened, bytes: 16_777_206 }, frame('item', { bytes: 11 }), violation('byte budget exceeded'), 'closed'],
    ['queues the 64th item', { ...opened, queued: 63 }, frame('item', { bytes: 1 }), { type: 'queued' }, 'opened'],
    ['fails on the 65th', { ...opened, queued: 64 }, frame('item', { bytes: 1 }), violation('backpressure limit exceeded'), 'closed'],
    ['fails when it ends before it is open', fresh, frame('end'), violation('ended before open'), 'closed'],
    ['ends', opened, frame('end'), { type: 'ended' }, 'closed'],
    ['ends with the error of the plugin', opened, frame('error', { error: 'no' }), { type: 'errored', reason: 'no' }, 'closed'],
    ['takes an error before it is open', fresh, frame('error', { error: 'no' }), { type: 'errored', reason: 'no' }, 'closed'],
    ['fails on another request id', opened, frame('item', { requestId: 6 }), violation('request id mismatch'), 'closed'],
    ['fails without a request id', fresh, frame('open', { requestId: undefined }), violation('request id mismatch'), 'closed'],
    ['is cancelled when its consumer leaves', opened, { type: 'dropped' }, { type: 'cancelled' }, 'closed'],
    [
      'fails when the host gives it up',
      opened,
      { type: 'abandoned', reason: 'retired', tell: false },
      { type: 'failed', reason: 'retired', cancel: false },
      'closed',
    ],
  ])('%s', (_title, state, input, outcome, phase) => {
    const step = stepStream(state, input)
    expect(step.outcome).toEqual(outcome)
    expect(step.state.phase).toBe(phase)
  })

  test('ignores everything once it is closed', () => {
    const closed: StreamState = { ...opened, phase: 'closed' }
    for (const input of [
      frame('open'),
      frame('item'),
      frame('end'),
      frame('error'),
      frame('end', { requestId: 9 }),
      { type: 'dropped' } as const,
    ])
      expect(stepStream(closed, input)).toEqual({ state: closed, outcome: { type: 'ignored' } })
  })

  test('counts bytes and items, and makes room when the consumer takes one', () => {
    const one = stepStream(opened, frame('item', { bytes: 7 })).state
    expect(one).toEqual({ phase: 'opened', requestId: 5, bytes: 7, queued: 1 })
    expect(stepStream(one, { type: 'taken' }).state).toEqual({ phase: 'opened', requestId: 5, bytes: 7, queued: 0 })
  })
})
