/** Signals to a process group, and bounded waits for what they do. */
import { setTimeout as delay } from 'node:timers/promises'
import { LIMITS } from '../../../protocol/limits.js'
import { groupRuns } from './process-table.js'

/** How long a killed process may take to be seen dead: one in uninterruptible sleep takes as long as its device. */
export const LAST_WAIT = 300
/** Looks at a signalled group, `killGrace` in all. */
const PAUSES = [0.05, 0.15, 0.3, 0.5].map((share) => share * LIMITS.tools.killGrace)

/** Ends what is left of a group: TERM, then KILL. A group that no signal ends is left after a bounded wait. */
export async function endGroup(pid: number): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (!signalGroup(pid, signal)) return
    for (const pause of PAUSES) {
      await delay(pause)
      if (!signalGroup(pid, 0) || !groupRuns(pid)) return
    }
  }
}

/** Whether the group exists and could be signalled. */
export function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, signal)
    return true
  } catch {
    return false
  }
}

export async function settlesWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const timer = new AbortController()
  const late = delay(ms, false, { signal: timer.signal }).catch(() => false)
  const first = await Promise.race([work.then(() => true), late])
  timer.abort()
  return first
}
