/** The table an entrypoint returns: what it declares, and the callbacks behind it (plugin-protocol §6.2). */
import {
  LUA_TFUNCTION,
  LUA_TNIL,
  LUA_TNUMBER,
  LUA_TSTRING,
  LUA_TTABLE,
  lua_next,
  lua_pop,
  lua_pushnil,
  lua_tonumber,
  lua_toproxy,
  lua_tostring,
  lua_type,
  type LuaState,
} from 'fengari/src/lua.js'
import { LIMITS } from '../../../protocol/limits.js'
import { CONTRIBUTION_KINDS } from '../../../protocol/plugin/contribution-kinds.js'
import { readJson, roomOf, takeRoom, type Room } from '../values/from-lua.js'
import { isEmpty, isObject, schemaWithLists, withLists, type Json, type JsonObject, type Shape } from '../values/json.js'
import { PROTOCOL } from '../frames.js'
import { eachElement, functionField, pushField, stringField, withTable, type Push } from '../values/tables.js'
import { textOf } from '../values/text.js'
import type { ArrayMark } from '../values/values.js'

export interface Declaration {
  /** The reply to `initialize`. */
  readonly reply: JsonObject
  /** By `callbackKey`. */
  readonly callbacks: ReadonlyMap<string, Push>
}

/** Where the callback of a method for one declared thing is kept. */
export function callbackKey(method: string, id: string): string {
  return `${method} ${id}`
}

const SERVICES = [
  { group: 'agents', callback: 'list', method: 'agent.list' },
  { group: 'commands', callback: 'list', method: 'command.list' },
  { group: 'skills', callback: 'list', method: 'skill.list' },
  { group: 'systemContext', callback: 'sections', method: 'systemContext.sections' },
  { group: 'prompts', callback: 'render', method: 'prompt.render' },
  { group: 'config', callback: 'load', method: 'config.load' },
] as const
const PROVIDER_CALLBACKS = ['stream', 'metadata', 'auth', 'route', 'media'] as const
/** A callback of the table itself, and no declaration. What else names a kind is handed on by its name, so that the host tells that it takes none. */
const HEARD: ReadonlySet<string> = new Set(['events'])
const DESCRIPTOR: Shape = { models: 'list' }
const MCP: Shape = [{ authentication: 'list' }]

/** One table that is being read. */
interface Reading {
  readonly L: LuaState
  readonly array: ArrayMark
  /** What it may still hold. */
  readonly room: Room
  readonly callbacks: Map<string, Push>
}

/** Reads one element of a list, a table at an index; `what` names it in errors. */
type Read = (reading: Reading, index: number, what: string) => Json

/** Reads the table at `table`, an absolute index; throws a sentence for what makes the load fail. */
export function readDeclaration(L: LuaState, table: number, array: ArrayMark): Declaration {
  const reading: Reading = { L, array, room: roomOf(LIMITS.plugins.frameBytes), callbacks: new Map() }
  const names: JsonObject = {}
  for (const name of ['name', 'version']) {
    const found = text(reading, table, name)
    if (found !== undefined) names[name] = found
  }
  const reply: JsonObject = {
    protocol: PROTOCOL,
    ...names,
    tools: each(reading, 'tools', table, tool),
    hooks: hooks(reading, table),
    eventNamespaces: eventNamespaces(reading, table),
    services: services(reading, table),
    routes: each(reading, 'routes', table, route),
    websocketRoutes: each(reading, 'websocketRoutes', table, socketRoute),
    messageParts: json(reading, table, 'messageParts', 'list'),
    mcp: json(reading, table, 'mcp', MCP),
  }
  for (const kind of CONTRIBUTION_KINDS) if (!HEARD.has(kind) && reply[kind] === undefined && has(L, table, kind)) reply[kind] = true
  return { reply, callbacks: reading.callbacks }
}

/** The value of a field as JSON, with lists where `shape` has them. */
function json({ L, array, room }: Reading, index: number, name: string, shape: Shape): Json {
  pushField(L, index, name)
  const value = withLists(readJson(L, -1, array, room), shape)
  lua_pop(L, 1)
  return value
}

function text({ L, room }: Reading, index: number, name: string): string | undefined {
  const found = stringField(L, index, name)
  takeRoom(room, found?.length ?? 0)
  return found
}

function each(reading: Reading, name: string, within: number, read: Read): Json[] {
  const { L } = reading
  const found: Json[] = []
  withTable(L, within, name, (group) => {
    eachElement(L, group, (index, position, type) => {
      const what = `${name}[${position}]`
      if (type !== LUA_TTABLE) throw new Error(`${what} must be a table`)
      found.push(read(reading, index, what))
    })
  })
  return found
}

function callback({ L, callbacks }: Reading, index: number, what: string, name: string, key: string): void {
  const push = functionField(L, index, name)
  if (push === undefined) throw new Error(`${what} needs a function "${name}"`)
  callbacks.set(key, push)
}

function idOf(reading: Reading, index: number, what: string): string {
  const id = text(reading, index, 'id')
  if (id === undefined || id === '') throw new Error(`${what} needs a string "id"`)
  return id
}

function priorityOf({ L }: Reading, index: number): number {
  const priority = pushField(L, index, 'priority') === LUA_TNUMBER ? lua_tonumber(L, -1) : 0
  lua_pop(L, 1)
  return (priority | 0) === priority ? priority : 0
}

function tool(reading: Reading, index: number, what: string): Json {
  const id = idOf(reading, index, what)
  callback(reading, index, what, 'execute', callbackKey('tool.invoke', id))
  const parameters = schemaWithLists(json(reading, index, 'parameters', undefined))
  return {
    id,
    description: text(reading, index, 'description') ?? '',
    parameters: isObject(parameters) && !isEmpty(parameters) ? parameters : { type: 'object' },
    outputSchema: schemaWithLists(json(reading, index, 'outputSchema', undefined)),
  }
}

function described(reading: Reading, index: number, what: string, shape: Shape): { id: string; declared: JsonObject } {
  const descriptor = json(reading, index, 'descriptor', shape)
  const id = isObject(descriptor) ? descriptor['id'] : undefined
  if (typeof id !== 'string' || id === '') throw new Error(`${what} needs a table "descriptor" with a string "id"`)
  return { id, declared: { descriptor, priority: priorityOf(reading, index) } }
}

function provider(reading: Reading, index: number, what: string): Json {
  const { L, callbacks } = reading
  const { id, declared } = described(reading, index, what, DESCRIPTOR)
  for (const name of PROVIDER_CALLBACKS) {
    const push = functionField(L, index, name)
    if (push !== undefined) callbacks.set(callbackKey(`provider.${name}`, id), push)
  }
  return { ...declared, media: has(L, index, 'media'), administration: has(L, index, 'route') }
}

function route(reading: Reading, index: number, what: string): Json {
  const { id, declared } = described(reading, index, what, undefined)
  callback(reading, index, what, 'handle', callbackKey('route.handle', id))
  return declared
}

function socketRoute(reading: Reading, index: number, what: string): Json {
  const { L, callbacks } = reading
  const { id, declared } = described(reading, index, what, undefined)
  callback(reading, index, what, 'open', callbackKey('route.websocket.open', id))
  const message = functionField(L, index, 'message')
  if (message !== undefined) callbacks.set(callbackKey('route.websocket.message', id), message)
  return declared
}

function hooks({ L, room, callbacks }: Reading, table: number): string[] {
  const names: string[] = []
  withTable(L, table, 'hooks', (index) => {
    lua_pushnil(L)
    while (lua_next(L, index) !== 0) {
      const bytes = lua_type(L, -2) === LUA_TSTRING ? lua_tostring(L, -2) : null
      const name = bytes === null ? undefined : textOf(bytes)
      if (name === undefined) throw new Error('hooks must be keyed by the names of hooks')
      if (lua_type(L, -1) !== LUA_TFUNCTION) throw new Error(`hooks["${name}"] must be a function`)
      takeRoom(room, name.length)
      callbacks.set(callbackKey('hook.invoke', name), lua_toproxy(L, -1))
      names.push(name)
      lua_pop(L, 1)
    }
  })
  return names
}

function eventNamespaces(reading: Reading, table: number): Json {
  const { L, callbacks } = reading
  let namespaces: Json = []
  withTable(L, table, 'events', (index) => {
    namespaces = json(reading, index, 'namespaces', 'list')
    const handler = functionField(L, index, 'handler')
    if (handler !== undefined) callbacks.set(callbackKey('event', ''), handler)
  })
  return namespaces
}

function services(reading: Reading, table: number): JsonObject {
  const found: JsonObject = {}
  withTable(reading.L, table, 'services', (index) => {
    for (const { group, callback: name, method } of SERVICES) {
      found[group] = each(reading, group, index, (reading, index, what) => {
        const id = idOf(reading, index, what)
        callback(reading, index, what, name, callbackKey(method, id))
        return { id, priority: priorityOf(reading, index) }
      })
    }
    found['providers'] = each(reading, 'providers', index, provider)
    for (const kind of CONTRIBUTION_KINDS) if (found[kind] === undefined && has(reading.L, index, kind)) found[kind] = true
  })
  return found
}

function has(L: LuaState, table: number, name: string): boolean {
  const type = pushField(L, table, name)
  lua_pop(L, 1)
  return type !== LUA_TNIL
}
