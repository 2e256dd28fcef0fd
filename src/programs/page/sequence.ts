/** What a sequence diagram shows: lanes of actors, and what happened between them and in them. */
import type { InspectedActor, InspectorRecord } from '../../protocol/system/inspector.js'
import type { Model } from './model.js'

export interface Step {
  readonly record: InspectorRecord
  /** Place of the record in the model. */
  readonly index: number
  readonly to: number
  /** Lane of who sent the event or started the actor; absent when it has none. */
  readonly from: number | undefined
  readonly label: string
}

/** More would leave no room for names. */
export const LANES = 8

/** The chosen actors, otherwise the family of the selected one: its machines, in the order in which they came. */
export function lanesOf(model: Model, selected: string | undefined, chosen: ReadonlySet<string>): string[] {
  if (chosen.size > 0) return [...chosen].slice(0, LANES)
  if (selected === undefined) return []
  const root = rootOf(model, selected)
  const isMember = ({ id, machine }: InspectedActor) => machine !== undefined && (id === root || id.startsWith(`${root}/`))
  const lanes = new Set(model.actors.has(root) ? [root] : [])
  for (const { actor } of model.records.slice(0, model.position)) if (actor !== undefined && isMember(actor)) lanes.add(actor.id)
  for (const actor of model.actors.values()) if (isMember(actor)) lanes.add(actor.id)
  const all = [...lanes]
  return all.length <= LANES ? all : [...all.slice(0, 2), ...all.slice(2 - LANES)]
}

/** Undefined for what concerns none of the lanes. */
export function stepOf(record: InspectorRecord, index: number, lanes: readonly string[]): Step | undefined {
  const to = lanes.indexOf(record.actorId)
  if (to === -1) return undefined
  const sender = record.type === 'start' ? record.actor?.parentId : record.type === 'event' ? record.sourceId : undefined
  const source = sender === undefined ? -1 : lanes.indexOf(sender)
  return { record, index, to, from: source === -1 ? undefined : source, label: labelOf(record) }
}

/** The type of an event in plain words. */
export function eventWords(type: string): string {
  const [, end, actor] = /^xstate\.(done|error)\.actor\.(.+)$/.exec(type) ?? []
  if (actor !== undefined) return `${actor} ${end === 'done' ? 'done' : 'failed'}`
  return type.replace(/^xstate\.after\.([^.]+)\..*$/, 'after $1')
}

function labelOf({ type, event = '', after = [], end }: InspectorRecord): string {
  switch (type) {
    case 'event':
      return eventWords(event)
    case 'transition':
      return after.map((path) => path.slice(path.lastIndexOf('.') + 1)).join(', ')
    case 'start':
      return 'starts'
    case 'stop':
      return end ?? 'stopped'
  }
}

function rootOf({ actors, records }: Model, id: string): string {
  const parentOf = (child: string) => (actors.get(child) ?? records.findLast(({ actor }) => actor?.id === child)?.actor)?.parentId
  let root = id
  for (let parent = parentOf(root), depth = 0; parent !== undefined && depth < LANES; parent = parentOf(root), depth++) root = parent
  return root
}
