/**
 * What the page knows: actors, records, and a position among them. The same steps serve a live server and a saved trace.
 *
 * I1 `actors` is what lived after the record before `position`; applying a record and taking it back are inverse.
 * I2 Records are bounded; the oldest are forgotten first.
 */
import type {
  InspectedActor,
  InspectedLines,
  InspectedMachine,
  InspectedPlugin,
  InspectorRecord,
  InspectorTrace,
  InspectorTree,
} from '../../protocol/system/inspector.js'

export interface Model {
  readonly actors: Map<string, InspectedActor>
  readonly machines: Map<string, InspectedMachine>
  plugins: readonly InspectedPlugin[]
  /** What plugins wrote to their log, by key. */
  readonly lines: Map<string, InspectedLines>
  readonly records: InspectorRecord[]
  /** Actors with a title of their own that were told of, by path; also those that are gone. */
  readonly named: Map<string, InspectedActor>
  /** How many of `records` are applied. */
  position: number
  /** Records nobody will see. */
  dropped: number
  /** New records wait instead of being applied. */
  isPaused: boolean
}

const KEPT = 20_000
const FORGOTTEN_AT_ONCE = 2000

export function createModel(): Model {
  return {
    actors: new Map(),
    machines: new Map(),
    plugins: [],
    lines: new Map(),
    records: [],
    named: new Map(),
    position: 0,
    dropped: 0,
    isPaused: false,
  }
}

function apply(actors: Map<string, InspectedActor>, record: InspectorRecord): void {
  const { actorId, actor, after, at } = record
  if (record.type === 'start' && actor !== undefined) actors.set(actorId, actor)
  if (record.type === 'stop') actors.delete(actorId)
  const known = actors.get(actorId)
  if (record.type === 'transition' && known !== undefined) actors.set(actorId, { ...known, state: after ?? [], since: at })
}

function takeBack(actors: Map<string, InspectedActor>, record: InspectorRecord): void {
  const { actorId, actor, before } = record
  if (record.type === 'start') actors.delete(actorId)
  if (record.type === 'stop' && actor !== undefined) actors.set(actorId, { ...actor, state: before ?? actor.state })
  const known = actors.get(actorId)
  if (record.type !== 'transition' || known === undefined) return
  const { since: _since, ...rest } = known
  actors.set(actorId, { ...rest, state: before ?? [] })
}

/** Moves to a position among the records, one step at a time; answers where it ended. */
export function moveTo(model: Model, position: number): number {
  const target = Math.max(0, Math.min(position, model.records.length))
  while (model.position < target) {
    const record = model.records[model.position++]
    if (record !== undefined) apply(model.actors, record)
  }
  while (model.position > target) {
    const record = model.records[--model.position]
    if (record !== undefined) takeBack(model.actors, record)
  }
  return target
}

function noteNames({ named }: Model, records: readonly InspectorRecord[]): void {
  for (const { actor } of records) if (actor?.title !== undefined) named.set(actor.id, actor)
}

/** New records from the server; applied unless paused. */
export function receive(model: Model, records: readonly InspectorRecord[], dropped: number): void {
  model.dropped += dropped
  const last = model.records.at(-1)?.sequence ?? 0
  const fresh = records.filter(({ sequence }) => sequence > last)
  model.records.push(...fresh)
  noteNames(model, fresh)
  if (!model.isPaused) moveTo(model, model.records.length)
  if (model.records.length <= KEPT) return
  const forgotten = Math.min(FORGOTTEN_AT_ONCE, model.position)
  for (const { type, actorId } of model.records.splice(0, forgotten)) if (type === 'stop') model.named.delete(actorId)
  model.position -= forgotten
}

/** Begins anew with the picture of the server; records it contains are not applied again. Nothing while the past is looked at. */
export function resync(model: Model, tree: InspectorTree): void {
  model.plugins = tree.plugins
  if (model.isPaused || model.position < model.records.length) return
  model.actors.clear()
  for (const actor of tree.actors) model.actors.set(actor.id, actor)
  for (const record of model.records) if (record.sequence > tree.sequence) apply(model.actors, record)
}

/** A trace, at its end. */
export function modelOf(trace: InspectorTrace): Model {
  const model = createModel()
  for (const machine of trace.machines) model.machines.set(machine.id, machine)
  for (const actor of trace.actors) model.actors.set(actor.id, actor)
  model.plugins = trace.plugins
  model.records.push(...trace.records)
  noteNames(model, trace.records)
  model.dropped = trace.dropped
  model.position = model.records.length
  model.isPaused = true
  return model
}

/** Reads the text of a trace; throws an `Error` for people when it is none. */
export function readTrace(text: string): InspectorTrace {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Error('This file is not JSON.')
  }
  if (typeof value !== 'object' || value === null || !('format' in value) || value.format !== 'svc-inspector-trace') {
    throw new Error('This file is not a trace of svc.')
  }
  if (!('version' in value) || value.version !== 1) throw new Error('This trace was saved by another version of svc.')
  for (const name of ['machines', 'actors', 'plugins', 'records']) {
    if (!Array.isArray(Object.getOwnPropertyDescriptor(value, name)?.value)) throw new Error(`This trace has no ${name}.`)
  }
  // Format, version and lists were checked; the rest is what svc wrote.
  return value as unknown as InspectorTrace
}
