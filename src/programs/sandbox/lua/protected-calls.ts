/**
 * `pcall`, `xpcall`, `coroutine.resume` and `coroutine.wrap` that cannot swallow the end of a run (budget I2), and coroutines
 * that go on with the instruction counter of whoever resumes them.
 */
import {
  LUA_MULTRET,
  LUA_OK,
  LUA_TFUNCTION,
  LUA_TSTRING,
  LUA_TTHREAD,
  LUA_YIELD,
  lua_checkstack,
  lua_concat,
  lua_error,
  lua_gettop,
  lua_insert,
  lua_pcallk,
  lua_pop,
  lua_pushboolean,
  lua_pushcclosure,
  lua_pushstring,
  lua_pushvalue,
  lua_resume,
  lua_rotate,
  lua_status,
  lua_tothread,
  lua_type,
  lua_upvalueindex,
  lua_xmove,
  type LuaFunction,
  type LuaState,
} from 'fengari/src/lua.js'
import { luaL_checkany, luaL_checktype, luaL_where } from 'fengari/src/lauxlib.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Budget } from './budget.js'
import { nameBytes } from '../values/text.js'

export interface ProtectedCalls {
  readonly pcall: LuaFunction
  readonly xpcall: LuaFunction
  readonly resume: LuaFunction
  /** `create` makes a coroutine of the function on the stack, as `coroutine.create` does. */
  wrap(create: LuaFunction): LuaFunction
}

export function createProtectedCalls(budget: Pick<Budget, 'check'>): ProtectedCalls {
  /** The results above the first `kept` values, or false and the error. */
  function finish(L: LuaState, status: number, kept: number): number {
    budget.check()
    if (status === LUA_OK || status === LUA_YIELD) return lua_gettop(L) - kept
    lua_pushboolean(L, false)
    lua_pushvalue(L, -2)
    return 2
  }

  function pcall(L: LuaState): number {
    luaL_checkany(L, 1)
    lua_pushboolean(L, true)
    lua_insert(L, 1)
    return finish(L, lua_pcallk(L, lua_gettop(L) - 2, LUA_MULTRET, 0, 0, finish), 0)
  }

  function xpcall(L: LuaState): number {
    const count = lua_gettop(L)
    luaL_checktype(L, 2, LUA_TFUNCTION)
    lua_pushboolean(L, true)
    lua_pushvalue(L, 1)
    lua_rotate(L, 3, 2)
    return finish(L, lua_pcallk(L, count - 2, LUA_MULTRET, 2, 2, finish), 2)
  }

  /** Results are moved to `L`; -1 with a message there when it failed. */
  function run(L: LuaState, co: LuaState, args: number): number {
    if (!lua_checkstack(co, args)) return failed(L, 'too many arguments to resume')
    if (lua_status(co) === LUA_OK && lua_gettop(co) === 0) return failed(L, 'cannot resume dead coroutine')
    lua_xmove(L, co, args)
    co.basehookcount = LIMITS.lua.instructionStep
    co.hookcount = L.hookcount
    const status = lua_resume(co, L, args)
    L.hookcount = Math.max(1, co.hookcount)
    budget.check()
    if (status !== LUA_OK && status !== LUA_YIELD) {
      lua_xmove(co, L, 1)
      return -1
    }
    const results = lua_gettop(co)
    if (!lua_checkstack(L, results + 1)) {
      lua_pop(co, results)
      return failed(L, 'too many results to resume')
    }
    lua_xmove(co, L, results)
    return results
  }

  function resume(L: LuaState): number {
    luaL_checktype(L, 1, LUA_TTHREAD)
    const co = lua_tothread(L, 1)
    if (co === null) return 0
    const results = run(L, co, lua_gettop(L) - 1)
    lua_pushboolean(L, results >= 0)
    lua_insert(L, results >= 0 ? -(results + 1) : -2)
    return results >= 0 ? results + 1 : 2
  }

  function wrapped(L: LuaState): number {
    const co = lua_tothread(L, lua_upvalueindex(1))
    if (co === null) return 0
    const results = run(L, co, lua_gettop(L))
    if (results >= 0) return results
    if (lua_type(L, -1) === LUA_TSTRING) {
      luaL_where(L, 1)
      lua_insert(L, -2)
      lua_concat(L, 2)
    }
    return lua_error(L)
  }

  return {
    pcall,
    xpcall,
    resume,
    wrap: (create) => (L) => {
      create(L)
      lua_pushcclosure(L, wrapped, 1)
      return 1
    },
  }
}

function failed(L: LuaState, message: string): number {
  lua_pushstring(L, nameBytes(message))
  return -1
}
