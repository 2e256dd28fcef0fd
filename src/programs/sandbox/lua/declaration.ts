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
import { readJson, roomOf, takeRoom } from '../values/from-lua.js'
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
const DESCRIPTOR: Shape = { models: 'list' }
const MCP: Shape = [{ authentication: 'list' }]

/** Reads the table at `table`, an absolute index; throws a sentence for what makes the load fail. */
export function readDeclaration(L: LuaState, table: number, array: ArrayMark): Declaration {
  const callbacks = new Map<string, Push>()
  const room = roomOf(LIMITS.plugins.frameBytes)

  /** The value of a field as JSON, with lists where `shape` has them. */
  function json(index: number, name: string, shape: Shape): Json {
    pushField(L, index, name)
    const value = withLists(readJson(L, -1, array, room), shape)
    lua_pop(L, 1)
    return value
  }

  function text(index: number, name: string): string | undefined {
    const found = stringField(L, index, name)
    takeRoom(room, found?.length ?? 0)
    return found
  }

  function each(name: string, within: number, read: (index: number, what: string) => Json): Json[] {
    const found: Json[] = []
    withTable(L, within, name, (group) => {
      eachElement(L, group, (index, position, type) => {
        const what = `${name}[${position}]`
        if (type !== LUA_TTABLE) throw new Error(`${what} must be a table`)
        found.push(read(index, what))
      })
    })
    return found
  }

  function callback(index: number, what: string, name: string, key: string): void {
    const push = functionField(L, index, name)
    if (push === undefined) throw new Error(`${what} needs a function "${name}"`)
    callbacks.set(key, push)
  }

  function idOf(index: number, what: string): string {
    const id = text(index, 'id')
    if (id === undefined || id === '') throw new Error(`${what} needs a string "id"`)
    return id
  }

  function priorityOf(index: number): number {
    const priority = pushField(L, index, 'priority') === LUA_TNUMBER ? lua_tonumber(L, -1) : 0
    lua_pop(L, 1)
    return (priority | 0) === priority ? priority : 0
  }

  function tool(index: number, what: string): Json {
    const id = idOf(index, what)
    callback(index, what, 'execute', callbackKey('tool.invoke', id))
    const parameters = schemaWithLists(json(index, 'parameters', undefined))
    return {
      id,
      description: text(index, 'description') ?? '',
      parameters: isObject(parameters) && !isEmpty(parameters) ? parameters : { type: 'object' },
      outputSchema: schemaWithLists(json(index, 'outputSchema', undefined)),
    }
  }

  function described(index: number, what: string, shape: Shape): { id: string; declared: JsonObject } {
    const descriptor = json(index, 'descriptor', shape)
    const id = isObject(descriptor) ? descriptor['id'] : undefined
    if (typeof id !== 'string' || id === '') throw new Error(`${what} needs a table "descriptor" with a string "id"`)
    return { id, declared: { descriptor, priority: priorityOf(index) } }
  }

  function provider(index: number, what: string): Json {
    const { id, declared } = described(index, what, DESCRIPTOR)
    for (const name of PROVIDER_CALLBACKS) {
      const push = functionField(L, index, name)
      if (push !== undefined) callbacks.set(callbackKey(`provider.${name}`, id), push)
    }
    return { ...declared, media: has(L, index, 'media'), administration: has(L, index, 'route') }
  }

  function route(index: number, what: string): Json {
    const { id, declared } = described(index, what, undefined)
    callback(index, what, 'handle', callbackKey('route.handle', id))
    return declared
  }

  function socketRoute(index: number, what: string): Json {
    const { id, declared } = described(index, what, undefined)
    callback(index, what, 'open', callbackKey('route.websocket.open', id))
    const message = functionField(L, index, 'message')
    if (message !== undefined) callbacks.set(callbackKey('route.websocket.message', id), message)
    return declared
  }

  function hooks(): string[] {
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

  function eventNamespaces(): Json {
    let namespaces: Json = []
    withTable(L, table, 'events', (index) => {
      namespaces = json(index, 'namespaces', 'list')
      const handler = functionField(L, index, 'handler')
      if (handler !== undefined) callbacks.set(callbackKey('event', ''), handler)
    })
    return namespaces
  }

  function services(): JsonObject {
    const found: JsonObject = {}
    withTable(L, table, 'services', (index) => {
      for (const { group, callback: name, method } of SERVICES) {
        found[group] = each(group, index, (index, what) => {
          const id = idOf(index, what)
          callback(index, what, name, callbackKey(method, id))
          return { id, priority: priorityOf(index) }
        })
      }
      found['providers'] = each('providers', index, provider)
    })
    return found
  }

  const names: JsonObject = {}
  for (const name of ['name', 'version']) {
    const found = text(table, name)
    if (found !== undefined) names[name] = found
  }
  const reply: JsonObject = {
    protocol: PROTOCOL,
    ...names,
    tools: each('tools', table, tool),
    hooks: hooks(),
    eventNamespaces: eventNamespaces(),
    services: services(),
    routes: each('routes', table, route),
    websocketRoutes: each('websocketRoutes', table, socketRoute),
    messageParts: json(table, 'messageParts', 'list'),
    mcp: json(table, 'mcp', MCP),
  }
  return { reply, callbacks }
}

function has(L: LuaState, table: number, name: string): boolean {
  const type = pushField(L, table, name)
  lua_pop(L, 1)
  return type !== LUA_TNIL
}
