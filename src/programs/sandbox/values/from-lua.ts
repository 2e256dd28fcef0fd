/** Values of the VM into JSON, read raw: no metamethod of the script runs (plugin-protocol §6.4, threat-model L4). */
import {
  LUA_TBOOLEAN,
  LUA_TFUNCTION,
  LUA_TLIGHTUSERDATA,
  LUA_TNIL,
  LUA_TNONE,
  LUA_TNUMBER,
  LUA_TSTRING,
  LUA_TTABLE,
  lua_checkstack,
  lua_gettop,
  lua_next,
  lua_pop,
  lua_pushnil,
  lua_rawgeti,
  lua_rawlen,
  lua_toboolean,
  lua_tonumber,
  lua_topointer,
  lua_tostring,
  lua_touserdata,
  lua_type,
  type LuaState,
} from 'fengari/src/lua.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Json, JsonObject } from './json.js'
import { textOf } from './text.js'
import { NULL, type ArrayMark } from './values.js'

const { depth: deepest } = LIMITS.lua

/** Thrown when a value would take more room than it may. */
export const TOO_LARGE = new Error('the value takes more room as JSON than a frame has')

/** Bytes of JSON that may still be read, about. */
export interface Room {
  left: number
}

export function roomOf(bytes: number): Room {
  return { left: bytes }
}

export function takeRoom(room: Room, bytes: number): void {
  room.left -= bytes
  if (room.left < 0) throw TOO_LARGE
}

/**
 * The value at `index`, as a copy of plain data; objects have no prototype. Throws a sentence for what JSON cannot hold, and
 * `TOO_LARGE` when there is not the room for it: a value that is referred to twice counts twice.
 */
export function readJson(L: LuaState, index: number, array: ArrayMark, room: Room): Json {
  const parents = new Set<object>()
  const trail: (string | number)[] = []

  function read(index: number): Json {
    takeRoom(room, 2)
    switch (lua_type(L, index)) {
      case LUA_TNIL:
      case LUA_TNONE:
        return null
      case LUA_TBOOLEAN:
        return lua_toboolean(L, index)
      case LUA_TNUMBER:
        return finite(lua_tonumber(L, index))
      case LUA_TSTRING:
        return string(lua_tostring(L, index))
      case LUA_TTABLE:
        return table(index)
      case LUA_TLIGHTUSERDATA:
        if (lua_touserdata(L, index) === NULL) return null
        return refuse('userdata')
      case LUA_TFUNCTION:
        return refuse('a function')
      default:
        return refuse('a thread or userdata')
    }
  }

  function string(bytes: Uint8Array | null): string {
    takeRoom(room, bytes?.length ?? 0)
    return textOf(bytes ?? EMPTY) ?? refuse('a string that is not UTF-8')
  }

  function table(index: number): Json {
    const identity = lua_topointer(L, index) ?? {}
    if (parents.has(identity)) refuse('a table that contains itself')
    if (parents.size >= deepest || !lua_checkstack(L, 4)) refuse(`a value nested deeper than ${deepest} levels`)
    parents.add(identity)
    const length = lua_rawlen(L, index)
    const value = length > 0 || array.has(L, index) ? items(index, length) : fields(index)
    parents.delete(identity)
    return value
  }

  function items(index: number, length: number): Json[] {
    const list: Json[] = []
    for (let at = 1; at <= length; at++) {
      lua_rawgeti(L, index, at)
      list.push(inside(at))
    }
    return list
  }

  function fields(index: number): Json {
    const object = Object.create(null) as JsonObject
    lua_pushnil(L)
    while (lua_next(L, index) !== 0) {
      if (lua_type(L, -2) !== LUA_TSTRING) refuse('a table with a key that is neither a string nor part of a sequence')
      const key = string(lua_tostring(L, -2))
      object[key] = inside(key)
    }
    return object
  }

  /** Reads and pops the value on top of the stack. */
  function inside(step: string | number): Json {
    trail.push(step)
    const value = read(lua_gettop(L))
    trail.pop()
    lua_pop(L, 1)
    return value
  }

  function refuse(what: string): never {
    const where = trail.length === 0 ? '' : ` (at ${trail.slice(0, 8).join('.').slice(0, 200)})`
    throw new Error(`${what} cannot become JSON${where}`)
  }

  return read(index < 0 ? lua_gettop(L) + 1 + index : index)
}

const EMPTY = new Uint8Array()

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null
}
