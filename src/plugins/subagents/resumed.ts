/** Who has given a task more to do: the rules of these runs hold for it beside those of the run that delegated it (decision 055). */
import { SvcError } from '../../protocol/errors.js'
import type { Session } from '../../protocol/session/session.js'
import { isRecord } from '../../protocol/text/json.js'

const MOST = 32

/** A run that gives a task more to do. */
export interface Resumer {
  readonly sessionId: string
  readonly agent: string
  /** Tools its prompt leaves out. */
  readonly refused: readonly string[]
}

/**
 * What stands on the record of a task from then on. One that rests forgets who resumed it before; one that works may still do what they said.
 * Throws `quota.exceeded` where so many different runs have resumed it meanwhile.
 */
export function resumedBy(task: Session | undefined, by: Resumer, { isOpen }: { readonly isOpen: boolean }): unknown {
  const delegation = isRecord(task?.['delegation']) ? task['delegation'] : {}
  const before: readonly unknown[] = isOpen && Array.isArray(delegation['resumed']) ? delegation['resumed'] : []
  const { sessionId, agent } = by
  const entry = { sessionId, agent, refused: [...by.refused].toSorted() }
  const resumed = [...before.filter((each) => JSON.stringify(each) !== JSON.stringify(entry)), entry]
  if (resumed.length > MOST)
    throw new SvcError('quota.exceeded', 'The task was given more to do by too many different runs. Wait until it has ended.')
  return { ...delegation, resumed }
}
