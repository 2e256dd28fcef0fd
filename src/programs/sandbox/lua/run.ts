/** Running script code in protected mode, under a budget, to one of two ends. */
import {
  LUA_MASKCOUNT,
  LUA_OK,
  LUA_TNUMBER,
  LUA_TSTRING,
  lua_atnativeerror,
  lua_concat,
  lua_pcall,
  lua_pushcfunction,
  lua_pushstring,
  lua_sethook,
  lua_settop,
  lua_tostring,
  lua_touserdata,
  lua_type,
  type LuaState,
} from 'fengari/src/lua.js'
import { luaL_where } from 'fengari/src/lauxlib.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Budget, Excess, Phase } from './budget.js'
import { bytesOf, shownText } from '../values/text.js'
import { traceback } from './traceback.js'
import { messageOf } from '../../../protocol/message-of.js'

export type Outcome<Value> =
  | { readonly type: 'value'; readonly value: Value }
  /** `excess`: the run was ended, the script did not fail by itself. `trace`: where it was, innermost first. */
  | { readonly type: 'error'; readonly text: string; readonly excess?: Excess; readonly trace?: readonly string[] }

/** Runs `body` with an empty stack of its own. Never throws. */
export type Run = <Value>(phase: Phase, body: () => Value) => Outcome<Value>

const { instructionStep } = LIMITS.lua
const LONGEST_ERROR = 4096

/** Prepares a VM for it; one at a time. */
export function createRun(L: LuaState, budget: Budget): Run {
  function hook(L: LuaState): void {
    try {
      budget.spend(L.basehookcount)
    } catch (error) {
      lua_sethook(L, hook, LUA_MASKCOUNT, 1)
      throw error
    }
  }

  lua_atnativeerror(L, (L) => {
    const error = lua_touserdata(L, -1)
    if (error === budget.tripped?.error) throw error
    if (error instanceof RangeError) endOnExhaustion(error, budget)
    luaL_where(L, 1) // empty when it was not thrown in a line of the script but by a function the script called
    lua_pushstring(L, bytesOf(messageOf(error)))
    lua_concat(L, 2)
    return 1
  })

  return (phase, body) => {
    const results: ReturnType<typeof body>[] = []
    let trace: readonly string[] = []
    budget.begin(phase)
    lua_settop(L, 0)
    // The message handler: it leaves the message as it is.
    lua_pushcfunction(L, (L) => {
      trace = traceback(L)
      return 1
    })
    lua_sethook(L, hook, LUA_MASKCOUNT, instructionStep)
    let status
    try {
      lua_pushcfunction(L, () => {
        results.push(body())
        return 0
      })
      status = lua_pcall(L, 0, 0, 1)
    } catch (error) {
      return { type: 'error', text: `the sandbox failed: ${error instanceof Error ? error.message : 'unknown error'}`, excess: 'fault' }
    }
    if (budget.tripped !== undefined) return { type: 'error', text: budget.tripped.error.message, excess: budget.tripped.excess }
    const [value] = results
    if (status === LUA_OK && results.length > 0) return { type: 'value', value: value as ReturnType<typeof body> }
    return { type: 'error', text: describe(L), trace }
  }
}

/** The engine's own limits, met before ours were looked at. */
function endOnExhaustion(error: RangeError, budget: Budget): void {
  if (/call stack/.test(error.message)) budget.trip('fault')
  if (/allocation|length|maximum size/.test(error.message)) budget.trip('memory')
}

/** The error value on top of the stack, for people; nothing of the script runs for it (threat-model L4). */
function describe(L: LuaState): string {
  const type = lua_type(L, -1)
  const bytes = type === LUA_TSTRING || type === LUA_TNUMBER ? lua_tostring(L, -1) : null
  return bytes === null ? 'the script raised an error that is not a string' : shownText(bytes, LONGEST_ERROR)
}
