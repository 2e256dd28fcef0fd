/** Reading and filling tables by name, without metamethods. Indices of tables are absolute. */
import {
  LUA_TFUNCTION,
  LUA_TNIL,
  LUA_TSTRING,
  LUA_TTABLE,
  lua_gettop,
  lua_pop,
  lua_pushcfunction,
  lua_pushstring,
  lua_rawget,
  lua_rawgeti,
  lua_rawlen,
  lua_rawset,
  lua_toproxy,
  lua_tostring,
  type LuaFunction,
  type LuaState,
} from 'fengari/src/lua.js'
import { nameBytes, textOf } from './text.js'

/** Pushes a value it keeps alive. */
export type Push = (L: LuaState) => void

/** Pushes `table[name]`; answers its type. */
export function pushField(L: LuaState, table: number, name: string): number {
  lua_pushstring(L, nameBytes(name))
  return lua_rawget(L, table)
}

/** `table[name] = value`, for the table on top of the stack. */
export function setField(L: LuaState, name: string, push: Push): void {
  lua_pushstring(L, nameBytes(name))
  push(L)
  lua_rawset(L, -3)
}

export function setFunction(L: LuaState, name: string, f: LuaFunction): void {
  setField(L, name, (L) => lua_pushcfunction(L, f))
}

/** Undefined when the field is no string of valid UTF-8. */
export function stringField(L: LuaState, table: number, name: string): string | undefined {
  const bytes = pushField(L, table, name) === LUA_TSTRING ? lua_tostring(L, -1) : null
  lua_pop(L, 1)
  return bytes === null ? undefined : textOf(bytes)
}

/** Undefined when the field is no function. */
export function functionField(L: LuaState, table: number, name: string): Push | undefined {
  const push = pushField(L, table, name) === LUA_TFUNCTION ? lua_toproxy(L, -1) : undefined
  lua_pop(L, 1)
  return push
}

/** Runs `visit` with the index of `table[name]`, when that is a table. */
export function withTable(L: LuaState, table: number, name: string, visit: (index: number) => void): void {
  const top = lua_gettop(L)
  if (pushField(L, table, name) === LUA_TTABLE) visit(top + 1)
  lua_pop(L, lua_gettop(L) - top)
}

/** Runs `visit` with the index of every element of the sequence `table`, up to its first hole. */
export function eachElement(L: LuaState, table: number, visit: (index: number, position: number, type: number) => void): void {
  const length = lua_rawlen(L, table)
  for (let position = 1; position <= length; position++) {
    const top = lua_gettop(L)
    const type = lua_rawgeti(L, table, position)
    if (type !== LUA_TNIL) visit(top + 1, position, type)
    lua_pop(L, lua_gettop(L) - top)
    if (type === LUA_TNIL) return
  }
}
