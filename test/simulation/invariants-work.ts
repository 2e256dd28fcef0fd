/** What holds of delegated tasks and of scheduled workflows. */
import { TRUSTED_CALLER } from '../../src/protocol/caller.js'
import { SOON } from './acts.js'
import type { Invariant } from './invariants.js'
import type { Written } from './known.js'
import { isOff, isOpen, isUnderWay, SUBAGENTS, type Task, tasksOf, WORKFLOWS, workflowRunsOf } from './rows.js'
import type { World } from './world.js'

export const WORK_INVARIANTS: readonly Invariant[] = [
  { says: 'what came of a task is told to who delegated it once', when: 'calm', fault: toldOnce },
  { says: 'what came of a task is told to who delegated it at last', when: 'calm', fault: toldAtLast },
  { says: 'no task goes on without its session and that of its parent', when: 'calm', fault: noOrphan },
  { says: 'nothing is kept of a task whose session is gone', when: 'always', fault: noneLeft },
  { says: 'no task goes on once nothing is under way', when: 'calm', fault: noTaskGoesOn },
  { says: 'an occurrence has one run', when: 'always', fault: oneRunAnOccurrence },
  { says: 'the prompt of a run of a workflow is there once at most', when: 'calm', fault: onePromptARun },
  { says: 'a workflow overlaps itself no more than it says', when: 'always', fault: noOverlap },
  { says: 'a workflow that was paused begins no run by its schedule', when: 'always', fault: pausedRests },
  { says: 'an abort that was acknowledged ends the tasks its run waited for', when: 'always', fault: abortEndsTasks },
  { says: 'a call of a tool is executed once', when: 'always', fault: executedOnce },
  { says: 'a tool is executed where somebody or a rule allows it', when: 'always', fault: executedAllowed },
  { says: 'nothing is executed for a run whose abort was acknowledged', when: 'always', fault: abortedRests },
  { says: 'a scheduled run is of a moment that its file names, in the zone that it names', when: 'always', fault: scheduledAsSaid },
  { says: 'every run of a workflow ends', when: 'calm', fault: runsEnd },
]

function openOf({ life }: World): readonly Task[] {
  return tasksOf(life).filter(isOpen)
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
  for (const task of tasksOf(world.life)) {
    if (task.isForeground || world.life.store.sessions.get(task.parentId) === undefined) continue
    const told = tellingsOf(saidTo(world, task.parentId), task)
    const twice = told.find((text, at) => told.indexOf(text) !== at)
    if (twice !== undefined) return `${task.parentId} was told twice: ${twice}`
  }
  return undefined
}

/** Where nobody took anything back. */
function toldAtLast(world: World): string | undefined {
  for (const task of tasksOf(world.life)) {
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

/** Also of those that have ended. */
function noneLeft({ life }: World): string | undefined {
  const left = tasksOf(life).find(({ id }) => life.store.sessions.get(id) === undefined)
  return left && `the row of ${left.id} of ${left.parentId}, which is ${left.status}, is there`
}

function noTaskGoesOn(world: World): string | undefined {
  if (isOff(world, SUBAGENTS)) return undefined
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
  for (const { id, sessionId } of workflowRunsOf(world.life)) {
    if (typeof sessionId !== 'string' || world.life.store.sessions.get(sessionId) === undefined) continue
    const prompts = saidTo(world, sessionId).filter((text) => /^p\d+$/.test(text.trim()))
    if (prompts.length > 1) return `the run ${id} has ${prompts.join(' and ')}`
  }
  return undefined
}

/** Runs that a file of the simulation allows to be under way together. */
const ALLOWED = 2

/** By what the file said when the newest of them was begun: `forbid` and `replace` leave one. */
function noOverlap({ life, claims }: World): string | undefined {
  const all = workflowRunsOf(life).filter(isUnderWay)
  for (const activationId of new Set(all.map((run) => run.activationId))) {
    const runs = all.filter((run) => run.activationId === activationId)
    const begun = [...claims].findLast(([id]) => runs.some((run) => run.id === id))
    if (begun === undefined) continue
    const [newest, { files }] = begun
    const modes = files.map(({ concurrency }) => concurrency)
    if (runs.length > (modes.includes('allow') ? ALLOWED : 1))
      return `of ${activationId} ${runs.length} runs are under way, and its file said ${modes.join(' or ')} as ${newest} began`
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
  if (isOff(world, WORKFLOWS)) return undefined
  const open = workflowRunsOf(world.life).find(isUnderWay)
  return open && `${open.id} of ${open.workflowId} is ${open.status}`
}

/** With what they are at work on. A session that looks what waits, on a slow disk, has nothing to end yet: what it finds is aborted as it begins. */
/** What somebody asked of the session of a task by itself is a run of its own. */
function abortEndsTasks({ life, aborted, nudged, isShaken }: World): string | undefined {
  if (isShaken) return undefined
  const busy: Readonly<Record<string, { readonly runID?: unknown }>> = life.runtime.sessions.status(TRUSTED_CALLER)
  const foreground = new Set(
    tasksOf(life)
      .filter(({ isForeground }) => isForeground)
      .map(({ id }) => id),
  )
  const goesOn = (id: string, runId: string | undefined): boolean => {
    const now = busy[id]?.runID
    return now !== undefined && (runId === undefined ? !nudged.has(id) : now === runId)
  }
  const left = aborted.flatMap(({ tasks }) => tasks).find(({ id, runId }) => foreground.has(id) && goesOn(id, runId))
  return left && `the task ${left.id} goes on`
}

function executedOnce({ executed }: World): string | undefined {
  const seen = new Set<string>()
  for (const { sessionId, id } of executed) {
    const each = `${sessionId} ${id}`
    if (seen.has(each)) return `${each} was executed twice`
    seen.add(each)
  }
  return undefined
}

function executedAllowed({ executed }: World): string | undefined {
  const wrong = executed.find(({ isAllowed }) => !isAllowed)
  return wrong && `${wrong.tool} was executed for ${wrong.id}`
}

/** Also while the end of its run cannot be recorded. */
function abortedRests({ executed }: World): string | undefined {
  const wrong = executed.find(({ isAborted }) => isAborted)
  return wrong && `${wrong.tool} was executed for ${wrong.id}`
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const BERLIN = new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Berlin', timeStyle: 'medium' })

function scheduledAsSaid({ claims }: World): string | undefined {
  for (const { run, files } of claims.values()) {
    if (run.trigger !== 'scheduled' || files.length === 0 || files.some((file) => names(file, run.scheduledAt))) continue
    return `${run.id} of ${run.workflowId} is of ${new Date(run.scheduledAt).toISOString()}`
  }
  return undefined
}

/** As `acts.ts` writes it. */
function names({ schedule, at }: Written, moment: number): boolean {
  const soon = at + SOON
  switch (schedule) {
    case 'hourly':
      return moment % HOUR === new Date(soon + MINUTE).getUTCMinutes() * MINUTE
    case 'daily':
      return BERLIN.format(moment) === '09:30:00'
    default:
      return moment === soon
  }
}
