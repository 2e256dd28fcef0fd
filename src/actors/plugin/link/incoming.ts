/** What a frame of a plugin means, by its keys: `stream`, else `method`, else `id` (plugin-protocol §4). */
import { isSameOwner, type PluginFrame, type PluginOwner } from '../../../protocol/plugin/plugin-frame.js'
import type { DroppedFrames } from './dropped-frames.js'
import type { Envelope } from './frame-envelope.js'
import type { PendingCalls } from './pending-calls.js'
import { type ProgressReceiver, TOOL_PROGRESS } from './progress.js'
import type { ReverseRequests } from './reverse-requests.js'
import type { Streams } from './streams.js'

/** What a frame can be for. */
export interface Receivers {
  readonly owner: PluginOwner
  readonly calls: PendingCalls
  readonly streams: Streams
  readonly reverse: ReverseRequests
  readonly dropped: DroppedFrames
  readonly progress: ProgressReceiver
  isRetired(): boolean
  /** Answers a request that could not be read. */
  send(frame: object): boolean
  onReply?: ((id: number) => void) | undefined
}

/** Whether a consumer has to run before the next frame is taken. */
export function takeFrame(to: Receivers, frame: PluginFrame): boolean {
  if (frame.stream !== undefined) return takePart(to, frame, frame.stream)
  if (frame.method !== undefined) takeRequest(to, frame, frame.method)
  else if (typeof frame.id === 'number') takeReply(to, frame, frame.id)
  else to.dropped.drop('malformed-frame', 'The plugin sent a frame that is no request, no reply and no part of a stream.')
  return false
}

function takePart({ owner, streams, dropped }: Receivers, frame: PluginFrame, stream: NonNullable<PluginFrame['stream']>): boolean {
  if (frame.owner === undefined || !isSameOwner(frame.owner, owner)) {
    dropped.drop('foreign-frame', 'The plugin sent a part of a stream in the name of another owner.')
    return false
  }
  const { known, full } = streams.receive(stream, frame.requestId ?? frame.request_id)
  if (known === 'over') dropped.drop('late-frame', 'The plugin sent a part of a stream that is over.')
  if (known === 'never') dropped.drop('foreign-frame', 'The plugin sent a part of a stream that does not exist.')
  return full
}

function takeRequest({ dropped, progress, reverse, isRetired }: Receivers, frame: PluginFrame, method: string): void {
  if (typeof frame.id !== 'number') return method === TOOL_PROGRESS ? progress.receive(frame) : undefined
  if (isRetired()) dropped.drop('late-frame', `The plugin sent the request ${method} after it was retired.`)
  reverse.receive({ id: frame.id, method, params: frame.params, owner: frame.owner })
}

function takeReply({ calls, dropped, onReply }: Receivers, frame: PluginFrame, id: number): void {
  onReply?.(id)
  const outcome = calls.settle({ id, result: frame.result, error: frame.error })
  if (outcome === 'late') dropped.drop('late-frame', `The plugin answered call ${id} after it was given up.`)
  if (outcome === 'unknown') dropped.drop('foreign-frame', `The plugin answered call ${id}, which does not wait for an answer.`)
}

/** A line that is no frame: whoever waits for it is told, on either side. */
export function answerMalformed({ send, calls }: Receivers, problem: string, { id, method }: Envelope): void {
  if (method !== undefined) send({ id, error: `the request ${problem}` })
  else calls.settle({ id, result: null, error: `The answer of the plugin ${problem}.` })
}
