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

/** What is told with, and who lives. */
interface Watch extends SightingDeps {
  readonly live: Map<AnyActorRef, Seen>
}

export function createSightings(deps: SightingDeps): Sightings {
  const watch: Watch = { ...deps, live: new Map() }
  const { live } = watch
  return {
    seen: (ref) => live.get(ref),
    idOf: (ref) => idOf(watch, ref),
    found(root) {
      for (const ref of family(root.ref)) {
        const startedAt = ref === root.ref ? root.startedAt : undefined
        live.set(ref, sighted(idOf(watch, ref), ref.getSnapshot(), { startedAt, since: undefined }))
      }
    },
    started: (ref, root, input) => started(watch, ref, root, input),
    stopped: (ref, root, end, event) => stopped(watch, ref, root, end, event),
    arrived: (ref, event, sourceId) => arrived(watch, ref, event, sourceId),
    moved: (ref, event, snapshot) => moved(watch, ref, event, snapshot),
    rootEnded(root, end) {
      for (const ref of live.keys()) if (ref.system === root.ref.system && ref !== root.ref) stopped(watch, ref, root, 'stopped')
      tookLastStep(watch, root)
      stopped(watch, root.ref, root, end)
    },
    forget: () => live.clear(),
  }
}

function idOf({ live }: Watch, ref: AnyActorRef): string {
  return live.get(ref)?.id ?? pathOf(ref).slice(0, NAME)
}

function record(watch: Watch, make: (sequence: number) => InspectorRecord): void {
  watch.ring.append(make)
  watch.onRecord()
}

function started(watch: Watch, ref: AnyActorRef, root: RootActor, input: unknown): void {
  const { clock, payloads, callOf, live } = watch
  const at = clock.now()
  const seen = sighted(idOf(watch, ref), ref.getSnapshot(), { startedAt: at, since: at })
  live.set(ref, seen)
  const actor = describeActor(ref, ref === root.ref ? root : undefined, seen, callOf)
  const payload = payloads ? { payload: payloadOf(input, LIMITS.inspector.payload) } : {}
  record(watch, (sequence) => ({ sequence, at, actorId: seen.id, type: 'start', ...payload, after: [...seen.state], actor }))
}

function stopped(watch: Watch, ref: AnyActorRef, root: RootActor, end: 'done' | 'error' | 'stopped', event?: string): void {
  const { clock, callOf, live } = watch
  const seen = live.get(ref)
  if (seen === undefined) return
  live.delete(ref)
  const actor = { ...describeActor(ref, ref === root.ref ? root : undefined, seen, callOf), state: [...seen.state] }
  const cause = event === undefined || event === STOP ? {} : { event }
  record(watch, (sequence) => ({
    sequence,
    at: clock.now(),
    actorId: seen.id,
    type: 'stop',
    ...cause,
    ...outcome(watch, ref),
    before: [...seen.state],
    actor,
    end,
  }))
}

function arrived(watch: Watch, ref: AnyActorRef, event: AnyEventObject, sourceId: string | undefined): void {
  const { clock, payloads, ring, live } = watch
  const seen = live.get(ref)
  if (seen === undefined) return
  record(watch, (sequence) => ({
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

function moved(watch: Watch, ref: AnyActorRef, event: AnyEventObject, snapshot: unknown): void {
  const seen = watch.live.get(ref)
  if (seen === undefined) return
  const cause = workedOff(seen, event)
  const value = valueOf(snapshot)
  if (seen.value === value) return
  seen.value = value
  const after = statesOf(snapshot)
  if (isSame(seen.state, after)) return
  const before = seen.state
  const at = watch.clock.now()
  seen.state = after
  seen.since = at
  record(watch, (sequence) => ({
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
function tookLastStep(watch: Watch, { ref }: RootActor): void {
  const last = watch.live.get(ref)?.waiting[0]
  if (last !== undefined) moved(watch, ref, last.event, ref.getSnapshot())
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
