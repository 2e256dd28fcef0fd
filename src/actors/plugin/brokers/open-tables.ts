/**
 * What calls of one lease leave open, and the calls that are under way.
 *
 * I1 Each is ended once: when it is closed, or with the lease.
 * I2 What is opened once the lease is being freed is ended at once.
 */
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { OpenTable } from './broker.js'
import { type HandleKind, type Handles, retired } from './handles.js'

interface OpenTables {
  table<Resource>(kind: HandleKind, end: (resource: Resource) => Promise<void> | void): OpenTable<Resource>
  /** Keeps a call in mind until it has settled. */
  run<T>(call: () => Promise<T>): Promise<T>
  /** Ends all that is open; resolves when that and every call has ended. Rejects when something could not be ended. */
  endAll(): Promise<void>
}

interface OpenTablesOptions {
  /** Aborted when nothing may be opened any more. */
  readonly signal: AbortSignal
  /** Gives ids to what is open. */
  readonly handles: Pick<Handles, 'of'>
  onOpened(): void
  onClosed(): void
}

export function createOpenTables({ signal, handles, onOpened, onClosed }: OpenTablesOptions): OpenTables {
  /** How each thing that is open is ended. */
  const open = new Map<string, () => Promise<void> | void>()
  const calls = new Set<Promise<unknown>>()

  async function close(opaqueId: string): Promise<boolean> {
    const end = open.get(opaqueId)
    if (end === undefined) return false
    open.delete(opaqueId)
    try {
      await end()
    } finally {
      onClosed()
    }
    return true
  }

  return {
    table<Resource>(kind: HandleKind, end: (resource: Resource) => Promise<void> | void): OpenTable<Resource> {
      const named = handles.of<Resource>(kind)
      return {
        add(resource) {
          if (signal.aborted || open.size >= LIMITS.brokers.open) {
            void Promise.resolve(end(resource)).catch(() => undefined) // I2
            throw signal.aborted ? retired() : new SvcError('quota.exceeded', `at most ${LIMITS.brokers.open} may be open at the same time`)
          }
          const opaqueId = named.add(resource)
          open.set(opaqueId, () => {
            named.remove(opaqueId)
            return end(resource)
          })
          onOpened()
          return opaqueId
        },
        get: (opaqueId) => named.find(opaqueId),
        close: async (opaqueId) => named.has(opaqueId) && close(opaqueId),
      }
    },
    async run(call) {
      const running = call()
      calls.add(running)
      try {
        return await running
      } finally {
        calls.delete(running)
      }
    },
    async endAll() {
      const [ended] = await Promise.all([Promise.allSettled([...open.keys()].map(close)), Promise.allSettled(calls)])
      const failure = ended.find(({ status }) => status === 'rejected')
      if (failure?.status === 'rejected') throw failure.reason
    },
  }
}
