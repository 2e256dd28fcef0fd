/** What stands for JSON values in the VM that Lua has no value for (plugin-protocol §6.4). */
import {
  lua_createtable,
  lua_getmetatable,
  lua_pop,
  lua_pushboolean,
  lua_pushstring,
  lua_rawset,
  lua_setmetatable,
  lua_topointer,
  lua_toproxy,
  type LuaState,
} from 'fengari/src/lua.js'
import { readOnly } from './read-only.js'
import { nameBytes } from './text.js'

/** The null sentinel: light userdata, so it is true and not equal to nil. */
export const NULL = Object.freeze({})

export interface ArrayMark {
  /** Marks the table on top of the stack as an array, also when it is empty. */
  put(L: LuaState): void
  has(L: LuaState, index: number): boolean
}

/** The metatable arrays from JSON carry; scripts can neither see nor change it. */
export function createArrayMark(L: LuaState): ArrayMark {
  lua_createtable(L, 0, 1)
  lua_pushstring(L, nameBytes('__metatable'))
  lua_pushboolean(L, false)
  lua_rawset(L, -3)
  readOnly(L, -1)
  const mark = lua_topointer(L, -1)
  const push = lua_toproxy(L, -1)
  lua_pop(L, 1)
  return {
    put(L) {
      push(L)
      lua_setmetatable(L, -2)
    },
    has(L, index) {
      if (!lua_getmetatable(L, index)) return false
      const found = lua_topointer(L, -1) === mark
      lua_pop(L, 1)
      return found
    },
  }
}
