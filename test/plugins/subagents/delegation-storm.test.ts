// Holds sessions-events §5.4.
/**
 * Twenty nested and parallel delegations, in the foreground and in the background, with commands that run and requests that wait, under
 * everything that can happen to them at a random instant: nothing of them is left.
 */
import { expect, it } from 'vitest'
import { createRequire } from 'node:module'
import { shellPlugin } from '../../../src/plugins/shell/shell.plugin.js'
import { subagentsPlugin } from '../../../src/plugins/subagents/subagents.plugin.js'
import { TRUSTED_CALLER } from '../../../src/protocol/caller.js'
import type { SubagentTask } from '../../../src/protocol/session/subagent.js'
import { calls, type PlayedStep, says, startTestService, type TestService } from '../../fakes/service.js'

const { resolve } = createRequire(import.meta.url)
const BOSS = { mode: 'all', description: 'delegates', permission: { task: 'allow' } }

/** Prompts of the tasks of a session: four branches, each with four leaves. */
const LEAVES = ['hold', 'ask', 'job', 'say'] as const

const task = (prompt: string, index: number, agent: string) => ({
  callId: `call_${index}`,
  tool: 'task',
  input: { description: prompt, prompt, subagent_type: agent, background: index % 2 === 0 },
})

/** What is asked decides what is done; what was held goes on when `open` says so. */
function player(open: { isOpen: boolean; readonly waiting: Set<() => void> }): PlayedStep {
  return (push, signal, request) => {
    const last = request.messages.at(-1)
    const text = last?.role === 'user' ? last.content.map((part) => ('text' in part ? part.text : '')).join('') : ''
    const play = (step: PlayedStep) => step(push, signal, request)
    if (text.includes('svc-runtime-notification')) return play(says('Noted.'))
    if (text.includes('root')) return play(calls(...[0, 1, 2, 3].map((index) => task('branch', index, 'boss'))))
    if (text.includes('branch')) return play(calls(...LEAVES.map((leaf, index) => task(leaf, index, 'general'))))
    if (text.includes('ask')) return play(calls({ callId: 'call_a', tool: 'asking' }))
    if (text.includes('job')) {
      return play(calls({ callId: 'call_j', tool: 'background_task', input: { description: 'serve', command: 'serve' } }))
    }
    if (!text.includes('hold') || open.isOpen) return play(says('Done.'))
    return new Promise((done, reject) => {
      const goOn = () => done(play(says('Held.')))
      open.waiting.add(goOn)
      signal.addEventListener('abort', () => {
        open.waiting.delete(goOn)
        reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'))
      })
    })
  }
}

async function start() {
  const open = { isOpen: false, waiting: new Set<() => void>() }
  const step = player(open)
  const shell = shellPlugin({
    coreWasm: resolve('web-tree-sitter/web-tree-sitter.wasm'),
    grammarWasm: resolve('tree-sitter-bash/tree-sitter-bash.wasm'),
    allowVariables: (variables) => variables,
  })
  const endless: PlayedStep[] = []
  endless.shift = () => step
  const service = await startTestService({
    steps: endless,
    plugins: [subagentsPlugin(), shell],
    tools: [
      {
        id: 'asking',
        needs: () => [{ permission: 'asking', patterns: ['*'], title: 'May I?' }],
        invoke: async () => ({ title: 'asked', output: 'yes' }),
      },
    ],
    config: { permission: { '*': 'allow', asking: 'ask' }, agent: { boss: BOSS } },
  })
  const running = new Set<object>()
  service.effects.processes.programs.set('bash', '/usr/bin/bash')
  service.effects.processes.script((options) => {
    if (options.args[0] === '-l') return {}
    if (open.isOpen) return {}
    running.add(options)
    return new Promise((end) => {
      open.waiting.add(() => end({}))
      options.signal.addEventListener('abort', () => {
        running.delete(options)
        end({ aborted: true, exitCode: null })
      })
    }).finally(() => running.delete(options)) as Promise<object>
  })
  const release = () => {
    open.isOpen = true
    for (const goOn of open.waiting) goOn()
  }
  return { service, running, release }
}

const call = (service: TestService, id: string, sessionId: string, body?: object) =>
  service.runtime.plugins.call(id, {
    caller: TRUSTED_CALLER,
    directory: service.directory,
    params: { session_id: sessionId },
    query: {},
    headers: {},
    body,
    signal: new AbortController().signal,
  })
const stopAll = (service: TestService, id: string) => call(service, 'v2.subagents.tasks.stop', id, {})
function allow({ runtime: { interactions } }: TestService): void {
  for (const { id } of interactions.permissions(TRUSTED_CALLER, undefined)) interactions.replyPermission(id, { reply: 'once' })
}

const KINDS = new Set(['task', 'job', 'interaction'])

/** What of a storm is still there. */
function left({ runtime, running: { actors }, effects, store }: TestService, running: ReadonlySet<object>, root: string) {
  const family = store.sessions.get(root) === undefined ? undefined : runtime.sessions.runtime(root)
  return {
    statuses: Object.keys(runtime.sessions.status(TRUSTED_CALLER)),
    requests: runtime.interactions.permissions(TRUSTED_CALLER, undefined).length,
    processes: running.size + effects.processes.alive,
    actors: [...actors.roots()].flatMap(({ kind }) => (KINDS.has(kind) ? [kind] : [])),
    outstanding: family?.branches.filter(({ status }) => status === 'outstanding').length ?? 0,
    jobs: family?.runningBackgroundTasks ?? [],
    isFinished: family?.execution?.finished ?? true,
  }
}

const NOTHING = { statuses: [], requests: 0, processes: 0, actors: [], outstanding: 0, jobs: [], isFinished: true }

/** Lets time pass until nothing is left; answers what is after a minute of it. */
async function settled(service: TestService, running: ReadonlySet<object>, root: string, meanwhile: () => void = () => undefined) {
  for (let step = 0; step < 600; step++) {
    meanwhile()
    await service.effects.clock.advanceAsync(100)
    if (JSON.stringify(left(service, running, root)) === JSON.stringify(NOTHING)) break
  }
  return left(service, running, root)
}

/** Events that are told before it happens. */
const INSTANTS = [5, 120, 500]

type Fate = 'abort' | 'stop' | 'delete' | 'steer'

/** Begins the storm and lets it go on until so many events were told. */
async function storm(service: TestService, events: number): Promise<string> {
  const id = await service.session()
  const until = service.events.length + events
  await service.prompt(id, 'root')
  for (let step = 0; step < 2000 && service.events.length < until; step++) await service.effects.clock.advanceAsync(0)
  return id
}

it('tasks that are stopped before the first of them is delegated are not delegated', async () => {
  const { service, running } = await start()
  const id = await service.session()
  const begun = service.until(({ type, data }) => type === 'message.part.updated' && JSON.stringify(data).includes('"status":"running"'))
  await service.prompt(id, 'root')
  await begun
  expect(service.store.sessions.family(id)).toEqual([id])
  await stopAll(service, id)
  expect(await settled(service, running, id)).toEqual(NOTHING)
  expect(service.store.sessions.family(id)).toEqual([id])
  const said = JSON.stringify(service.messages(id))
  expect(said.split('The task was stopped before it began.').length - 1).toBe(4)
})

it.each<Fate>(['abort', 'stop', 'delete', 'steer'])('nothing is left of twenty delegations after: %s', async (fate) => {
  const { service, running, release } = await start()
  const { sessions } = service.runtime
  let gone = 0
  let most = 0
  for (const events of INSTANTS) {
    const id = await storm(service, events)
    if (fate === 'abort') {
      await sessions.abort(id)
      await stopAll(service, id)
    } else if (fate === 'stop') await stopAll(service, id)
    else if (fate === 'delete') await sessions.delete(TRUSTED_CALLER, id)
    else await Promise.all(service.store.sessions.family(id).map((member) => service.prompt(member, 'hold on')))
    if (fate === 'steer') release()
    // What is stopped before it has delegated goes on to do so, and is stopped again.
    const meanwhile = { abort: undefined, delete: undefined, stop: () => void stopAll(service, id), steer: () => allow(service) }[fate]
    expect(await settled(service, running, id, meanwhile)).toEqual(NOTHING)
    const family = service.store.sessions.family(id).filter((member) => service.store.sessions.get(member) !== undefined)
    if (family.length === 0) {
      gone++
      continue
    }
    const tasks = (await call(service, 'v2.subagents.tasks.list', id)) as SubagentTask[]
    expect(tasks.filter(({ status }) => status === 'running' || status === 'pending')).toEqual([])
    expect(family.toSorted()).toEqual([id, ...tasks.map((each) => each.id)].toSorted())
    most = Math.max(most, tasks.length)
  }
  expect([gone, most]).toEqual(fate === 'delete' ? [INSTANTS.length, 0] : [0, 20])
})
