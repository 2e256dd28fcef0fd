// Holds subsystems d.6, j; sessions-events §7.4, §7.5; decision 42: what hosted callers take back, and what they are after, on a real server.
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { GoalResponse } from '../../../src/protocol/session/goal.js'
import type { Session } from '../../../src/protocol/session/session.js'
import { finish, type ModelServer, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { type Answer, openScene, type Scene } from '../server/server.js'

let scene: Scene
let model: ModelServer
let directory: string
type Ask = (method: string, path: string, body?: unknown) => Promise<Answer>
let a: Ask
let b: Ask
const refused = ({ status, body }: Answer) => [status, (body as { code?: string } | undefined)?.code]

beforeAll(async () => {
  // Writes a file when it is prompted, and ends a goal when it is asked to go on with it.
  model = await startModelServer(({ body, index }) => {
    const messages = body?.messages ?? []
    if (messages.at(-1)?.role === 'tool') return reply(text('Done.'), finish('stop'))
    const isGoal = JSON.stringify(messages.at(-1)).includes('The goal of this session is not reached yet')
    const call = isGoal
      ? { name: 'complete_goal', input: { summary: 'reached' } }
      : { name: 'write', input: { filePath: `made-${messages.filter(({ role }) => role === 'user').length}.txt`, content: 'made\n' } }
    return reply(...toolCall({ index: 0, id: `call_${index}`, ...call }), finish('tool-calls'))
  })
  scene = openScene(makePlace())
  mkdirSync(join(scene.place.root, 'shared'))
  directory = realpathSync(join(scene.place.root, 'shared'))
  const tokens = ['a', 'b'].map((name) => ({ token: `token-${name}`, tenantId: name, directoryPrefixes: [directory] }))
  writeFileSync(join(scene.place.root, 'tokens.json'), JSON.stringify({ tokens }), { mode: 0o600 })
  scene.place.configure(withModel(model.url, { hosted: { providers: ['test'], execution: 'native' }, permission: { '*': 'allow' } }))
  const server = await scene.start({
    SVC_AGENT_AUTH_CONFIG: join(scene.place.root, 'tokens.json'),
    SVC_AGENT_TOKEN: 'operator-token-1',
    FIRECRAWL_API_KEY: 'key-of-the-installation',
  })
  const as =
    (token: string): Ask =>
    (method, path, body) =>
      server.call(method, path, body, { authorization: `Bearer ${token}`, 'x-svc-directory': directory })
  a = as('token-a')
  b = as('token-b')
})
afterAll(async () => {
  await scene.close()
  await model.close()
})

async function prompted(count: number): Promise<string> {
  const { id } = (await a('POST', '/v2/sessions', { title: 'work' })).body as Session
  for (let at = 0; at < count; at++) {
    expect((await a('POST', `/v2/sessions/${id}/prompt`, { prompt: 'go' })).status).toBe(204)
    expect((await a('POST', `/v2/sessions/${id}/wait`)).status).toBe(204)
  }
  return id
}

test('undo, redo, revert and unrevert bring back files of its own directory, and are of nobody else', async () => {
  const id = await prompted(2)
  const made = () => [1, 2].map((at) => existsSync(join(directory, `made-${at}.txt`)))
  const of = (verb: string, body: object = {}) => a('POST', `/v2/sessions/${id}/${verb}`, body)
  expect(made()).toEqual([true, true])
  for (const verb of ['undo', 'redo', 'revert', 'unrevert'])
    expect([verb, ...refused(await b('POST', `/v2/sessions/${id}/${verb}`, {}))]).toEqual([verb, 403, 'auth.session_forbidden'])
  expect(made()).toEqual([true, true])
  expect([(await of('undo')).status, made()]).toEqual([200, [true, false]])
  expect([(await of('undo')).status, made()]).toEqual([200, [false, false]])
  expect([(await of('redo')).status, made()]).toEqual([200, [true, false]])
  expect([(await of('unrevert')).status, made()]).toEqual([200, [true, true]])
  const [first] = (await a('GET', `/v2/sessions/${id}/context`)).body as { info: { id: string } }[]
  expect([(await of('revert', { messageId: first?.info.id })).status, made()]).toEqual([200, [false, false]])
  expect([(await of('unrevert')).status, readFileSync(join(directory, 'made-1.txt'), 'utf8')]).toEqual([200, 'made\n'])
})

test('a goal is pursued until its agent ends it; no page is read for it, and it is of nobody else', async () => {
  const { id } = (await a('POST', '/v2/sessions', { title: 'pursued' })).body as Session
  const goals = `/v2/plugins/dev.svc.goals/sessions/${id}`
  const paths = (await a('GET', '/v2/openapi.json')).body as { paths: Record<string, Record<string, { operationId: string }>> }
  const pathOf = (operation: string) => {
    const [path = goals, methods = {}] =
      Object.entries(paths.paths).find(([, each]) => Object.values(each).some(({ operationId }) => operationId === operation)) ?? []
    const method = Object.entries(methods).find(([, each]) => each.operationId === operation)?.[0] ?? ''
    return [method.toUpperCase(), path.replace('{session_id}', id)] as const
  }
  const goal = { text: 'all of it', researchUrls: ['https://example.org/'] }
  expect(refused(await b(...pathOf('v2.plugins.goals.set'), goal))).toEqual([403, 'auth.session_forbidden'])
  const set = await a(...pathOf('v2.plugins.goals.set'), goal)
  expect(set.body).toMatchObject({ goal: { text: 'all of it', status: 'active', research: [] }, researchEnabled: false })
  expect(refused(await a(...pathOf('v2.plugins.goals.research'), { url: 'https://example.org/' }))).toEqual([
    403,
    'auth.hosted_route_forbidden',
  ])
  await a('POST', `/v2/sessions/${id}/prompt`, { prompt: 'go' })
  await a('POST', `/v2/sessions/${id}/wait`)
  const { goal: ended } = (await a(...pathOf('v2.plugins.goals.get'))).body as GoalResponse
  expect(ended).toMatchObject({ status: 'complete', summary: 'reached' })
  expect(refused(await b(...pathOf('v2.plugins.goals.get')))).toEqual([403, 'auth.session_forbidden'])
})
