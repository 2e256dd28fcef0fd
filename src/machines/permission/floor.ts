/**
 * What a session of a stranger to this installation may do at most (subsystems d.6; decision 42). It is judged before every rule, answer,
 * grant and bypass, and none of them is asked about what lies below it: what is not listed here is denied.
 *
 * I1 Places are the directory of the session. What tools ask for beyond it is a need of `external_directory`, which is not listed; of a line
 *    in the sandbox only what the sandbox itself makes harmless is let pass.
 * I2 A protected file is changed by nobody: whoever could answer for it is the stranger.
 * I3 Tools are of the program itself. What a plugin, a server or a workspace contributes is not offered, whatever it is called.
 * I4 What a session delegates has the same floor, and the floors of all sessions above hold for it as well.
 */

export interface Floor {
  /** Where everything happens, canonical; empty = nowhere. */
  readonly roots: readonly string[]
  /** Commands run in the sandbox or not at all, whatever the configuration says by now. */
  readonly isConfined: boolean
}

interface FlooredNeed {
  readonly permission: string
  readonly explicit?: string | undefined
  readonly harmless?: boolean | undefined
}

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

const FLOOR_TOOLS = words(`
  read glob grep write edit apply_patch bash sandbox_exec todowrite question plan_enter plan_exit task task_result stop_task complete_goal
`)
const GROUPS = words(`
  read glob grep edit bash sandbox_exec todowrite question plan_enter plan_exit task task_result stop_task complete_goal doom_loop
`)
const OF_THE_PROGRAM = /^dev\.svc\./

/** Whether the need is denied, whatever rules say. */
export function isBelow({ roots }: Floor, { permission, explicit, harmless }: FlooredNeed): boolean {
  if (roots.length === 0) return true
  if (permission === 'external_directory') return harmless !== true // I1
  return !GROUPS.has(permission) || (permission === 'edit' && explicit !== undefined) // I2
}

/** I3 */
export function isOnFloor({ roots }: Floor, toolId: string, pluginId: string): boolean {
  return roots.length > 0 && FLOOR_TOOLS.has(toolId) && OF_THE_PROGRAM.test(pluginId)
}
