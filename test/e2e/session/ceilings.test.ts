/** No way round the rules of a run: what it delegates, resumes or begins in the background does what the run itself may, as of now, and no more. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SubagentTask } from '../../../src/protocol/session/subagent.js'
import {
  createGate,
  finish,
  type Gate,
  type ModelServer,
  type ModelServerRequest,
  reply,
  startModelServer,
  text,
  toolCall,
} from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { openScene, type Scene, type Server } from '../server/server.js'
import type { Stream } from '../server/stream.js'
import { toolParts } from '../server/transcript.js'

interface Call {
  readonly name: string
  readonly input: object
}

let scene: Scene
let model: ModelServer
let server: Server
let stream: Stream
const gates = new Map<string, Gate>()
let made = 0

/** A prompt is a list of calls, made at once or when its gate opens; one with `told` is made when the runtime tells of something. */
interface Script {
  readonly calls?: readonly Call[]
  readonly gate?: string
  readonly told?: readonly Call[]
}

const textOfContent = (content: unknown): string =>
  Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? '').join('\n') : String(content)

function scriptIn(prompt: string): Script | undefined {
  try {
    return JSON.parse(prompt) as Script
  } catch {
    return undefined
  }
}

/** Does what the prompts say, and lets each happen once. */
function answer({ body, index }: ModelServerRequest): ReturnType<typeof reply> {
  const messages = body?.messages ?? []
  const last = messages.at(-1)
  const prompts = messages.filter(({ role }) => role === 'user').map(({ content }) => textOfContent(content))
  const isTold = prompts.at(-1)?.includes('svc-runtime-notification') === true
  const script = prompts.flatMap((prompt) => scriptIn(prompt) ?? []).at(-1) ?? {}
  const calls = (isTold ? script.told : script.calls) ?? []
  if (last?.role === 'tool' || calls.length === 0) return reply(text('Done.'), finish('stop'))
  const steps = calls.flatMap(({ name, input }, at) => toolCall({ index: at, id: `call_${index}_${at}`, name, input }))
  return reply(text('So.'), script.gate === undefined ? [] : [{ type: 'hold', gate: gateOf(script.gate) }], ...steps, finish('tool-calls'))
}

function gateOf(name: string): Gate {
  const gate = gates.get(name) ?? createGate()
  gates.set(name, gate)
  return gate
}

const CONFIGURATION = {
  agent: {
    restricted: { mode: 'primary', permission: { edit: 'deny', bash: 'deny' } },
    power: { mode: 'subagent', description: 'may all', permission: { '*': 'allow', task: 'allow' } },
  },
}

beforeAll(async () => {
  model = await startModelServer(answer)
  scene = openScene(makePlace())
  scene.place.configure(withModel(model.url, CONFIGURATION))
  server = await scene.start()
  stream = await server.stream({ tail: true })
})
afterAll(async () => {
  await scene.close()
  await model.close()
})

const script = (what: Script) => JSON.stringify(what)
const write = (file: string): Call => ({ name: 'write', input: { filePath: file, content: 'x' } })
const task = (what: Script, more: object = {}): Call => ({
  name: 'task',
  input: { description: 'a task', prompt: script(what), subagent_type: 'power', ...more },
})
const tasksOf = (id: string) => server.get<SubagentTask[]>(`/v2/plugins/dev.svc.subagents/sessions/${id}/tasks`)

/** Prompts a session, and waits until it and all it began has ended; `root`: of its family. */
async function prompt(id: string, what: Script, body: object = {}, root = id): Promise<void> {
  const from = stream.events.length
  await server.prompt(id, { prompt: script(what), ...body }, 'prompt-async')
  await stream.waitFor(
    (event) => event.type === 'session.execution.updated' && event.data.sessionID === root && event.data.snapshot.finished,
    from,
  )
}

async function taskOf(id: string, what: Script = {}): Promise<string> {
  await prompt(id, { calls: [task(what)] })
  const all = await tasksOf(id)
  return all.find(({ sessionId }) => sessionId === id)?.childSessionId ?? ''
}

/** The call of `write` that was made last in a session: whether its file is there, and how it ended. */
async function written(id: string, file: string) {
  const call = toolParts(await server.messages(id)).findLast(({ tool }) => tool === 'write')
  return { isThere: existsSync(join(scene.place.repo, file)), status: call?.state.status }
}
const WRITTEN = { isThere: true, status: 'completed' }
const REFUSED = { isThere: false, status: 'error' }

/** Runs that may not write, and one that may. */
const RUNS: readonly (readonly [string, object, object])[] = [
  ['of the agent that plans', { agent: 'plan' }, REFUSED],
  ['of a restricted agent', { agent: 'restricted' }, REFUSED],
  ['without the tool', { tools: { write: false } }, REFUSED],
  ['that may', {}, WRITTEN],
]

test.each(RUNS)('a run %s resumes a task that another one has delegated', async (_, body, expected) => {
  const file = `resumed-${made++}.txt`
  const { id } = await server.createSession()
  const child = await taskOf(id)
  await prompt(id, { calls: [task({ calls: [write(file)] }, { task_id: child })] }, body)
  expect(await written(child, file)).toEqual(expected)
  await prompt(id, { calls: [task({ calls: [write(`${file}.later`)] }, { task_id: child })] })
  expect(await written(child, `${file}.later`)).toEqual(WRITTEN)
})

test.each(RUNS)('a run %s resumes what a task has delegated', async (_, body, expected) => {
  const file = `nested-${made++}.txt`
  const { id } = await server.createSession()
  const child = await taskOf(id, { calls: [task({})] })
  const nested = (await tasksOf(id)).find(({ sessionId }) => sessionId === child)
  const grandchild = nested?.childSessionId ?? ''
  await prompt(id, { calls: [task({ calls: [write(file)] }, { task_id: grandchild })] }, body)
  expect(await written(grandchild, file)).toEqual(expected)
})

test.each(RUNS)('a run %s resumes a task that works: what it does from then on is judged so', async (_, body, expected) => {
  const file = `working-${made++}.txt`
  const { id } = await server.createSession()
  const child = await taskOf(id)
  const from = stream.events.length
  await server.prompt(id, { prompt: script({ calls: [task({ calls: [write(file)], gate: file }, { task_id: child })] }) }, 'prompt-async')
  await stream.waitFor((event) => event.type === 'message.part.delta' && event.data.sessionID === child, from)
  await stream.waitFor((event) => event.type === 'session.status' && event.data.sessionID === id && event.data.status.type === 'idle', from)
  const again = stream.events.length
  await server.prompt(id, { prompt: script({ calls: [task({}, { task_id: child })] }), ...body }, 'prompt-async')
  await stream.waitFor(
    (event) => event.type === 'session.status' && event.data.sessionID === id && event.data.status.type === 'idle',
    again,
  )
  gateOf(file).open()
  await stream.waitFor(
    (event) => event.type === 'session.execution.updated' && event.data.sessionID === id && event.data.snapshot.finished,
    again,
  )
  expect(await written(child, file)).toEqual(expected)
})

test.each(RUNS)('a task that a run %s has resumed may do no more once the session of that run is gone', async (_, body, expected) => {
  const file = `kept-${made++}.txt`
  const { id } = await server.createSession()
  await prompt(id, {})
  const { id: fork } = (await server.call('POST', `/v2/sessions/${id}/fork`, {})).body as { readonly id: string }
  await prompt(fork, { calls: [task({})] }, {}, id)
  const child = (await tasksOf(fork))[0]?.childSessionId ?? ''
  await prompt(id, { calls: [task({}, { task_id: child })] }, body)
  await prompt(child, { calls: [write(file)] }, {}, id)
  expect(await written(child, file)).toEqual(expected)
  expect((await server.call('DELETE', `/v2/sessions/${id}?keepForks=true`)).status).toBe(200)
  await prompt(child, { calls: [write(`${file}.later`)] }, {}, fork)
  expect(await written(child, `${file}.later`)).toEqual(expected)
  await prompt(fork, { calls: [task({ calls: [write(`${file}.resumed`)] }, { task_id: child })] })
  expect(await written(child, `${file}.resumed`)).toEqual(WRITTEN)
})

test.each(RUNS)('what a run %s is told of its task afterwards is answered as it was', async (_, body, expected) => {
  const file = `told-${made++}.txt`
  const { id } = await server.createSession()
  await prompt(id, { calls: [task({})], told: [write(file)] }, body)
  expect(await written(id, file)).toEqual(expected)
  await prompt(id, { calls: [write(`${file}.later`)] })
  expect(await written(id, `${file}.later`)).toEqual(WRITTEN)
})

test.each(RUNS)('three levels below a run %s', async (_, body, expected) => {
  const file = `deep-${made++}.txt`
  const { id } = await server.createSession()
  await prompt(id, { calls: [task({ calls: [task({ calls: [task({ calls: [write(file)] })] })] })] }, body)
  const deepest = (await tasksOf(id)).find(({ childSessionId }, _at, all) => all.every(({ sessionId }) => sessionId !== childSessionId))
  expect(await written(deepest?.childSessionId ?? '', file)).toEqual(expected)
})

const DENY = { permission: [{ permission: 'edit', pattern: '*', action: 'deny' }] }
/** What somebody says while a call is under way. */
const MEANWHILE: readonly (readonly [string, (parent: string, child: string) => Promise<unknown>, object])[] = [
  ['the session above is denied it', (parent) => server.call('PATCH', `/v2/sessions/${parent}`, DENY), REFUSED],
  ['the session itself is denied it', (_, child) => server.call('PATCH', `/v2/sessions/${child}`, DENY), REFUSED],
  [
    'the configuration denies it to the agent that delegated',
    async () => {
      const denied = { agent: { ...CONFIGURATION.agent, build: { permission: { edit: 'deny' } } } }
      scene.place.configure(withModel(model.url, denied))
      const isDenied = async () => {
        const agents = await server.get<{ name: string; permission: Record<string, unknown> }[]>('/v2/agents')
        return agents.find(({ name }) => name === 'build')?.permission['edit']
      }
      await expect.poll(isDenied).toBe('deny')
    },
    REFUSED,
  ],
  ['nothing is said', async () => undefined, WRITTEN],
]

test.each(MEANWHILE)('while a task works %s', async (_, say, expected) => {
  scene.place.configure(withModel(model.url, CONFIGURATION))
  const file = `meanwhile-${made++}.txt`
  const { id } = await server.createSession()
  const from = stream.events.length
  await server.prompt(id, { prompt: script({ calls: [task({ calls: [write(file)], gate: file })] }) }, 'prompt-async')
  const begun = await stream.waitFor((event) => event.type === 'message.part.delta' && event.data.sessionID !== id, from)
  const child = begun.type === 'message.part.delta' ? begun.data.sessionID : ''
  await say(id, child)
  gateOf(file).open()
  await stream.waitFor(
    (event) => event.type === 'session.execution.updated' && event.data.sessionID === id && event.data.snapshot.finished,
    from,
  )
  expect(await written(child, file)).toEqual(expected)
})
