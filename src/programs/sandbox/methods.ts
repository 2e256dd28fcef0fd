/** Every method of the host: which callback serves it, what that is given, and what becomes of its result (plugin-protocol §4.6, §6.2). */
import type { Json, Shape } from './values/json.js'

export interface Method {
  /** The kind of thing that is called, for error messages; `id` names the one meant in the params. */
  readonly kind: string
  readonly id?: 'tool' | 'hook' | 'serviceId' | 'routeId'
  /** Hands over this part of the params only. */
  readonly part?: 'request' | 'message'
  /** Where its result has lists. */
  readonly result?: Shape
  /** The result is a list of items for a stream. */
  readonly streams?: 'items' | 'messages'
  /** What was declared may lack this callback: then nothing happens. */
  readonly optional?: true
}

const service = (kind: string, result?: Shape): Method => ({ kind, id: 'serviceId', part: 'request', result })
const provider = (result?: Shape): Method => ({ kind: 'provider', id: 'serviceId', result })

const METHODS: Readonly<Record<string, Method>> = {
  event: { kind: 'event handler', optional: true },
  'tool.invoke': { kind: 'tool', id: 'tool' },
  'hook.invoke': { kind: 'hook', id: 'hook' },
  'agent.list': service('agent service', { agents: 'list' }),
  'command.list': service('command service', 'list'),
  'skill.list': service('skill service', 'list'),
  'systemContext.sections': service('system context service', 'list'),
  'prompt.render': service('prompt service'),
  'config.load': service('configuration service'),
  'provider.metadata': provider({ authEnv: 'list' }),
  'provider.auth': provider(),
  'provider.route': provider(),
  'provider.media': provider(),
  'provider.stream': { ...provider(), streams: 'items' },
  'route.handle': { kind: 'route', id: 'routeId', part: 'request' },
  'route.websocket.open': { kind: 'WebSocket route', id: 'routeId', part: 'request', streams: 'messages' },
  'route.websocket.message': { kind: 'WebSocket route', id: 'routeId', part: 'message', streams: 'messages', optional: true },
}

export function methodOf(name: string): Method | undefined {
  return Object.hasOwn(METHODS, name) ? METHODS[name] : undefined
}

/** Binary socket messages are lists of bytes, also when there are none. */
export function socketMessageShape(message: Json): Shape {
  const kind = typeof message === 'object' && message !== null && !Array.isArray(message) ? message['kind'] : undefined
  return kind === 'binary' || kind === 'ping' || kind === 'pong' ? { data: 'list' } : undefined
}
