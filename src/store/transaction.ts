/**
 * Transactions with a durability class (threat-model §6.1).
 *
 * I1 One transaction at a time; a nested call joins it. I2 A throw anywhere inside, caught or not, rolls everything
 * back. I3 The sync mode changes between transactions only: `power` syncs the log at its commit and with it all
 * `process` commits before it. `onCommit` hears of every transaction that is over, `onRollback`
 * of those that changed nothing. Where nothing is synced, because power is played, the mode stays as it was.
 */
import type { Connection } from './disk/connection.js'
import type { Durability } from './store.js'

export type Transact = <T>(durability: Durability, change: () => T) => T

/** A named place where tests let a store operation fail by throwing (threat-model §8). */
export type Failpoint = (name: 'commit') => void

export function createTransact(
  connection: Connection,
  failpoint: Failpoint | undefined,
  onCommit = (): void => undefined,
  onRollback = (): void => undefined,
  isSynced = true,
): Transact {
  let active: Durability | undefined
  let nestedFailure: { readonly error: unknown } | undefined

  function join<T>(durability: Durability, change: () => T): T {
    if (durability === 'power' && active === 'process') {
      throw new Error('a `power` change inside a `process` transaction: begin the outer one with `power`')
    }
    try {
      return settled(change())
    } catch (error) {
      nestedFailure ??= { error }
      throw error
    }
  }

  return (durability, change) => {
    if (active !== undefined) return join(durability, change)
    connection.begin(!isSynced ? 'off' : durability === 'power' ? 'full' : 'normal')
    active = durability
    try {
      const result = settled(change())
      if (nestedFailure !== undefined) throw nestedFailure.error
      failpoint?.('commit')
      connection.commit()
      return result
    } catch (error) {
      onRollback()
      throw connection.rollBack(error)
    } finally {
      active = undefined
      nestedFailure = undefined
      onCommit()
    }
  }
}

function settled<T>(result: T): T {
  if (result instanceof Promise) throw new Error('a transaction cannot wait: its change returned a promise')
  return result
}
