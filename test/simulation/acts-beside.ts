/** What clients and the operator do beside conversations and workflows of their own. */
import { join } from 'node:path'
import { TRUSTED_CALLER } from '../../src/protocol/caller.js'
import { type Acting, written } from './acting.js'
import type { Step } from './history.js'
import { type Life, PLACES } from './life.js'
import { tasksOf, workflowRunsOf } from './rows.js'

export function changeFolder({ known, life }: Acting, { path, how }: Extract<Step, { readonly do: 'folder' }>): Promise<void> {
  const { disk } = life
  const place = join(PLACES.cwd, path)
  if (how === 'writes') return written(known, disk.writeAtomic(place, 'by hand'))
  return written(known, how === 'makes' ? disk.makeDirectory(place) : disk.removeTree(place))
}

/** Nobody counts on it: tasks come and go. */
export function nudge({ known, life, ids, call }: Acting, { name, plays }: Extract<Step, { readonly do: 'nudge' }>): void {
  const task = tasksOf(life).at(-1)
  if (task === undefined) return
  known.plays.set(String(name), plays)
  known.touched.add(task.parentId)
  known.nudged.add(task.id)
  const request = { prompt: `p${name}`, messageId: ids.next('msg'), delivery: 'queue' as const }
  call('nudge', () => life.runtime.sessions.submitPrompt(TRUSTED_CALLER, task.id, request, 'prompt'))
}

export async function dropRun(life: Life, workflowId: string): Promise<unknown> {
  const newest = workflowRunsOf(life).findLast((run) => run.workflowId === workflowId && typeof run.sessionId === 'string')
  return typeof newest?.sessionId === 'string' ? life.runtime.sessions.delete(TRUSTED_CALLER, newest.sessionId) : undefined
}
