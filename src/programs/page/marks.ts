/** What a played history has left in its trace: its steps, as the states of an actor of its own. */
import type { InspectedActor, InspectorRecord } from '../../protocol/system/inspector.js'
import type { Model } from './model.js'

/** Kind of the actor and its path, as `svc/testing` writes them. */
const HISTORY = 'history'

export function isMark({ actorId, type }: Pick<InspectorRecord, 'actorId' | 'type'>): boolean {
  return actorId === HISTORY && type === 'transition'
}

export function isHistory({ kind }: Pick<InspectedActor, 'kind'>): boolean {
  return kind === HISTORY
}

export function hasHistory({ actors }: Model): boolean {
  return actors.has(HISTORY)
}

/** What goes on at the position, in words; undefined before the first step. */
export function markNow({ actors }: Model): string | undefined {
  return actors.get(HISTORY)?.state[0]
}

/** The position at which the step before or after this one begins. */
export function markBeside({ records, position }: Model, by: 1 | -1): number | undefined {
  const at =
    by === 1
      ? records.findIndex((record, index) => index >= position && isMark(record))
      : records.findLastIndex((record, index) => index < position - 1 && isMark(record))
  return at === -1 ? undefined : at + 1
}
