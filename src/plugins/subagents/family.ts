/** Tasks of a session and of all below it, and how many there may be. */
import type { NativeHost } from '../../ports/plugin.js'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import { type Ledger, openOf, type Task } from './ledger.js'

const { depth: DEPTH, tasks: TASKS, familyTasks: FAMILY } = LIMITS.subagents
const MOST_LEVELS = 16

/** Where relations are looked up. */
export interface Family {
  readonly host: Pick<NativeHost, 'sessions'>
  readonly ledger: Ledger
}

export function below(ledger: Ledger, sessionId: string, level = 0): Task[] {
  if (level >= MOST_LEVELS) return []
  return ledger.of(sessionId).flatMap((task) => [task, ...below(ledger, task.id, level + 1)])
}

/** The session itself is the first. */
export function ancestors({ sessions }: Family['host'], sessionId: string): string[] {
  const found: string[] = []
  for (let id: string | undefined = sessionId; id !== undefined && found.length <= MOST_LEVELS; id = sessions.get(id)?.parentId)
    found.push(id)
  return found
}

/** `starting` are those that have no row yet. */
export function refuseTooMany({ host, ledger }: Family, parentId: string, starting: number): void {
  const above = ancestors(host, parentId)
  const levels = above.filter((id) => ledger.get(id) !== undefined).length
  const refuse = (message: string) => new SvcError('quota.exceeded', message)
  if (levels >= DEPTH) throw refuse(`Tasks go ${DEPTH} levels deep, and this is the last: do the work here.`)
  if (openOf(ledger, parentId).length + starting >= TASKS)
    throw refuse(`A session has at most ${TASKS} tasks at a time. Wait until some have ended.`)
  const root = above.at(-1)
  const family = ledger.open().filter((task) => ancestors(host, task.parentId).at(-1) === root).length
  if (family + starting >= FAMILY) throw refuse(`A conversation has at most ${FAMILY} tasks at a time. Wait until some have ended.`)
}
