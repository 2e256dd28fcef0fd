// Holds subsystems n; decision 124.
/** MCP servers that an editor brings along, on the built program: real ones, over the streams of a program and over HTTP. */
import { createRequire } from 'node:module'
import type { McpServer } from '@agentclientprotocol/sdk'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { McpCatalogEntry, McpStatusMap } from '../../../src/protocol/mcp/mcp.js'
import { type EverythingServer, startEverything } from '../../fixtures/everything-server.js'
import { finish, type ModelServer, type ModelServerRequest, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { openScene, type Scene, type Server } from '../server/server.js'
import { type Editor, openEditor } from './editor.js'
import { besideTitles } from './titles.js'

const PREFIX = '/v2/plugins/dev.svc.mcp'
const { resolve } = createRequire(import.meta.url)
const everything = resolve('@modelcontextprotocol/server-everything/package.json').replace('package.json', 'dist/index.js')
const local = (name: string, env: { name: string; value: string }[] = []): McpServer => ({
  name,
  command: process.execPath,
  args: [everything, 'stdio'],
  env,
})

let scene: Scene
let model: ModelServer
let server: Server
let web: EverythingServer | undefined
let editor: Editor | undefined
beforeEach(() => {
  scene = openScene(makePlace())
})
afterEach(async () => {
  await editor?.close()
  editor = undefined
  await scene.close()
  await model.close()
  await web?.close()
  web = undefined
})

/** Calls what the last message of the user names: `call <tool> <input as JSON>`. */
function answer({ body }: ModelServerRequest): ReturnType<typeof reply> {
  const last = body?.messages.at(-1)
  const asked = JSON.stringify(last?.['content'] ?? '').replaceAll('\\"', '"')
  const [, name, input] = last?.role === 'user' ? (/call (\w\S*) (\{.*?\})/.exec(asked) ?? []) : []
  if (name === undefined || input === undefined) return reply(text('Done.'), finish('stop'))
  return reply(...toolCall({ id: `call_${body?.messages.length}`, name, input: JSON.parse(input) as object }), finish('tool-calls'))
}

async function begin(configuration: object = {}): Promise<Editor> {
  model = await startModelServer(besideTitles(answer))
  scene.place.configure(withModel(model.url, { permission: { '*': 'allow' }, ...configuration }))
  server = await scene.start()
  editor = await openEditor(scene.place, ['--server', server.url])
  return editor
}

const open = (at: Editor, mcpServers: McpServer[]) => at.agent.request('session/new', { cwd: scene.place.repo, mcpServers })
const say = (at: Editor, sessionId: string, word: string) =>
  at.agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: word }] })
const notices = (at: Editor) => at.of('notice').map(({ title }) => title)
const results = (at: Editor) => at.of('tool_call_update').flatMap(({ status, rawOutput }) => (status === 'completed' ? [rawOutput] : []))

test('are servers of the directory of its session: their tools are called, also after the server was started anew', async () => {
  web = await startEverything()
  const at = await begin()
  const { sessionId } = await open(at, [
    local('My server', [{ name: 'LEVEL', value: 'high' }]),
    { type: 'http', name: 'web', url: `${web.origin}/mcp`, headers: [{ name: 'x-team', value: 'red' }] },
  ])
  await say(at, sessionId, 'call mcp__My-server__echo {"message":"first"}')
  await say(at, sessionId, 'call mcp__web__echo {"message":"second"}')
  expect(JSON.stringify(results(at))).toMatch(/first.*second/)
  expect(await server.get<McpStatusMap>(PREFIX)).toMatchObject({ 'My-server': { status: 'connected' }, web: { status: 'connected' } })
  await server.kill()
  server = await scene.start({}, Number(new URL(server.url).port))
  await say(at, sessionId, 'call mcp__My-server__echo {"message":"third"}')
  expect(JSON.stringify(results(at))).toMatch(/first.*second.*third/)
  expect(notices(at)).toEqual([])
})

test('that cannot be used are told with the reason, and the session goes on', async () => {
  const at = await begin({ mcp: { mine: { type: 'local', command: 'nothing', enabled: false } } })
  const { sessionId } = await open(at, [
    local('mine'),
    local('twice'),
    local('twice'),
    local('tells', [{ name: 'HOME_OF', value: '{env:HOME}' }]),
    { name: 'absent', command: '/nowhere/at/all', args: [], env: [] },
    { type: 'http', name: 'login', url: 'http://me:secret@127.0.0.1:1/mcp', headers: [] },
  ])
  const told = ['mine', 'twice', 'tells', 'absent', 'login']
  await at.until(() => told.every((name) => notices(at).some((title) => title.includes(`"${name}"`))))
  expect(notices(at).toSorted()).toEqual([
    expect.stringMatching(/"absent" of the editor cannot be used: .*nowhere/),
    expect.stringMatching(/"login" of the editor is not used: .*without a login/),
    expect.stringMatching(/"mine" of the editor is not used: svc has one of that name/),
    expect.stringMatching(/"tells" of the editor is not used: "HOME_OF" has "{env:"/),
    expect.stringMatching(/"twice" of the editor is not used: another one of the editor is called/),
  ])
  expect(await server.get<Record<string, McpCatalogEntry>>(`${PREFIX}/catalog`)).toMatchObject({
    mine: { enabled: false, configScope: 'global' },
  })
  expect(await say(at, sessionId, 'hi')).toMatchObject({ stopReason: 'end_turn' })
  await expect(
    at.agent.request('session/new', { cwd: scene.place.repo, mcpServers: [{ type: 'acp', name: 'x', id: 'y' } as never] }),
  ).rejects.toMatchObject({ code: -32602 })
})

test('join a session that is loaded, and never take the place of one that a workspace brings', async () => {
  scene.place.write('.svc/mcp.json', JSON.stringify({ brought: { type: 'local', command: ['false'] } }))
  const at = await begin()
  const { sessionId } = await open(at, [])
  const load = { sessionId, cwd: scene.place.repo, mcpServers: [local('brought'), local('late')] }
  await at.agent.request('session/load', load)
  await say(at, sessionId, 'call mcp__late__echo {"message":"loaded"}')
  expect(JSON.stringify(results(at))).toContain('loaded')
  expect(notices(at)).toEqual([expect.stringContaining('"brought" of the editor is not used: svc has one of that name')])
  expect(await server.get<Record<string, McpCatalogEntry>>(`${PREFIX}/catalog`)).toMatchObject({
    brought: { status: { status: 'disabled' }, acceptance: { message: expect.any(String) as string } },
    late: { status: { status: 'connected' }, configScope: null },
  })
  await at.agent.request('session/load', load)
  expect(await say(at, sessionId, 'call mcp__late__echo {"message":"again"}')).toMatchObject({ stopReason: 'end_turn' })
  expect(JSON.stringify(results(at))).toContain('again')
})
