/**
 * Telling a session what came of its tasks.
 *
 * I1 Told and noted as told are one commit, so that each outcome is told exactly once.
 * I2 Outcomes wait for siblings that still work, and are told together.
 */
import { cut } from '../../kernel/cut.js'
import type { NativeHost } from '../../ports/plugin.js'
import { LIMITS } from '../../protocol/limits.js'
import { isWorking, type Ledger, openOf, type Task } from './ledger.js'

const { result: RESULT, told: TOLD } = LIMITS.subagents

export interface Delivery {
  /** Resolves once what the task owes was told; rejects when that could not be recorded, or `signal` aborts. */
  tell(task: Task, signal: AbortSignal): Promise<void>
  /** A task of the session has ended or began to owe: what can be told is told. Never throws. */
  flush(parentId: string): void
}

interface Waiter {
  readonly taskId: string
  readonly parentId: string
  resolve(): void
  reject(error: unknown): void
}

export function createDelivery({ sessions, effects }: Pick<NativeHost, 'sessions' | 'effects'>, ledger: Ledger): Delivery {
  const waiters = new Set<Waiter>()

  function flush(parentId: string): void {
    const siblings = openOf(ledger, parentId).filter(({ isForeground }) => !isForeground)
    if (siblings.length === 0 || siblings.some(isWorking)) return // I2
    const theirs = [...waiters].filter((waiter) => waiter.parentId === parentId)
    try {
      sessions.tell(parentId, { text: noticeOf(siblings), unattended: siblings.some(({ unattended }) => unattended) }, (tx) => {
        const updated = effects.clock.now()
        for (const task of siblings)
          ledger.put(tx, { ...task, status: task.report?.ok === true ? 'delivered' : 'failed', reports: [], updated }) // I1
      })
      for (const waiter of theirs) waiter.resolve()
    } catch (error) {
      for (const waiter of theirs) waiter.reject(error)
    }
  }

  return {
    flush,
    async tell({ id: taskId, parentId }, signal) {
      if (ledger.get(taskId)?.status !== 'reporting') return
      let waiter: Waiter | undefined
      const told = new Promise<void>((resolve, reject) => {
        waiter = { taskId, parentId, resolve, reject }
        waiters.add(waiter)
        signal.addEventListener('abort', () => reject(new Error('nobody is to be told any more')), { once: true })
      })
      flush(parentId)
      try {
        await told
      } finally {
        if (waiter !== undefined) waiters.delete(waiter)
      }
    },
  }
}

/** All of them in one text; each is cut so that together they stay within what is told at once. */
function noticeOf(tasks: readonly Task[]): string {
  const reports = tasks.flatMap((task) => task.reports.map((report) => ({ task, report })))
  const most = Math.min(RESULT, Math.floor(TOLD / Math.max(1, reports.length)))
  const head = tasks.length === 1 ? 'A task you delegated has ended.' : `${tasks.length} tasks you delegated have ended.`
  const texts = reports.map(({ task, report }) => {
    const { id, agent, description } = task
    return `task_id: ${id}\nagent: ${agent}\ndescription: ${description}\nstatus: ${report.ok ? 'completed' : 'error'}\n<task_result>\n${told(report.text, most)}\n</task_result>`
  })
  return [head, ...texts].join('\n\n')
}

export function told(text: string, most: number = RESULT): string {
  return cut(text, most, `\n(cut: ${text.length} characters; the whole is in the session of the task)`)
}
