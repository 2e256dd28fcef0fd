/**
 * What a session has going on besides its own runs: tasks it has delegated, commands in the background. While there is any,
 * the execution of its family is not finished (sessions-events §11.9). Kept in memory by whoever does the work.
 */

export interface Work {
  readonly kind: 'task' | 'job'
  /** Of the task or the job. */
  readonly id: string
  /** Unix ms. */
  readonly startedAt: number
}

export interface Outstanding {
  /** Notes work of a session; answers what ends it, once. */
  begin(sessionId: string, work: Work): () => void
  has(sessionId: string, kind?: Work['kind']): boolean
  /** Of a session, oldest first. */
  of(sessionId: string): readonly Work[]
  /** Every session that has work of the kind. */
  sessions(kind: Work['kind']): Iterable<string>
  /** Calls back after each end of work of the session; answers what ends that. */
  watch(sessionId: string, onEnded: () => void): () => void
}

export function createOutstanding(): Outstanding & { onEnded(listener: (sessionId: string) => void): void } {
  const bySession = new Map<string, Set<Work>>()
  const watchers = new Map<string, Set<() => void>>()
  let listener: (sessionId: string) => void = () => undefined

  function end(sessionId: string, work: Work): void {
    const works = bySession.get(sessionId)
    if (works?.delete(work) !== true) return
    if (works.size === 0) bySession.delete(sessionId)
    listener(sessionId)
    watchers.get(sessionId)?.forEach((watcher) => watcher())
  }

  return {
    begin(sessionId, work) {
      const works = bySession.get(sessionId) ?? new Set()
      bySession.set(sessionId, works.add(work))
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
