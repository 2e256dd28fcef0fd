/** One incarnation of a plugin, whatever its tier, as its generation actor drives it (plugin-protocol §3.4, §3.6). */
import type { ActorRefFrom } from 'xstate'
import type { instanceMachine } from '../../../machines/plugin/instance.machine.js'
import type { LeaseCounts } from '../../../machines/plugin/lease.machine.js'
import type { HostCapability, PluginScope } from '../../../protocol/plugin/plugin.js'
import type { PluginOwner } from '../../../protocol/plugin/plugin-frame.js'
import type { Contributions } from '../../../ports/plugin.js'
import type { InstanceEffects } from './instance.actor.js'

/** A plugin that has answered `initialize` with contributions of a valid shape. Nothing of it is published yet. */
export interface PluginInstance {
  /** Name and version the plugin gave itself, when it did. */
  readonly name?: string
  readonly version?: string
  readonly contributions: Contributions
  /** Resolves with a sentence when the instance has ended by itself (exit, end of its output, a broken rule); never rejects. */
  readonly failed: Promise<string>
  /** Nobody calls it any more: what it does by itself ends, calls under way may finish. Idempotent. */
  quiesce?(): void
  /**
   * Begins retirement, at once: inactive, lease revoked, open streams failed, `shutdown` sent, input closed. Idempotent.
   * Calls under way fail when the output ends.
   */
  retire(): void
  /** Ends the process group at once. Idempotent. */
  kill(): void
  /** Resolves when nothing of the instance runs any more; never rejects. Natives: soon after `retire`. */
  readonly gone: Promise<void>
  /** Frames dropped because they came late, were foreign or were no protocol. */
  readonly droppedFrames: number
  /** What went over its link so far; absent where there is no link. */
  readonly traffic?: FrameTraffic
  /** What it holds of each capability, and what it asked by it so far; absent where it cannot. */
  readonly leases?: readonly LeaseStanding[]
}

/** How one lease stands. */
export interface LeaseStanding extends LeaseCounts {
  readonly capability: HostCapability
  readonly state: 'granted' | 'used' | 'freeing' | 'revoked'
  readonly runningMost?: number
  readonly openMost?: number
  /** Unix ms. */
  readonly lastUsedAt?: number
}

/** Frames and bytes between the host and one plugin process; in is what the plugin sent. */
export interface FrameTraffic {
  /** Streams that are open. */
  readonly streams: number
  readonly framesIn: number
  readonly framesOut: number
  readonly bytesIn: number
  readonly bytesOut: number
}

/** Where and as whom an instance runs. */
export interface InstancePlace {
  readonly scope: PluginScope
  /** Canonical workspace directory; absent for `global` and `user`. */
  readonly workspace?: string
  /** User id (`user`) or session id (`session`). */
  readonly scopeId?: string
}

/** Starts an instance; rejects with a sentence for people when it cannot be had, and leaves nothing running then. */
export type StartInstance = (
  generation: number,
  onProblem: (problem: InstanceProblem) => void,
  signal: AbortSignal,
  adopt?: AdoptProcess,
) => Promise<PluginInstance>

/** Makes the actor of a process a child of the generation it is started for. */
export type AdoptProcess = (instanceId: string, effects: InstanceEffects) => AdoptedProcess

export type InstanceRef = ActorRefFrom<typeof instanceMachine>

/** The actor of a process, which one that rests does not need. */
export interface AdoptedProcess {
  /** Tells of it at once where there is one, else when it is made. */
  onMade(use: (ref: InstanceRef) => void): void
  /** Makes it where there is none; throws when its generation is not there any more. */
  make(): InstanceRef
}

export function adopted(ref: InstanceRef): AdoptedProcess {
  return { onMade: (use) => use(ref), make: () => ref }
}

/** Something worth a diagnostic that does not end the instance: a dropped line, a refused request, a call without an answer. */
export interface InstanceProblem {
  readonly code:
    | 'malformed-frame'
    | 'oversized-frame'
    | 'late-frame'
    | 'foreign-frame'
    | 'refused'
    | 'timeout'
    | 'unstoppable'
    | 'flood'
    | 'hook'
    | 'reported'
    | 'log'
    | 'uncontained'
  readonly message: string
}

/** What the host grants an instance, and revokes as one. */
export interface Lease {
  readonly capabilities: ReadonlySet<HostCapability>
  readonly revoked: boolean
}

/** A reverse request of a plugin, after owner and shape were checked by the link (plugin-protocol §4.8). */
export interface ReverseRequest {
  readonly method: string
  readonly params: unknown
  readonly owner: PluginOwner
  readonly signal: AbortSignal
  /** Lets the next request begin before this one is answered. */
  waits(): void
}
