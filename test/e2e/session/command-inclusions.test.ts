/** What a command includes is called as a tool before the model is asked, and so is what a person types for the shell. */
import { writeFileSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import type { PermissionRequest } from '../../../src/protocol/interaction/interaction.js'
import type { Message, ToolPart } from '../../../src/protocol/message/message.js'
import type { Session } from '../../../src/protocol/session/session.js'
import { finish, type ModelServer, reply, type Script, startModelServer, text } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { openScene, type Scene, type Server } from '../server/server.js'

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

interface Started {
  readonly scene: Scene
  readonly server: Server
  readonly model: ModelServer
}

async function start(files: Readonly<Record<string, string>>, script: Script, config: object = {}): Promise<Started> {
  const model = await startModelServer(script)
  cleanups.push(() => model.close())
  const scene = openScene(makePlace(files))
  cleanups.push(() => scene.close())
  scene.place.configure(withModel(model.url, config))
  return { scene, server: await scene.start(), model }
}

const callsOf = (messages: readonly Message[]) =>
  messages.flatMap(({ parts }) => parts).filter((part): part is ToolPart => part.type === 'tool')
const outcome = ({ tool, state }: ToolPart) => [tool, state.status, state.status === 'completed' ? state.output : '']
const asks = (server: Server) => server.get<PermissionRequest[]>('/v2/interactions/permissions')

test('a command of the installation includes files and outputs; a prompt names it', async () => {
  const { scene, server, model } = await start({ 'notes.md': 'remember the milk\n' }, [reply(text('Reviewed.'), finish('stop'))])
  const file = join(dirname(scene.place.configFile), 'commands/look.md')
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, 'Look at @notes.md, @nobody and !`echo $1-$1`.')
  const { id } = await server.createSession()
  await server.prompt(id, { prompt: '/look well' })
  await server.call('POST', `/v2/sessions/${id}/wait`)

  const messages = await server.messages(id)
  expect(messages.map(({ info }) => info.role)).toEqual(['user', 'assistant', 'assistant'])
  expect(callsOf(messages).map(outcome)).toEqual([
    ['read', 'completed', expect.stringContaining('remember the milk')],
    ['bash', 'completed', expect.stringContaining('well-well')],
  ])
  const sent = JSON.stringify((await model.request(0)).body?.messages)
  for (const seen of ['Look at @notes.md, @nobody and', 'remember the milk', 'well-well']) expect(sent).toContain(seen)
  expect(model.requests).toHaveLength(1)

  await server.prompt(id, { prompt: '/look/at/this is a path', noReply: true })
  expect((await server.messages(id)).at(-1)?.parts).toMatchObject([{ type: 'text', text: '/look/at/this is a path' }])
})

test('what a command of the repository wants run is asked for, though rules allow it', async () => {
  const files = { '.svc/commands/trap.md': 'Hello.\n\n!`touch trapped`\n' }
  const { scene, server, model } = await start(files, [reply(text('Fine.'), finish('stop'))], { permission: { bash: 'allow' } })
  const { id } = await server.createSession()
  const stream = await server.stream({ sessionId: id })
  await server.prompt(id, { prompt: '/trap' })
  await stream.waitFor(({ type }) => type === 'permission.asked')
  const [request] = await asks(server)
  expect(request).toMatchObject({ permission: 'bash', always: [], metadata: { explicit: expect.stringContaining('"trap"') } })
  await server.call('POST', `/v2/interactions/permissions/${request?.id}/reply`, { reply: 'reject' })
  await server.call('POST', `/v2/sessions/${id}/wait`)
  expect(callsOf(await server.messages(id)).map(outcome)).toEqual([['bash', 'error', '']])
  expect(() => scene.place.read('trapped')).toThrow('ENOENT')
  expect(model.requests).toHaveLength(1)
})

test('a shell command of a person asks no model, keeps to the rules, and is part of the conversation', async () => {
  const { server, model } = await start({ 'a.txt': 'a\n' }, [reply(text('Seen.'), finish('stop'))], {
    permission: { bash: { '*': 'allow', 'rm *': 'deny', 'touch *': 'ask' } },
  })
  const { id } = await server.createSession()
  const shell = (body: object) => server.call('POST', `/v2/sessions/${id}/shell`, body)

  const first = await shell({ command: 'echo "to be seen"', messageId: 'msg_mine' })
  expect(first.status).toBe(200)
  const message = first.body as Message
  expect(message.info).toMatchObject({ role: 'assistant', parentId: 'msg_mine', finish: 'stop', cost: 0 })
  expect(callsOf([message]).map(outcome)).toEqual([['bash', 'completed', expect.stringContaining('to be seen')]])
  expect((await shell({ command: 'echo "to be seen"', messageId: 'msg_mine' })).body).toEqual(message)
  expect(callsOf([(await shell({ command: 'rm a.txt' })).body as Message])).toMatchObject([
    { state: { status: 'error', error: expect.stringContaining('denies bash') } },
  ])
  expect((await shell({ command: '' })).status).toBe(400)
  expect(model.requests).toHaveLength(0)

  const stream = await server.stream({ sessionId: id })
  const waiting = shell({ command: 'touch b.txt' })
  await stream.waitFor(({ type }) => type === 'permission.asked')
  await server.call('POST', `/v2/sessions/${id}/abort`)
  expect(callsOf([(await waiting).body as Message])).toMatchObject([{ state: { status: 'error' } }])
  expect((await server.get<Session>(`/v2/sessions/${id}`)).title).toBe('a test')

  await server.prompt(id, { prompt: 'What did I do?' })
  await server.call('POST', `/v2/sessions/${id}/wait`)
  expect(JSON.stringify((await model.request(0)).body?.messages)).toContain('to be seen')
})
