/** The global `svc`: what a script can ask its host for (plugin-protocol §6.3). */
import { lua_createtable, lua_pop, lua_toproxy, type LuaState } from 'fengari/src/lua.js'
import { luaL_checkany } from 'fengari/src/lauxlib.js'
import { LIMITS } from '../../../protocol/limits.js'
import { readJson, roomOf } from '../values/from-lua.js'
import { withLists, type Json, type Shape } from '../values/json.js'
import { readOnly } from '../values/read-only.js'
import { setField, setFunction, type Push } from '../values/tables.js'
import { pushAnswer } from '../values/to-lua.js'
import type { ArrayMark } from '../values/values.js'

/** Sends one request and waits; throws the host's text when it refuses. */
export type CallHost = (method: string, params: Json) => unknown

/** `config_get` asks for `host.config.get`, and so on. */
const FUNCTIONS =
  'config_get config_set workspace_read workspace_write workspace_list event_publish network_request process_spawn process_cancel task_spawn task_cancel secret_use secret_read prompt_read message_read response_transform provider_call policy_call'.split(
    ' ',
  )
const LISTS: Readonly<Record<string, Shape>> = { workspace_write: { contents: 'list' } }

export function createHostTable(L: LuaState, array: ArrayMark, callHost: CallHost): Push {
  lua_createtable(L, 0, 0)
  for (const name of FUNCTIONS) {
    const method = `host.${name.replace('_', '.')}`
    setFunction(L, name, (L) => {
      luaL_checkany(L, 1)
      const params = withLists(readJson(L, 1, array, roomOf(LIMITS.plugins.frameBytes)), LISTS[name])
      pushAnswer(L, callHost(method, params), array)
      return 1
    })
  }
  readOnly(L, -1)
  const host = lua_toproxy(L, -1)
  lua_pop(L, 1)
  lua_createtable(L, 0, 0)
  setField(L, 'host', host)
  readOnly(L, -1)
  const svc = lua_toproxy(L, -1)
  lua_pop(L, 1)
  return svc
}
