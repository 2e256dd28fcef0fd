/**
 * The host's side of the conversation with one plugin process, over any pair of byte streams (plugin-protocol §4).
 *
 * I1 Frames are taken strictly in the order they arrive; what they mean follows from their keys: `stream`, else `method`, else `id`.
 * I2 Everything is bounded: waiting calls, streams, reverse requests, log lines, bytes the child has not read.
 * I3 What comes late, from somebody else or as nonsense is dropped and counted, and never has an effect.
 * I4 The first failure is told once, by `onFailure`; from then on nothing is sent and nothing is taken.
 * I5 After `retire` no stream, no new call and no request of the plugin has an effect; replies to earlier calls still count.
 */
import { createActor, type EventFrom } from 'xstate'
import { linkMachine } from '../../../machines/plugin/link.machine.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { PluginOwner } from '../../../protocol/plugin/plugin-frame.js'
import type { ChildPipe, Clock, Log } from '../../../ports/effects.js'
import { createDroppedFrames, type DroppedFrames } from './dropped-frames.js'
import type { OnCall } from '../calls/call-log.js'
import { createFrameReader } from './frame-reader.js'
import { writeFrame } from './frame-text.js'
import type { FrameTraffic, InstanceProblem, ReverseRequest } from '../generation/instance.js'
import { answerMalformed, type Receivers, takeFrame } from './incoming.js'
import { openStream, type OpenedStream, type StreamIds } from './open-stream.js'
import { type CallOptions, createPendingCalls } from './pending-calls.js'
import { createProgress } from './progress.js'
import { createReverseRequests, RETIRED } from './reverse-requests.js'
import { createStreams } from './streams.js'

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
  /** Hears of every call of the host. */
  onCall?: OnCall | undefined
  /** A request was sent, a reply of any kind has come: for watching from outside. */
  onSent?(id: number): void
  onReply?(id: number): void
}

export function createLink(options: LinkOptions): Link {
  const { clock, pipe } = options
  const { pluginId } = options.owner
  const life = createActor(linkMachine, { id: `link:${options.owner.instanceId}`, clock }).start()
  const is = (tag: 'open' | 'retired' | 'closed'): boolean => life.getSnapshot().hasTag(tag)
  /** Where it is closed nothing is told any more. */
  const tell = (event: EventFrom<typeof linkMachine>): void => {
    if (!is('closed')) life.send(event)
  }
  const traffic = { framesIn: 0, framesOut: 0, bytesIn: 0, bytesOut: 0 }

  const dropped = createDroppedFrames({ clock, onProblem: options.onProblem, onFlood: (reason) => tell({ type: 'broken', reason }) })
  /** Throws for a frame that cannot be sent; false when the child does not take it, which ends an open link. */
  const send = (frame: object): boolean => {
    const line = writeFrame(frame)
    if (is('closed')) return false
    if (pipe.write(line)) {
      traffic.framesOut++
      traffic.bytesOut += Buffer.byteLength(line)
      return true
    }
    const reason = `The plugin does not read its input: more than ${LIMITS.plugins.inputBacklog} bytes wait, or it has closed it.`
    if (is('open')) tell({ type: 'broken', reason })
    return false
  }
  const request = (frame: object): void => {
    if (is('retired')) throw new SvcError('plugin.generation_closed', RETIRED, { pluginId })
    if (!send(frame)) throw new SvcError('plugin.failed', EXITED, { pluginId })
  }
  const receivers = receiversOf(options, dropped, { send, request, isRetired: () => is('retired') })
  const { calls, streams, reverse } = receivers
  const reader = createFrameReader({
    onFrame(frame) {
      traffic.framesIn++
      return { full: !is('closed') && takeFrame(receivers, frame) }
    },
    onMalformed(problem, envelope) {
      dropped.drop('malformed-frame', `A line of the plugin's output ${problem}.`)
      if (envelope !== undefined && !is('closed')) answerMalformed(receivers, problem, envelope)
    },
    onOversized: () =>
      dropped.drop('oversized-frame', `A line of the plugin's output has more than ${LIMITS.plugins.frameBytes} bytes and was dropped.`),
    pause: () => pipe.pause(),
    resume: () => pipe.resume(),
  })

  life.on('closed', ({ reason }) => {
    reader.stop()
    reverse.retire()
    calls.failAll(reason)
    streams.failAll(new SvcError('plugin.failed', reason, { pluginId }))
  })
  life.on('failed', ({ reason }) => options.onFailure(reason))
  life.on('retired', () => {
    streams.failAll(new SvcError('plugin.generation_closed', RETIRED, { pluginId }))
    reverse.retire()
    send({ method: 'shutdown', params: {} })
    pipe.closeInput()
  })

  return {
    call: calls.call,
    notify(method, params) {
      try {
        return is('open') && send({ method, params })
      } catch {
        return false
      }
    },
    openStream: (method, params, signal) => openStream({ calls, streams }, { method, params, signal }),
    receive(chunk) {
      traffic.bytesIn += chunk.byteLength
      reader.push(chunk)
    },
    async ended() {
      await reader.end()
      tell({ type: 'output.ended', reason: EXITED })
    },
    fail: (reason) => tell({ type: 'broken', reason }),
    retire: () => tell({ type: 'retire.requested' }),
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

interface Sending {
  /** Throws for a frame that cannot be written; false when it cannot be sent. */
  send(frame: object): boolean
  /** Throws when it cannot be sent. */
  request(frame: object): void
  isRetired(): boolean
}

function receiversOf(options: LinkOptions, dropped: DroppedFrames, { send, request, isRetired }: Sending): Receivers {
  const { clock, log, owner } = options
  const { pluginId } = owner
  const calls = createPendingCalls({
    clock,
    pluginId,
    timeoutMs: options.callTimeoutMs,
    send: request,
    tell: send,
    ...(options.onSent === undefined ? {} : { onSent: options.onSent }),
    onCall: options.onCall,
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
  const progress = createProgress({ clock, owner, calls, dropped, isRetired })
  const onReply = options.onReply && ((id: number) => options.onReply?.(id))
  return { owner, calls, streams, reverse, dropped, progress, isRetired, send, onReply }
}
