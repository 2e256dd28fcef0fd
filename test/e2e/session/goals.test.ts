// Holds http-contract §5.8.
/** Goals as a client sees them: pursued over several runs, ended by the model, by a bound, by a person, and across a kill. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Message } from '../../../src/protocol/message/message.js'
import type { GoalResponse, SessionGoal } from '../../../src/protocol/session/goal.js'
import {
  createGate,
  finish,
  type Gate,
  hold,
  type ModelServer,
  type ModelServerRequest,
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
let gate: Gate

/** Files are written until there are as many as the goal says; `talk` does nothing; `hold` waits in the second run. */
function answer({ body }: ModelServerRequest) {
  const messages = body?.messages ?? []
  const goal = /<goal>\n(.*?)\n<\/goal>/.exec(messages.map(({ role, content }) => (role === 'system' ? content : '')).join('\n'))?.[1] ?? ''
  const last = messages.at(-1)
  const runs = messages.filter(({ role }) => role === 'user').length
  if (last?.role === 'tool') return reply(text(`End of run ${runs}.`), finish('stop'))
  if (goal.startsWith('talk')) return reply(text('I am on it.'), finish('stop'))
  if (goal.startsWith('hold') && runs === 2) return reply(text('Now '), hold(gate), text('done.'), finish('stop'))
  const most = Number(/(\d+) runs/.exec(goal)?.[1] ?? 0)
  const call =
    runs >= most
      ? { id: `c${runs}`, name: 'complete_goal', input: { status: 'complete', summary: `Done in ${runs} runs.` } }
      : { id: `c${runs}`, name: 'write', input: { filePath: `${goal.split(' ')[0]}-${runs}.txt`, content: `run ${runs}\n` } }
  return reply(toolCall(call), finish('tool_calls'))
}

beforeAll(async () => {
  gate = createGate()
  model = await startModelServer(answer)
  scene = openScene(makePlace())
  scene.place.configure(withModel(model.url, { permission: { '*': 'allow' } }))
  server = await scene.start()
  stream = await server.stream({ tail: true })
})
afterAll(async () => {
  gate.open()
  await scene.close()
  await model.close()
})

const at = (id: string) => `/v2/plugins/dev.svc.goals/${id}`
const goalOf = async (id: string) => (await server.get<GoalResponse>(at(id))).goal
const noted = (id: string, fits: (goal: SessionGoal) => boolean) => (event: AnyEvent) =>
  event.type === 'session.updated' && event.data.sessionID === id && fits((event.data.info['goal'] ?? {}) as SessionGoal)
const idle = (id: string) => server.call('POST', `/v2/sessions/${id}/wait`)
const prompts = (messages: readonly Message[]) => messages.filter(({ info }) => info.role === 'user')
const told = (messages: readonly Message[]) =>
  prompts(messages).filter(({ info }) => info.role === 'user' && info.system?.startsWith('<svc-runtime-notification>') === true)

async function pursue(goal: string): Promise<string> {
  const { id } = await server.createSession()
  const set = await server.call('POST', at(id), { text: ` ${goal} ` })
  expect([set.status, set.body]).toEqual([
    200,
    expect.objectContaining({ goal: expect.objectContaining({ text: goal, status: 'active' }) as unknown }),
  ])
  await server.prompt(id, { prompt: 'begin' })
  return id
}

test('a goal drives four runs to its completion, and nothing follows', async () => {
  const id = await pursue('files after 4 runs')
  await stream.waitFor(noted(id, ({ status }) => status === 'complete'))
  await idle(id)
  const messages = await server.messages(id)
  expect(prompts(messages)).toHaveLength(4)
  expect(told(messages)).toHaveLength(3)
  expect(await goalOf(id)).toMatchObject({ status: 'complete', paused: false, summary: 'Done in 4 runs.' })
  expect(['files-1.txt', 'files-2.txt', 'files-3.txt'].map((name) => scene.place.read(name))).toEqual(['run 1\n', 'run 2\n', 'run 3\n'])
})

test('a goal without progress stops by itself and says why', async () => {
  const id = await pursue('talk about it')
  await stream.waitFor(noted(id, ({ status }) => status === 'blocked'))
  await idle(id)
  expect(prompts(await server.messages(id))).toHaveLength(3)
  expect((await goalOf(id))?.summary).toBe('Stopped: 3 runs in a row made no progress: none did anything new.')
})

test.each(['kill', 'stop'] as const)('a %s loses nothing: one run follows the restart', async (how) => {
  gate = createGate()
  const from = stream.events.length
  const id = await pursue(`hold-${how} for 4 runs`)
  await stream.waitFor((event) => event.type === 'message.part.delta' && event.data.sessionID === id && event.data.delta === 'Now ', from)
  stream.close()
  await server[how]()
  server = await scene.start()
  stream = await server.stream({ since: 0 })
  await stream.waitFor(noted(id, ({ status }) => status === 'complete'))
  await idle(id)
  const messages = await server.messages(id)
  expect(prompts(messages)).toHaveLength(4)
  expect(messages.filter(({ info }) => info.role === 'assistant' && info.error?.interrupted === true)).toHaveLength(1)
})

test('an abort pauses it', async () => {
  gate = createGate()
  const aborted = await pursue('hold on for 9 runs')
  await stream.waitFor((event) => event.type === 'message.part.delta' && event.data.sessionID === aborted && event.data.delta === 'Now ')
  await server.call('POST', `/v2/sessions/${aborted}/abort`)
  await stream.waitFor(noted(aborted, ({ paused }) => paused))
  await idle(aborted)
  expect(prompts(await server.messages(aborted))).toHaveLength(2)
  expect(await goalOf(aborted)).toMatchObject({ status: 'active', paused: true, summary: 'Paused: its run was aborted.' })
})

test('is set, paused, resumed and cleared; research needs a service', async () => {
  const { id } = await server.createSession()
  const call = async (body?: object) => ((await server.call('POST', at(id), body)).body as GoalResponse).goal
  expect(await call()).toBeNull()
  expect(await call({ paused: true })).toBeNull()
  const first = await call({ text: 'one' })
  expect(first).toMatchObject({ text: 'one', status: 'active', paused: false, summary: '', research: [] })
  expect(await call({})).toEqual(first)
  const paused = await call({ paused: true })
  expect(paused).toMatchObject({ paused: true, created: first?.created })
  expect(paused?.updated).toBeGreaterThan(first?.updated ?? 0)
  expect(await call({ paused: false })).toMatchObject({ paused: false, status: 'active' })
  const fork = (await server.call('POST', `/v2/sessions/${id}/fork`, {})).body as { id: string }
  expect(await goalOf(fork.id)).toBeNull()
  expect(await call({ text: ' ' })).toBeNull()
  await call({ text: 'two' })
  expect((await server.call('DELETE', at(id))).body).toEqual({ goal: null, researchEnabled: false })
  await call({ text: 'three' })
  await server.call('POST', `/v2/sessions/${id}/shell`, { command: 'true' })
  await idle(id)
  expect(prompts(await server.messages(id))).toHaveLength(1)
  const refused = await server.call('POST', `${at(id)}/research`, { url: 'https://page.test' })
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('FIRECRAWL_API_KEY')])
  expect((await server.call('GET', at('ses_none'))).status).toBe(404)
})
