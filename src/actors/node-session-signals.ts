/** Signals to whole sessions: the jobs of an interactive shell are in process groups of their own. */
import { setTimeout as delay } from 'node:timers/promises'
import { LIMITS } from '../protocol/limits.js'
import { LAST_WAIT, signalGroup } from './node-group-signals.js'
import { groupsBySession } from './node-process-table.js'

export interface Sessions {
  /** Sends a signal to every group of a session. */
  signal(session: number, signal: NodeJS.Signals): void
  /** HUP and TERM, then KILL after `killGrace`; resolves when nothing of it runs, or when no signal ends what is left. */
  end(session: number): Promise<void>
}

/** Looks at the process table serve everybody who asks within this time: many terminals end at once. */
const LOOK_AGE = 2
const FIRST_LOOK = 5

export function createSessions(): Sessions {
  let looked = Number.NEGATIVE_INFINITY
  let table: ReturnType<typeof groupsBySession>

  function groupsOf(session: number): readonly number[] {
    if (performance.now() - looked > LOOK_AGE) {
      table = groupsBySession()
      looked = performance.now()
    }
    return table === undefined ? [session] : (table.get(session) ?? [])
  }

  /** Without a process table, whether the group of the leader can be signalled. */
  function runs(session: number): boolean {
    return groupsOf(session).some((group) => signalGroup(group, 0))
  }

  async function isGone(session: number, withinMs: number): Promise<boolean> {
    const deadline = performance.now() + withinMs
    for (let pause = FIRST_LOOK; ; pause *= 2) {
      await delay(Math.min(pause, Math.max(1, deadline - performance.now())))
      if (!runs(session)) return true
      if (performance.now() >= deadline) return false
    }
  }

  function signal(session: number, name: NodeJS.Signals): void {
    for (const group of groupsOf(session)) signalGroup(group, name)
  }

  return {
    signal,
    async end(session) {
      if (!runs(session)) return
      // The last one wakes what is stopped, so that it can end.
      for (const name of ['SIGHUP', 'SIGTERM', 'SIGCONT'] as const) signal(session, name)
      if (await isGone(session, LIMITS.tools.killGrace)) return
      signal(session, 'SIGKILL')
      await isGone(session, LAST_WAIT)
    },
  }
}
