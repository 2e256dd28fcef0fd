/**
 * Changes whose callers wait for the disk in any case are one commit: those that come in one turn of the event loop, or while a sync is under
 * way, which none of them would share.
 *
 * I1 Nobody is answered before the commit that his change is part of survives a loss of power.
 * I2 One that throws takes back nothing that is another's: then each is committed by itself, from its beginning.
 */
import type { Syncs } from './syncs.js'

interface Commits<Tx> {
  commit<T>(durability: 'process', change: (tx: Tx) => T): T
  /** How many there were. */
  readonly commits: number
}

interface Member<Tx> {
  /** Makes the change; answers what tells its caller, once it may be told. */
  change(tx: Tx): () => void
  fail(error: unknown): void
}

/** Joins the commit of a group; the change may be made twice, of which only the last counts. */
export type Together<Tx> = <T>(change: (tx: Tx) => T) => Promise<T>

export function createGroups<Tx>(journal: Commits<Tx>, syncs: Pick<Syncs, 'before' | 'synced'>): Together<Tx> {
  let waiting: Member<Tx>[] = []

  /** Answers what tells those whose change is kept. */
  function commit(members: readonly Member<Tx>[]): (() => void)[] {
    const { commits } = journal
    try {
      return journal.commit('process', (tx) => members.map((member) => member.change(tx)))
    } catch (error) {
      const isCommitted = journal.commits > commits
      if (members.length > 1 && !isCommitted) return members.flatMap((member) => commit([member])) // I2
      for (const member of members) member.fail(error)
      return []
    }
  }

  function commitAll(): void {
    const members = waiting
    waiting = []
    const told = commit(members)
    if (told.length === 0) return
    syncs.synced().then(
      () => told.forEach((tell) => tell()),
      (error: unknown) => members.forEach((member) => member.fail(error)),
    )
  }

  return (change) =>
    new Promise((resolve, reject) => {
      const member = {
        change(tx: Tx) {
          const result = change(tx)
          return () => resolve(result)
        },
        fail: reject,
      }
      if (waiting.push(member) === 1) syncs.before(commitAll)
    })
}
