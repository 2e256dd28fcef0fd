/**
 * What a session has going on besides its own runs: tasks it has delegated, commands in the background. While there is any,
 * the execution of its family is not finished (sessions-events §11.9). Kept in memory by whoever does the work.
 */
import type { Work } from '../../../ports/doors.js'

/** The numbering of changes of what runs in the background; another start of the server begins another epoch. */
interface JobsRevision {
  readonly epoch: string
  readonly revision: number
}

export interface Outstanding {
  /** Notes work of a session; answers what ends it, once. */
  begin(sessionId: string, work: Work): () => void
  has(sessionId: string, kind?: Work['kind']): boolean
  /** Of a session, oldest first. */
  of(sessionId: string): readonly Work[]
  /** Every session that has work of the kind. */
  sessions(kind: Work['kind']): Iterable<string>
  /** Counts begins and ends of jobs of all sessions. */
  readonly jobs: JobsRevision
  /** Ends all work of the kind that a session has; resolves once nothing of it runs. */
  end(sessionId: string, kind: Work['kind']): Promise<void>
  /** Calls back after each end of work of the session; answers what ends that. */
  watch(sessionId: string, onEnded: () => void): () => void
}

export function createOutstanding(epoch: string): Outstanding & { onEnded(listener: (sessionId: string) => void): void } {
  const bySession = new Map<string, Set<Work>>()
  const watchers = new Map<string, Set<() => void>>()
  let listener: (sessionId: string) => void = () => undefined
  let revision = 0

  function end(sessionId: string, work: Work): void {
    const works = bySession.get(sessionId)
    if (works?.delete(work) !== true) return
    if (works.size === 0) bySession.delete(sessionId)
    if (work.kind === 'job') revision++
    listener(sessionId)
    watchers.get(sessionId)?.forEach((watcher) => watcher())
  }

  return {
    begin(sessionId, work) {
      const works = bySession.get(sessionId) ?? new Set()
      bySession.set(sessionId, works.add(work))
      if (work.kind === 'job') revision++
      return () => end(sessionId, work)
    },
    has: (sessionId, kind) => {
      const works = bySession.get(sessionId)
      return works !== undefined && (kind === undefined || [...works].some((work) => work.kind === kind))
    },
    of: (sessionId) => [...(bySession.get(sessionId) ?? [])],
    *sessions(kind) {
      for (const [sessionId, works] of bySession) if ([...works].some((work) => work.kind === kind)) yield sessionId
    },
    get jobs() {
      return { epoch, revision }
    },
    async end(sessionId, kind) {
      const works = [...(bySession.get(sessionId) ?? [])].filter((work) => work.kind === kind)
      await Promise.all(works.map(async (work) => work.end?.()))
    },
    watch(sessionId, onEnded) {
      const watching = watchers.get(sessionId) ?? new Set()
      watchers.set(sessionId, watching.add(onEnded))
      return () => {
        watching.delete(onEnded)
        if (watching.size === 0 && watchers.get(sessionId) === watching) watchers.delete(sessionId)
      }
    },
    onEnded: (next) => (listener = next),
  }
}
