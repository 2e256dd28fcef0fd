/** The part of the Lua VM that the sandbox uses. Strings of the VM are bytes; indices and counts are those of the C API. */
declare module 'fengari/src/lua.js' {
  /** A Lua thread; the main one stands for the whole VM. */
  export interface LuaState {
    /** Instructions until the count hook is called next, and what it starts from. */
    hookcount: number
    basehookcount: number
  }
  export type LuaFunction = (L: LuaState) => number
  export type Continuation = (L: LuaState, status: number, context: number) => number

  export const LUA_OK: number
  export const LUA_YIELD: number
  export const LUA_MULTRET: number
  export const LUA_MASKCOUNT: number
  export const LUA_TNONE: number
  export const LUA_TNIL: number
  export const LUA_TBOOLEAN: number
  export const LUA_TLIGHTUSERDATA: number
  export const LUA_TNUMBER: number
  export const LUA_TSTRING: number
  export const LUA_TTABLE: number
  export const LUA_TFUNCTION: number
  export const LUA_TTHREAD: number

  /** What `lua_getinfo` fills in; texts are bytes. */
  export class lua_Debug {
    name: Uint8Array | null
    what: Uint8Array | null
    short_src: Uint8Array | null
    currentline: number
  }
  /** Answers 1 when there is such a level. */
  export function lua_getstack(L: LuaState, level: number, frame: lua_Debug): number
  export function lua_getinfo(L: LuaState, what: Uint8Array, frame: lua_Debug): number
  export function lua_atnativeerror(L: LuaState, handler: LuaFunction): void
  export function lua_call(L: LuaState, args: number, results: number): void
  export function lua_checkstack(L: LuaState, slots: number): boolean
  export function lua_concat(L: LuaState, count: number): void
  export function lua_createtable(L: LuaState, array: number, record: number): void
  export function lua_error(L: LuaState): number
  export function lua_getmetatable(L: LuaState, index: number): boolean
  export function lua_gettop(L: LuaState): number
  export function lua_insert(L: LuaState, index: number): void
  export function lua_next(L: LuaState, index: number): number
  export function lua_pcall(L: LuaState, args: number, results: number, handler: number): number
  export function lua_pcallk(L: LuaState, args: number, results: number, handler: number, context: number, k: Continuation): number
  export function lua_pop(L: LuaState, count: number): void
  export function lua_pushboolean(L: LuaState, value: boolean): void
  export function lua_pushcclosure(L: LuaState, f: LuaFunction, upvalues: number): void
  export function lua_pushcfunction(L: LuaState, f: LuaFunction): void
  export function lua_pushglobaltable(L: LuaState): void
  export function lua_pushinteger(L: LuaState, value: number): void
  export function lua_pushlightuserdata(L: LuaState, value: unknown): void
  export function lua_pushnil(L: LuaState): void
  export function lua_pushnumber(L: LuaState, value: number): void
  export function lua_pushstring(L: LuaState, bytes: Uint8Array): void
  export function lua_pushvalue(L: LuaState, index: number): void
  export function lua_rawget(L: LuaState, index: number): number
  export function lua_rawgeti(L: LuaState, index: number, n: number): number
  export function lua_rawlen(L: LuaState, index: number): number
  export function lua_rawset(L: LuaState, index: number): void
  export function lua_rawseti(L: LuaState, index: number, n: number): void
  export function lua_resume(L: LuaState, from: LuaState, args: number): number
  export function lua_rotate(L: LuaState, index: number, n: number): void
  export function lua_sethook(L: LuaState, hook: (L: LuaState) => void, mask: number, count: number): void
  export function lua_setmetatable(L: LuaState, index: number): void
  export function lua_settop(L: LuaState, index: number): void
  export function lua_status(L: LuaState): number
  export function lua_toboolean(L: LuaState, index: number): boolean
  /** A function that pushes the value, which stays alive as long as the function. */
  export function lua_toproxy(L: LuaState, index: number): (L: LuaState) => void
  export function lua_tocfunction(L: LuaState, index: number): LuaFunction | null
  export function lua_tonumber(L: LuaState, index: number): number
  export function lua_topointer(L: LuaState, index: number): object | null
  export function lua_tostring(L: LuaState, index: number): Uint8Array | null
  export function lua_tothread(L: LuaState, index: number): LuaState | null
  export function lua_touserdata(L: LuaState, index: number): unknown
  export function lua_type(L: LuaState, index: number): number
  export function lua_upvalueindex(n: number): number
  export function lua_xmove(from: LuaState, to: LuaState, count: number): void
}

declare module 'fengari/src/lauxlib.js' {
  import type { LuaFunction, LuaState } from 'fengari/src/lua.js'
  export function luaL_checkany(L: LuaState, argument: number): void
  export function luaL_checktype(L: LuaState, argument: number, type: number): void
  export function luaL_checkinteger(L: LuaState, argument: number): number
  export function luaL_checkstring(L: LuaState, argument: number): Uint8Array
  export function luaL_loadbufferx(L: LuaState, source: Uint8Array, size: number, name: Uint8Array, mode: Uint8Array): number
  export function luaL_newstate(): LuaState | null
  export function luaL_requiref(L: LuaState, name: Uint8Array, open: LuaFunction, global: boolean): void
  export function luaL_tolstring(L: LuaState, index: number): Uint8Array
  export function luaL_where(L: LuaState, level: number): void
}

declare module 'fengari/src/lbaselib.js' {
  import type { LuaFunction } from 'fengari/src/lua.js'
  export const luaopen_base: LuaFunction
}
declare module 'fengari/src/lcorolib.js' {
  import type { LuaFunction } from 'fengari/src/lua.js'
  export const luaopen_coroutine: LuaFunction
}
declare module 'fengari/src/lmathlib.js' {
  import type { LuaFunction } from 'fengari/src/lua.js'
  export const luaopen_math: LuaFunction
}
declare module 'fengari/src/lstrlib.js' {
  import type { LuaFunction } from 'fengari/src/lua.js'
  export const luaopen_string: LuaFunction
}
declare module 'fengari/src/ltablib.js' {
  import type { LuaFunction } from 'fengari/src/lua.js'
  export const luaopen_table: LuaFunction
}
declare module 'fengari/src/lutf8lib.js' {
  import type { LuaFunction } from 'fengari/src/lua.js'
  export const luaopen_utf8: LuaFunction
}
