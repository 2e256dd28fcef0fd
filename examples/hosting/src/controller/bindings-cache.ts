/**
 * Bindings as this controller knows them, so that a request asks no database.
 *
 * I1 A change is told by the database, and the row read again; after a lost connection all rows are read again.
 * I2 What is known may be a moment old. It decides where a request is sent, never what is written; and a worker of an earlier generation
 *    refuses the tokens of a later one, and the other way round.
 */
import type { Bindings } from '../database/bindings.js'
import type { BoundWorkspace } from '../database/rows.js'
import type { Database } from '../database/sql.js'
import { nameOf, type WorkspaceKey } from '../records/machines.js'

export interface BindingsCache {
  get(key: WorkspaceKey): Promise<BoundWorkspace | undefined>
  /** What is known of it without asking. */
  known(key: WorkspaceKey): BoundWorkspace | undefined
  /** The row as soon as it fulfils this, or undefined when the signal ends the wait. */
  until(key: WorkspaceKey, isWanted: (bound: BoundWorkspace) => boolean, signal: AbortSignal): Promise<BoundWorkspace | undefined>
  onChange(listener: (key: WorkspaceKey) => void): void
  start(): Promise<void>
}

const MOST = 10_000

export function createBindingsCache(database: Database, bindings: Bindings, log: (message: string, error: unknown) => void): BindingsCache {
  const rows = new Map<string, BoundWorkspace>()
  const listeners: ((key: WorkspaceKey) => void)[] = []

  async function refresh(key: WorkspaceKey): Promise<BoundWorkspace | undefined> {
    const bound = await bindings.find(key)
    const name = nameOf(key)
    const before = rows.get(name)
    // Answers may come in another order than they were asked for.
    if (bound === undefined || (before !== undefined && before.binding.revision >= bound.binding.revision)) return before ?? bound
    if (rows.size >= MOST) rows.clear()
    rows.set(name, bound)
    for (const listener of listeners) listener(key)
    return bound
  }

  const keyOf = (name: string): WorkspaceKey => {
    const [tenant = '', workspace = ''] = name.split('/')
    return { tenant, workspace }
  }

  function told(name: string): void {
    refresh(keyOf(name)).catch((error: unknown) => log(`${name} could not be read`, error))
  }

  return {
    get: async (key) => rows.get(nameOf(key)) ?? refresh(key),
    known: (key) => rows.get(nameOf(key)),
    until: (key, isWanted, signal) =>
      new Promise((resolve) => {
        const look = () => {
          const bound = rows.get(nameOf(key))
          if (bound !== undefined && isWanted(bound)) finish(bound)
        }
        const listener = (changed: WorkspaceKey) => {
          if (nameOf(changed) === nameOf(key)) look()
        }
        const finish = (bound: BoundWorkspace | undefined) => {
          const index = listeners.indexOf(listener)
          if (index >= 0) listeners.splice(index, 1)
          signal.removeEventListener('abort', giveUp)
          resolve(bound)
        }
        const giveUp = () => finish(undefined)
        listeners.push(listener)
        signal.addEventListener('abort', giveUp, { once: true })
        if (signal.aborted) return giveUp()
        look()
      }),
    onChange: (listener) => void listeners.push(listener),
    start: () =>
      database.listen('binding', told, () => {
        for (const name of rows.keys()) told(name)
      }),
  }
}
