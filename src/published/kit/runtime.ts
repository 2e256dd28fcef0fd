/**
 * A plugin at work: frames in, frames out (plugin-protocol §4, §11). Knows neither processes nor pipes.
 *
 * I1 Every request with an id gets one reply, also one that is not understood.
 * I2 Cancellations, `shutdown` and answers of the host act the moment they arrive, however much is under way.
 * I3 At most `LIMITS.plugins.pendingCalls` calls are under way; further ones are refused with an error.
 * I4 Events are handled one at a time, in order; at most `LIMITS.plugins.eventQueue` wait. A handler that answers no
 *    promise has heard of every event before the call that follows them.
 * I5 After the end every signal is aborted and nothing more is sent.
 */
import { LIMITS } from '../../protocol/limits.js'
import type { GenerationRequest, PluginEvent, RouteRequest } from '../../protocol/plugin/plugin-requests.js'
import { encodeFrame, errorText, errorTrace, isRecord, PROTOCOL, recordOf, TOOL_PROGRESS } from './frames.js'
import { createHost } from './host.js'
import type { Host } from './host-calls-types.js'
import type { AnyRecord, CallContext, Owner, PluginClient } from './host-types.js'
import { methodFor, providerOf } from './methods.js'
import { offerOf } from './offer.js'
import type { Plugin } from './plugin-types.js'
import { createReverseCalls, type ReverseCalls } from './reverse-calls.js'
import { createStreams, type Streams } from './streams.js'

export interface Wire {
  /** Takes one frame as a line without its end; resolves when the next one may come. */
  send(line: string): Promise<void>
  /** For people: standard error. */
  note(text: string): void
  readonly client?: PluginClient
  /** The plugin has ended; everything it had to say was given to `send`. */
  ended(): void
}

export interface PluginRuntime {
  /** One parsed frame of the host. Never throws. */
  accept(frame: unknown): void
  /** Ends the plugin, as `shutdown` does. Idempotent. */
  end(): void
  /** Resolves when no call and no event is under way. */
  settled(): Promise<void>
}

interface Outcome {
  readonly result: unknown
  /** What goes on after the reply. */
  readonly afterwards?: () => Promise<void>
}

/** A plugin, and what is under way in it. */
interface Working {
  readonly plugin: Plugin
  readonly wire: Wire
  /** Aborted when the plugin ends. */
  readonly life: AbortController
  readonly calls: Map<number, AbortController>
  readonly tasks: Set<Promise<void>>
  owner: Owner | undefined
  isReady: boolean
  readonly waitingEvents: AnyRecord[]
  isHandling: boolean
  readonly reverse: ReverseCalls
  readonly host: Host
  readonly streams: Streams
}

export function createRuntime(plugin: Plugin, wire: Wire): PluginRuntime {
  const reverse = createReverseCalls(
    () => working.owner,
    (line) => sendLine(working, line),
  )
  const working: Working = {
    plugin,
    wire,
    life: new AbortController(),
    calls: new Map(),
    tasks: new Set(),
    owner: undefined,
    isReady: false,
    waitingEvents: [],
    isHandling: false,
    reverse,
    host: createHost(reverse.request),
    streams: createStreams({ owner: () => working.owner, send: (frame) => send(working, frame), note: (text) => wire.note(text) }),
  }
  return {
    accept: (frame) => accept(working, frame),
    end: () => end(working),
    async settled() {
      while (working.tasks.size > 0) await Promise.all(working.tasks)
    },
  }
}

function accept(working: Working, frame: unknown): void {
  if (working.life.signal.aborted) return
  if (!isRecord(frame)) return working.wire.note('a line that is no frame was skipped')
  if (typeof frame['method'] !== 'string') return working.reverse.answered(frame)
  const { id, method } = frame
  const params = recordOf(frame['params'])
  const requestId = typeof id === 'number' ? id : undefined
  switch (method) {
    case '$/cancel':
      return working.calls.get(Number(params['id']))?.abort(new Error('the call was cancelled'))
    case '$/cancelStream':
      return working.streams.cancel(params)
    case 'shutdown':
      return track(working, shutdown(working, requestId))
    case 'event':
      return acceptEvent(working, params)
    case 'route.websocket.message':
      return track(working, acceptMessage(working, params, requestId))
    default:
      if (requestId !== undefined) track(working, answer(working, requestId, method, params))
  }
}

/** Ends once the reply has been taken. */
async function shutdown(working: Working, id: number | undefined): Promise<void> {
  if (id !== undefined) await send(working, { id, result: {} }).catch(() => undefined)
  end(working)
}

function end({ life, calls, streams, reverse, wire }: Working): void {
  if (life.signal.aborted) return
  life.abort(new Error('the plugin is shut down')) // I5
  for (const call of calls.values()) call.abort(life.signal.reason)
  streams.cancelAll()
  reverse.end('the plugin is shut down')
  wire.ended()
}

async function answer(working: Working, id: number, method: string, params: AnyRecord): Promise<void> {
  const { calls, wire, host } = working
  if (calls.size >= LIMITS.plugins.pendingCalls)
    return reply(working, id, { error: `more than ${LIMITS.plugins.pendingCalls} calls at once` }) // I3
  const controller = new AbortController()
  calls.set(id, controller)
  const progress = (metadata: AnyRecord) => {
    if (calls.get(id) === controller)
      void send(working, { method: TOOL_PROGRESS, params: { id, metadata }, owner: working.owner }).catch(() => undefined)
  }
  const outcome = await perform(working, { method, params, progress }, { host, signal: controller.signal }).catch((error: unknown) => {
    if (!controller.signal.aborted) wire.note(`${calledName(method, params)} failed: ${errorTrace(error)}`)
    return { error: errorText(error) }
  })
  calls.delete(id)
  if ('error' in outcome) return reply(working, id, { error: outcome.error })
  await reply(working, id, { result: outcome.result ?? null })
  if (outcome.afterwards !== undefined) void outcome.afterwards()
}

interface Asked {
  readonly method: string
  readonly params: AnyRecord
  readonly progress: (metadata: AnyRecord) => void
}

async function perform(working: Working, { method, params, progress }: Asked, context: CallContext): Promise<Outcome> {
  if (method === 'initialize') return { result: await initialize(working, params) }
  if (!working.isReady) throw new Error(`${method} came before initialize`)
  if (method === 'provider.stream') return openGeneration(working, params, context)
  if (method === 'route.websocket.open') return openSocket(working, params, context)
  const { plugin, wire } = working
  const perform = methodFor(method)
  if (perform === undefined) throw new Error(`unknown method ${method}`)
  return { result: await perform({ plugin, params, context, client: wire.client, progress }) }
}

async function initialize(working: Working, params: AnyRecord): Promise<AnyRecord> {
  if (working.owner !== undefined) throw new Error('initialize came twice')
  if (params['protocol'] !== PROTOCOL) throw new Error(`this plugin speaks ${PROTOCOL}, not ${String(params['protocol'])}`)
  working.owner = (params['owner'] ?? { pluginId: params['pluginId'], instanceId: params['instanceId'] }) as Owner
  const { plugin, wire, host, owner } = working
  const offer = offerOf(plugin)
  await plugin.initialize?.({
    ...owner,
    directory: String(params['directory']),
    config: params['config'] ?? {},
    host,
    ...(wire.client === undefined ? {} : { client: wire.client }),
  })
  working.isReady = true
  return offer
}

async function openGeneration(working: Working, params: AnyRecord, { signal: opening }: CallContext) {
  const stream = working.streams.open(params, opening)
  try {
    const provider = providerOf(working.plugin, params)
    const items = await provider.stream(params['request'] as GenerationRequest, { host: working.host, signal: stream.signal })
    return { result: {}, afterwards: () => stream.pump(items) }
  } catch (error) {
    stream.abandon()
    throw error
  }
}

async function openSocket(working: Working, params: AnyRecord, { signal: opening }: CallContext) {
  const stream = working.streams.open(params, opening)
  try {
    const route = working.plugin.websocketRoutes?.find(({ descriptor }) => descriptor.id === params['routeId'])
    if (route === undefined) throw new Error(`unknown route ${String(params['routeId'])}`)
    const session = await route.open(params['request'] as RouteRequest, { host: working.host, signal: stream.signal })
    stream.attach(session)
    stream.signal.throwIfAborted()
    return { result: {}, afterwards: () => stream.pump(session.outbound) }
  } catch (error) {
    stream.abandon()
    throw error
  }
}

async function acceptMessage(working: Working, params: AnyRecord, id: number | undefined): Promise<void> {
  try {
    await working.streams.message(params)
    if (id !== undefined) await reply(working, id, { result: {} })
  } catch (error) {
    if (id === undefined) working.wire.note(`a message for a socket failed: ${errorText(error)}`)
    else await reply(working, id, { error: errorText(error) })
  }
}

function acceptEvent(working: Working, params: AnyRecord): void {
  if (!working.isReady) return
  if (working.waitingEvents.length >= LIMITS.plugins.eventQueue)
    return working.wire.note(`the event ${String(params['type'])} was dropped: too many wait`) // I4
  working.waitingEvents.push(params)
  if (!working.isHandling) track(working, handleEvents(working))
}

/** Waits for promises alone, so that what needs none is done when this returns. */
async function handleEvents(working: Working): Promise<void> {
  working.isHandling = true
  for (let event = working.waitingEvents.shift(); event !== undefined; event = working.waitingEvents.shift()) {
    try {
      for (const handle of handlersOf(working, event)) {
        const handled = handle()
        if (isPromise(handled)) await handled
      }
    } catch (error) {
      working.wire.note(`the handler of ${String(event['type'])} failed: ${errorTrace(error)}`)
    }
  }
  working.isHandling = false
}

function handlersOf({ plugin, host, life }: Working, event: AnyRecord): readonly (() => unknown)[] {
  const context = { host, signal: life.signal }
  const { namespaces = [], handler } = plugin.events ?? {}
  const isWanted = namespaces.some((prefix) => String(event['type']).startsWith(prefix))
  return [
    () => (isWanted ? handler?.call(plugin.events, event as unknown as PluginEvent, context) : undefined),
    () => plugin.hooks?.['event']?.(event, null, context),
  ]
}

async function reply(working: Working, id: number, outcome: AnyRecord): Promise<void> {
  try {
    await send(working, { id, ...outcome })
  } catch (error) {
    await send(working, { id, error: errorText(error).slice(0, 1000) }).catch(() => undefined) // I1
  }
}

async function send(working: Working, frame: AnyRecord): Promise<void> {
  await sendLine(working, encodeFrame(frame))
}

async function sendLine({ life, wire }: Working, line: string): Promise<void> {
  if (!life.signal.aborted) await wire.send(line)
}

function track({ tasks }: Working, task: Promise<void>): void {
  tasks.add(task)
  void task.finally(() => tasks.delete(task))
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value
}

/** What was called, for the log: `tool.invoke hello`. */
function calledName(method: string, params: AnyRecord): string {
  const named = [params['tool'], params['hook'], params['routeId'], params['serviceId']].find((each) => typeof each === 'string')
  return typeof named === 'string' ? `${method} ${named}` : method
}
