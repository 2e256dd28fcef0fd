/** The end of an execution that nothing but work besides runs kept open. */
import type { Executions } from './executions.js'
import type { Journal } from '../../events/journal.js'
import type { Effects } from '../../../ports/effects.js'
import type { Families } from '../../events/families.js'

/** Finishes the execution of a family whose last work has ended; never throws: the next that settles it does it. */
export function settleFamily(
  {
    journal,
    executions,
    families,
    effects,
  }: {
    readonly journal: Journal
    readonly executions: Executions
    readonly families: Families
    readonly effects: Pick<Effects, 'log'>
  },
  sessionId: string,
): void {
  const rootId = families.rootOf(sessionId)
  if (rootId === undefined || executions.current(rootId)?.finished !== false) return
  try {
    journal.commit('process', (tx) => executions.settle(tx, rootId))
  } catch (error) {
    effects.log.warn('the end of an execution could not be recorded yet', { sessionId, cause: String(error) })
  }
}
