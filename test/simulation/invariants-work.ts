/** What holds of delegated tasks and of scheduled workflows. */
import type { WorkflowRun } from '../../src/protocol/workflow/workflow.js'
import type { Invariant } from './invariants.js'
import type { World } from './world.js'

/** A task as its row is. */
interface Task {
  readonly id: string
  readonly parentId: string
  readonly status: 'queued' | 'running' | 'reporting' | 'delivered' | 'failed' | 'stopped'
  readonly isForeground: boolean
  readonly report?: { readonly text: string }
}

const TASKS = 'dev.svc.subagents'
const WORKFLOWS = 'dev.svc.workflows'

export const WORK_INVARIANTS: readonly Invariant[] = [
  { says: 'what came of a task is told to who delegated it once', when: 'calm', fault: toldOnce },
  { says: 'what came of a task is told to who delegated it at last', when: 'calm', fault: toldAtLast },
  { says: 'no task goes on without its session and that of its parent', when: 'calm', fault: noOrphan },
  { says: 'no task goes on once nothing is under way', when: 'calm', fault: noTaskGoesOn },
  { says: 'an occurrence has one run', when: 'always', fault: oneRunAnOccurrence },
  { says: 'the prompt of a run of a workflow is there once at most', when: 'calm', fault: onePromptARun },
  { says: 'a workflow overlaps itself no more than it says', when: 'always', fault: noOverlap },
  { says: 'a workflow that was paused begins no run by its schedule', when: 'always', fault: pausedRests },
  { says: 'every run of a workflow ends', when: 'calm', fault: runsEnd },
]

function tasksOf({ life }: World): readonly Task[] {
  return life.store.pluginRows.list(TASKS, 'task').map(({ data }) => data as Task)
}

function openOf(world: World): readonly Task[] {
  return tasksOf(world).filter(({ status }) => status === 'queued' || status === 'running' || status === 'reporting')
}

function runsOf({ life }: World): readonly WorkflowRun[] {
  return life.store.pluginRows.list(WORKFLOWS, 'run').map(({ data }) => data as WorkflowRun)
}

/** All that was said to a session: by people, programs and itself, also what waits. */
function saidTo(world: World, sessionId: string): readonly string[] {
  const texts = world
    .messages(sessionId)
    .filter(({ info }) => info.role === 'user')
    .map(({ parts }) => parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n'))
  return [...texts, ...world.life.runtime.sessions.queue(sessionId).items.map(({ text }) => text ?? '')]
}

/** How often the session was told an outcome of the task. */
function tellingsOf(texts: readonly string[], { id }: Task): readonly string[] {
  return texts.flatMap((text) => text.split('task_id: ').filter((part) => part.startsWith(id) && part.includes('<task_result>')))
}

function toldOnce(world: World): string | undefined {
  for (const task of tasksOf(world)) {
    if (task.isForeground || world.life.store.sessions.get(task.parentId) === undefined) continue
    const told = tellingsOf(saidTo(world, task.parentId), task)
    const twice = told.find((text, at) => told.indexOf(text) !== at)
    if (twice !== undefined) return `${task.parentId} was told twice: ${twice}`
  }
  return undefined
}

/** Where nobody took anything back. */
function toldAtLast(world: World): string | undefined {
  for (const task of tasksOf(world)) {
    if (task.isForeground || !['delivered', 'failed'].includes(task.status) || world.touched.has(task.parentId)) continue
    if (!world.sessions.includes(task.parentId)) continue
    if (tellingsOf(saidTo(world, task.parentId), task).length === 0) return `${task.parentId} was not told of ${task.id}`
  }
  return undefined
}

function noOrphan(world: World): string | undefined {
  const { sessions } = world.life.store
  const orphan = openOf(world).find(({ id, parentId }) => sessions.get(id) === undefined || sessions.get(parentId) === undefined)
  return orphan && `${orphan.id} of ${orphan.parentId} is ${orphan.status}`
}

function noTaskGoesOn(world: World): string | undefined {
  const [open] = openOf(world)
  return open && `${open.id} of ${open.parentId} is ${open.status}`
}

function oneRunAnOccurrence({ occurrences }: World): string | undefined {
  for (const [occurrence, runs] of occurrences) {
    if (runs.size > 1) return `${occurrence} has ${[...runs.keys()].join(' and ')}`
  }
  return undefined
}

function onePromptARun(world: World): string | undefined {
  for (const { id, sessionId } of runsOf(world)) {
    if (typeof sessionId !== 'string' || world.life.store.sessions.get(sessionId) === undefined) continue
    const prompts = saidTo(world, sessionId).filter((text) => /^p\d+$/.test(text.trim()))
    if (prompts.length > 1) return `the run ${id} has ${prompts.join(' and ')}`
  }
  return undefined
}

/** At most two run where that is allowed at all. */
function noOverlap(world: World): string | undefined {
  const running = runsOf(world).filter(({ status }) => status === 'queued' || status === 'running')
  for (const { activationId } of running) {
    const row = world.life.store.pluginRows.get(WORKFLOWS, 'activation', activationId)
    const { projection } = row?.data as { readonly projection: { readonly definition: { readonly concurrency?: { mode: string } } } }
    const most = 2
    const theirs = running.filter((run) => run.activationId === activationId)
    if (theirs.length > most) return `${theirs.length} runs of ${activationId} (${projection.definition.concurrency?.mode ?? 'forbid'})`
  }
  return undefined
}

function pausedRests({ workflows, occurrences }: World): string | undefined {
  for (const { id, pausedAfter } of workflows) {
    if (pausedAfter === undefined) continue
    for (const runs of occurrences.values()) {
      for (const { run, sequence } of runs.values()) {
        if (run.workflowId === id && run.trigger === 'scheduled' && sequence > pausedAfter) return `${run.id} of ${id} began`
      }
    }
  }
  return undefined
}

function runsEnd(world: World): string | undefined {
  const open = runsOf(world).find(({ status }) => status === 'queued' || status === 'running')
  return open && `${open.id} of ${open.workflowId} is ${open.status}`
}
