/**
 * Live actors as a test sees them: found by kind and id, awaited by state, sent events to.
 *
 * I1 Every actor is observed from the start of the runtime, or from its own: no state it passes through is missed.
 */
import type { AnyActorRef } from 'xstate'
import { createCharts } from '../../actors/inspector/charts.js'
import { describeActor, family, logicOf } from '../../actors/inspector/actors.js'
import { layoutOf } from '../../actors/inspector/layouts.js'
import { observeActors } from '../../actors/inspector/observer.js'
import { createRing, type RecordRing } from '../../actors/inspector/ring.js'
import type { RunningRuntime } from '../../actors/runtime/runtime.js'
import { type InspectedActor, type InspectorRecord, TRACE_FORMAT, TRACE_VERSION } from '../../protocol/system/inspector.js'
import type { ActorSelector, AwaitState, SendEvent, StateOptions, TakeTrace, TestActors } from './actor-types.js'
import type { FakeEffects } from '../../simulation/effects.js'
import { eventsOfKind, MACHINES, statesOfKind } from './machines.js'
import { errorAt, stackAbove, type Waits } from './waits.js'

export interface PlayedActors {
  readonly actors: TestActors
  readonly state: AwaitState
  readonly send: SendEvent
  readonly trace: TakeTrace
  /** From here on something else goes on, as it says: it stands among the records, as the state of an actor of its own. `payload` is kept as JSON. */
  mark(says: string, payload?: unknown, event?: 'mark' | 'fault'): void
  stop(): void
}

/** A test does not come near either. */
const KEPT = { records: 100_000, bytes: 64 * 1024 * 1024 }
const SHOWN = 12
/** Who has the marks. */
const HISTORY = 'history'

export function watchActors(running: RunningRuntime, effects: FakeEffects, waits: Waits, version: string): PlayedActors {
  const { actors: directory, runtime } = running
  const ring = createRing(KEPT)
  const charts = createCharts()
  const listeners = new Set<(record: InspectorRecord) => void>()
  /** Actors that were there before anything was recorded. */
  const first = [...living()].map(([actor]) => actor)
  /** By path, as they were told of last. */
  const known = new Map(first.map((actor) => [actor.id, actor]))
  const observer = observeActors({
    directory,
    clock: effects.clock,
    ring,
    payloads: true,
    onRecord() {
      const [record] = ring.after(ring.sequence - 1, 1).records
      if (record === undefined) return
      if (record.actor !== undefined) known.set(record.actorId, record.actor)
      for (const listener of listeners) listener(record)
    },
    onFault: (error) => effects.log.error('an actor could not be observed', { cause: String(error) }),
  })

  function* living(): Generator<readonly [InspectedActor, AnyActorRef]> {
    for (const root of directory.roots()) {
      for (const ref of family(root.ref)) yield [describeActor(ref, ref === root.ref ? root : undefined, undefined), ref]
    }
  }

  const marks = createMarks(ring, effects)
  /** Sequence behind which lies what the event has brought about that was sent last; undefined once that was asked for. */
  let sentAt: number | undefined
  const list = () => [...living()].map(([actor]) => actor)
  const records = () => ring.after(0, ring.sequence).records

  function find(selector: ActorSelector, at: string): readonly [InspectedActor, AnyActorRef] | undefined {
    const found = [...living()].filter(([actor]) => isMeant(selector, actor))
    if (found.length > 1) {
      throw errorAt(`${wordsOf(selector)} is ambiguous: ${found.map(([{ id }]) => id).join(', ')}. Name one by its id.`, at)
    }
    return found[0]
  }

  function demand(selector: ActorSelector, at: string): readonly [InspectedActor, AnyActorRef] {
    checkKind(selector, at)
    const found = find(selector, at)
    if (found === undefined) throw errorAt(`there is no ${wordsOf(selector)}. ${census(selector, list())}`, at)
    return found
  }

  function get(selector: ActorSelector): InspectedActor {
    return demand(selector, stackAbove(get))[0]
  }

  function history(selector: ActorSelector): readonly string[] {
    checkKind(selector, stackAbove(history))
    return historyOf(selector)
  }

  function state(selector: ActorSelector, wanted: string, { withinMs, next = false }: StateOptions = {}): Promise<InspectedActor> {
    const at = stackAbove(state)
    checkKind(selector, at)
    const states = statesOfKind(selector.kind)
    const path = states.find((each) => each === wanted) ?? states.find((each) => each.endsWith(`.${wanted}`))
    if (path === undefined) {
      throw errorAt(`the machine "${selector.kind}" has no state "${wanted}"; it has ${states.join(', ')}`, at)
    }
    const now = find(selector, at)?.[0]
    if (!next && now !== undefined && isIn(now.state, path)) return Promise.resolve(now)
    const reachedIn = (record: InspectorRecord) => reachedBy(record, known.get(record.actorId), selector, path)
    const brought = now === undefined && !next && sentAt !== undefined ? ring.after(sentAt, ring.sequence - sentAt).records : []
    sentAt = undefined
    const ended = brought.flatMap((record) => reachedIn(record) ?? []).at(-1)
    if (ended !== undefined) return Promise.resolve(ended)
    return waits.until<InspectedActor>(
      {
        what: `${wordsOf(selector)} in the state "${wanted}"`,
        withinMs,
        listen(resolve) {
          const listener = (record: InspectorRecord) => {
            const reached = reachedIn(record)
            if (reached !== undefined) resolve(reached)
          }
          listeners.add(listener)
          return () => void listeners.delete(listener)
        },
        found: () => foundInstead(selector),
      },
      state,
    )
  }

  function foundInstead(selector: ActorSelector): string {
    const path = historyOf(selector)
    if (path.length === 0) return `There was no such actor. ${census(selector, list())}`
    const isLive = [...living()].some(([actor]) => isMeant(selector, actor))
    return `It ${isLive ? 'is in' : 'ended in'} "${path.at(-1)}", after ${path.slice(0, -1).slice(-SHOWN).join(' → ') || 'no other state'}.`
  }

  function historyOf(selector: ActorSelector): string[] {
    const states = first.filter((actor) => isMeant(selector, actor)).map((actor) => actor.state.join(' '))
    const told = new Map(first.map((actor) => [actor.id, actor]))
    for (const record of records()) {
      if (record.actor !== undefined) told.set(record.actorId, record.actor)
      if (record.after === undefined || record.after.length === 0) continue
      const actor = told.get(record.actorId)
      if (actor !== undefined && isMeant(selector, actor)) states.push(record.after.join(' '))
    }
    return states
  }

  function send(selector: ActorSelector, event: { readonly type: string; readonly [key: string]: unknown }): void {
    const at = stackAbove(send)
    const [actor, ref] = demand(selector, at)
    const events = eventsOfKind(selector.kind)
    if (!events.includes(event.type)) {
      throw errorAt(`${actor.id} knows no event "${event.type}"; it knows ${events.join(', ') || 'none'}`, at)
    }
    sentAt = ring.sequence
    ref.send(event)
  }

  return {
    actors: {
      list,
      get,
      history,
      get records() {
        return records()
      },
    },
    state,
    send,
    trace: () => ({
      format: TRACE_FORMAT,
      version: TRACE_VERSION,
      createdAt: effects.clock.now(),
      serverVersion: version,
      machines: charts.all([...living()].map(([, ref]) => logicOf(ref))).map(laidOut),
      actors: [...marks.actors(), ...list()],
      plugins: runtime.inspector.tree().plugins,
      records: [...records()],
      dropped: ring.dropped,
    }),
    mark: marks.mark,
    stop: () => observer.stop(),
  }
}

/** With the places of its states in a picture. */
function laidOut<Machine extends { readonly id: string }>(machine: Machine) {
  const layout = layoutOf(machine.id)
  return { ...machine, ...(layout !== undefined && { layout }) }
}

/** The actor of the record where it is meant and was in the state after what the record tells. */
function reachedBy(
  { after }: InspectorRecord,
  actor: InspectedActor | undefined,
  selector: ActorSelector,
  path: string,
): InspectedActor | undefined {
  const isReached = actor !== undefined && after !== undefined && isMeant(selector, actor) && isIn(after, path)
  return isReached ? { ...actor, state: [...after] } : undefined
}

/** The actor that has the marks. */
function createMarks(ring: RecordRing, { clock }: Pick<FakeEffects, 'clock'>): Pick<PlayedActors, 'mark'> & { actors(): InspectedActor[] } {
  let marked: InspectedActor | undefined
  return {
    actors: () => (marked === undefined ? [] : [marked]),
    mark(says, payload, event = 'mark') {
      const at = clock.now()
      const before = marked?.state ?? []
      const after = [says]
      marked = { id: HISTORY, kind: HISTORY, name: HISTORY, state: after, startedAt: marked?.startedAt ?? at, since: at, restarts: 0 }
      const told = payload === undefined ? {} : { payload: JSON.stringify(payload) }
      ring.append((sequence) => ({ sequence, at, actorId: HISTORY, type: 'transition', event, before, after, ...told }))
    },
  }
}

function checkKind({ kind }: ActorSelector, at: string): void {
  if (!(kind in MACHINES)) throw errorAt(`there are no actors of the kind "${kind}"; kinds are ${Object.keys(MACHINES).join(', ')}`, at)
}

/** The id of an actor is its path, its name, or the subject of either; a package has its place behind an @, a child its name behind a /. */
function isMeant({ kind, id }: ActorSelector, actor: InspectedActor): boolean {
  if (actor.kind !== kind) return false
  if (id === undefined || id === actor.id || id === actor.name || id === subjectOf(actor.name)) return true
  const subject = subjectOf(actor.id)
  return subject === id || subject.startsWith(`${id}@`) || subject.startsWith(`${id}/`)
}

/** What a name such as `session:ses_1` stands for. */
function subjectOf(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

function isIn(states: readonly string[], wanted: string): boolean {
  return states.some((state) => state === wanted || state.startsWith(`${wanted}.`))
}

function wordsOf({ kind, id }: ActorSelector): string {
  return id === undefined ? `actor of the kind "${kind}"` : `${kind} "${id}"`
}

function census({ kind }: ActorSelector, all: readonly InspectedActor[]): string {
  const same = all.filter((actor) => actor.kind === kind)
  if (same.length > 0) return `Of the kind "${kind}" there are ${same.map(({ id }) => id).join(', ')}.`
  const ids = all.filter(({ parentId }) => parentId === undefined).map(({ id }) => id)
  return `Live are ${ids.slice(0, SHOWN).join(', ')}${ids.length > SHOWN ? ` and ${ids.length - SHOWN} more` : ''}.`
}
