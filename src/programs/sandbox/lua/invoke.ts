/** One call of a declared callback, from params to result (plugin-protocol §6.2, §6.7). Runs inside a `Run`. */
import { LUA_TNIL, LUA_TTABLE, lua_call, lua_gettop, lua_pop, lua_rawgeti, lua_rawlen, lua_type, type LuaState } from 'fengari/src/lua.js'
import { LIMITS } from '../../../protocol/limits.js'
import { callbackKey, type Declaration } from './declaration.js'
import { byteLength, type Fields } from '../frames.js'
import { readJson, roomOf, TOO_LARGE } from '../values/from-lua.js'
import { isEmpty, withLists, type Json } from '../values/json.js'
import { methodOf, socketMessageShape, type Method } from '../methods.js'
import type { CallResult } from '../thread-messages.js'
import { pushJson } from '../values/to-lua.js'
import type { ArrayMark } from '../values/values.js'

export interface Invocation {
  readonly method: string
  readonly params: Fields
  /** In place of what the params would name. */
  readonly routeId?: string | undefined
}

const { frameBytes, streamItemBytes, streamBytes } = LIMITS.plugins
/** What the frame around a result takes. */
const ENVELOPE = 64

export function invoke(L: LuaState, declaration: Declaration, array: ArrayMark, invocation: Invocation): CallResult {
  const { method: name, params } = invocation
  const method = methodOf(name)
  if (method === undefined) throw new Error(`unknown method "${name}"`)
  const id = invocation.routeId ?? (method.id === undefined ? '' : textOf(params[method.id]))
  const callback = declaration.callbacks.get(callbackKey(name, id))
  if (callback === undefined) {
    if (method.optional === true) return NOTHING
    throw new Error(
      name.startsWith('provider.') ? `the provider "${id}" is unknown or does not serve ${name}` : `unknown ${method.kind} "${id}"`,
    )
  }
  callback(L)
  pushJson(L, method.part === undefined ? params : params[method.part], array)
  lua_call(L, 1, 1)
  if (method.streams !== undefined) return readItems(L, array, method.streams)
  return resultOf(withLists(readJson(L, -1, array, roomOf(frameBytes)), method.result))
}

/** Throws when the value does not fit into a frame. */
export function resultOf(value: Json): CallResult {
  const json = JSON.stringify(value)
  if (byteLength(json) + ENVELOPE > frameBytes) throw TOO_LARGE
  return { type: 'result', json }
}

const NOTHING: CallResult = { type: 'items', items: [] }

/** The list on top of the stack, item by item; what goes beyond the budgets of a stream ends it with a problem. */
function readItems(L: LuaState, array: ArrayMark, streams: NonNullable<Method['streams']>): CallResult {
  const list = lua_gettop(L)
  const type = lua_type(L, list)
  if (type === LUA_TNIL && streams === 'messages') return NOTHING
  if (type !== LUA_TTABLE) throw new Error(`the callback must return an array of ${streams}`)
  const length = lua_rawlen(L, list)
  if (length > LIMITS.lua.streamItems) throw new Error(`the callback returned more than ${LIMITS.lua.streamItems} ${streams}`)
  if (length === 0 && !isEmptyList(readJson(L, list, array, roomOf(frameBytes))))
    throw new Error(`the callback must return an array of ${streams}`)

  const items: string[] = []
  let total = 0
  for (let at = 1; at <= length; at++) {
    lua_rawgeti(L, list, at)
    const json = readItem(L, array, streams)
    lua_pop(L, 1)
    if (json === undefined) return { type: 'items', items, problem: `item ${at} takes more than ${streamItemBytes} bytes` }
    total += byteLength(json)
    if (total > streamBytes) return { type: 'items', items, problem: `the items take more than ${streamBytes} bytes` }
    items.push(json)
  }
  return { type: 'items', items }
}

/** Undefined when it is too large. */
function readItem(L: LuaState, array: ArrayMark, streams: NonNullable<Method['streams']>): string | undefined {
  try {
    const value = readJson(L, -1, array, roomOf(streamItemBytes))
    const json = JSON.stringify(streams === 'messages' ? withLists(value, socketMessageShape(value)) : value)
    return byteLength(json) > streamItemBytes ? undefined : json
  } catch (error) {
    if (error === TOO_LARGE) return undefined
    throw error
  }
}

function isEmptyList(value: Json): boolean {
  return isEmpty(value) || (Array.isArray(value) && value.length === 0)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
