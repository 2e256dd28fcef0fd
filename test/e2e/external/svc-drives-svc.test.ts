// Holds subsystems l.4, n.
/** A server whose external agent is `svc acp` of another installation, both as they are built. */
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { PermissionRequest } from '../../../src/protocol/interaction/interaction.js'
import type { Message } from '../../../src/protocol/message/message.js'
import {
  createGate,
  finish,
  hold,
  type ModelServer,
  reply,
  type Script,
  startModelServer,
  text,
  toolCall,
} from '../../fixtures/model-server.js'
import { besideTitles, isOfTitle } from '../acp/titles.js'
import { makePlace, withModel } from '../server/place.js'
import { descendants, mentioning, untilNone } from '../server/processes.js'
import { openScene, PROGRAM, type Scene, type Server } from '../server/server.js'
import { writeFileSync } from 'node:fs'

let scene: Scene
let server: Server
let model: ModelServer
beforeEach(() => {
  scene = openScene(makePlace())
})
afterEach(async () => {
  await scene.close()
  await model.close()
})

const inner = (name: string) => join(scene.place.root, 'inner', name)

async function begin(script: Script, configuration: object = {}): Promise<string> {
  model = await startModelServer(besideTitles(script))
  mkdirSync(inner('config/svc'), { recursive: true })
  writeFileSync(inner('config/svc/svc.json'), JSON.stringify(withModel(model.url, configuration)))
  await start()
  return (await server.createSession({ externalProvider: 'codex' })).id
}

async function start(): Promise<void> {
  const own = [`SVC_AGENT_STATE_DIR=${inner('state')}`, `XDG_CONFIG_HOME=${inner('config')}`]
  server = await scene.start({ SVC_EXTERNAL_CODEX_COMMAND: JSON.stringify(['env', ...own, process.execPath, PROGRAM, 'acp']) })
}

const settled = async (id: string) => expect((await server.call('POST', `/v2/sessions/${id}/wait`)).status).toBeLessThan(300)
async function last(id: string): Promise<Message> {
  const message = (await server.messages(id)).at(-1)
  if (message === undefined) throw new Error('nothing was said')
  return message
}
const textOf = ({ parts }: Message) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
const callsOf = ({ parts }: Message) => parts.flatMap((part) => (part.type === 'tool' ? [part] : []))
async function question(): Promise<PermissionRequest> {
  const asked = () => server.get<PermissionRequest[]>('/v2/interactions/permissions')
  await expect.poll(async () => (await asked()).length).toBe(1)
  return (await asked())[0] as PermissionRequest
}
const answer = (id: string, how: string) => server.call('POST', `/v2/interactions/permissions/${id}/reply`, { reply: how })
const conversation = () => model.requests.filter((request) => !isOfTitle(request))

/** Of the inner installation, wherever it has gone. */
async function expectNobody(): Promise<void> {
  const theirs = () => [...descendants(server.pid), ...mentioning(inner(''))].filter(({ command }) => !command.includes('svc-reaper'))
  expect(await untilNone(theirs)).toEqual([])
}

test('the text of the inner one is told as it comes, and nothing of it is left after the turn', async () => {
  const gate = createGate()
  const id = await begin([reply(text('Hello '), hold(gate), text('there.'), finish('stop'))])
  await server.prompt(id, { prompt: 'hi' })
  await expect.poll(async () => textOf(await last(id))).toBe('Hello ')
  gate.open()
  await settled(id)
  const message = await last(id)
  expect([textOf(message), message.info]).toMatchObject(['Hello there.', { finish: 'stop', agent: 'codex', providerId: 'external' }])
  expect(message.info).toMatchObject({ tokens: { total: 120 } })
  await expectNobody()
})

test.each([
  ['once', true],
  ['reject', false],
] as const)('what the inner one asks is answered at the outer one: %s', async (how, isWritten) => {
  const write = toolCall({ id: 'call_w', name: 'write', input: { filePath: 'made.txt', content: 'made\n' } })
  const id = await begin([reply(write, finish('tool_calls')), reply(text('Done.'), finish('stop'))], { permission: { edit: 'ask' } })
  await server.prompt(id, { prompt: 'write it' })
  const request = await question()
  expect(request).toMatchObject({ sessionId: id, permission: 'external_agent', patterns: [expect.stringMatching(/^edit: .*made\.txt/)] })
  expect((await answer(request.id, how)).status).toBe(200)
  await settled(id)
  expect(existsSync(join(scene.place.repo, 'made.txt'))).toBe(isWritten)
  expect(callsOf(await last(id))).toMatchObject([{ tool: 'edit', state: { status: isWritten ? 'completed' : 'error' } }])
  await expectNobody()
})

test('rules of the outer one hold for what the inner one is about to do', async () => {
  const write = (name: string) => toolCall({ id: `call_${name}`, name: 'write', input: { filePath: name, content: 'x' } })
  const run = toolCall({ id: 'call_r', name: 'bash', input: { command: 'touch ran.txt' } })
  await begin([reply(write('a.lock'), finish('tool_calls')), reply(run, finish('tool_calls')), reply(text('Done.'), finish('stop'))], {
    permission: { edit: 'ask', bash: 'ask' },
  })
  const permission = [
    { permission: 'external_agent', pattern: '*', action: 'allow' },
    { permission: 'edit', pattern: '*.lock', action: 'deny' },
    { permission: 'bash', pattern: 'touch *', action: 'deny' },
  ]
  const { id } = await server.createSession({ externalProvider: 'codex', permission })
  await server.prompt(id, { prompt: 'write and run' })
  await settled(id)
  expect(['a.lock', 'ran.txt'].filter((name) => existsSync(join(scene.place.repo, name)))).toEqual([])
  await expectNobody()
})

test('an abort at the outer one ends the run of the inner one with what it runs, and the next prompt goes on', async () => {
  const run = toolCall({ id: 'call_r', name: 'bash', input: { command: 'echo begun; sleep 0.1; touch begun; sleep 600' } })
  const id = await begin([reply(text('I run it.'), run, finish('tool_calls')), reply(text('Again.'), finish('stop'))], {
    permission: { '*': 'allow' },
  })
  await server.prompt(id, { prompt: 'run it' })
  await expect.poll(() => existsSync(join(scene.place.repo, 'begun'))).toBe(true)
  expect((await server.call('POST', `/v2/sessions/${id}/abort`)).body).toBe(true)
  await settled(id)
  const message = await last(id)
  expect([textOf(message), message.info]).toMatchObject(['I run it.', { error: { message: 'Session aborted' } }])
  expect(callsOf(message)).toMatchObject([{ state: { status: 'error' } }])
  await expectNobody()
  await server.prompt(id, { prompt: 'again' })
  await settled(id)
  expect(textOf(await last(id))).toBe('Again.')
  await expectNobody()
})

test('the conversation goes on in the same session of the inner one after the outer one was killed in the middle', async () => {
  const gate = createGate()
  const id = await begin([
    reply(text('One.'), finish('stop')),
    reply(text('Half'), hold(gate), finish('stop')),
    reply(text('Three.'), finish('stop')),
  ])
  await server.prompt(id, { prompt: 'first' })
  await settled(id)
  await server.prompt(id, { prompt: 'second' })
  await expect.poll(async () => textOf(await last(id))).toBe('Half')
  await server.kill()
  gate.open()
  expect(await untilNone(() => mentioning(inner('')))).toEqual([])
  await start()
  await settled(id)
  expect((await server.messages(id)).map(textOf)).toEqual(['first', 'One.', 'second', 'Half'])
  await server.prompt(id, { prompt: 'third' })
  await settled(id)
  expect(textOf(await last(id))).toBe('Three.')
  const told = JSON.stringify(conversation().at(-1)?.body)
  for (const word of ['first', 'One.', 'second', 'third']) expect(told).toContain(word)
  await expectNobody()
})
