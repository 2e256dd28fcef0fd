/**
 * What `enqueueActions` collects. The interpreter makes a function with eleven others for each collection, and one with eight properties for
 * each action: here the first is there once, and the actions of every step are one object each.
 */
import { cancel, emit, raise, sendParent, sendTo } from 'xstate'
import { evaluateGuard } from 'xstate/guards'
import type { Action } from './layout.js'
import { type Given, type Making, seen } from './snapshot.js'

type Enqueue = (action: unknown) => void

type Maker = (...given: never[]) => unknown

/** Where what is collected goes; a collection begins no other. */
let queue: unknown[] = []

function made(make: Maker): (...given: never[]) => void {
  return (...given) => void queue.push(make(...given))
}

function unresolved(): never {
  throw new Error('what is collected is performed by its type')
}

const enqueue = Object.assign<Enqueue, Readonly<Record<string, (...given: never[]) => void>>>((action) => void queue.push(action), {
  assign: made((assignment: unknown) => ({ type: 'xstate.assign', resolve: unresolved, assignment })),
  spawnChild: made((src: unknown, how: object = {}) => ({ type: 'xstate.spawnChild', resolve: unresolved, ...how, src })),
  stopChild: made((actorRef: unknown) => ({ type: 'xstate.stopChild', resolve: unresolved, actorRef })),
  raise: made(raise),
  sendTo: made(sendTo),
  sendParent: made(sendParent),
  cancel: made(cancel),
  emit: made(emit),
})

export function enqueued(
  { draft, event }: Making,
  { collect }: { readonly collect?: (given: object, params: unknown) => void },
  { context, self, system }: Given,
  params: unknown,
): readonly Action[] {
  const before = queue
  const collected: unknown[] = []
  queue = collected
  try {
    const check = (guard: never): boolean => evaluateGuard(guard, context, event, seen(draft))
    collect?.({ context, event, enqueue, check, self, system }, params)
  } finally {
    queue = before
  }
  return collected as Action[]
}
