/** JSON into the VM (plugin-protocol §6.4). */
import {
  lua_checkstack,
  lua_createtable,
  lua_pushboolean,
  lua_pushinteger,
  lua_pushlightuserdata,
  lua_pushnil,
  lua_pushnumber,
  lua_pushstring,
  lua_rawset,
  lua_rawseti,
  type LuaState,
} from 'fengari/src/lua.js'
import { LIMITS } from '../../../protocol/limits.js'
import { bytesOf } from './text.js'
import { NULL, type ArrayMark } from './values.js'

const { depth: deepest, heapBytes } = LIMITS.lua
/** What a table entry of the VM takes, measured. */
const ENTRY = 192
const MOST = Math.floor(heapBytes / ENTRY)

/**
 * Pushes `value`, which is what `JSON.parse` makes. Throws when it is nested too deeply or has more values than fit into the VM.
 * Whole numbers of 32 bits become integers, other numbers floats.
 */
export function pushJson(L: LuaState, value: unknown, array: ArrayMark): void {
  let left = MOST

  function push(value: unknown, depth: number): void {
    if (--left < 0)
      throw new Error(
        `the value has more than ${MOST} parts; tables of the sandbox hold that many together, and each byte of a file is one`,
      )
    if (depth > deepest) throw new Error(`the value is nested deeper than ${deepest} levels`)
    if (!lua_checkstack(L, 4)) throw new Error('the value is nested too deeply for the stack')
    if (typeof value === 'string') lua_pushstring(L, bytesOf(value))
    else if (typeof value === 'number') pushNumber(L, value)
    else if (typeof value === 'boolean') lua_pushboolean(L, value)
    else if (Array.isArray(value)) pushArray(value, depth)
    else if (typeof value === 'object' && value !== null) pushObject(value, depth)
    else lua_pushlightuserdata(L, NULL)
  }

  function pushArray(items: readonly unknown[], depth: number): void {
    lua_createtable(L, 0, 0)
    let index = 0
    for (const item of items) {
      push(item, depth + 1)
      lua_rawseti(L, -2, ++index)
    }
    array.put(L)
  }

  function pushObject(object: object, depth: number): void {
    lua_createtable(L, 0, 0)
    for (const [key, item] of Object.entries(object)) {
      lua_pushstring(L, bytesOf(key))
      push(item, depth + 1)
      lua_rawset(L, -3)
    }
  }

  push(value, 1)
}

/** Like `pushJson`, but null itself, as the whole answer of a host call, is nil: so `answer or default` works (plugin-protocol §12-12). */
export function pushAnswer(L: LuaState, value: unknown, array: ArrayMark): void {
  if (value === null || value === undefined) lua_pushnil(L)
  else pushJson(L, value, array)
}

function pushNumber(L: LuaState, value: number): void {
  if ((value | 0) === value && !Object.is(value, -0)) lua_pushinteger(L, value)
  else lua_pushnumber(L, value)
}
