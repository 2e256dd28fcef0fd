/** The effects of a task (sessions-events §10.12). */
import { laidOut } from '../../kernel/machine/laid-out.js'
import { chartOf } from '../../kernel/machine/chart.js'
import { fromPromise } from 'xstate'
import type { NativeHost } from '../../ports/plugin.js'
import { type Recorded, type TaskOutcome, type TaskRef, taskMachine } from '../../machines/subagents/task.machine.js'
import { type Delivery, told } from './delivery.js'
import { isOpen, type Ledger, type Task } from './ledger.js'

export interface TaskDeps {
  readonly host: Pick<NativeHost, 'sessions' | 'effects' | 'rows'>
  readonly ledger: Ledger
  readonly delivery: Delivery
  /** Stops what the session of the task has delegated itself. */
  stopBelow(taskId: string): Promise<void>
  /** So many prompts were removed as the task was stopped. */
  onCleared(taskId: string, prompts: number): void
}

const ROUNDS = 5

export function taskLogic(deps: TaskDeps) {
  const { host, ledger, delivery } = deps
  return laidOut(
    chartOf(taskMachine).provide({
      actors: {
        submit: fromPromise<void, TaskRef>(({ input: { taskId } }) => submitPrompts(deps, taskId)),
        follow: fromPromise<TaskOutcome, TaskRef>(async ({ input: { taskId }, signal }) => {
          await host.sessions.quiet(taskId, signal)
          return host.sessions.outcome(taskId)
        }),
        record: fromPromise<Recorded, TaskRef & { outcome: TaskOutcome }>(async ({ input }) => record(deps, input)),
        tell: fromPromise<void, TaskRef>(async ({ input: { taskId }, signal }) => {
          const task = ledger.get(taskId)
          if (task !== undefined) await delivery.tell(task, signal)
        }),
        end: fromPromise<void, TaskRef>(({ input: { taskId } }) => end(deps, taskId)),
      },
    }),
  )
}

/** Admits every prompt that waits for the task; each has an id of its own, so that none is admitted twice. */
export async function submitPrompts(
  { host: { sessions, effects, rows }, ledger }: Pick<TaskDeps, 'host' | 'ledger'>,
  taskId: string,
): Promise<void> {
  for (let task = mustGet(ledger, taskId); ; task = mustGet(ledger, taskId)) {
    const [prompt] = task.prompts
    if (prompt !== undefined) {
      const { messageId, text } = prompt
      await sessions.prompt(taskId, {
        prompt: text,
        messageId,
        ...(task.model && { model: task.model }),
        ...(task.unattended && { unattended: true }),
      })
    }
    const now = mustGet(ledger, taskId)
    if (!isOpen(now)) return
    const prompts = now.prompts.filter(({ messageId }) => messageId !== prompt?.messageId)
    rows.commit('process', (tx) => ledger.put(tx, { ...now, status: 'running', prompts, updated: effects.clock.now() }))
    if (prompts.length === 0) return
  }
}

/** I3 of the machine: in one turn with the look whether more has come. */
function record(
  { host: { sessions, effects, rows }, ledger }: TaskDeps,
  { taskId, outcome }: TaskRef & { outcome: TaskOutcome },
): Recorded {
  const task = mustGet(ledger, taskId)
  if (!isOpen(task)) return 'told'
  if (task.prompts.length > 0 && outcome.ok) return 'more'
  if (!sessions.isQuiet(taskId)) return 'busy'
  const report = { ok: outcome.ok, text: told(outcome.ok ? outcome.text : failureText(outcome)) }
  const { isForeground, parentId, reports } = task
  const status = isForeground ? (outcome.ok ? 'delivered' : 'failed') : 'reporting'
  const usage = sessions.usage(taskId)
  rows.commit('process', (tx) => {
    ledger.put(tx, {
      ...task,
      status,
      prompts: [],
      report,
      reports: isForeground ? [] : [...reports, report],
      updated: effects.clock.now(),
    })
    tx.emit('session.subtask.completed', {
      sessionID: parentId,
      parentSessionID: parentId,
      childSessionID: taskId,
      taskID: taskId,
      status: outcome.ok ? 'completed' : 'error',
      title: task.description,
      result: report.text,
      agent: task.agent,
      usage,
    })
  })
  return isForeground ? 'told' : 'owed'
}

function failureText({ error, text }: Extract<TaskOutcome, { ok: false }>): string {
  return text.trim() === '' ? error : `${error}\n\nWhat it said last:\n${text}`
}

/** What was told to it meanwhile is removed as well. */
async function end(deps: TaskDeps, taskId: string): Promise<void> {
  const { host, ledger, delivery } = deps
  const { sessions, effects, rows } = host
  let cleared = 0
  for (let round = 0; round < ROUNDS && sessions.get(taskId) !== undefined; round++) {
    cleared += sessions.clearQueue(taskId, 'all')
    await sessions.abort(taskId)
    await sessions.endJobs(taskId)
    await deps.stopBelow(taskId)
    if (sessions.isQuiet(taskId)) break
  }
  deps.onCleared(taskId, cleared)
  const task = ledger.get(taskId)
  if (task === undefined || !isOpen(task)) return
  rows.commit('process', (tx) => ledger.put(tx, { ...task, status: 'stopped', prompts: [], reports: [], updated: effects.clock.now() }))
  delivery.flush(task.parentId)
}

function mustGet(ledger: Ledger, taskId: string): Task {
  const task = ledger.get(taskId)
  if (task === undefined) throw new Error('the task is gone')
  return task
}
