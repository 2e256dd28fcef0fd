/** The globals of a script: these and no others, with libraries it cannot change (plugin-protocol §6.5, threat-model L1). */
import {
  LUA_TNONE,
  lua_getmetatable,
  lua_gettop,
  lua_pop,
  lua_pushboolean,
  lua_pushglobaltable,
  lua_pushnil,
  lua_pushstring,
  lua_settop,
  lua_tocfunction,
  lua_toproxy,
  lua_type,
  type LuaFunction,
  type LuaState,
} from 'fengari/src/lua.js'
import { luaL_checkinteger, luaL_checkstring, luaL_requiref, luaL_tolstring } from 'fengari/src/lauxlib.js'
import { luaopen_base } from 'fengari/src/lbaselib.js'
import { luaopen_coroutine } from 'fengari/src/lcorolib.js'
import { luaopen_math } from 'fengari/src/lmathlib.js'
import { luaopen_string } from 'fengari/src/lstrlib.js'
import { luaopen_table } from 'fengari/src/ltablib.js'
import { luaopen_utf8 } from 'fengari/src/lutf8lib.js'
import type { Budget } from './budget.js'
import { LuaBytes } from './lua-bytes.js'
import { createProtectedCalls } from './protected-calls.js'
import { readOnly } from '../values/read-only.js'
import { pushField, setField, setFunction, type Push } from '../values/tables.js'
import { nameBytes } from '../values/text.js'

const LIBRARIES: Readonly<Record<string, LuaFunction>> = {
  coroutine: luaopen_coroutine,
  math: luaopen_math,
  string: luaopen_string,
  table: luaopen_table,
  utf8: luaopen_utf8,
}
const WITHHELD = ['collectgarbage', 'dofile', 'load', 'loadfile']

/** Opens them in a new VM; answers each library by its global name, `_G` included. `print` gets the bytes of each argument. */
export function openLibraries(L: LuaState, budget: Budget, print: (parts: readonly Uint8Array[]) => void): ReadonlyMap<string, Push> {
  const { pcall, xpcall, resume, wrap } = createProtectedCalls(budget)
  const opened = new Map<string, Push>()

  function open(name: string, opener: LuaFunction, adapt: () => void): void {
    luaL_requiref(L, nameBytes(name), opener, true)
    adapt()
    if (name !== '_G') readOnly(L, -1)
    opened.set(name, lua_toproxy(L, -1))
    lua_settop(L, 0)
  }

  open('_G', luaopen_base, () => {
    for (const name of WITHHELD) setField(L, name, lua_pushnil)
    setFunction(L, 'pcall', pcall)
    setFunction(L, 'xpcall', xpcall)
    setFunction(L, 'print', (L) => {
      const parts: Uint8Array[] = []
      for (let index = 1, count = lua_gettop(L); index <= count; index++) {
        parts.push(luaL_tolstring(L, index))
        lua_pop(L, 1)
      }
      print(parts)
      return 0
    })
  })
  for (const [name, opener] of Object.entries(LIBRARIES)) {
    open(name, opener, () => {
      if (name === 'coroutine') {
        setFunction(L, 'resume', resume)
        setFunction(L, 'wrap', wrap(functionOf(L, 'create')))
      }
      if (name === 'string') {
        setField(L, 'dump', lua_pushnil)
        setFunction(L, 'rep', repeat)
      }
    })
  }
  sealStrings(L)
  return opened
}

/** Sets a global, as the VM's own libraries are set. */
export function setGlobal(L: LuaState, name: string, push: Push): void {
  lua_pushglobaltable(L)
  setField(L, name, push)
  lua_pop(L, 1)
}

function functionOf(L: LuaState, name: string): LuaFunction {
  pushField(L, lua_gettop(L), name)
  const found = lua_tocfunction(L, -1)
  lua_pop(L, 1)
  if (found === null) throw new Error(`The VM has no function "${name}".`)
  return found
}

/** `string.rep` in a few large copies; the VM's own counts to two billion to repeat nothing. */
function repeat(L: LuaState): number {
  const unit = luaL_checkstring(L, 1)
  const count = Math.max(0, luaL_checkinteger(L, 2))
  const separator = lua_type(L, 3) === LUA_TNONE ? NOTHING : luaL_checkstring(L, 3)
  const size = Math.max(0, count * (unit.length + separator.length) - separator.length)
  if (size > LONGEST) throw new Error('resulting string too large')
  const bytes = LuaBytes(size)
  if (size > 0) {
    bytes.set(unit)
    bytes.set(separator.subarray(0, size - unit.length), unit.length)
    for (let done = unit.length + separator.length; done < size; done *= 2) bytes.copyWithin(done, 0, Math.min(done, size - done))
  }
  lua_pushstring(L, bytes)
  return 1
}

const NOTHING = new Uint8Array()
const LONGEST = 2 ** 31 - 1

/** The metatable that all strings share. */
function sealStrings(L: LuaState): void {
  lua_pushstring(L, nameBytes(''))
  lua_getmetatable(L, -1)
  setField(L, '__metatable', (L) => lua_pushboolean(L, false))
  readOnly(L, -1)
  lua_settop(L, 0)
}
