/**
 * The leases of all plugins: one actor for each incarnation and each of its capabilities that a broker serves.
 *
 * One each rather than a region of one machine: which capabilities there are is data, they end apart from each other, and the inspector
 * shows each with its own numbers. An actor lives from the grant until nothing of it is open.
 *
 * I1 From the moment of `revoke` no call is begun or answered, and what is open is being ended.
 * I2 Quotas are of the package: a new generation has what is left of them.
 */
import { chartOf } from '../../../kernel/machine/chart.js'
import { type ActorRefFrom, createActor, fromPromise, type InspectionEvent } from 'xstate'
import type { ActorRegistry } from '../../../kernel/roots.js'
import { type Supervised, supervise } from '../../../kernel/supervise.js'
import { type LeaseCounts, leaseMachine } from '../../../machines/plugin/lease.machine.js'
import type { HostCapability } from '../../../protocol/plugin/plugin.js'
import type { Effects } from '../../../ports/effects.js'
import type { Lease, LeaseStanding } from '../generation/instance.js'
import type { Broker, LeaseSubject } from './broker.js'
import { type CapabilityLease, createCapabilityLease } from './capability-lease.js'
import { createHandleTables, type Handles } from './handles.js'
import { createLeaseUses, standingOf } from './lease-standing.js'
import { createQuotas, type QuotaUse } from './quotas.js'
import { createServedSessions } from './served-sessions.js'

interface CountedLease extends LeaseCounts {
  readonly capability: HostCapability
}

/** Everything one incarnation of a plugin was granted, revoked as one. */
export interface InstanceLease extends Lease {
  /** Capabilities that have a broker here, granted or not. */
  readonly brokers: ReadonlySet<HostCapability>
  /** What may be asked of the broker of a capability; undefined without a grant or a broker. */
  brokered(capability: HostCapability): Pick<CapabilityLease, 'call' | 'cancel'> | undefined
  /** Permanent; ends what is open. */
  revoke(): void
  /** Resolves when nothing of it is open; not before it is revoked. */
  freed(): Promise<void>
  readonly counters: readonly CountedLease[]
  /** How each of them stands, those revoked and those without a broker included. */
  readonly standing: readonly LeaseStanding[]
  /** A request of the plugin was answered so. */
  note(method: string, outcome: 'allowed' | 'denied'): void
}

export interface Leases {
  grant(subject: Omit<LeaseSubject, 'capabilities'>, capabilities: Iterable<HostCapability>): InstanceLease
  /** What a package with these capabilities may use in a window of time, and has used. */
  quotas(pluginId: string, capabilities: readonly HostCapability[]): QuotaUse[]
}

interface LeasesDeps {
  readonly effects: Pick<Effects, 'clock' | 'log' | 'random'>
  readonly brokers: ReadonlyMap<HostCapability, Broker>
  readonly inspect?: ((event: InspectionEvent) => void) | undefined
  readonly actors?: ActorRegistry | undefined
}

export function createLeases({ effects, brokers, inspect, actors }: LeasesDeps): Leases {
  const held = new Map<string, CapabilityLease>()
  const installed = new Set(brokers.keys())
  const quotas = createQuotas(effects.clock)
  const logic = chartOf(leaseMachine).provide({
    actors: { free: fromPromise(async ({ input: { key } }) => held.get(key)?.free()) },
  })
  const supervised: Supervised<typeof leaseMachine> = supervise({
    effects,
    kind: 'lease',
    inspect,
    actors,
    onEnded(key, ref) {
      held.delete(key)
      const { isOverdue, pluginId, capability } = ref.getSnapshot().context
      if (isOverdue) effects.log.warn('what a plugin had open did not end in time', { pluginId, capability })
    },
  })
  const tables = createHandleTables({ effects, inspect, actors })

  function begin(
    key: string,
    subject: Parameters<typeof createCapabilityLease>[0]['subject'],
    capability: HostCapability,
    broker: Broker,
    handles: Handles,
  ): ActorRefFrom<typeof leaseMachine> | undefined {
    const { pluginId, registryGeneration: generation = 0 } = subject.owner
    const input = { key, pluginId, generation, capability }
    const ref = supervised.start(key, (options) => createActor(logic, { id: `lease:${key}`, input, ...options }))
    if (ref === undefined) return undefined
    held.set(key, createCapabilityLease({ subject, broker, handles, ref, spend: () => quotas.spend(pluginId, capability) }))
    return ref
  }

  return {
    grant(subject, capabilities) {
      const granted = new Set(capabilities)
      const whole = { ...subject, capabilities: granted, served: subject.served ?? createServedSessions(effects.clock) }
      const keys = new Map<HostCapability, string>()
      const refs = new Map<HostCapability, ActorRefFrom<typeof leaseMachine>>()
      const uses = createLeaseUses(() => effects.clock.now())
      const handles = [...granted].some((capability) => brokers.has(capability)) ? tables.open(subject.owner) : undefined
      for (const capability of granted) {
        const broker = brokers.get(capability)
        if (broker === undefined || handles === undefined) continue
        const key = `${subject.owner.instanceId}/${capability}`
        keys.set(capability, key)
        const ref = begin(key, whole, capability, broker, handles)
        if (ref !== undefined) refs.set(capability, ref)
      }
      let revoked = false
      return {
        capabilities: granted,
        brokers: installed,
        get revoked() {
          return revoked
        },
        brokered: (capability) => (revoked ? undefined : held.get(keys.get(capability) ?? '')),
        revoke() {
          revoked = true
          handles?.revoke()
          for (const key of keys.values()) supervised.send(key, { type: 'revoked' })
        },
        freed: async () => void (await Promise.all([...keys.values()].map((key) => supervised.until(key)))),
        get counters() {
          return [...keys].flatMap(([capability, key]) => {
            const context = supervised.get(key)?.getSnapshot().context
            if (context === undefined) return []
            const { calls, denied, running, open, bytes } = context
            return [{ capability, calls, denied, running, open, bytes }]
          })
        },
        get standing() {
          return [...granted].map((capability) => standingOf(capability, { ref: refs.get(capability), use: uses.of(capability), revoked }))
        },
        note: uses.note,
      }
    },
    quotas: (pluginId, capabilities) =>
      capabilities.flatMap((capability) => {
        const broker = brokers.get(capability)
        return broker === undefined ? [] : [quotas.of(pluginId, capability), ...(broker.used?.(pluginId) ?? [])]
      }),
  }
}
