/** `require` and the table `package`: modules of the package itself, and nothing else (plugin-protocol §6.5). */
import {
  LUA_OK,
  LUA_TFUNCTION,
  LUA_TNIL,
  lua_call,
  lua_createtable,
  lua_error,
  lua_insert,
  lua_pop,
  lua_pushboolean,
  lua_pushcfunction,
  lua_pushstring,
  lua_pushvalue,
  lua_rawget,
  lua_rawset,
  lua_toproxy,
  lua_type,
  type LuaState,
} from 'fengari/src/lua.js'
import { luaL_checkstring, luaL_loadbufferx } from 'fengari/src/lauxlib.js'
import { readOnly } from '../values/read-only.js'
import { setField, type Push } from '../values/tables.js'
import { bytesOf, nameBytes, shownText } from '../values/text.js'

/** A source of the package; `path` is relative to its root. */
export interface Source {
  readonly path: string
  readonly bytes: Uint8Array
}

/** Reads the first of the candidates, relative paths, that is there; throws a sentence for one that is there but must not be read. */
export type ReadSource = (candidates: readonly string[]) => Source | undefined

export interface Modules {
  /** The table `package`. */
  readonly package: Push
  readonly require: Push
}

const MODULE = /^[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*$/
const LONGEST = 200

/** `loaded`: what `require` answers from the start, by name. */
export function createModules(L: LuaState, loaded: ReadonlyMap<string, Push>, readSource: ReadSource): Modules {
  const loading = new Set<string>()

  lua_createtable(L, 0, 0)
  for (const [name, push] of loaded) setField(L, name, push)
  const modules = lua_toproxy(L, -1)
  lua_createtable(L, 0, 0)
  const preload = lua_toproxy(L, -1)
  lua_pop(L, 2)

  lua_createtable(L, 0, 0)
  setField(L, 'loaded', modules)
  setField(L, 'preload', preload)
  for (const name of ['path', 'cpath']) setField(L, name, (L) => lua_pushstring(L, nameBytes('')))
  readOnly(L, -1)
  const table = lua_toproxy(L, -1)
  lua_pop(L, 1)

  /** Pushes `table[name]`, alone. */
  function look(L: LuaState, table: Push, name: Uint8Array): number {
    table(L)
    lua_pushstring(L, name)
    return lua_rawget(L, -2)
  }

  /** Pushes the function that makes the module, and a second argument for it. */
  function find(L: LuaState, bytes: Uint8Array, name: string): void {
    if (look(L, preload, bytes) === LUA_TFUNCTION) {
      lua_pushstring(L, nameBytes(':preload:'))
      return
    }
    if (!MODULE.test(name)) throw new Error(`"${name}" is not a module name: letters, digits and "_", in parts joined by "."`)
    const stem = `lua/${name.replaceAll('.', '/')}`
    const source = readSource([`${stem}.lua`, `${stem}/init.lua`])
    if (source === undefined) throw new Error(`module "${name}" not found: the package has neither ${stem}.lua nor ${stem}/init.lua`)
    pushChunk(L, source)
    lua_pushstring(L, bytesOf(source.path))
  }

  function require(L: LuaState): number {
    const bytes = luaL_checkstring(L, 1)
    if (look(L, modules, bytes) !== LUA_TNIL) return 1
    const name = shownText(bytes, LONGEST)
    if (loading.has(name)) throw new Error(`module "${name}" is required while it is being loaded`)
    loading.add(name)
    try {
      find(L, bytes, name)
      lua_pushstring(L, bytes)
      lua_insert(L, -2)
      lua_call(L, 2, 1)
    } finally {
      loading.delete(name)
    }
    // A module without a value of its own is true, unless it has entered something itself.
    if (lua_type(L, -1) === LUA_TNIL && look(L, modules, bytes) === LUA_TNIL) lua_pushboolean(L, true)
    remember(L, bytes)
    return 1
  }

  /** `loaded[name]` = the value on top, which stays there. */
  function remember(L: LuaState, name: Uint8Array): void {
    modules(L)
    lua_pushstring(L, name)
    lua_pushvalue(L, -3)
    lua_rawset(L, -3)
    lua_pop(L, 1)
  }

  lua_pushcfunction(L, require)
  const requireFunction = lua_toproxy(L, -1)
  lua_pop(L, 1)
  return { package: table, require: requireFunction }
}

/** Pushes the compiled source: text only. Raises the error of the compiler. */
export function pushChunk(L: LuaState, { bytes, path }: Source): void {
  const status = luaL_loadbufferx(L, bytes, bytes.length, bytesOf(`@${path}`), nameBytes('t'))
  if (status !== LUA_OK) lua_error(L)
}
