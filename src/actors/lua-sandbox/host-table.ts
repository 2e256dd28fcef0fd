/** The global `svc`: what a script can ask its host for (plugin-protocol §6.3). */
import { lua_createtable, lua_pop, lua_toproxy, type LuaState } from 'fengari/src/lua.js'
import { luaL_checkany } from 'fengari/src/lauxlib.js'
import { LIMITS } from '../../protocol/limits.js'
import { readJson, roomOf } from './from-lua.js'
import { withLists, type Json, type Shape } from './json.js'
import { readOnly } from './read-only.js'
import { setField, setFunction, type Push } from './tables.js'
import { pushAnswer } from './to-lua.js'
import type { ArrayMark } from './values.js'

/** Sends one request and waits; throws the host's text when it refuses. */
export type CallHost = (method: string, params: Json) => unknown

const METHODS: Readonly<Record<string, string>> = {
  config_get: 'host.config.get',
  config_set: 'host.config.set',
  workspace_read: 'host.workspace.read',
  workspace_write: 'host.workspace.write',
  workspace_list: 'host.workspace.list',
  event_publish: 'host.event.publish',
  network_request: 'host.network.request',
  process_spawn: 'host.process.spawn',
  process_cancel: 'host.process.cancel',
  task_spawn: 'host.task.spawn',
  task_cancel: 'host.task.cancel',
  secret_use: 'host.secret.use',
  secret_read: 'host.secret.read',
  prompt_read: 'host.prompt.read',
  message_read: 'host.message.read',
  response_transform: 'host.response.transform',
  provider_call: 'host.provider.call',
  policy_call: 'host.policy.call',
}
const LISTS: Readonly<Record<string, Shape>> = { workspace_write: { contents: 'list' } }

export function createHostTable(L: LuaState, array: ArrayMark, callHost: CallHost): Push {
  lua_createtable(L, 0, 0)
  for (const [name, method] of Object.entries(METHODS)) {
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
