/** What clients written for this contract by others send, and count on. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Session } from '../../../src/protocol/session/session.js'
import {
  createGate,
  finish,
  type Gate,
  hold,
  type ModelServer,
  reply,
  startModelServer,
  text,
  toolCall,
} from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { openScene, type Scene, type Server } from '../server/server.js'
import type { AnyEvent } from '../server/stream.js'
import { openStream } from '../server/stream.js'

let scene: Scene
let server: Server
let model: ModelServer
let gate: Gate
beforeAll(async () => {
  gate = createGate()
  model = await startModelServer([
    reply(text('so far'), hold(gate), text(' and on'), finish('stop')),
    reply(toolCall({ id: 'c1', name: 'bash', input: { command: 'echo hello', description: 'Say hello' } }), finish('tool_calls')),
    reply(text('done'), finish('stop')),
  ])
  scene = openScene(makePlace({ '.svc/agents/team/reviewer.md': 'Review.', '.svc/agents/team%2Freviewer.md': 'Review letters.' }))
  scene.place.configure(withModel(model.url, { permission: { bash: 'ask' } }))
  server = await scene.start()
})
afterAll(async () => {
  gate.open()
  await scene.close()
  await model.close()
})

const statusOf = (type: string) => (event: AnyEvent) => event.type === 'session.status' && event.data.status.type === type

test('every agent of the list is found by its name, encoded as a path parameter', async () => {
  const agents = await server.get<{ name: string; prompt?: string }[]>('/v2/agents')
  expect(agents.map(({ name }) => name)).toEqual(expect.arrayContaining(['team/reviewer', 'team%2Freviewer']))
  for (const agent of agents) expect(await server.get(`/v2/agents/${encodeURIComponent(agent.name)}`)).toEqual(agent)
  expect((await server.call('GET', '/v2/agents/team%2F..%2Fteam%2Freviewer')).status).toBe(400)
})

test('who subscribes after the prompt returned is told "busy", then "idle", and afterwards "idle"', async () => {
  const { id } = await server.createSession()
  await server.prompt(id, { prompt: 'go' })
  const stream = await server.stream({ sessionId: id, tail: true })
  const busy = await stream.waitFor(statusOf('busy'))
  expect(stream.events[0]).toBe(busy)
  expect(stream.received[0]?.id).toBeUndefined()
  gate.open()
  await stream.waitFor(statusOf('idle'))
  const late = await server.stream({ sessionId: id, tail: true })
  expect(await late.waitFor(() => true)).toMatchObject({ type: 'session.status', data: { sessionID: id, status: { type: 'idle' } } })
  stream.close()
  late.close()
})

test('a session that waits for a permission says so in list and catalogue at once, until it is answered', async () => {
  const { id } = await server.createSession()
  const catalog = await openStream(server.url, {}, { 'x-svc-directory': scene.place.repo }, '/v2/session-catalog/events')
  const activityIs = (activity: string) => (event: AnyEvent) =>
    event.type === 'session.catalog.activity' && event.data.sessionID === id && event.data.activity === activity
  const listed = async () => {
    const { items } = await server.get<{ items: Session[] }>('/v2/sessions')
    return items.find((session) => session.id === id)?.catalogActivity
  }
  const events = await server.stream({ sessionId: id, tail: true })
  await server.prompt(id, { prompt: 'go' })
  const asked = await events.waitFor(({ type }) => type === 'permission.asked')
  await catalog.waitFor(activityIs('permission'))
  expect(await listed()).toBe('permission')
  const position = catalog.events.length
  const request = asked.type === 'permission.asked' ? asked.data.id : ''
  await server.call('POST', `/v2/interactions/permissions/${request}/reply`, { reply: 'once' })
  const running = await catalog.waitFor(activityIs('running'), position)
  await catalog.waitFor(activityIs('idle'), position)
  expect(await listed()).toBe('idle')
  // Each edge of the session tells it anew, so it may be told more than once before.
  expect(catalog.events.slice(catalog.events.indexOf(running)).filter(activityIs('permission'))).toEqual([])
  catalog.close()
  events.close()
})

test('null stands for what is absent, and models may be spelled as in other clients', async () => {
  const created = await server.call('POST', '/v2/sessions', {
    title: 'nulls',
    parentId: null,
    agent: null,
    permission: null,
    workspaceId: null,
    model: { providerID: 'test', modelID: 'scripted', variant: null, connectionId: null },
  })
  expect(created).toMatchObject({ status: 200, body: { title: 'nulls', model: { providerId: 'test', id: 'scripted' } } })
  const { id } = created.body as Session
  expect(created.body).not.toHaveProperty('parentId')
  const model = { providerID: 'test', modelID: 'scripted', variant: null }
  const noReply = {
    noReply: true,
    parts: [{ type: 'text', text: 'x' }],
    messageId: null,
    agent: null,
    system: null,
    tools: null,
    delivery: null,
  }
  await server.prompt(id, { prompt: null, ...noReply, model })
  const [message] = await server.messages(id)
  expect(message?.info).toMatchObject({ role: 'user', model: { providerId: 'test', modelId: 'scripted' } })
  const moved = await server.call('PATCH', `/v2/sessions/${id}`, {
    title: null,
    model: { providerId: 'test', modelId: 'scripted' },
    time: { archived: null },
  })
  expect(moved).toMatchObject({ status: 200, body: { title: 'nulls', model: { providerId: 'test', id: 'scripted' } } })
})

test('a session moves to a directory that is named in quotes and relative to its own', async () => {
  const { body } = await server.call('POST', '/v2/sessions', {})
  const { id, directory } = body as Session
  const move = (to: string) => server.call('PATCH', `/v2/sessions/${id}`, { directory: to })
  expect(await move('".svc/agents"')).toMatchObject({ status: 200, body: { directory: `${directory}/.svc/agents` } })
  expect(await move("'team'")).toMatchObject({ status: 200, body: { directory: `${directory}/.svc/agents/team` } })
  expect(await move('"team"')).toMatchObject({ status: 400, body: { code: 'request.invalid_directory' } })
  expect(await move('../../..')).toMatchObject({ status: 200, body: { directory } })
})
