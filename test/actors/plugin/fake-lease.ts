import type { Broker } from '../../../src/actors/plugin/brokers/broker.js'
import { createLeases } from '../../../src/actors/plugin/brokers/leases.js'
import { createServedSessions, type ServedSessions } from '../../../src/actors/plugin/brokers/served-sessions.js'
import type { InstancePlace } from '../../../src/actors/plugin/generation/instance.js'
import type { HostCapability } from '../../../src/protocol/plugin/plugin.js'
import type { PermissionAction } from '../../../src/protocol/interaction/interaction.js'
import type { ToolContext } from '../../../src/ports/plugin.js'
import type { FakeEffects } from '../../fakes/effects.js'
import { openStore } from '../../../src/store/open.js'
import type { Store } from '../../../src/store/store.js'
import { OWNER } from './played-link.js'

export interface Leased {
  /** The output of an operation. */
  call(operation: string, input?: unknown): Promise<unknown>
  cancel(opaqueId: string): Promise<void>
  readonly served: ServedSessions
  /** How much is open by now. */
  readonly open: number
  /** Revokes the lease; resolves when nothing of it is open. */
  revoke(): Promise<void>
}

/** One capability of one plugin, as its requests reach the broker. */
export function leaseOf(
  effects: FakeEffects,
  [capability, broker]: readonly [HostCapability, Broker],
  {
    place = { scope: 'workspace', workspace: effects.paths.cwd },
    more = [],
  }: { place?: InstancePlace; more?: readonly HostCapability[] } = {},
): Leased {
  const leases = createLeases({ effects, brokers: new Map([[capability, broker]]) })
  const served = createServedSessions(effects.clock)
  const lease = leases.grant({ owner: OWNER, place, declared: {}, listedHosts: [], served }, [capability, ...more])
  const waits = () => undefined
  return {
    served,
    call: async (operation, input = null) => lease.brokered(capability)?.call(operation, input, { waits }),
    cancel: async (opaqueId) => lease.brokered(capability)?.cancel(opaqueId, { waits }),
    get open() {
      return lease.counters[0]?.open ?? 0
    },
    async revoke() {
      lease.revoke()
      await lease.freed()
    },
  }
}

/** What a run says of a call: `denied` permissions are denied, the others `otherwise`. */
export function callOf(
  effects: FakeEffects,
  { sessionId = 'ses_1', denied = [], otherwise = 'allow', signal = new AbortController().signal }: Partial<CallOptions> = {},
): ToolContext {
  return {
    sessionId,
    messageId: 'msg_1',
    callId: 'call_1',
    agent: 'build',
    directory: effects.paths.cwd,
    signal,
    progress: () => undefined,
    decisions: (permission, patterns) =>
      patterns.map((pattern) => (denied.some((each) => each === permission || each === pattern) ? 'deny' : otherwise)),
  }
}

interface CallOptions {
  readonly sessionId: string
  /** Permissions or patterns. */
  readonly denied: readonly string[]
  readonly otherwise: PermissionAction
  readonly signal: AbortSignal
}

/** Serves a session until the answered function is called. */
export function serve(served: ServedSessions, tool: ToolContext): () => void {
  let end: () => void = () => undefined
  void served.during({ sessionId: tool.sessionId, tool }, () => new Promise<void>((resolve) => (end = resolve)))
  return end
}

/** A store with sessions of the workspace, or of another place: `['ses_1', { id: 'ses_2', directory: '/other', parentId: 'ses_1' }]`. */
export function storeWith(
  effects: FakeEffects,
  sessions: readonly (string | { readonly id: string; readonly directory?: string; readonly parentId?: string })[],
): Store {
  const store = openStore({ directory: ':memory:', now: () => effects.clock.now() })
  store.transact('process', () => {
    for (const given of sessions) {
      const { id, directory = effects.paths.cwd, ...rest } = typeof given === 'string' ? { id: given } : given
      store.sessions.insert({
        id,
        slug: id,
        projectId: 'p',
        directory,
        title: `title of ${id}`,
        version: '1',
        time: { created: 1, updated: 1 },
        ...rest,
      })
    }
  })
  return store
}
