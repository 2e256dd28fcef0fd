/** What is known durably of tasks: a row for each, by the session that delegated it. Those that have not ended are in memory. */
import * as z from 'zod'
import { type Collection, collection } from '../../kernel/collection.js'
import type { PluginRows } from '../../ports/doors.js'
import { UserModel } from '../../protocol/message/message.js'
import type { SubagentTask } from '../../protocol/session/subagent.js'

const Report = z.object({ ok: z.boolean(), text: z.string() })

const Task = z.object({
  /** The session it is carried out in. */
  id: z.string(),
  parentId: z.string(),
  agent: z.string(),
  description: z.string(),
  /** `stopped` and the two before it have ended. */
  status: z.enum(['queued', 'running', 'reporting', 'delivered', 'failed', 'stopped']),
  /** To be admitted, each under its id. */
  prompts: z.array(z.object({ messageId: z.string(), text: z.string() })),
  model: UserModel.optional(),
  /** Its caller waits for it in a tool call, and it ends with that. */
  isForeground: z.boolean(),
  unattended: z.boolean(),
  /** What came of it and was not told yet. */
  reports: z.array(Report),
  /** The latest. */
  report: Report.optional(),
  created: z.number(),
  updated: z.number(),
})
export type Task = Readonly<z.infer<typeof Task>>

/** A task is of the session it is carried out in. */
export const SESSION_ROWS = { task: 'id', open: 'id' } as const

/** Groups are the sessions that have delegated. */
export type Ledger = Collection<Task>

export function createLedger(rows: PluginRows): Ledger {
  return collection<Task>(rows, {
    kind: 'task',
    parse: (data) => Task.parse(data),
    row: ({ id, parentId, created }) => ({ id, group: parentId, sort: created }),
    open: { kind: 'open', is: isOpen },
  })
}

/** Tasks of a session that have not ended. */
export function openOf(ledger: Ledger, parentId: string): readonly Task[] {
  return ledger.open().filter((task) => task.parentId === parentId)
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
