/**
 * The host's side of the conversation with one plugin process, over any pair of byte streams (plugin-protocol §4).
 *
 * I1 Frames are taken strictly in the order they arrive; what they mean follows from their keys: `stream`, else `method`, else `id`.
 * I2 Everything is bounded: waiting calls, streams, reverse requests, log lines, bytes the child has not read.
 * I3 What comes late, from somebody else or as nonsense is dropped and counted, and never has an effect.
 * I4 The first failure is told once, by `onFailure`; from then on nothing is sent and nothing is taken.
 * I5 After `retire` no stream, no new call and no request of the plugin has an effect; replies to earlier calls still count.
 */
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import { isSameOwner, type PluginFrame, type PluginOwner } from '../../../protocol/plugin/plugin-frame.js'
import type { ChildPipe, Clock, Log } from '../../../ports/effects.js'
import { createDroppedFrames } from './dropped-frames.js'
import { createFrameReader } from './frame-reader.js'
import { writeFrame } from './frame-text.js'
import type { FrameTraffic, InstanceProblem, ReverseRequest } from '../generation/instance.js'
import { type CallOptions, createPendingCalls, reasonOf } from './pending-calls.js'
import { createReverseRequests, RETIRED } from './reverse-requests.js'
import { createStreams, type PluginStream } from './streams.js'

export const EXITED = 'plugin process exited'

export interface Link {
  /** Sends a request; see `PendingCalls.call`. */
  call(method: string, params: unknown, options?: CallOptions): Promise<unknown>
  /** Sends a notification; false when it cannot be sent. */
  notify(method: string, params: unknown): boolean
  /**
   * Allocates a stream and sends its opening call. `accepted` settles with the reply; a refusal fails the stream, too.
   * `signal` ends both. Throws when too many streams are live.
   */
  openStream(method: string, params: (ids: StreamIds) => unknown, signal?: AbortSignal): OpenedStream
  /** Bytes of the plugin's standard output. */
  receive(chunk: Uint8Array): void
  /** The output is over: what waits is handled, then every call and stream fails with `plugin process exited`. */
  ended(): Promise<void>
  /** Ends the link because a rule was broken: told by `onFailure`, and every call and stream fails with `reason`. */
  fail(reason: string): void
  /** Takes the link out of service (plugin-protocol §3.6 steps 1 and 3 to 5). Idempotent. */
  retire(): void
  /** Something the plugin sent is of the wrong shape, as whoever reads it found out. */
  complain(message: string): void
  readonly counters: LinkCounters
}

interface StreamIds {
  readonly streamId: string
  readonly requestId: number
}

interface OpenedStream {
  readonly stream: PluginStream
  readonly accepted: Promise<void>
}

interface LinkCounters extends FrameTraffic {
  readonly pending: number
  readonly streams: number
  readonly reverse: number
  readonly dropped: number
  /** Bytes the child has not read. */
  readonly waitingBytes: number
}

export interface LinkOptions {
  readonly clock: Clock
  readonly log: Log
  readonly owner: PluginOwner
  readonly callTimeoutMs: number
  readonly pipe: Pick<ChildPipe, 'write' | 'waiting' | 'closeInput' | 'pause' | 'resume'>
  /** Serves a request whose owner is right (plugin-protocol §4.8 steps 3 to 10). */
  serve(request: ReverseRequest): Promise<unknown>
  audit(method: string, outcome: 'allowed' | 'denied'): void
  onFailure(reason: string): void
  onProblem(problem: InstanceProblem): void
  /** A request was sent, a reply of any kind has come: for watching from outside. */
  onSent?(id: number): void
  onReply?(id: number): void
}

export function createLink(options: LinkOptions): Link {
  const { clock, log, owner, pipe } = options
  const { pluginId } = owner
  let state: 'open' | 'retired' | 'closed' = 'open'
  const isClosed = (): boolean => state === 'closed'
  const traffic = { framesIn: 0, framesOut: 0, bytesIn: 0, bytesOut: 0 }

  const dropped = createDroppedFrames({ clock, onProblem: options.onProblem, onFlood: (reason) => fail(reason) })
  /** Throws for a frame that cannot be sent; false when the child does not take it, which ends an open link. */
  const send = (frame: object): boolean => {
    const line = writeFrame(frame)
    if (isClosed()) return false
    if (pipe.write(line)) {
      traffic.framesOut++
      traffic.bytesOut += Buffer.byteLength(line)
      return true
    }
    if (state === 'open')
      fail(`The plugin does not read its input: more than ${LIMITS.plugins.inputBacklog} bytes wait, or it has closed it.`)
    return false
  }
  const request = (frame: object): void => {
    if (state === 'retired') throw new SvcError('plugin.generation_closed', RETIRED, { pluginId })
    if (!send(frame)) throw new SvcError('plugin.failed', EXITED, { pluginId })
  }
  const calls = createPendingCalls({
    clock,
    pluginId,
    timeoutMs: options.callTimeoutMs,
    send: request,
    tell: send,
    ...(options.onSent === undefined ? {} : { onSent: options.onSent }),
    onTimeout: (message) => options.onProblem({ code: 'timeout', message }),
  })
  const streams = createStreams({
    instanceId: owner.instanceId,
    pluginId,
    cancel: (ids) => send({ method: '$/cancelStream', params: { streamId: ids.streamId, requestId: ids.requestId } }),
    onViolation: (reason) => options.onProblem({ code: 'malformed-frame', message: `A stream of the plugin failed: ${reason}.` }),
  })
  const reverse = createReverseRequests({
    owner,
    log,
    reply: send,
    serve: options.serve,
    audit: options.audit,
    onRefused: (message) => options.onProblem({ code: 'refused', message }),
    onForeign: () => dropped.drop('foreign-frame', 'The plugin sent a request in the name of another owner.'),
  })

  const onFrame = (frame: PluginFrame): { full: boolean } => {
    traffic.framesIn++
    if (isClosed()) return { full: false }
    if (frame.stream !== undefined) return { full: onStream(frame, frame.stream) }
    if (frame.method !== undefined) onRequest(frame, frame.method)
    else if (typeof frame.id === 'number') onReply(frame, frame.id)
    else dropped.drop('malformed-frame', 'The plugin sent a frame that is no request, no reply and no part of a stream.')
    return { full: false }
  }
  const onStream = (frame: PluginFrame, stream: NonNullable<PluginFrame['stream']>): boolean => {
    if (frame.owner === undefined || !isSameOwner(frame.owner, owner)) {
      dropped.drop('foreign-frame', 'The plugin sent a part of a stream in the name of another owner.')
      return false
    }
    const { known, full } = streams.receive(stream, frame.requestId ?? frame.request_id)
    if (known === 'over') dropped.drop('late-frame', 'The plugin sent a part of a stream that is over.')
    if (known === 'never') dropped.drop('foreign-frame', 'The plugin sent a part of a stream that does not exist.')
    return full
  }
  const onRequest = (frame: PluginFrame, method: string): void => {
    if (typeof frame.id !== 'number') return
    if (state === 'retired') dropped.drop('late-frame', `The plugin sent the request ${method} after it was retired.`)
    reverse.receive({ id: frame.id, method, params: frame.params, owner: frame.owner })
  }
  const onReply = (frame: PluginFrame, id: number): void => {
    options.onReply?.(id)
    const outcome = calls.settle({ id, result: frame.result, error: frame.error })
    if (outcome === 'late') dropped.drop('late-frame', `The plugin answered call ${id} after it was given up.`)
    if (outcome === 'unknown') dropped.drop('foreign-frame', `The plugin answered call ${id}, which does not wait for an answer.`)
  }

  const reader = createFrameReader({
    onFrame,
    onMalformed(problem, envelope) {
      dropped.drop('malformed-frame', `A line of the plugin's output ${problem}.`)
      if (envelope === undefined || isClosed()) return
      // Whoever waits for it is told, on either side.
      if (envelope.method !== undefined) send({ id: envelope.id, error: `the request ${problem}` })
      else calls.settle({ id: envelope.id, result: null, error: `The answer of the plugin ${problem}.` })
    },
    onOversized: () =>
      dropped.drop('oversized-frame', `A line of the plugin's output has more than ${LIMITS.plugins.frameBytes} bytes and was dropped.`),
    pause: () => pipe.pause(),
    resume: () => pipe.resume(),
  })

  const close = (reason: string): void => {
    state = 'closed'
    reader.stop()
    reverse.retire()
    calls.failAll(reason)
    streams.failAll(new SvcError('plugin.failed', reason, { pluginId }))
  }
  const fail = (reason: string): void => {
    if (isClosed()) return
    const wasOpen = state === 'open'
    close(reason)
    if (wasOpen) options.onFailure(reason)
  }

  return {
    call: calls.call,
    notify(method, params) {
      try {
        return state === 'open' && send({ method, params })
      } catch {
        return false
      }
    },
    openStream(method, params, signal) {
      const abort = () => stream.fail(reasonOf(signal))
      const stream = streams.allocate(() => signal?.removeEventListener('abort', abort))
      signal?.addEventListener('abort', abort, { once: true })
      let wasSent = false
      const onSent = () => {
        wasSent = true
      }
      const open = async (): Promise<void> => {
        try {
          await calls.call(method, params({ streamId: stream.streamId, requestId: stream.requestId }), { signal, onSent })
        } catch (error) {
          const failure = error instanceof Error ? error : new Error(String(error))
          if (wasSent) stream.fail(failure)
          else stream.abandon(failure)
          throw error
        }
      }
      const accepted = open()
      accepted.catch(() => undefined)
      return { stream, accepted }
    },
    receive(chunk) {
      traffic.bytesIn += chunk.byteLength
      reader.push(chunk)
    },
    async ended() {
      await reader.end()
      if (!isClosed()) close(EXITED)
    },
    fail,
    retire() {
      if (state !== 'open') return
      state = 'retired'
      streams.failAll(new SvcError('plugin.generation_closed', RETIRED, { pluginId }))
      reverse.retire()
      send({ method: 'shutdown', params: {} })
      pipe.closeInput()
    },
    complain: (message) => options.onProblem({ code: 'malformed-frame', message }),
    get counters() {
      return {
        pending: calls.size,
        streams: streams.live,
        reverse: reverse.size,
        dropped: dropped.count,
        waitingBytes: pipe.waiting,
        ...traffic,
      }
    },
  }
}
