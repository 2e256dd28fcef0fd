/** What plugins contribute, on the built program: a provider, routes, sockets, hooks, events, services and entries of the configuration. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { PluginManifest } from '../../../src/protocol/plugin/plugin.js'
import { finish, type ModelServer, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { approve, lifecycleOf, untilState, writePackage } from '../server/plugins.js'
import { openScene, type Scene, type Server } from '../server/server.js'
import { textOf, toolParts } from '../server/transcript.js'
import { PATIENCE } from '../../fakes/patience.js'

const FIXTURES = fileURLToPath(new URL('../../fixtures', import.meta.url))
const UNSANDBOXED = { SVC_AGENT_PLUGIN_SANDBOX: 'off' }

interface Begun {
  readonly scene: Scene
  readonly server: Server
  readonly model: ModelServer
}

const cleanups: (() => Promise<void>)[] = []
/** For what changes nothing of others: a plugin of each kind. */
let shared: Begun & { plays(...steps: readonly Call[]): void }
beforeAll(async () => {
  let calls: readonly Call[] = []
  let begun = 0
  const plugins = {
    'test.provider': serve('streams-a-turn.mjs'),
    'test.routes': serve('serves-routes.mjs'),
    'test.services': serve('offers-services.mjs', SETTINGS),
  }
  const opened = await open(plugins, (index) => calls[index - begun])
  shared = {
    ...opened,
    plays(...steps) {
      calls = steps
      begun = opened.model.requests.length
    },
  }
})
beforeEach(() => shared.plays())
afterEach(() => cleanUp(1))
afterAll(() => cleanUp(0))

/** All but the first, which are of the file. */
async function cleanUp(kept: number): Promise<void> {
  for (const cleanup of cleanups.splice(kept)) await cleanup()
}

/** Says hello on its socket, keeps what it hears there, and tells it on its route. */
const LISTENER = `local heard = {}
local function descriptor(id) return { id = id, method = "GET", path = "/" .. id, scope = "workspace" } end
return {
  routes = { { descriptor = descriptor("heard"), handle = function() return { status = 200, body = table.concat(heard, " ") } end } },
  websocketRoutes = { {
    descriptor = descriptor("chat"),
    open = function() return { { kind = "text", data = "hello" } } end,
    message = function(message) if message.kind ~= "ping" then heard[#heard + 1] = message.kind end end,
  } },
}`

/** An entry that serves a fixture program. */
function serve(fixture: string, options: object = {}): object {
  return { options: { serve: [process.execPath, join(FIXTURES, 'plugins', fixture)], ...options } }
}

interface Call {
  readonly name: string
  readonly input: object
}

const SETTINGS = { config: { bed: ['roses', 3] }, env: { SEASON: 'spring' } }

/** A server with these entries, for one test, whose model makes the calls of `steps`, one step after the other. */
const begin = (plugins: object, ...steps: readonly Call[]) => open(plugins, (index) => steps[index])

async function open(plugins: object, callOf: (index: number) => Call | undefined): Promise<Begun> {
  const model = await startModelServer((request) => {
    const step = callOf(request.index)
    if (step === undefined) return reply(text('Done.'), finish('stop'))
    return reply(toolCall({ id: `call_${request.index}`, ...step }), finish('tool_calls'))
  })
  const scene = openScene(makePlace({ 'README.md': 'hello from a file\n' }))
  cleanups.push(async () => {
    await scene.close()
    await model.close()
  })
  scene.place.configure(withModel(model.url, { plugins }))
  return { scene, server: await scene.start(UNSANDBOXED), model }
}

async function play(server: Server, rest: object = {}) {
  const { id } = await server.createSession()
  await server.prompt(id, { prompt: 'go on', ...rest })
  await server.call('POST', `/v2/sessions/${id}/wait`)
  return server.messages(id)
}

describe('a provider', () => {
  test('serves a whole turn: thoughts, text, a call of a built-in tool, usage and the answer to its result', async () => {
    const { server, model } = shared
    const before = model.requests.length
    const stream = await server.stream({ tail: true })
    const [, first, second] = await play(server, { model: { providerId: 'homemade', modelId: 'reader' } })
    expect(first?.parts).toMatchObject([
      { type: 'step-start' },
      { type: 'text', text: 'Let me look.' },
      { type: 'reasoning', text: 'I can read.' },
      { type: 'tool', tool: 'read', state: { status: 'completed', output: expect.stringContaining('hello from a file') as string } },
      { type: 'step-finish', reason: 'tool-calls' },
    ])
    expect(first?.info).toMatchObject({ role: 'assistant', tokens: { input: 20, output: 7 } })
    expect(textOf(second)).toMatch(/^It says: .*hello from a file/s)
    expect(second?.info).toMatchObject({ role: 'assistant', finish: 'stop', tokens: { input: 30, output: 6 } })
    const deltas = stream.events.filter(({ type, data }) => type === 'message.part.delta' && JSON.stringify(data).includes('"text"'))
    expect(deltas.length).toBeGreaterThan(1)
    expect(model.requests).toHaveLength(before)
  })
})

describe('routes', () => {
  const at = (path: string) => `/v2/plugins/test.routes${path}`

  test('answer with what the plugin says, and with the errors of the contract', async () => {
    const { server, scene } = shared
    const { id } = await server.createSession()
    const called = async (method: string, path: string, body?: unknown) => {
      const { status, body: said, text: plain } = await server.call(method, at(path), body)
      return { status, said: said ?? plain }
    }
    expect(await called('GET', '/notes/today?tag=a&tag=b')).toEqual({
      status: 200,
      said: { path: { name: 'today' }, query: { tag: ['a', 'b'] }, body: null },
    })
    expect(await called('POST', '/notes', { title: 'milk' })).toEqual({
      status: 201,
      said: { body: { title: 'milk' }, workspace: scene.place.repo },
    })
    expect(await called('GET', '/page')).toEqual({ status: 200, said: 'a page' })
    expect(await called('GET', `/sessions/${id}/notes`)).toEqual({ status: 200, said: { sessionId: id, path: { session_id: id } } })
    const refused = [
      [await called('POST', '/notes', '{"title":'), 400, 'request.invalid_json'],
      [await called('GET', '/sessions/ses_unknown/notes'), 404, 'plugin.session_not_found'],
      [await called('GET', '/nowhere'), 404, 'resource.not_found'],
      [await called('DELETE', '/page'), 404, 'resource.not_found'],
      [await called('GET', '/broken'), 500, 'plugin.route_failed'],
      [await called('GET', '/nonsense'), 500, 'plugin.invalid_response'],
    ] as const
    for (const [answer, status, code] of refused) expect(answer).toMatchObject({ status, said: { code } })
    expect(refused[4][0].said).toMatchObject({ message: expect.stringContaining('the shelf is empty') as string })
  })

  test('become sockets that carry messages both ways, and close as the plugin says', async () => {
    const { server, scene } = shared
    const open = (path: string) => new WebSocket(`${server.url.replace('http', 'ws')}${at(path)}directory=${scene.place.repo}`)
    const talk = (...lines: readonly (string | Uint8Array)[]) =>
      new Promise<{ heard: string[]; code: number; reason: string }>((resolve, reject) => {
        const heard: string[] = []
        const socket = open('/chat?name=Ada&')
        socket.on('open', () => lines.forEach((line) => socket.send(line)))
        socket.on('message', (data) => heard.push((data as Buffer).toString()))
        socket.on('error', reject)
        socket.on('close', (code, reason) => resolve({ heard, code, reason: reason.toString() }))
      })
    expect(await talk('hello', Buffer.from('raw'), 'bye')).toEqual({ heard: ['Ada: hello', 'raw'], code: 1000, reason: '' })
    expect(await talk('fail')).toMatchObject({ heard: [], code: 1011, reason: expect.stringContaining('the line is dead') as string })
    const refusal = await new Promise<string>((resolve) => open('/closed?').on('error', (error) => resolve(error.message)))
    expect(refusal).toContain('400')
    expect(await server.get('/v2/health')).toMatchObject({ healthy: true })
  })

  test.each(['closes', 'is lost'])('of Lua hear of a client that %s as a message', async (end) => {
    const { server, scene } = shared
    const id = `test.listener-${end.slice(-4)}`
    const agent = { runtime: 'lua', entrypoint: 'main.lua', command: [] }
    writePackage(scene.place, id, { agent, files: { 'main.lua': LISTENER } })
    const stream = await server.stream({ tail: true })
    await approve(server, scene.place, id)
    await lifecycleOf(server, id)
    await untilState(stream, id, 'active')
    const base = `/v2/plugins/${id}`
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}${base}/chat?directory=${scene.place.repo}`)
    await new Promise((resolve) => socket.once('message', resolve))
    for (const word of ['one', 'two']) socket.send(word)
    await new Promise((resolve) => socket.once('pong', resolve).ping())
    if (end === 'closes') socket.close()
    else socket.terminate()
    await expect.poll(() => server.get(`${base}/heard`)).toEqual('text text close')
  })
})

describe('hooks', () => {
  const bash = { name: 'bash', input: { command: 'echo "ran with $COMMAND_HOOK"', description: 'shows variables' } }

  test('change the input and the output of a tool, the headers of the model and the environment of the shell', async () => {
    const { server, model } = await begin({ 'test.hooks': serve('changes-everything.mjs') }, bash)
    const [part] = toolParts(await play(server))
    expect(part?.state).toMatchObject({
      status: 'completed',
      title: 'changed',
      output: expect.stringMatching(/^RAN WITH \nAND FROM A HOOK\s*$/) as string,
    })
    expect(model.requests.map(({ headers }) => headers['x-hooked'])).toEqual(['scripted', 'scripted'])
  })

  test('of a declared command of the first protocol work, with and without a process', async () => {
    const { server, scene, model } = await begin({}, bash)
    const directory = join(dirname(scene.place.configFile), 'plugins')
    mkdirSync(directory)
    const command = [process.execPath, join(FIXTURES, 'hook-commands/adds-a-variable.mjs')]
    writeFileSync(join(directory, 'test.command.json'), JSON.stringify({ command, chatHeaders: { 'x-declared': 'yes' } }))
    const [part] = toolParts(await play(server))
    expect(part?.state).toMatchObject({ status: 'completed', output: expect.stringContaining('ran with from a command') as string })
    expect(model.requests.map(({ headers }) => headers['x-declared'])).toEqual(['yes', 'yes'])
  })
})

describe('events', () => {
  test('reach a plugin from its own workspace alone, and what it publishes reaches the stream under its name', async () => {
    const { server, scene } = await begin({ 'test.events': serve('hears-events.mjs', { capabilities: ['event-publish'] }) })
    const elsewhere = join(scene.place.root, 'elsewhere')
    mkdirSync(elsewhere)
    const stream = await server.stream({ tail: true })
    const route = '/v2/plugins/test.events/heard'
    const heardIn = async (directory: string) => {
      const { body } = await server.call('GET', route, undefined, { 'x-svc-directory': directory })
      return body as { type: string; sessionID: string }[]
    }
    expect([await heardIn(scene.place.repo), await heardIn(elsewhere)]).toEqual([[], []])

    const here = await server.createSession()
    const there = (await server.call('POST', '/v2/sessions', { title: 'there' }, { 'x-svc-directory': elsewhere })).body as { id: string }
    for (const id of [here.id, there.id]) {
      const greeting = await stream.waitFor(
        ({ type, data }) => (type as string) === 'plugin.test.events.greeted' && 'sessionID' in data && data.sessionID === id,
      )
      expect(greeting).toMatchObject({ source: 'test.events', data: { sessionID: id } })
    }
    expect(new Set((await heardIn(scene.place.repo)).map(({ sessionID }) => sessionID))).toEqual(new Set([here.id]))
    expect(new Set((await heardIn(elsewhere)).map(({ sessionID }) => sessionID))).toEqual(new Set([there.id]))
  })
})

describe('an entry of the configuration', () => {
  test('gets its config and its environment, and its agents, commands and skills are listed', async () => {
    const { server } = shared
    shared.plays({ name: 'settings', input: {} })
    const [part] = toolParts(await play(server))
    expect(part?.state).toMatchObject({ status: 'completed', output: JSON.stringify({ config: SETTINGS.config, season: 'spring' }) })
    const named = async (path: string, name: string) => (await server.get<{ name: string }[]>(path)).find((each) => each.name === name)
    expect(await named('/v2/agents', 'gardener')).toMatchObject({ description: 'Tends the garden.', mode: 'all' })
    expect(await named('/v2/commands', 'water')).toMatchObject({ description: 'Waters.', template: 'Water $ARGUMENTS' })
    expect(await named('/v2/skills', 'pruning')).toMatchObject({ description: 'When to cut.' })
    expect(await named('/v2/skills', 'hearsay')).toEqual({ name: 'hearsay', description: 'Nowhere to be read.' })
  })

  test('for an npm package that cannot be had says why, and everything else goes on', async () => {
    const { server, scene } = await begin({
      'test.absent': { options: { npm: 'a-package-of-nobody@1.0.0' } },
      'test.services': serve('offers-services.mjs'),
    })
    // Nothing listens there.
    writeFileSync(join(scene.place.home, '.npmrc'), 'registry=http://127.0.0.1:9/\nfetch-retries=0\n')
    const absent = async () => (await server.get<PluginManifest[]>('/v2/plugins')).find(({ id }) => id === 'test.absent')
    const said = await until(
      async () => (await absent())?.reason,
      (reason) => reason?.includes('could not be installed') === true,
    )
    expect(said).toMatch(/npm package a-package-of-nobody@1\.0\.0 could not be installed: .{5,}/)
    const plugins = await server.get<PluginManifest[]>('/v2/plugins')
    expect(plugins.find(({ id }) => id === 'test.services')).toMatchObject({ active: true })
  })
})

/** Asks until the answer is right: nothing tells that an installation has failed. */
async function until<T>(ask: () => Promise<T>, isRight: (answer: T) => boolean): Promise<T> {
  for (const deadline = performance.now() + PATIENCE; ; await new Promise((resolve) => setTimeout(resolve, 50))) {
    const answer = await ask()
    if (isRight(answer) || performance.now() > deadline) return answer
  }
}
