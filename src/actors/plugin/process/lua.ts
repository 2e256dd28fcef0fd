/** How the server starts the sandbox program of a Lua package, and the limits it holds from outside (threat-model L2, L3). */
import { LIMITS } from '../../../protocol/limits.js'
import type { ProcessWatch } from './process-spec.js'

export interface LuaCommandOptions {
  /** Absolute path of the Node executable. */
  readonly node: string
  /** Absolute path of `dist/lua-sandbox.js`. */
  readonly sandbox: string
  /** Absolute path of the package's `svc-plugin.json`. */
  readonly manifest: string
}

export interface LuaCommand {
  readonly program: string
  readonly args: readonly string[]
  readonly watch: Required<ProcessWatch>
}

/**
 * Program, arguments and outer limits of one sandbox process (plugin-protocol §6.1, §6.6). No flags of V8: with any, Node compiles itself anew
 * at each start, twice. The thread that moves frames holds what its queue may, the thread of the script has limits of its own.
 */
export function luaCommand({ node, sandbox, manifest }: LuaCommandOptions): LuaCommand {
  const { load, callback, watchdogGrace, processBytes } = LIMITS.lua
  // The sandbox stops a script at its budget and itself one grace later; whoever watches from outside comes after both.
  const outer = 2 * watchdogGrace
  return {
    program: node,
    args: [sandbox, '--manifest', manifest],
    // A call may have to wait for an event handler, which nobody gets a reply for.
    watch: { loadBudget: load + outer, callBudget: 2 * callback + outer, processBytes },
  }
}
