/** Whether a machine that is stepped by its layout does what the interpreter makes of it: both are driven by the same events, and all that watchers are told of them is compared. */
import {
  type AnyActorRef,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  createActor,
  type EventObject,
  type InspectionEvent,
  SimulatedClock,
} from 'xstate'
import { isDeepStrictEqual } from 'node:util'
import { laidOut } from '../../src/kernel/machine/laid-out.js'

/** Walks that are taken besides those that are given, and events of each. */
const WALKS = 60
const LENGTH = 25

/** Answers how the two differ first; undefined = in nothing. */
export function difference(
  machine: AnyStateMachine,
  input: unknown,
  events: readonly EventObject[],
  paths: readonly (readonly EventObject[])[],
): string | undefined {
  const stepped = laidOut(machine.provide({}))
  const random = generator(machine.id.length)
  const walks = Array.from({ length: WALKS }, () =>
    Array.from({ length: LENGTH }, () => events[Math.floor(random() * events.length)]).filter((event) => event !== undefined),
  )
  for (const path of [...paths, ...walks]) {
    const [wanted, found] = [told(machine, input, path), told(stepped, input, path)]
    const at = wanted.findIndex((each, index) => !isDeepStrictEqual(each, found[index]))
    if (at === -1 && wanted.length === found.length) continue
    const index = at === -1 ? wanted.length : at
    const types = path.map(({ type }) => type).join(', ')
    return `after ${types}: ${JSON.stringify(wanted[index])} is told by the interpreter, and ${JSON.stringify(found[index])} by the layout`
  }
  return undefined
}

/** What watchers of an actor and its children are told while events reach it. */
function told(machine: AnyStateMachine, input: unknown, path: readonly EventObject[]): unknown[] {
  const records: unknown[] = []
  const clock = new SimulatedClock()
  const actor = createActor(machine, { input, clock, inspect: (event) => void records.push(...plain(event)) })
  actor.subscribe({
    next: (snapshot) => void records.push(shown(snapshot as AnyMachineSnapshot)),
    error: (error) => void records.push(String(error)),
  })
  actor.start()
  for (const event of path) {
    if (actor.getSnapshot().status !== 'active') break
    actor.send(event)
    records.push(shown(actor.getSnapshot() as AnyMachineSnapshot))
  }
  clock.increment(1)
  actor.stop()
  return records
}

/** What a watcher is told, without what differs from run to run. */
export function plain(event: InspectionEvent): unknown[] {
  const { id } = event.actorRef as AnyActorRef
  const name = id.startsWith('x:') ? 'root' : id
  switch (event.type) {
    case '@xstate.event':
      return [['event', name, wordsOf(event.event)]]
    case '@xstate.action':
      return [['action', name, event.action.type, wordsOf(event.action.params)]]
    case '@xstate.snapshot':
      return [['snapshot', name, event.event.type, shown(event.snapshot as AnyMachineSnapshot)]]
    case '@xstate.microstep':
      return event._transitions.map(({ source, eventType }) => ['transition', name, source.path.join('.'), eventType])
    default:
      return event.type === '@xstate.actor' ? [['actor', name]] : []
  }
}

/** Without the numbers that XState gives actors. */
function wordsOf(params: unknown): unknown {
  const plainly = (_key: string, value: unknown) => (typeof value === 'string' ? value.replace(/^x:\d+$/, 'root') : value)
  return JSON.parse(JSON.stringify(params ?? null, plainly)) as unknown
}

function shown({ status, value, context, tags, children = {}, output, error }: AnyMachineSnapshot) {
  const known = tags === undefined ? [] : [...tags].toSorted()
  return {
    status,
    value,
    context,
    tags: known,
    children: Object.keys(children),
    output,
    error: error instanceof Error ? error.message : error,
  }
}

/** The same numbers in every run. */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
