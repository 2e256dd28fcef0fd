/**
 * The side of the sandbox that talks to the host: reads frames at once, hands calls to the thread of the script one at a time,
 * and ends the process when the script cannot be ended (plugin-protocol §6.1, §6.6; threat-model L2).
 *
 * I1 Every call with an id gets one reply, unless the process ends first.
 * I2 At most `queue` calls wait, at most `heapBytes` of them, and none starts while the output of earlier ones has not left.
 * I3 A call that is told to stop has ended one grace later, or the process ends.
 */
import { LIMITS } from '../../protocol/limits.js'
import { errorFrame, fieldsOf, fitsFrame, ownerOf, parseFrame, PROTOCOL, resultFrame, type Inbound } from './frames.js'
import { methodOf } from './methods.js'
import type { Pacer } from './pacer.js'
import { STOP, type Stop } from './signals.js'
import type { Streams } from './streams.js'
import type { AnswerMessage, CallMessage, CallResult } from './thread-messages.js'

type Call = Extract<Inbound, { type: 'call' }>

export interface ConductorDeps {
  readonly pluginId: string
  /** How long a callback may last, ms. */
  readonly callback: number
  readonly streams: Streams
  readonly pacer: Pick<Pacer, 'waiting'>
  write(frame: string): void
  post(call: CallMessage): void
  answer(answer: AnswerMessage): void
  stop(stop: Stop): void
  /** Calls back after so many milliseconds, unless it is called off. */
  after(ms: number, act: () => void): () => void
  /** Whether the output takes more. */
  flowing(): boolean
  /** Ends the process once what was written has left; a reason means failure. */
  leave(reason?: string): void
}

export interface Conductor {
  receive(line: string): void
  /** The thread of the script waits for its first call. */
  ready(): void
  /** The script waits for the answer to this request. */
  asked(id: number): void
  done(result: CallResult, fatal?: string): void
  /** The thread of the script has ended by itself. */
  broken(reason: string): void
  /** Something may start that could not before. */
  proceed(): void
  /** JSON of the owner of the instance. */
  owner(): string
}

const { load, watchdogGrace, queue: most, heapBytes } = LIMITS.lua

interface Running {
  readonly call: Call
  readonly cancelled: boolean
  disarm(): void
}

/** One script: its calls, and how far it has come. */
interface Conducting {
  readonly deps: ConductorDeps
  queue: Call[]
  /** Characters of what waits. */
  queued: number
  running: Running | undefined
  /** The request whose answer the script waits for. */
  asked: number | undefined
  ready: boolean
  state: 'new' | 'loaded' | 'left'
  owner: string
}

export function createConductor(deps: ConductorDeps): Conductor {
  const conducting: Conducting = {
    deps,
    queue: [],
    queued: 0,
    running: undefined,
    asked: undefined,
    ready: false,
    state: 'new',
    owner: '{}',
  }
  return {
    receive: (line) => receive(conducting, line),
    ready() {
      conducting.ready = true
      proceed(conducting)
    },
    asked(id) {
      conducting.asked = id
    },
    done: (result, fatal) => done(conducting, result, fatal),
    broken(reason) {
      if (conducting.running !== undefined) refuse(deps, conducting.running.call, reason)
      end(conducting, reason)
    },
    proceed: () => proceed(conducting),
    owner: () => conducting.owner,
  }
}

function receive(conducting: Conducting, line: string): void {
  const frame = conducting.state === 'left' ? undefined : parseFrame(line)
  if (frame === undefined) return
  if (frame.type === 'call') return take(conducting, frame)
  if (frame.id !== conducting.asked) return
  conducting.asked = undefined
  conducting.deps.answer({ id: frame.id, line: frame.line })
}

function done(conducting: Conducting, result: CallResult, fatal: string | undefined): void {
  if (conducting.running === undefined) return
  const { call, cancelled, disarm } = conducting.running
  disarm()
  conducting.running = undefined
  conducting.asked = undefined
  // It may have ended just before it was told to.
  finish(conducting.deps, call, cancelled && result.type === 'items' ? { type: 'error', error: 'callback cancelled' } : result)
  if (fatal !== undefined) return end(conducting, fatal)
  if (call.method === 'initialize' && result.type === 'error') return end(conducting, `the entrypoint failed: ${result.error}`)
  proceed(conducting)
}

function reply({ write }: ConductorDeps, { id }: Call, result: CallResult): void {
  if (id === undefined) return
  const frame = result.type === 'error' ? errorFrame(id, result.error) : resultFrame(id, result.type === 'result' ? result.json : '{}')
  write(fitsFrame(frame) ? frame : errorFrame(id, `the result takes more than the ${LIMITS.plugins.frameBytes} bytes of a frame`))
}

function refuse(deps: ConductorDeps, call: Call, error: string): void {
  reply(deps, call, { type: 'error', error })
  if (call.method === 'route.websocket.message') deps.streams.send(streamOf(call), { type: 'error', error }, true)
}

function end(conducting: Conducting, reason?: string): void {
  if (conducting.state === 'left') return
  conducting.state = 'left'
  conducting.running?.disarm()
  conducting.running = undefined
  conducting.queue = []
  conducting.deps.leave(reason)
}

/** Tells the running call to stop, and ends the process when it does not. */
function halt(conducting: Conducting, why: Stop, sentence: string): void {
  const { deps, running } = conducting
  if (running === undefined) return
  const { call } = running
  running.disarm()
  deps.stop(why)
  const disarm = deps.after(watchdogGrace, () => {
    const error = `${sentence} and could not be stopped`
    refuse(deps, call, error)
    end(conducting, error)
  })
  conducting.running = { call, disarm, cancelled: why === STOP.cancelled }
}

function proceed(conducting: Conducting): void {
  const { deps } = conducting
  while (
    conducting.ready &&
    conducting.running === undefined &&
    conducting.state !== 'left' &&
    deps.flowing() &&
    deps.pacer.waiting <= LIMITS.plugins.streamBytes
  ) {
    const call = conducting.queue.shift()
    if (call === undefined) return
    conducting.queued -= call.line.length
    const objection = objectionTo(conducting, call)
    if (objection !== undefined) refuse(deps, call, objection)
    else start(conducting, call)
  }
}

function objectionTo({ deps, state }: Conducting, { method, params }: Call): string | undefined {
  const { pluginId, streams } = deps
  if (method === 'initialize') {
    if (state !== 'new') return 'the plugin is already initialized'
    if (params['protocol'] !== PROTOCOL) return `the protocol must be ${PROTOCOL}`
    return params['pluginId'] === pluginId ? undefined : `the package is ${pluginId}, not the plugin that is asked for`
  }
  if (methodOf(method) === undefined) return `unknown method "${method}"`
  if (state === 'new') return 'the plugin is not initialized'
  return method === 'route.websocket.message' && streams.routeOf(String(params['streamId'])) === undefined ? 'unknown stream' : undefined
}

function start(conducting: Conducting, call: Call): void {
  const { callback, streams, post, stop, after } = conducting.deps
  const first = call.method === 'initialize'
  if (first) {
    conducting.state = 'loaded'
    conducting.owner = ownerOf(call.params)
  }
  const budget = first ? load : callback
  stop(STOP.none)
  conducting.running = {
    call,
    cancelled: false,
    disarm: after(budget, () => halt(conducting, STOP.outOfTime, `the ${first ? 'entrypoint' : 'callback'} took longer than ${budget} ms`)),
  }
  const routeId = call.method === 'route.websocket.message' ? streams.routeOf(streamOf(call)) : undefined
  post({ line: call.line, ...(routeId === undefined ? {} : { routeId }) })
}

function finish(deps: ConductorDeps, call: Call, result: CallResult): void {
  const { streams } = deps
  reply(deps, call, result)
  const { method, params } = call
  if (method === 'route.websocket.message') {
    const closes = fieldsOf(params['message'])['kind'] === 'close'
    return streams.send(streamOf(call), result, closes)
  }
  if (result.type !== 'items' || methodOf(method)?.streams === undefined) return
  const routeId = method === 'route.websocket.open' ? String(params['routeId']) : undefined
  streams.open({ streamId: streamOf(call), requestId: Number(params['requestId'] ?? params['request_id']) }, routeId, result)
}

/** Takes calls out of the queue, with an error to each. */
function cancelQueued(conducting: Conducting, isMeant: (call: Call) => boolean): void {
  const meant = conducting.queue.filter(isMeant)
  conducting.queue = conducting.queue.filter((call) => !isMeant(call))
  for (const call of meant) {
    conducting.queued -= call.line.length
    refuse(conducting.deps, call, 'callback cancelled')
  }
}

function cancel(conducting: Conducting, isMeant: (call: Call) => boolean): void {
  cancelQueued(conducting, isMeant)
  if (conducting.running !== undefined && isMeant(conducting.running.call)) halt(conducting, STOP.cancelled, 'the callback was cancelled')
}

function admit(conducting: Conducting, call: Call): void {
  const size = call.line.length
  if (conducting.queue.length >= most || conducting.queued + size > heapBytes)
    return refuse(conducting.deps, call, `more than ${most} calls are waiting for the script`)
  conducting.queue.push(call)
  conducting.queued += size
  proceed(conducting)
}

function take(conducting: Conducting, call: Call): void {
  const { streams, write, stop } = conducting.deps
  const { method, params, id } = call
  switch (method) {
    case '$/cancel':
      return cancel(conducting, (other) => other.id !== undefined && other.id === params['id'])
    case '$/cancelStream': {
      const streamId = streamOf(call)
      cancel(conducting, (other) => methodOf(other.method)?.streams !== undefined && streamOf(other) === streamId)
      return streams.forget(streamId)
    }
    case 'shutdown':
      if (id !== undefined) write(resultFrame(id, '{}'))
      stop(STOP.cancelled)
      return end(conducting)
    default:
      return admit(conducting, call)
  }
}

function streamOf({ params }: Call): string {
  const { streamId } = params
  return typeof streamId === 'string' ? streamId : ''
}
