/** What clients and the operator do in a step, with what they know and with a server that lives. */
import { TRUSTED_CALLER } from '../../src/protocol/caller.js'
import { subagentRoutes } from '../../src/protocol/session/subagent.js'
import type { WorkflowHistory } from '../../src/protocol/workflow/workflow.js'
import { type Acting, written } from './acting.js'
import { changeFolder, dropRun, nudge } from './acts-beside.js'
import { actOnGoal, type GoalStep } from './acts-goals.js'
import { actOnLodger } from './acts-lodger.js'
import { actOutside } from './acts-outside.js'
import { actAsTenant } from './acts-tenants.js'
import { onceFor } from './executions.js'
import type { Play, Step, Workflow } from './history.js'
import type { KnownWorkflow } from './known.js'
import { SEEN } from './lately.js'
import { isOpen, tasksOf } from './rows.js'
import { CONFIG_FILE, configOf, type Life, PLACES, type Said } from './life.js'

/** What is done with a server, but for its life and its time. */
export type Act = Exclude<Step, { readonly do: Beside }>
type Beside = 'release' | 'leave' | 'return' | 'stall' | 'wait' | 'calm' | 'jump' | 'die' | 'restart' | 'fill' | 'free' | 'slow' | 'when'

/** What is written to be due once is due so many ms later. */
export const SOON = 20_000
/** Prompts of a flood, and characters of each: more than may wait. */
const FLOOD = 14
/** What waits does so because the model takes its time. */
const STUCK: readonly Play[] = [{ as: 'hangs', words: 0 }]
export const LONG = 4200
const SESSIONS = 3
const DIRECTORY = PLACES.cwd

export function act(acting: Acting, step: Act): void | Promise<void> {
  switch (step.do) {
    case 'create':
      return create(acting, step.untitled === true)
    case 'repeat':
      return send(acting, step.name)
    case 'answer':
      return answer(acting, step.request, step.how)
    case 'folder':
      return changeFolder(acting, step)
    case 'nudge':
      return nudge(acting, step)
    case 'mood':
      return void (acting.known.mood.is = step.is)
    case 'save':
    case 'lose':
    case 'activate':
    case 'pause':
    case 'run':
    case 'drop':
    case 'retry': {
      const workflow = acting.known.workflows[step.workflow]
      return workflow && actOnWorkflow(acting, workflow, step)
    }
    case 'lodge':
    case 'trust':
    case 'manner':
    case 'lodger':
      return actOnLodger(acting, step)
    case 'tenant':
    case 'tenant-asks':
      return actAsTenant(acting, step)
    case 'reach':
    case 'reach-asks':
    case 'reach-aborts':
    case 'guest':
    case 'guest-manner':
    case 'weather':
      return actOutside(acting, step, { prompt, abort, operate })
    case 'goal':
      return actOnGoal(acting, step, { operate })
    case 'configure':
      return configure(acting, step.says)
    default: {
      const { sessions } = acting.known
      const sessionId = sessions[step.session % Math.max(1, sessions.length)]
      if (sessionId !== undefined) actOnSession(acting, sessionId, step)
    }
  }
}

function create({ known: { sessions }, life, call }: Acting, isUntitled: boolean): void {
  if (sessions.length >= SESSIONS) return
  call(
    'create',
    () => life.runtime.sessions.create(TRUSTED_CALLER, DIRECTORY, isUntitled ? {} : { title: 'Simulated' }),
    ({ id }) => sessions.push(id),
  )
}

function actOnSession(acting: Acting, id: string, step: Exclude<Extract<Act, { readonly session: number }>, GoalStep>): void {
  const { known, life, call } = acting
  const { sessions: facade } = life.runtime
  if (step.do !== 'prompt' && step.do !== 'flood' && step.do !== 'stop') known.touched.add(id)
  switch (step.do) {
    case 'prompt':
      return prompt(acting, id, step)
    case 'flood':
      for (let each = 0; each < FLOOD; each++)
        prompt(acting, id, { name: step.name + each, delivery: 'queue', plays: each === 0 ? STUCK : [], characters: LONG })
      return
    case 'abort':
      return abort(acting, id, step.queue)
    case 'clear':
      return call('clear', () => facade.clearQueue(id))
    case 'pop':
      return call('pop', () => facade.popQueue(id))
    case 'undo':
    case 'redo':
      return call(step.do, () => (step.do === 'undo' ? facade.undo(id, {}) : facade.redo(id, {})))
    case 'compact':
      return call('compact', () => facade.compact(id, new AbortController().signal))
    case 'stop':
      return call('stop', () => operate(life, subagentRoutes.stop.id, { params: { session_id: id }, body: {} }))
    case 'delete':
      // Whatever comes of it, nobody counts on it any more.
      known.sessions.splice(known.sessions.indexOf(id), 1)
      for (const [name, { sessionId }] of known.prompts) if (sessionId === id) known.prompts.delete(name)
      return call(
        'delete',
        () => facade.delete(TRUSTED_CALLER, id),
        () => known.deleted.add(id),
      )
  }
}

function send({ known, life, call }: Acting, name: number): void {
  const sent = known.prompts.get(name)
  if (sent === undefined) return
  const { sessionId, messageId, delivery, characters } = sent
  // Of what waits only the size counts; what is asked has as many tokens as it is long.
  const request = { prompt: `p${name}`.padEnd(characters, characters === LONG ? ' ' : ' .'), messageId, delivery }
  call(
    `prompt ${name}`,
    () => life.runtime.sessions.submitPrompt(TRUSTED_CALLER, sessionId, request, 'prompt'),
    () => (sent.acknowledged = true),
  )
}

interface NewPrompt {
  readonly name: number
  readonly delivery: 'steer' | 'queue'
  readonly plays: readonly Play[]
  readonly characters?: number
  readonly summary?: readonly Play[]
}

function prompt(acting: Acting, sessionId: string, { name, delivery, plays, characters = 0, summary = [] }: NewPrompt): void {
  const { known, ids } = acting
  if (known.prompts.has(name)) return
  known.plays.set(String(name), plays)
  known.plays.set(`${name}s`, summary)
  known.prompts.set(name, { name, sessionId, messageId: ids.next('msg'), delivery, characters, acknowledged: false })
  send(acting, name)
}

function answer({ known, life, call }: Acting, index: number, how: 'once' | 'always' | 'reject'): void {
  const request = known.requests.at(-1 - index)
  if (request === undefined) return
  const { interactions } = life.runtime
  const isOpen = interactions.permissions(TRUSTED_CALLER, request.sessionId).some(({ id }) => id === request.id)
  if (isOpen && how !== 'reject')
    for (const pattern of request.patterns) known.allowed.add(how === 'always' ? pattern : onceFor(request.sessionId, pattern))
  call(`answer ${how}`, () => {
    if (!request.isQuestion) return interactions.replyPermission(request.id, { reply: how })
    return how === 'reject' ? interactions.rejectQuestion(request.id) : interactions.replyQuestion(request.id, { answers: [[how]] })
  })
}

function abort({ known, life, call }: Acting, sessionId: string, queue: 'go-on' | 'hold' | 'clear'): void {
  const { sessions } = life.runtime
  const statuses: Readonly<Record<string, { readonly runID?: unknown }>> = sessions.status(TRUSTED_CALLER)
  const runOf = (id: string) => {
    const run = statuses[id]?.runID
    return typeof run === 'string' ? run : undefined
  }
  const runId = runOf(sessionId)
  const tasks = tasksOf(life)
    .filter((task) => task.parentId === sessionId && task.isForeground && isOpen(task))
    .map(({ id }) => ({ id, runId: runOf(id) }))
  call(
    'abort',
    () => sessions.abort(sessionId, { queue }),
    (did) => {
      if (did && runId !== undefined) known.aborted.push({ sessionId, runId, tasks })
    },
  )
}

/** As an editor saves it. */
async function configure({ known, life }: Acting, says: Said): Promise<void> {
  await written(known, life.disk.writeAtomic(CONFIG_FILE, JSON.stringify(configOf(says, known.lodger.records))), () =>
    known.config.say(says),
  )
}

function actOnWorkflow(acting: Acting, workflow: KnownWorkflow, step: Extract<Act, { readonly workflow: number }>): void | Promise<void> {
  const { known, life, call } = acting
  const { disk, clock } = life
  const { id, path } = workflow
  const params = { workflow_id: id }
  switch (step.do) {
    case 'save':
      workflow.pausedAfter = undefined
      workflow.changed = { life, at: clock.monotonic() }
      known.plays.set(String(step.name), step.plays)
      const at = clock.now()
      return written(known, disk.writeAtomic(path, fileOf(id, step.name, step.says, at)), () => {
        if (step.says.schedule !== 'broken') workflow.file.say({ ...step.says, at })
      })
    case 'lose':
      return written(known, disk.remove(path))
    case 'activate':
      workflow.pausedAfter = undefined
      workflow.changed = { life, at: clock.monotonic() }
      return call('activate', () => operateWorkflows(life, 'activate', { params }))
    case 'pause': {
      const { changed } = workflow
      // A file that was written just now is right once it was seen.
      const isFresh = changed?.life === life && clock.monotonic() - changed.at < SEEN
      return call(
        'pause',
        () => operateWorkflows(life, 'pause', { params }),
        () => {
          if (!isFresh && workflow.changed === changed) workflow.pausedAfter = life.store.events.last()
        },
      )
    }
    case 'run':
      return call('run', () => operateWorkflows(life, 'run', { params }))
    case 'drop':
      return call('drop', () => dropRun(life, id))
    case 'retry':
      return call('retry', async () => {
        const { runs } = await operateWorkflows<WorkflowHistory>(life, 'history', { params })
        const [newest] = runs
        return newest && operateWorkflows(life, 'runs.retry', { params: { ...params, run_id: newest.id } })
      })
  }
}

function fileOf(id: string, name: number, { schedule, concurrency, attempts, active, folder }: Workflow, now: number): string {
  const soon = new Date(now + SOON)
  const when = {
    hourly: { frequency: 'hourly', minute: (soon.getUTCMinutes() + 1) % 60 },
    daily: { frequency: 'daily', time: '09:30', timezone: 'Europe/Berlin' },
    soon: { at: soon.toISOString() },
    broken: { frequency: 'never' },
  }[schedule]
  const fields = {
    id,
    name: id,
    active,
    schedule: when,
    concurrency: { mode: concurrency, ...(concurrency === 'allow' && { maxRunning: 2 }) },
    retry: { maxAttempts: attempts, initialDelayMs: 5000 },
    ...(folder !== undefined && { directory: folder }),
  }
  const lines = Object.entries(fields).map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
  return `---\n${lines.join('\n')}\n---\np${name}\n`
}

interface Given {
  readonly params: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** As a route calls an operation of a plugin. */
function operate(life: Pick<Life, 'runtime'>, operation: string, { params, body }: Given): Promise<unknown> {
  const { signal } = new AbortController()
  return life.runtime.plugins.call(operation, {
    caller: TRUSTED_CALLER,
    directory: DIRECTORY,
    params,
    query: {},
    headers: {},
    body,
    signal,
  })
}

function operateWorkflows<T>(life: Pick<Life, 'runtime'>, operation: string, given: Given): Promise<T> {
  return operate(life, `v2.plugins.workflows.${operation}`, given) as Promise<T>
}
