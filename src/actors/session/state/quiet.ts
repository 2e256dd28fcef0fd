/** When nothing of a session goes on: neither a run, nor what waits, nor the work it has besides. */
import type { Work as Working } from './core.js'
import type { Work } from '../../../ports/doors.js'
import type { Outstanding } from './outstanding.js'

type Watched = Pick<Working, 'statuses' | 'outstanding'>

/** Work of the kind counts; without one, all work does. */
export function isQuiet({ statuses, outstanding }: Watched, sessionId: string, kind?: Work['kind']): boolean {
  return statuses.isIdle(sessionId) && !outstanding.has(sessionId, kind)
}

export async function untilQuiet(core: Watched, sessionId: string, signal: AbortSignal, kind?: Work['kind']): Promise<void> {
  while (!isQuiet(core, sessionId, kind)) {
    await core.statuses.idle(sessionId, signal)
    if (core.outstanding.has(sessionId, kind)) await workEnded(core.outstanding, sessionId, signal)
  }
}

function workEnded(outstanding: Outstanding, sessionId: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      unwatch()
      reject(new Error('nobody waits any more'))
    }
    const unwatch = outstanding.watch(sessionId, () => {
      unwatch()
      signal.removeEventListener('abort', abort)
      resolve()
    })
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
}
