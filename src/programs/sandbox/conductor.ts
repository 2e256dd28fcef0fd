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

export function createConductor(deps: ConductorDeps): Conductor {
  const { pluginId, callback, streams, pacer, write, post, stop, after, flowing, leave } = deps
  let queue: Call[] = []
  let queued = 0
  let running: { readonly call: Call; readonly cancelled: boolean; disarm(): void } | undefined
  let asked: number | undefined
  let ready = false
  let state: 'new' | 'loaded' | 'left' = 'new'
  let owner = '{}'

  function reply({ id }: Call, result: CallResult): void {
    if (id === undefined) return
    const frame = result.type === 'error' ? errorFrame(id, result.error) : resultFrame(id, result.type === 'result' ? result.json : '{}')
    write(fitsFrame(frame) ? frame : errorFrame(id, `the result takes more than the ${LIMITS.plugins.frameBytes} bytes of a frame`))
  }

  function refuse(call: Call, error: string): void {
    reply(call, { type: 'error', error })
    if (call.method === 'route.websocket.message') streams.send(streamOf(call), { type: 'error', error }, true)
  }

  function end(reason?: string): void {
    if (state === 'left') return
    state = 'left'
    running?.disarm()
    running = undefined
    queue = []
    leave(reason)
  }

  /** Tells the running call to stop, and ends the process when it does not. */
  function halt(why: Stop, sentence: string): void {
    if (running === undefined) return
    const { call } = running
    running.disarm()
    stop(why)
    const disarm = after(watchdogGrace, () => {
      const error = `${sentence} and could not be stopped`
      refuse(call, error)
      end(error)
    })
    running = { call, disarm, cancelled: why === STOP.cancelled }
  }

  function proceed(): void {
    while (ready && running === undefined && state !== 'left' && flowing() && pacer.waiting <= LIMITS.plugins.streamBytes) {
      const call = queue.shift()
      if (call === undefined) return
      queued -= call.line.length
      const objection = objectionTo(call)
      if (objection !== undefined) refuse(call, objection)
      else start(call)
    }
  }

  function objectionTo({ method, params }: Call): string | undefined {
    if (method === 'initialize') {
      if (state !== 'new') return 'the plugin is already initialized'
      if (params['protocol'] !== PROTOCOL) return `the protocol must be ${PROTOCOL}`
      return params['pluginId'] === pluginId ? undefined : `the package is ${pluginId}, not the plugin that is asked for`
    }
    if (methodOf(method) === undefined) return `unknown method "${method}"`
    if (state === 'new') return 'the plugin is not initialized'
    return method === 'route.websocket.message' && streams.routeOf(String(params['streamId'])) === undefined ? 'unknown stream' : undefined
  }

  function start(call: Call): void {
    const first = call.method === 'initialize'
    if (first) {
      state = 'loaded'
      owner = ownerOf(call.params)
    }
    const budget = first ? load : callback
    stop(STOP.none)
    running = {
      call,
      cancelled: false,
      disarm: after(budget, () => halt(STOP.outOfTime, `the ${first ? 'entrypoint' : 'callback'} took longer than ${budget} ms`)),
    }
    const routeId = call.method === 'route.websocket.message' ? streams.routeOf(streamOf(call)) : undefined
    post({ line: call.line, ...(routeId === undefined ? {} : { routeId }) })
  }

  function finish(call: Call, result: CallResult): void {
    reply(call, result)
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
  function cancelQueued(isMeant: (call: Call) => boolean): void {
    const meant = queue.filter(isMeant)
    queue = queue.filter((call) => !isMeant(call))
    for (const call of meant) {
      queued -= call.line.length
      refuse(call, 'callback cancelled')
    }
  }

  function cancel(isMeant: (call: Call) => boolean): void {
    cancelQueued(isMeant)
    if (running !== undefined && isMeant(running.call)) halt(STOP.cancelled, 'the callback was cancelled')
  }

  function admit(call: Call): void {
    const size = call.line.length
    if (queue.length >= most || queued + size > heapBytes) return refuse(call, `more than ${most} calls are waiting for the script`)
    queue.push(call)
    queued += size
    proceed()
  }

  function take(call: Call): void {
    const { method, params, id } = call
    switch (method) {
      case '$/cancel':
        return cancel((other) => other.id !== undefined && other.id === params['id'])
      case '$/cancelStream': {
        const streamId = streamOf(call)
        cancel((other) => methodOf(other.method)?.streams !== undefined && streamOf(other) === streamId)
        return streams.forget(streamId)
      }
      case 'shutdown':
        if (id !== undefined) write(resultFrame(id, '{}'))
        stop(STOP.cancelled)
        return end()
      default:
        return admit(call)
    }
  }

  return {
    receive(line) {
      const frame = state === 'left' ? undefined : parseFrame(line)
      if (frame === undefined) return
      if (frame.type === 'call') return take(frame)
      if (frame.id !== asked) return
      asked = undefined
      deps.answer({ id: frame.id, line: frame.line })
    },
    ready() {
      ready = true
      proceed()
    },
    asked(id) {
      asked = id
    },
    done(result, fatal) {
      if (running === undefined) return
      const { call, cancelled, disarm } = running
      disarm()
      running = undefined
      asked = undefined
      // It may have ended just before it was told to.
      finish(call, cancelled && result.type === 'items' ? { type: 'error', error: 'callback cancelled' } : result)
      if (fatal !== undefined) return end(fatal)
      if (call.method === 'initialize' && result.type === 'error') return end(`the entrypoint failed: ${result.error}`)
      proceed()
    },
    broken(reason) {
      if (running !== undefined) refuse(running.call, reason)
      end(reason)
    },
    proceed,
    owner: () => owner,
  }
}

function streamOf({ params }: Call): string {
  const { streamId } = params
  return typeof streamId === 'string' ? streamId : ''
}
