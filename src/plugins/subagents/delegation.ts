/**
 * The tasks of this server: one actor for each that has not ended, rebuilt from its row (sessions-events §10.12; subsystems k).
 *
 * I1 At most one actor for each task. It is the root of a system of its own, so that a crash ends that task alone.
 * I2 The session of a task and its row are one commit: neither is ever there without the other.
 * I3 What a process left unfinished for a tool call is stopped: nobody waits for it any more.
 * I4 Who stops all tasks of a session stops those as well that an answer begun before has yet to delegate.
 */
import { type ActorRefFrom, createActor } from 'xstate'
import type { CreateSessionRequest, Session } from '../../protocol/session/session.js'
import type { NativeHost } from '../../ports/plugin.js'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import { createLru } from '../../kernel/lru.js'
import type { TaskEvent, TaskInput } from '../../machines/subagents/task.machine.js'
import { createDelivery } from './delivery.js'
import { createLedger, isOpen, isWorking, type Task } from './ledger.js'
import { type Resumer, resumedBy } from './resumed.js'
import { submitPrompts, taskLogic } from './task.actor.js'

const { depth: DEPTH, tasks: TASKS, familyTasks: FAMILY } = LIMITS.subagents
const MOST_LEVELS = 16
/** Sessions whose last stop of all tasks is remembered. */
const STOPS = 1000

interface NewTask extends Pick<Task, 'agent' | 'description' | 'isForeground' | 'unattended' | 'model'> {
  readonly parent: Session
  /** The answer that delegates it. */
  readonly messageId: string
  readonly prompt: string
  readonly request: CreateSessionRequest
  readonly extra: Readonly<Record<string, unknown>>
}

export interface Delegation {
  /**
   * Throws `quota.exceeded` when there are too many, or too many levels, and `resource.conflict` when all tasks of the session were stopped since
   * the answer began. Nothing is created once `signal` has aborted.
   */
  start(task: NewTask, signal: AbortSignal): Promise<Task>
  /** More work for a task, whether it has ended or not. Nothing of it may do more than the run that says so. */
  resume(task: Task, prompt: string, by: Resumer): Promise<Task>
  /** Resolves with the task once it has ended; rejects when the service stops before. */
  ended(taskId: string): Promise<Task>
  /** Stops tasks with everything below; answers those that were stopped, and how many prompts were removed. */
  stop(tasks: readonly Task[]): Promise<{ stopped: string[]; clearedPrompts: number }>
  /** As `stop`, for all of a session and those below it; I4. */
  stopAll(sessionId: string): ReturnType<Delegation['stop']>
  /** Of a session and those below it, the latest first. */
  tasksOf(sessionId: string): readonly Task[]
  /** A task below the session. */
  find(sessionId: string, taskId: string): Task | undefined
  gone(sessionId: string): void
  end(): Promise<void>
}

type Actor = ActorRefFrom<ReturnType<typeof taskLogic>>

export function createDelegation(host: Pick<NativeHost, 'effects' | 'sessions' | 'rows' | 'actors' | 'stopping'>): Delegation {
  const { effects, sessions, actors, stopping } = host
  const { clock, ids, log } = effects
  const ledger = createLedger(host.rows)
  const delivery = createDelivery(host, ledger)
  const alive = new Map<string, { readonly ref: Actor; readonly release: () => void }>()
  const cleared = new Map<string, number>()
  const stops = createLru<string, string>(STOPS)
  let starting = 0
  const over = new AbortController()

  const logic = taskLogic({
    host,
    ledger,
    delivery,
    stopBelow: async (taskId) => void (await stop(ledger.openOf(taskId))),
    onCleared: (taskId, prompts) => void cleared.set(taskId, prompts),
  })

  const hold = ({ id, parentId, created }: Task) => sessions.begin(parentId, { kind: 'task', id, startedAt: created })

  function begin(task: Task, from: TaskInput['from'], release = hold(task)): Actor {
    const known = alive.get(task.id)?.ref
    if (known?.getSnapshot().status === 'active') return known // I1
    const ref = createActor(logic, { id: `task:${task.id}`, input: { taskId: task.id, from, ok: task.report?.ok === true }, clock })
    alive.set(task.id, { ref, release })
    const forget = () => {
      if (alive.get(task.id)?.ref === ref) alive.delete(task.id)
      release()
      delivery.flush(task.parentId)
    }
    ref.subscribe({
      complete: forget,
      error(error) {
        log.error('the actor of a task crashed', { taskId: task.id, cause: String(error) })
        forget()
      },
    })
    actors.add(ref, 'task')
    ref.start()
    return ref
  }

  function recover(): void {
    const left = ledger.open().flatMap((task) => {
      const isWhole = sessions.get(task.id) !== undefined && sessions.get(task.parentId) !== undefined
      if (isWhole && !task.isForeground) return [{ task, release: hold(task) }]
      if (isWhole) sessions.clearQueue(task.id, 'all') // I3
      ledger.commit('process', (tx) => {
        if (isWhole) ledger.put(tx, { ...task, status: 'stopped', prompts: [], updated: clock.now() })
        else ledger.delete(tx, task.id)
      })
      return []
    })
    for (const { task, release } of left)
      begin(task, task.prompts.length > 0 ? 'queued' : task.status === 'reporting' ? 'reporting' : 'running', release)
  }

  function below(sessionId: string, level = 0): Task[] {
    if (level >= MOST_LEVELS) return []
    return ledger.of(sessionId).flatMap((task) => [task, ...below(task.id, level + 1)])
  }

  function ancestors(sessionId: string): string[] {
    const found: string[] = []
    for (let id: string | undefined = sessionId; id !== undefined && found.length <= MOST_LEVELS; id = sessions.get(id)?.parentId)
      found.push(id)
    return found
  }

  function refuseTooMany(parentId: string): void {
    const above = ancestors(parentId)
    const levels = above.filter((id) => ledger.get(id) !== undefined).length
    const refuse = (message: string) => new SvcError('quota.exceeded', message)
    if (levels >= DEPTH) throw refuse(`Tasks go ${DEPTH} levels deep, and this is the last: do the work here.`)
    if (ledger.openOf(parentId).length + starting >= TASKS)
      throw refuse(`A session has at most ${TASKS} tasks at a time. Wait until some have ended.`)
    const root = above.at(-1)
    const family = ledger.open().filter((task) => ancestors(task.parentId).at(-1) === root).length
    if (family + starting >= FAMILY) throw refuse(`A conversation has at most ${FAMILY} tasks at a time. Wait until some have ended.`)
  }

  /** I4: answers that were begun later have a later id. */
  function refuseStopped(parentId: string, messageId: string): void {
    if (ancestors(parentId).some((id) => (stops.get(id) ?? '') > messageId))
      throw new SvcError('resource.conflict', 'The task was stopped before it began.')
  }

  function endOf(ref: Actor): Promise<void> {
    return new Promise((resolve) => void ref.subscribe({ complete: resolve, error: () => resolve() }))
  }

  async function stop(tasks: readonly Task[]): Promise<{ stopped: string[]; clearedPrompts: number }> {
    const open = tasks.flatMap((task) => {
      const ref = alive.get(task.id)?.ref
      return isOpen(task) && ref !== undefined ? [{ id: task.id, ref }] : []
    })
    const nested = open.flatMap(({ id }) => below(id).filter(isOpen))
    for (const { ref } of open) ref.send({ type: 'stop.requested' })
    await Promise.all(open.map(({ ref }) => endOf(ref)))
    const all = [...new Set([...open.map(({ id }) => id), ...nested.map(({ id }) => id)])]
    const stopped = all.filter((id) => ledger.get(id)?.status === 'stopped')
    const clearedPrompts = all.reduce((sum, id) => sum + (cleared.get(id) ?? 0), 0)
    for (const id of all) cleared.delete(id)
    return { stopped, clearedPrompts }
  }

  function tellAll(event: TaskEvent): void {
    for (const { ref } of alive.values()) ref.send(event)
  }

  const park = () => {
    over.abort()
    tellAll({ type: 'service.stopping' })
  }
  stopping.addEventListener('abort', park, { once: true })
  recover()

  return {
    async start({ parent, messageId, prompt, request, extra, ...about }, signal) {
      if (over.signal.aborted) throw new SvcError('lifecycle.closed', 'The service is stopping.')
      refuseTooMany(parent.id)
      starting++
      let task: Task | undefined
      try {
        await sessions.create(parent.directory, { ...request, parentId: parent.id }, extra, (tx, { id }) => {
          signal.throwIfAborted()
          refuseStopped(parent.id, messageId)
          const now = clock.now()
          const prompts = [{ messageId: ids.next('msg'), text: prompt }]
          task = { ...about, id, parentId: parent.id, status: 'queued', prompts, reports: [], created: now, updated: now }
          ledger.put(tx, task) // I2
        })
      } finally {
        starting--
      }
      if (task === undefined) throw new SvcError('server.internal')
      if (!over.signal.aborted) begin(task, 'queued')
      return task
    },
    async resume({ id }, text, by) {
      if (over.signal.aborted) throw new SvcError('lifecycle.closed', 'The service is stopping.')
      const task = ledger.get(id)
      if (task === undefined) throw new SvcError('resource.not_found', `There is no task "${id}".`)
      if (!isOpen(task)) refuseTooMany(task.parentId)
      const next: Task = {
        ...task,
        status: isOpen(task) ? task.status : 'queued',
        isForeground: isOpen(task) && task.isForeground,
        prompts: [...task.prompts, { messageId: ids.next('msg'), text }],
        updated: clock.now(),
      }
      sessions.note(id, 'delegation', resumedBy(sessions.get(id), by, { isOpen: isOpen(task) }), (tx) => ledger.put(tx, next))
      const known = alive.get(id)?.ref
      if (known === undefined || known.getSnapshot().status !== 'active') begin(next, 'queued')
      else if (known.getSnapshot().hasTag('owing')) {
        ledger.commit('process', (tx) => ledger.put(tx, { ...next, status: 'queued' }))
        known.send({ type: 'resume.requested' })
      } else if (isWorking(task)) await submitPrompts({ host, ledger }, id)
      return next
    },
    async ended(taskId) {
      const ref = alive.get(taskId)?.ref
      if (ref !== undefined) await endOf(ref)
      const task = ledger.get(taskId)
      if (task === undefined || isOpen(task)) throw new SvcError('lifecycle.closed', 'The task was not finished.')
      return task
    },
    stop,
    stopAll(sessionId) {
      stops.set(sessionId, ids.next('msg'))
      return stop(below(sessionId))
    },
    tasksOf: (sessionId) =>
      below(sessionId)
        .toSorted((a, b) => b.updated - a.updated || b.created - a.created)
        .slice(0, LIMITS.subagents.listed),
    find(sessionId, taskId) {
      const task = ledger.get(taskId)
      return task !== undefined && taskId !== sessionId && ancestors(taskId).includes(sessionId) ? task : undefined
    },
    gone(sessionId) {
      const theirs = [ledger.get(sessionId), ...ledger.of(sessionId)].filter((task) => task !== undefined)
      if (theirs.length === 0) return
      ledger.commit('process', (tx) => theirs.forEach(({ id }) => ledger.delete(tx, id)))
      for (const { id } of theirs) alive.get(id)?.ref.send({ type: 'session.gone' })
    },
    async end() {
      stopping.removeEventListener('abort', park)
      const refs = [...alive.values()].map(({ ref }) => endOf(ref))
      park()
      await Promise.all(refs)
    },
  }
}
