/** The doing of one lease: its calls, each counted, and what they leave open. What becomes of it the lease machine decides. */
import type { ActorRefFrom } from 'xstate'
import type { leaseMachine, LeaseEvent } from '../../../machines/plugin/lease.machine.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Broker, BrokerCall, BrokerLease, GrantedBroker } from './broker.js'
import { type Handles, retired } from './handles.js'
import { createOpenTables } from './open-tables.js'

export interface CapabilityLease {
  /** Throws `quota.exceeded`, `plugin.generation_closed`, and what the broker throws. */
  call(operation: string, input: unknown, call: Pick<BrokerCall, 'waits'>): Promise<unknown>
  cancel(opaqueId: string, call: Pick<BrokerCall, 'waits'>): Promise<void>
  /** Aborts calls and ends what is open; resolves when it has ended. */
  free(): Promise<void>
}

interface CapabilityLeaseOptions {
  readonly subject: Omit<BrokerLease, 'signal' | 'table' | 'count'>
  readonly broker: Broker
  readonly ref: ActorRefFrom<typeof leaseMachine>
  /** Of the incarnation. */
  readonly handles: Pick<Handles, 'of'>
  /** Throws `quota.exceeded`. */
  spend(): void
}

export function createCapabilityLease({ subject, broker, ref, handles, spend }: CapabilityLeaseOptions): CapabilityLease {
  const stop = new AbortController()
  const { signal } = stop
  const tell = (event: LeaseEvent): void => {
    if (ref.getSnapshot().status === 'active') ref.send(event)
  }
  const tables = createOpenTables({
    signal,
    handles,
    onOpened: () => tell({ type: 'resource.opened' }),
    onClosed: () => tell({ type: 'resource.closed' }),
  })
  let bytes = 0
  let granted: GrantedBroker | undefined
  const count = (more: number): void => void (bytes += more)

  /** One call, from its place in the queue to its answer. */
  async function counted<T>(run: (broker: GrantedBroker) => Promise<T>): Promise<T> {
    const { context } = ref.getSnapshot()
    if (!ref.getSnapshot().hasTag('answering')) throw retired()
    tell({ type: 'call.begun' })
    let isDenied = true
    try {
      if (context.running >= LIMITS.brokers.running)
        throw new SvcError('quota.exceeded', `at most ${LIMITS.brokers.running} calls may wait at the same time`)
      spend()
      granted ??= broker.grant({ ...subject, signal, table: tables.table, count })
      const using = granted
      const answer = await tables.run(() => run(using))
      if (signal.aborted) throw retired()
      isDenied = false
      return answer
    } finally {
      tell({ type: 'call.ended', isDenied, bytes })
      bytes = 0
    }
  }

  return {
    call: (operation, input, { waits }) => counted((granted) => granted.call(operation, input, { signal, waits })),
    cancel: (opaqueId, { waits }) => counted(async (granted) => granted.cancel?.(opaqueId, { signal, waits })),
    async free() {
      stop.abort(retired())
      await tables.endAll()
    },
  }
}
