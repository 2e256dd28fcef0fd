/** Which actors lived in a trace, with which machine, and what happened to each. */
import type { AnyStateMachine } from 'xstate'
import { MACHINES } from '../machines.js'
import type { RecordedActor, Trace, TraceRecord } from './replay-types.js'

/** A life with its records. */
export interface Life extends RecordedActor {
  readonly start: TraceRecord
  /** Everything after the start, its stop included. */
  readonly records: readonly TraceRecord[]
}

/** The machine of today with this id; undefined when there is none. */
export function machineOf(id: string): AnyStateMachine | undefined {
  return Object.values(MACHINES).find((machine) => machine.id === id)
}

/** The lives of actors with states whose start is in the trace, in the order they began. */
export function livesOf({ records }: Pick<Trace, 'records'>): Life[] {
  const lives: (Life & { readonly records: TraceRecord[] })[] = []
  const open = new Map<string, TraceRecord[]>()
  const begun = new Map<string, number>()
  for (const record of records) {
    const { actorId, type, actor } = record
    if (type !== 'start') open.get(actorId)?.push(record)
    if (type === 'stop') open.delete(actorId)
    if (type !== 'start' || actor?.machine === undefined) continue
    const life = (begun.get(actorId) ?? 0) + 1
    begun.set(actorId, life)
    const own: TraceRecord[] = []
    open.set(actorId, own)
    lives.push({ actor: actorId, life, machine: actor.machine, start: record, records: own })
  }
  return lives
}
