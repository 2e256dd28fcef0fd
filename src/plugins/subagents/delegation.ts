/**
 * The tasks of this server: one actor for each that has not ended, rebuilt from its row (sessions-events §10.12; subsystems k).
 *
 * I1 At most one actor for each task. It is the root of a system of its own, so that a crash ends that task alone.
 * I2 The session of a task and its row come in one commit and go in one: neither is ever there without the other.
 * I3 What a process left unfinished for a tool call is stopped: nobody waits for it any more.
 * I4 Who stops all tasks of a session stops those as well that an answer begun before has yet to delegate.
 */
import { createActor } from 'xstate'
import type { CreateSessionRequest, Session } from '../../protocol/session/session.js'
import type { NativeHost } from '../../ports/plugin.js'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import { createLru } from '../../kernel/lru.js'
import { isActive } from '../../kernel/reached.js'
import { type Supervised, supervise } from '../../kernel/supervise.js'
import type { TaskInput } from '../../machines/subagents/task.machine.js'
import { createDelivery } from './delivery.js'
import { ancestors, below, refuseTooMany } from './family.js'
import { createLedger, isOpen, isWorking, type Ledger, openOf, type Task } from './ledger.js'
import { type Resumer, resumedBy } from './resumed.js'
import { submitPrompts, taskLogic } from './task.actor.js'

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
  /** Ends what works on a task whose session was deleted. */
  gone(sessionId: string): void
  end(): Promise<void>
}

type DelegationHost = Pick<NativeHost, 'effects' | 'sessions' | 'rows' | 'actors' | 'stopping'>
type TaskLogic = ReturnType<typeof taskLogic>

/** All tasks of this server. */
interface Delegated {
  readonly host: DelegationHost
  readonly ledger: Ledger
  readonly logic: TaskLogic
  readonly actors: Supervised<TaskLogic>
  /** Of tasks that have an actor, or are about to: they keep their parents from being quiet. */
  readonly holds: Map<string, { readonly parentId: string; readonly release: () => void }>
  /** How many prompts were removed as a task was stopped. */
  readonly cleared: Map<string, number>
  /** The last message id there was when all tasks of a session were stopped (I4). */
  readonly stops: ReturnType<typeof createLru<string, string>>
  readonly over: AbortSignal
  /** Tasks whose session is being created. */
  starting: number
}

export function createDelegation(host: DelegationHost): Delegation {
  const { effects, sessions, stopping } = host
  const ledger = createLedger(host.rows)
  const delivery = createDelivery(host, ledger)
  const cleared: Delegated['cleared'] = new Map()
  const holds: Delegated['holds'] = new Map()
  const over = new AbortController()
  const logic: TaskLogic = taskLogic({
    host,
    ledger,
    delivery,
    stopBelow: async (taskId) => void (await stop(delegated, openOf(ledger, taskId))),
    onCleared: (taskId, prompts) => void cleared.set(taskId, prompts),
  })
  const actors = supervise<TaskLogic>({
    effects,
    kind: 'task',
    actors: host.actors,
    onEnded(taskId) {
      const held = holds.get(taskId)
      holds.delete(taskId)
      held?.release()
      if (held !== undefined) delivery.flush(held.parentId)
    },
  })
  const stops = createLru<string, string>(STOPS)
  const delegated: Delegated = { host, ledger, logic, actors, holds, cleared, stops, over: over.signal, starting: 0 }
  const park = () => {
    over.abort()
    for (const taskId of actors.keys()) actors.send(taskId, { type: 'service.stopping' })
  }
  stopping.addEventListener('abort', park, { once: true })
  recover(delegated)
  return {
    start: (task, signal) => start(delegated, task, signal),
    resume: (task, prompt, by) => resume(delegated, task, prompt, by),
    async ended(taskId) {
      await actors.until(taskId)
      const task = ledger.get(taskId)
      if (task === undefined || isOpen(task)) throw new SvcError('lifecycle.closed', 'The task was not finished.')
      return task
    },
    stop: (tasks) => stop(delegated, tasks),
    stopAll(sessionId) {
      stops.set(sessionId, effects.ids.next('msg'))
      return stop(delegated, below(ledger, sessionId))
    },
    tasksOf: (sessionId) =>
      below(ledger, sessionId)
        .toSorted((a, b) => b.updated - a.updated || b.created - a.created)
        .slice(0, LIMITS.subagents.listed),
    find(sessionId, taskId) {
      const task = ledger.get(taskId)
      return task !== undefined && taskId !== sessionId && ancestors({ sessions }, taskId).includes(sessionId) ? task : undefined
    },
    gone: (sessionId) => void actors.send(sessionId, { type: 'session.gone' }),
    async end() {
      stopping.removeEventListener('abort', park)
      const ended = [...actors.keys()].map((taskId) => actors.until(taskId))
      park()
      await Promise.all(ended)
    },
  }
}

function hold({ host, holds }: Delegated, { id, parentId, created }: Task): void {
  if (!holds.has(id)) holds.set(id, { parentId, release: host.sessions.begin(parentId, { kind: 'task', id, startedAt: created }) })
}

/** I1 */
function begin(delegated: Delegated, task: Task, from: TaskInput['from']): void {
  const { logic, actors } = delegated
  hold(delegated, task)
  const input = { taskId: task.id, from, ok: task.report?.ok === true }
  actors.start(task.id, (system) => createActor(logic, { id: `task:${task.id}`, input, ...system }))
}

/** All that go on are held before the first does. */
function recover(delegated: Delegated): void {
  const { host, ledger } = delegated
  const { sessions, effects, rows } = host
  const left = ledger.open().filter((task) => {
    const isWhole = sessions.get(task.id) !== undefined && sessions.get(task.parentId) !== undefined
    if (isWhole && !task.isForeground) {
      hold(delegated, task)
      return true
    }
    if (isWhole) sessions.clearQueue(task.id, 'all') // I3
    rows.commit('process', (tx) => {
      if (isWhole) ledger.put(tx, { ...task, status: 'stopped', prompts: [], updated: effects.clock.now() })
      else ledger.delete(tx, task.id)
    })
    return false
  })
  for (const task of left)
    begin(delegated, task, task.prompts.length > 0 ? 'queued' : task.status === 'reporting' ? 'reporting' : 'running')
}

function refuseOver({ over }: Delegated): void {
  if (over.aborted) throw new SvcError('lifecycle.closed', 'The service is stopping.')
}

/** I4: answers that were begun later have a later id. */
function refuseStopped({ host, stops }: Delegated, parentId: string, messageId: string): void {
  if (ancestors(host, parentId).some((id) => (stops.get(id) ?? '') > messageId))
    throw new SvcError('resource.conflict', 'The task was stopped before it began.')
}

async function start(delegated: Delegated, given: NewTask, signal: AbortSignal): Promise<Task> {
  const { host, ledger, over } = delegated
  const { parent, messageId, prompt, request, extra, ...about } = given
  const { clock, ids } = host.effects
  refuseOver(delegated)
  refuseTooMany(delegated, parent.id, delegated.starting)
  delegated.starting++
  let task: Task | undefined
  try {
    await host.sessions.create(parent.directory, { ...request, parentId: parent.id }, extra, (tx, { id }) => {
      signal.throwIfAborted()
      refuseStopped(delegated, parent.id, messageId)
      const now = clock.now()
      const prompts = [{ messageId: ids.next('msg'), text: prompt }]
      task = { ...about, id, parentId: parent.id, status: 'queued', prompts, reports: [], created: now, updated: now }
      ledger.put(tx, task) // I2
    })
  } finally {
    delegated.starting--
  }
  if (task === undefined) throw new SvcError('server.internal')
  if (!over.aborted) begin(delegated, task, 'queued')
  return task
}

async function resume(delegated: Delegated, { id }: Task, text: string, by: Resumer): Promise<Task> {
  const { host, ledger, actors } = delegated
  const { sessions, effects } = host
  refuseOver(delegated)
  const task = ledger.get(id)
  if (task === undefined) throw new SvcError('resource.not_found', `There is no task "${id}".`)
  if (!isOpen(task)) refuseTooMany(delegated, task.parentId, delegated.starting)
  const next: Task = {
    ...task,
    status: isOpen(task) ? task.status : 'queued',
    isForeground: isOpen(task) && task.isForeground,
    prompts: [...task.prompts, { messageId: effects.ids.next('msg'), text }],
    updated: effects.clock.now(),
  }
  sessions.note(id, 'delegation', resumedBy(sessions.get(id), by, { isOpen: isOpen(task) }), (tx) => ledger.put(tx, next))
  const known = actors.get(id)
  if (known === undefined || !isActive(known)) begin(delegated, next, 'queued')
  else if (known.getSnapshot().hasTag('owing')) {
    host.rows.commit('process', (tx) => ledger.put(tx, { ...next, status: 'queued' }))
    known.send({ type: 'resume.requested' })
  } else if (isWorking(task)) await submitPrompts({ host, ledger }, id)
  return next
}

async function stop({ ledger, actors, cleared }: Delegated, tasks: readonly Task[]): ReturnType<Delegation['stop']> {
  const open = tasks.filter((task) => isOpen(task) && actors.get(task.id) !== undefined).map(({ id }) => id)
  const nested = open.flatMap((id) => below(ledger, id).filter(isOpen))
  const ended = open.map((id) => actors.until(id))
  for (const id of open) actors.send(id, { type: 'stop.requested' })
  await Promise.all(ended)
  const all = [...new Set([...open, ...nested.map(({ id }) => id)])]
  const stopped = all.filter((id) => ledger.get(id)?.status === 'stopped')
  const clearedPrompts = all.reduce((sum, id) => sum + (cleared.get(id) ?? 0), 0)
  for (const id of all) cleared.delete(id)
  return { stopped, clearedPrompts }
}
