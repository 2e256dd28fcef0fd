/** Signals to whole sessions: the jobs of an interactive shell are in process groups of their own. */
import { setTimeout as delay } from 'node:timers/promises'
import { nextTurn } from '../../../kernel/pause.js'
import { LIMITS } from '../../../protocol/limits.js'
import { LAST_WAIT, signalGroup } from './group-signals.js'
import { groupsBySession } from './process-table.js'

export interface Sessions {
  /** Sends a signal to every group of a session. */
  signal(session: number, signal: NodeJS.Signals): void
  /** HUP and TERM, then KILL after `killGrace`; resolves when nothing of it runs, or when no signal ends what is left. */
  end(session: number): Promise<void>
}

const FIRST_LOOK = 5

export function createSessions(): Sessions {
  let looking: Promise<ReturnType<typeof groupsBySession>> | undefined

  /** The process table after this moment; one look serves everybody who asks in a turn of the loop, because many terminals end at once. */
  function look(): Promise<ReturnType<typeof groupsBySession>> {
    looking ??= nextTurn().then(() => {
      looking = undefined
      return groupsBySession()
    })
    return looking
  }

  async function runningOf(session: number): Promise<readonly number[]> {
    return groupsIn(await look(), session).filter((group) => signalGroup(group, 0))
  }

  async function isGone(session: number, withinMs: number): Promise<boolean> {
    const deadline = performance.now() + withinMs
    for (let pause = FIRST_LOOK; ; pause *= 2) {
      await delay(Math.min(pause, Math.max(1, deadline - performance.now())))
      if ((await runningOf(session)).length === 0) return true
      if (performance.now() >= deadline) return false
    }
  }

  return {
    signal(session, name) {
      for (const group of groupsIn(groupsBySession(), session)) signalGroup(group, name)
    },
    async end(session) {
      const groups = await runningOf(session)
      if (groups.length === 0) return
      // The last one wakes what is stopped, so that it can end.
      for (const name of ['SIGHUP', 'SIGTERM', 'SIGCONT'] as const) for (const group of groups) signalGroup(group, name)
      if (await isGone(session, LIMITS.tools.killGrace)) return
      for (const group of await runningOf(session)) signalGroup(group, 'SIGKILL')
      await isGone(session, LAST_WAIT)
    },
  }
}

/** Without a process table, the group of the leader. */
function groupsIn(table: ReturnType<typeof groupsBySession>, session: number): readonly number[] {
  return table === undefined ? [session] : (table.get(session) ?? [])
}
