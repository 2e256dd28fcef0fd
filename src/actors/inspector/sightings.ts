/**
 * What is told of the actors that are seen: their beginning, what reaches them, their states, their end.
 *
 * I1 A payload is looked at once, while it is told, and never kept.
 */
import type { AnyActorRef, AnyEventObject } from 'xstate'
import type { RootActor } from '../../kernel/roots.js'
import type { Clock } from '../../ports/effects.js'
import { LIMITS } from '../../protocol/limits.js'
import type { InspectorRecord } from '../../protocol/system/inspector.js'
import { isRecord } from '../../protocol/text/json.js'
import { type CallOf, callIdsOf, describeActor, family, pathOf, type Seen, sighted, statesOf, valueOf } from './actors.js'
import type { RecordRing } from './ring.js'
import { payloadOf, shapeOf } from './shape.js'

export interface SightingDeps {
  readonly clock: Pick<Clock, 'now'>
  readonly ring: RecordRing
  /** Payloads are told, not only their shapes. */
  readonly payloads: boolean
  readonly callOf?: CallOf | undefined
  /** What a tool call was asked for and what came of it, as the conversation holds it. */
  readonly stateOf?: ((call: { readonly sessionId: string }, callId: string) => unknown) | undefined
  /** A record was appended. */
  onRecord(): void
}

export interface Sightings {
  /** What was seen of an actor; undefined when it was not. */
  seen(ref: AnyActorRef): Seen | undefined
  idOf(ref: AnyActorRef): string
  /** A root that lives already, and all below it: nothing is told of them. */
  found(root: RootActor): void
  started(ref: AnyActorRef, root: RootActor, input: unknown): void
  stopped(ref: AnyActorRef, root: RootActor, end: 'done' | 'error' | 'stopped', event?: string): void
  arrived(ref: AnyActorRef, event: AnyEventObject, sourceId: string | undefined): void
  moved(ref: AnyActorRef, event: AnyEventObject, snapshot: unknown): void
  /** Whatever lives below it ends with it. */
  rootEnded(root: RootActor, end: 'done' | 'error'): void
  forget(): void
}

const STOP = 'xstate.stop'
/** Ids of actors and types of events are names; what is longer is cut. */
const NAME = 300

export function createSightings(deps: SightingDeps): Sightings {
  const { clock, ring, payloads, callOf } = deps
  const live = new Map<AnyActorRef, Seen>()

  function idOf(ref: AnyActorRef): string {
    return live.get(ref)?.id ?? pathOf(ref).slice(0, NAME)
  }

  function record(make: (sequence: number) => InspectorRecord): void {
    ring.append(make)
    deps.onRecord()
  }

  function started(ref: AnyActorRef, root: RootActor, input: unknown): void {
    const at = clock.now()
    const seen = sighted(idOf(ref), ref.getSnapshot(), { startedAt: at, since: at })
    live.set(ref, seen)
    const actor = describeActor(ref, ref === root.ref ? root : undefined, seen, callOf)
    const payload = payloads ? { payload: payloadOf(input, LIMITS.inspector.payload) } : {}
    record((sequence) => ({ sequence, at, actorId: seen.id, type: 'start', ...payload, after: [...seen.state], actor }))
  }

  function stopped(ref: AnyActorRef, root: RootActor, end: 'done' | 'error' | 'stopped', event?: string): void {
    const seen = live.get(ref)
    if (seen === undefined) return
    live.delete(ref)
    const actor = { ...describeActor(ref, ref === root.ref ? root : undefined, seen, callOf), state: [...seen.state] }
    const cause = event === undefined || event === STOP ? {} : { event }
    record((sequence) => ({
      sequence,
      at: clock.now(),
      actorId: seen.id,
      type: 'stop',
      ...cause,
      ...outcome(deps, ref),
      before: [...seen.state],
      actor,
      end,
    }))
  }

  function arrived(ref: AnyActorRef, event: AnyEventObject, sourceId: string | undefined): void {
    const seen = live.get(ref)
    if (seen === undefined) return
    record((sequence) => ({
      sequence,
      at: clock.now(),
      actorId: seen.id,
      type: 'event',
      event: nameOf(event),
      ...(sourceId !== undefined && { sourceId }),
      shape: shapeOf(event, 'type'),
      ...(payloads && { payload: payloadOf(event, LIMITS.inspector.payload) }),
    }))
    seen.waiting.push({ event, sequence: ring.sequence })
  }

  function moved(ref: AnyActorRef, event: AnyEventObject, snapshot: unknown): void {
    const seen = live.get(ref)
    if (seen === undefined) return
    const cause = workedOff(seen, event)
    const value = valueOf(snapshot)
    if (seen.value === value) return
    seen.value = value
    const after = statesOf(snapshot)
    if (isSame(seen.state, after)) return
    const before = seen.state
    const at = clock.now()
    seen.state = after
    seen.since = at
    record((sequence) => ({
      sequence,
      at,
      actorId: seen.id,
      type: 'transition',
      event: nameOf(event),
      ...(cause !== undefined && { cause }),
      before: [...before],
      after: [...after],
    }))
  }

  /** The last step of a root is told after its end. */
  function tookLastStep({ ref }: RootActor): void {
    const last = live.get(ref)?.waiting[0]
    if (last !== undefined) moved(ref, last.event, ref.getSnapshot())
  }

  return {
    seen: (ref) => live.get(ref),
    idOf,
    found(root) {
      for (const ref of family(root.ref)) {
        const startedAt = ref === root.ref ? root.startedAt : undefined
        live.set(ref, sighted(idOf(ref), ref.getSnapshot(), { startedAt, since: undefined }))
      }
    },
    started,
    stopped,
    arrived,
    moved,
    rootEnded(root, end) {
      for (const ref of live.keys()) if (ref.system === root.ref.system && ref !== root.ref) stopped(ref, root, 'stopped')
      tookLastStep(root)
      stopped(root.ref, root, end)
    },
    forget: () => live.clear(),
  }
}

/** What came of a call. */
function outcome({ payloads, callOf, stateOf }: SightingDeps, ref: AnyActorRef): Pick<InspectorRecord, 'result' | 'payload'> {
  const ids = callIdsOf(ref)
  if (ids === undefined) return {}
  const result = resultOf(ref)
  const call = payloads ? callOf?.(ids.runId, ids.callId) : undefined
  const state = call && stateOf?.(call, ids.callId)
  return { ...(result !== undefined && { result }), ...(state !== undefined && { payload: payloadOf(state, LIMITS.inspector.payload) }) }
}

/** The record that told an event; what came before it is worked off, too. */
function workedOff({ waiting }: Seen, event: AnyEventObject): number | undefined {
  const index = waiting.findIndex((one) => one.event === event)
  return waiting.splice(0, index + 1).at(-1)?.sequence
}

/** The word a call has ended with. */
function resultOf(ref: AnyActorRef): string | undefined {
  const snapshot: unknown = ref.getSnapshot()
  const output = isRecord(snapshot) ? snapshot['output'] : undefined
  return isRecord(output) && typeof output['end'] === 'string' ? output['end'] : undefined
}

export function nameOf({ type }: AnyEventObject): string {
  return type.slice(0, NAME)
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((path, index) => path === b[index])
}
