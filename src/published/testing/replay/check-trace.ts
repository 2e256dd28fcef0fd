/** Whether the charts of today lead to the recorded states: what can be said of a trace without payloads. */
import { stateKey, statesAfter, statesAtStart } from './chart-moves.js'
import { machineOf } from './recorded.js'
import type { CheckTrace, Trace, TraceRecord } from './replay-types.js'

export const checkTrace: CheckTrace = (trace) => {
  const machines = machinesOf(trace)
  return trace.records.flatMap((record) => {
    const id = machines.get(record.actorId)
    const message = id === undefined ? undefined : problemOf(id, record)
    return message === undefined ? [] : [{ sequence: record.sequence, actor: record.actorId, message }]
  })
}

/** By actor. The start tells it, the stop, and the list of those that live. */
function machinesOf({ actors, records }: Trace): ReadonlyMap<string, string> {
  const told = records.flatMap(({ actorId, actor }) => (actor === undefined ? [] : [{ id: actorId, machine: actor.machine }]))
  return new Map([...actors, ...told].flatMap(({ id, machine }) => (machine === undefined ? [] : [[id, machine]])))
}

function problemOf(id: string, { type, event = '', before = [], after = [] }: TraceRecord): string | undefined {
  if (type !== 'start' && type !== 'transition') return undefined
  const machine = machineOf(id)
  if (machine === undefined) return `This version of svc has no machine "${id}".`
  const to = stateKey(after)
  if (type === 'start') return statesAtStart(machine).has(to) ? undefined : `"${id}" does not start in "${to}".`
  return statesAfter(machine, before, event).has(to)
    ? undefined
    : `"${id}" does not go from "${stateKey(before)}" to "${to}" on "${event}".`
}
