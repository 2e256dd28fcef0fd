/**
 * Changes that come in one turn of the event loop, and whose callers wait in any case, are one commit.
 *
 * I1 Nobody is answered before the commit that his change is part of.
 * I2 One that throws takes back nothing that is another's: then each is committed by itself, from its beginning.
 */
import { setImmediate } from 'node:timers'

interface Commits<Tx> {
  commit<T>(durability: 'process', change: (tx: Tx) => T): T
  /** How many there were. */
  readonly commits: number
}

interface Member<Tx> {
  /** Makes the change; answers what tells its caller, once it is committed. */
  change(tx: Tx): () => void
  /** Makes and commits it, and tells its caller. */
  alone(): void
  fail(error: unknown): void
}

/** Joins the commit of a group; the change may be made twice, of which only the last counts. */
export type Together<Tx> = <T>(change: (tx: Tx) => T) => Promise<T>

export function createGroups<Tx>(journal: Commits<Tx>): Together<Tx> {
  let waiting: Member<Tx>[] = []

  function commitAll(): void {
    const members = waiting
    waiting = []
    if (members.length === 1) return members.forEach((member) => member.alone())
    const { commits } = journal
    try {
      const told = journal.commit('process', (tx) => members.map((member) => member.change(tx)))
      for (const tell of told) tell()
    } catch (error) {
      const isCommitted = journal.commits > commits
      for (const member of members) {
        if (isCommitted) member.fail(error)
        else member.alone()
      }
    }
  }

  return (change) =>
    new Promise((resolve, reject) => {
      const member = {
        change(tx: Tx) {
          const result = change(tx)
          return () => resolve(result)
        },
        alone() {
          try {
            resolve(journal.commit('process', change))
          } catch (error) {
            reject(error)
          }
        },
        fail: reject,
      }
      if (waiting.push(member) === 1) setImmediate(commitAll)
    })
}
