/**
 * What is known durably of tasks: a row for each, by the session it is carried out in.
 *
 * I1 Memory follows the rows: it changes after a commit and never without one.
 * I2 Tasks that have not ended are listed apart, so that a start looks at those alone.
 */
import type { PluginRows, RowsChange } from '../../ports/doors.js'
import type { UserModel } from '../../protocol/message/message.js'
import type { SubagentTask } from '../../protocol/session/subagent.js'

/** A prompt that is to be admitted under its id. */
interface TaskPrompt {
  readonly messageId: string
  readonly text: string
}

/** What came of it and was not told yet. */
interface Report {
  readonly ok: boolean
  readonly text: string
}

export interface Task {
  /** The session it is carried out in. */
  readonly id: string
  readonly parentId: string
  readonly agent: string
  readonly description: string
  /** `stopped` and the two before it have ended. */
  readonly status: 'queued' | 'running' | 'reporting' | 'delivered' | 'failed' | 'stopped'
  readonly prompts: readonly TaskPrompt[]
  readonly model?: UserModel
  /** Its caller waits for it in a tool call, and it ends with that. */
  readonly isForeground: boolean
  readonly unattended: boolean
  readonly reports: readonly Report[]
  /** The latest. */
  readonly report?: Report
  readonly created: number
  readonly updated: number
}

export interface Ledger {
  get(id: string): Task | undefined
  /** That have not ended. */
  open(): readonly Task[]
  /** Every task a session has delegated, oldest first. */
  of(parentId: string): readonly Task[]
  /** Tasks of a session that have not ended. */
  openOf(parentId: string): readonly Task[]
  put(tx: RowsChange, task: Task): void
  delete(tx: RowsChange, id: string): void
  readonly commit: PluginRows['commit']
}

export function createLedger(rows: PluginRows): Ledger {
  const open = new Map<string, Task>()
  for (const { id } of rows.list('open')) {
    const row = rows.get('task', id)
    if (row !== undefined) open.set(id, row.data as Task) // our own row
  }
  return {
    commit: rows.commit,
    get: (id) => open.get(id) ?? (rows.get('task', id)?.data as Task | undefined),
    open: () => [...open.values()],
    of: (parentId) => rows.list('task', { group: parentId }).map(({ data }) => data as Task),
    openOf: (parentId) => [...open.values()].filter((task) => task.parentId === parentId),
    put(tx, task) {
      const { id, parentId, created } = task
      tx.put('task', { id, group: parentId, sort: created, data: task })
      if (isOpen(task)) {
        if (!open.has(id)) tx.put('open', { id, group: parentId, sort: created, data: null })
        tx.after(() => void open.set(id, task)) // I1
      } else {
        tx.delete('open', id)
        tx.after(() => void open.delete(id))
      }
    },
    delete(tx, id) {
      tx.delete('task', id)
      tx.delete('open', id)
      tx.after(() => void open.delete(id))
    },
  }
}

export function isOpen({ status }: Task): boolean {
  return status === 'queued' || status === 'running' || status === 'reporting'
}

/** Nothing came of it yet. */
export function isWorking({ status }: Task): boolean {
  return status === 'queued' || status === 'running'
}

const SHOWN: Readonly<Record<Task['status'], SubagentTask['status']>> = {
  queued: 'pending',
  running: 'running',
  reporting: 'completed',
  delivered: 'completed',
  failed: 'error',
  stopped: 'stopped',
}

/** As clients and models are told of it; `from` is the session that asks. */
export function shownTask(task: Task, from: string): SubagentTask {
  const { id, parentId, agent, description, report } = task
  const status = task.status === 'reporting' && report?.ok === false ? 'error' : SHOWN[task.status]
  return {
    id,
    sessionId: parentId,
    childSessionId: id,
    agent,
    description,
    status,
    nested: parentId !== from,
    ...(report !== undefined && !isWorking(task) && { result: report.text }),
  }
}
