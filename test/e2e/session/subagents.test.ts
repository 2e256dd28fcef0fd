// Holds sessions-events §4.20.
/** Delegated tasks as a client sees them: told once, asked on the parent's stream, stopped and deleted with everything below. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Message } from '../../../src/protocol/message/message.js'
import type { PermissionRequest } from '../../../src/protocol/interaction/interaction.js'
import type { Session, SessionPage, SessionRuntimeSnapshot } from '../../../src/protocol/session/session.js'
import type { StopSubagentsResult, SubagentTask } from '../../../src/protocol/session/subagent.js'
import {
  createGate,
  finish,
  type Gate,
  type ModelServer,
  type ModelServerRequest,
  refusal,
  reply,
  startModelServer,
  text,
  toolCall,
} from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { openScene, type Scene, type Server } from '../server/server.js'
import type { AnyEvent, Stream } from '../server/stream.js'

let scene: Scene
let model: ModelServer
let server: Server
let stream: Stream
const gates = new Map<string, Gate>()

/** What is asked of the model is in the last message; the work of a child is `do:<what>`, that of a parent a list of such. */
function answer({ body }: ModelServerRequest): ReturnType<typeof reply> {
  const messages = body?.messages ?? []
  const last = messages.at(-1)
  const asked = JSON.stringify(last?.['content'] ?? '')
  const isTold = asked.includes('svc-runtime-notification')
  if (last?.role === 'tool' || isTold) return reply(text(isTold ? 'Noted.' : 'Started.'), finish('stop'))
  const calls = /delegate (\[.*?\])/.exec(asked)?.[1]
  if (calls !== undefined) {
    const inputs = JSON.parse(calls.replaceAll('\\"', '"')) as { do: string; background?: boolean; agent?: string; model?: object }[]
    const steps = inputs.flatMap(({ do: work, background, agent = 'general', model: chosen }, index) =>
      toolCall({
        id: `call_${index}`,
        index,
        name: 'task',
        input: {
          description: work,
          prompt: `do:${work}`,
          subagent_type: agent,
          ...(background === undefined ? {} : { background }),
          ...(chosen && { model: chosen }),
        },
      }),
    )
    return reply(...steps, finish('tool-calls'))
  }
  const work = /do:([\w-]+)/.exec(asked)?.[1] ?? ''
  if (work.startsWith('fail')) return refusal(400, 'no such luck')
  if (work.startsWith('write'))
    return reply(...toolCall({ id: 'call_w', name: 'write', input: { filePath: 'made.txt', content: 'x' } }), finish('tool-calls'))
  if (work.startsWith('wait')) return reply(text('Now '), [{ type: 'hold', gate: gateOf(work) }], text(`done ${work}.`), finish('stop'))
  return reply(text(`Did ${work}.`), finish('stop'))
}

function gateOf(name: string): Gate {
  const gate = gates.get(name) ?? createGate()
  gates.set(name, gate)
  return gate
}

beforeAll(async () => {
  model = await startModelServer(answer)
  scene = openScene(makePlace())
  scene.place.configure(
    withModel(model.url, {
      permission: { '*': 'allow', edit: 'ask' },
      agent: { boss: { mode: 'all', description: 'delegates', permission: { task: 'allow' } } },
      command: { inspect: { template: 'do:inspect $ARGUMENTS', agent: 'general', subtask: true } },
    }),
  )
  server = await scene.start()
  stream = await server.stream({ tail: true })
})
afterAll(async () => {
  await scene.close()
  await model.close()
})

const tasksOf = (id: string) => server.get<SubagentTask[]>(`/v2/plugins/dev.svc.subagents/sessions/${id}/tasks`)
const delegate = (id: string, ...tasks: object[]) => server.prompt(id, { prompt: `delegate ${JSON.stringify(tasks)}` })
const told = (messages: readonly Message[]) =>
  messages.filter(({ info }) => info.role === 'user' && info.system?.startsWith('<svc-runtime-notification>') === true)
const textOf = ({ parts }: Message) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
const ended = (parent: string, title: string) => (event: AnyEvent) =>
  event.type === 'session.subtask.completed' && event.data.sessionID === parent && event.data.title === title
const finished = (root: string) => (event: AnyEvent) =>
  event.type === 'session.execution.updated' && event.data.sessionID === root && event.data.snapshot.finished

test('three tasks in the background: one asks, one fails, one finishes; all are told at once, and once', async () => {
  const { id } = await server.createSession()
  const own = await server.stream({ sessionId: id, tail: true })
  await delegate(id, { do: 'write' }, { do: 'fail' }, { do: 'tidy' })
  const asked = await own.waitFor((event) => event.type === 'permission.asked')
  expect(asked.data).toMatchObject({ permission: 'edit', parentSessionID: id, sourceAgent: 'general' })
  await own.waitFor(ended(id, 'fail'))
  await own.waitFor(ended(id, 'tidy'))
  expect(told(await server.messages(id))).toEqual([])
  const runtime = await server.get<SessionRuntimeSnapshot>(`/v2/sessions/${id}/runtime`)
  expect(runtime.branches.map(({ status }) => status).toSorted()).toEqual(['completed', 'failed', 'outstanding'])
  expect(runtime.execution?.finished).toBe(false)
  const { id: requestId } = asked.data as PermissionRequest
  await server.call('POST', `/v2/interactions/permissions/${requestId}/reply`, { reply: 'once' })
  await own.waitFor(finished(id))
  const [notice, ...others] = told(await server.messages(id))
  expect(others).toEqual([])
  const said = notice === undefined ? '' : textOf(notice)
  expect(said).toContain('3 tasks you delegated have ended.')
  expect([...said.matchAll(/status: (\w+)/g)].map(([, status]) => String(status)).toSorted()).toEqual(['completed', 'completed', 'error'])
  expect((await tasksOf(id)).map(({ status, agent, nested }) => `${status} ${agent} ${nested}`).toSorted()).toEqual([
    'completed general false',
    'completed general false',
    'error general false',
  ])
  own.close()
})

test('a task in the foreground is answered in its call, and costs what its session cost', async () => {
  const { id } = await server.createSession()
  const from = stream.events.length
  await delegate(id, { do: 'sweep', background: false })
  await stream.waitFor(finished(id), from)
  const parts = (await server.messages(id)).flatMap(({ parts: all }) => all)
  const call = parts.find((part) => part.type === 'tool')
  expect(call).toMatchObject({ tool: 'task', state: { status: 'completed' } })
  expect(call?.type === 'tool' && call.state.status === 'completed' && call.state.output).toContain(
    '<task_result>\nDid sweep.\n</task_result>',
  )
  expect(told(await server.messages(id))).toEqual([])
  const child = await server.get<SessionPage>(`/v2/sessions/${id}/children`)
  expect(child.items).toMatchObject([{ title: 'sweep (@general subagent)', agent: 'general', parentId: id }])
  const { usage } = await server.get<SessionRuntimeSnapshot>(`/v2/sessions/${id}/runtime`)
  const answers = [...(await server.messages(id)), ...(await server.messages(child.items[0]?.id ?? ''))]
  const output = answers.reduce((sum, { info }) => sum + (info.role === 'assistant' ? info.tokens.output : 0), 0)
  expect(usage?.tokens.output).toBe(output)
})

test('a child may never do what its parent may not', async () => {
  const { id } = await server.createSession({ permission: [{ permission: 'edit', pattern: '*', action: 'deny' }] })
  const from = stream.events.length
  await delegate(id, { do: 'write-never' })
  await stream.waitFor(finished(id), from)
  const [task] = await tasksOf(id)
  const calls = (await server.messages(task?.id ?? '')).flatMap(({ parts }) => parts.filter((part) => part.type === 'tool'))
  expect(calls).toMatchObject([{ tool: 'write', state: { status: 'error' } }])
})

test('a subtask of a prompt names the model of its task, and a model that delegates does not', async () => {
  const { id } = await server.createSession()
  const choice = { providerId: 'svc', modelId: 'offline' }
  const from = stream.events.length
  await delegate(id, { do: 'spend', model: choice })
  await stream.idle(id, from)
  const calls = (await server.messages(id)).flatMap(({ parts }) => parts.filter((part) => part.type === 'tool'))
  expect(calls).toMatchObject([{ tool: 'task', state: { status: 'error', error: expect.stringContaining('"model"') as string } }])
  expect(await tasksOf(id)).toEqual([])
  const after = stream.events.length
  const part = { type: 'subtask', prompt: 'do:inspect', description: 'elsewhere', agent: 'general', model: choice }
  await server.prompt(id, { parts: [part] })
  await stream.waitFor(ended(id, 'elsewhere'), after)
  const { items } = await server.get<SessionPage>(`/v2/sessions/${id}/children`)
  expect(items).toMatchObject([{ model: { providerId: 'svc', id: 'offline' } }])
})

test('a command that is a subtask is delegated, and the model goes on', async () => {
  const { id } = await server.createSession()
  const from = stream.events.length
  await server.call('POST', `/v2/sessions/${id}/commands`, { command: 'inspect', arguments: 'all' })
  await stream.waitFor(finished(id), from)
  const [prompt, first] = await server.messages(id)
  expect(prompt?.parts).toMatchObject([{ type: 'subtask', agent: 'general', prompt: 'do:inspect all', command: '/inspect' }])
  expect(first?.parts.find((part) => part.type === 'tool')).toMatchObject({ tool: 'task', state: { status: 'completed' } })
  expect(await tasksOf(id)).toMatchObject([{ status: 'completed', result: 'Did inspect.' }])
})

test('a command that is delegated is answered when the session has answered what came of it', async () => {
  const { id } = await server.createSession()
  const said = server.call('POST', `/v2/sessions/${id}/commands`, { command: 'inspect', arguments: '&& do:wait-command' })
  await stream.waitFor((event) => event.type === 'session.status' && event.data.sessionID === id && event.data.status.type === 'idle')
  gateOf('wait-command').open()
  const { status, body } = await said
  expect([status, textOf(body as Message)]).toEqual([200, 'Noted.'])
  expect(await server.statuses()).toEqual({})
  expect((await server.messages(id)).at(-1)?.info.id).toBe((body as Message).info.id)
})

test('each subtask of a prompt has a message of its own, with mode and agent of the subagent', async () => {
  const { id } = await server.createSession()
  const from = stream.events.length
  const subtask = (agent: string) => ({ type: 'subtask', prompt: `do:${agent}`, description: agent, agent })
  await server.prompt(id, { parts: [subtask('explore'), { type: 'text', text: 'go on' }, subtask('general')] })
  await stream.waitFor(finished(id), from)
  const answers = (await server.messages(id)).filter(({ info }) => info.role === 'assistant')
  const calls = (message: Message) => message.parts.flatMap((part) => (part.type === 'tool' ? [part.tool] : []))
  expect(answers.slice(0, 3).map((message) => [message.info, calls(message)])).toMatchObject([
    [{ mode: 'explore', agent: 'explore', finish: 'tool-calls' }, ['task']],
    [{ mode: 'general', agent: 'general', finish: 'tool-calls' }, ['task']],
    [{ mode: 'primary', agent: 'build' }, []],
  ])
})

test('the revision of a family never falls: not when a child goes, works again, or the server starts anew', async () => {
  const { id } = await server.createSession()
  const revision = async () => (await server.get<SessionRuntimeSnapshot>(`/v2/sessions/${id}/runtime`)).revision
  const revisions = [await revision()]
  const work = async (...tasks: object[]) => {
    const from = stream.events.length
    await delegate(id, ...tasks)
    await stream.waitFor(finished(id), from)
    revisions.push(await revision())
  }
  await work({ do: 'one' }, { do: 'two' })
  const [task] = await tasksOf(id)
  await server.call('DELETE', `/v2/sessions/${task?.id}`)
  revisions.push(await revision(), await revision())
  expect(revisions[2]).toBe(revisions[3])
  await work({ do: 'three' })
  const told = stream.events.flatMap((event) =>
    event.type === 'session.execution.updated' && event.data.sessionID === id ? [event.data.runtime.revision] : [],
  )
  expect(told).toEqual(told.toSorted((a, b) => a - b))
  await server.kill()
  server = await scene.start()
  stream = await server.stream({ tail: true })
  revisions.push(await revision())
  await work({ do: 'four' })
  expect(revisions).toEqual(revisions.toSorted((a, b) => a - b))
  expect(new Set(revisions).size).toBe(revisions.length - 1)
})

test('a subtask of a prompt that is only stored is not delegated', async () => {
  const { id } = await server.createSession()
  const part = { type: 'subtask', prompt: 'do:inspect', description: 'later', agent: 'general' }
  await server.prompt(id, { noReply: true, parts: [part] })
  await server.call('POST', `/v2/sessions/${id}/wait`)
  expect((await server.messages(id)).map(({ info, parts }) => [info.role, parts.map(({ type }) => type)])).toEqual([['user', ['subtask']]])
  expect(await tasksOf(id)).toEqual([])
})

test('stopping a task leaves nothing of it, and nothing is told', async () => {
  const { id } = await server.createSession()
  const from = stream.events.length
  await delegate(id, { do: 'wait-a' }, { do: 'wait-b' })
  await stream.idle(id, from)
  const states = async () => (await tasksOf(id)).map(({ status }) => status)
  await expect.poll(states).toEqual(['running', 'running']) // the turn may be over before its tasks begin
  const tasks = await tasksOf(id)
  const answered = await server.call('POST', `/v2/plugins/dev.svc.subagents/sessions/${id}/stop`, {})
  expect((answered.body as StopSubagentsResult).stopped.toSorted()).toEqual(tasks.map((task) => task.id).toSorted())
  expect((await tasksOf(id)).map(({ status }) => status)).toEqual(['stopped', 'stopped'])
  expect(await server.statuses()).toEqual({})
  expect(told(await server.messages(id))).toEqual([])
  const none = await server.call('POST', `/v2/plugins/dev.svc.subagents/sessions/${id}/stop`, { taskId: 'ses_none' })
  expect(none.status).toBe(404)
})

test('what is deleted takes its tasks along', async () => {
  const { id } = await server.createSession()
  const from = stream.events.length
  await delegate(id, { do: 'wait-c', agent: 'boss' })
  await stream.idle(id, from)
  const [task] = await tasksOf(id)
  expect((await server.call('DELETE', `/v2/sessions/${id}`)).status).toBe(200)
  expect(await server.statuses()).toEqual({})
  expect((await server.call('GET', `/v2/sessions/${task?.id}`)).status).toBe(404)
  const page = await server.get<{ items: Session[] }>('/v2/sessions?limit=200')
  expect(page.items.some((session) => session.id === id || session.parentId === id)).toBe(false)
})
