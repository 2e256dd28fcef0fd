/** The VM of one package: loaded once, called many times, one run at a time (plugin-protocol §6.1). */
import { LUA_TTABLE, lua_call, lua_gettop, lua_type, type LuaState } from 'fengari/src/lua.js'
import { luaL_newstate } from 'fengari/src/lauxlib.js'
import type { Budget } from './budget.js'
import { readDeclaration, type Declaration } from './declaration.js'
import { createHostTable, type CallHost } from './host-table.js'
import { invoke, resultOf, type Invocation } from './invoke.js'
import { openLibraries, setGlobal } from './libraries.js'
import { createModules, pushChunk, type ReadSource, type Source } from './modules.js'
import { createRun, type Outcome } from './run.js'
import type { CallResult } from '../thread-messages.js'
import { createArrayMark } from '../values/values.js'
import { WARM_UP } from './warm-up.js'

export interface VmOptions {
  readonly budget: Budget
  readonly readSource: ReadSource
  readonly callHost: CallHost
  print(parts: readonly Uint8Array[]): void
}

export interface Vm {
  /** Lets the engine see every part of the VM before time counts. */
  warmUp(): void
  /** Runs the entrypoint; the reply to `initialize`, as JSON. Once. */
  load(entrypoint: string): Outcome<CallResult>
  call(invocation: Invocation): Outcome<CallResult>
}

export function createVm({ budget, readSource, callHost, print }: VmOptions): Vm {
  const L = newState()
  const array = createArrayMark(L)
  const loaded = new Map(openLibraries(L, budget, print))
  loaded.set('svc', createHostTable(L, array, callHost))
  const modules = createModules(L, loaded, readSource)
  for (const [name, push] of [...loaded, ['package', modules.package], ['require', modules.require]] as const) setGlobal(L, name, push)
  const run = createRun(L, budget)
  let declaration = NOTHING

  function load(source: Source): Declaration {
    pushChunk(L, source)
    lua_call(L, 0, 1)
    const table = lua_gettop(L)
    if (lua_type(L, table) !== LUA_TTABLE) throw new Error('the entrypoint must return one table')
    return readDeclaration(L, table, array)
  }

  function answer(invocation: Invocation): Outcome<CallResult> {
    return run('callback', () => invoke(L, declaration, array, invocation))
  }

  return {
    warmUp() {
      run('entrypoint', () => {
        declaration = load(WARM_UP)
      })
      answer({ method: 'tool.invoke', params: { tool: 't', input: { list: [1, null, 'text'] } } })
      declaration = NOTHING
    },
    load(entrypoint) {
      return run('entrypoint', () => {
        const source = readSource([entrypoint])
        if (source === undefined) throw new Error(`the entrypoint ${entrypoint} is not there`)
        declaration = load(source)
        return resultOf(declaration.reply)
      })
    },
    call: answer,
  }
}

function newState(): LuaState {
  const L = luaL_newstate()
  if (L === null) throw new Error('The VM cannot be made.')
  return L
}

const NOTHING: Declaration = { reply: {}, callbacks: new Map() }
