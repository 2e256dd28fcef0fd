// Holds threat-model §4.12.
/** What an editor may get wrong, and what may happen to the server behind `svc acp`, on the built program. */
import { once } from 'node:events'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createGate, finish, hold, type ModelServer, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { openScene, type Scene, type Server } from '../server/server.js'
import { choosing, type Editor, openEditor } from './editor.js'
import { besideTitles } from './titles.js'

let scene: Scene
let model: ModelServer
let server: Server
let editor: Editor | undefined
beforeEach(() => {
  scene = openScene(makePlace())
})
afterEach(async () => {
  await editor?.close()
  editor = undefined
  await scene.close()
  await model.close()
})

async function begin(script: Parameters<typeof besideTitles>[0]): Promise<Editor> {
  model = await startModelServer(besideTitles(script))
  scene.place.configure(withModel(model.url))
  server = await scene.start()
  editor = await openEditor(scene.place, ['--server', server.url])
  return editor
}

const say = (word: string) => [{ type: 'text' as const, text: word }]

test('unknown methods, wrong parameters and ids of nobody are refused by their codes, and the connection goes on', async () => {
  const at = await begin([reply(text('Still here.'), finish('stop'))])
  const { sessionId } = await at.agent.request('session/new', { cwd: scene.place.repo, mcpServers: [] })
  const refused: readonly [string, unknown, number][] = [
    ['session/nothing', {}, -32601],
    ['session/prompt', { sessionId }, -32602],
    ['session/prompt', { sessionId, prompt: [] }, -32602],
    ['session/prompt', { sessionId, prompt: [{ type: 'audio', data: 'AAAA', mimeType: 'audio/wav' }] }, -32602],
    ['session/prompt', { sessionId: 'ses_of_nobody', prompt: say('hi') }, -32602],
    ['session/load', { sessionId: 'ses_of_nobody', cwd: scene.place.repo, mcpServers: [] }, -32002],
    ['session/fork', { sessionId: 'ses_of_nobody' }, -32002],
    ['session/close', { sessionId: 'ses_of_nobody' }, -32602],
    ['session/new', { cwd: 'not/absolute', mcpServers: [] }, -32602],
    ['session/new', { cwd: '/nowhere/at/all', mcpServers: [] }, -32603],
    ['session/set_mode', { sessionId, modeId: '__proto__' }, -32602],
    ['session/set_config_option', { sessionId, configId: 'constructor', value: 'x' }, -32602],
    ['session/set_config_option', { sessionId, configId: 'model', value: 'test/unknown' }, -32602],
    ['session/set_model', { sessionId }, -32602],
  ]
  for (const [method, params, code] of refused) {
    const error = await at.agent.request(method, params).catch((thrown: unknown) => thrown)
    expect({ method, params, error }).toMatchObject({ error: { code } })
  }
  expect(await at.agent.request('session/prompt', { sessionId, prompt: say('hi') })).toMatchObject({ stopReason: 'end_turn' })
})

test('lines that are no messages are answered with -32700, or passed over, and a frame without end closes the connection', async () => {
  const at = await begin([reply(text('Still here.'), finish('stop'))])
  const { sessionId } = await at.agent.request('session/new', { cwd: scene.place.repo, mcpServers: [] })
  at.process.stdin?.write('{"jsonrpc": nonsense\n[]\n17\n\n')
  expect(await at.agent.request('session/prompt', { sessionId, prompt: say('hi') })).toMatchObject({ stopReason: 'end_turn' })
  const codes = at
    .stdout()
    .trimEnd()
    .split('\n')
    .flatMap((line) => (JSON.parse(line) as { id?: unknown; error?: { code: number } }).error?.code ?? [])
  expect(codes).toEqual([-32700, -32600, -32600])
  const endless = 'x'.repeat(1024 * 1024)
  for (let sent = 0; sent < 40 && at.process.exitCode === null; sent++) {
    if (at.process.stdin?.write(endless) === false) await new Promise((resolve) => setImmediate(resolve))
  }
  expect(await at.close()).not.toBeNull()
  expect(await server.get('/v2/health')).toMatchObject({ healthy: true })
})

test('a server that is killed and started again is waited for: the editor sees a pause, and the end of what did not survive', async () => {
  const gate = createGate()
  const at = await begin([reply(text('Once upon '), hold(gate), finish('stop')), reply(text('Again.'), finish('stop'))])
  const { sessionId } = await at.agent.request('session/new', { cwd: scene.place.repo, mcpServers: [] })
  const ended = at.agent.request('session/prompt', { sessionId, prompt: say('a story') })
  await at.until(() => at.said().includes('Once'))
  await server.kill()
  gate.open()
  await scene.start({}, Number(new URL(server.url).port))
  expect(await ended).toMatchObject({ stopReason: 'cancelled' })
  expect(await at.agent.request('session/prompt', { sessionId, prompt: say('once more') })).toMatchObject({ stopReason: 'end_turn' })
  expect(at.said()).toBe('Once upon Again.')
})

test('what an editor asks while the server is away is answered once it is there again', async () => {
  const at = await begin([reply(text('Here '), finish('stop')), reply(text('again.'), finish('stop'))])
  const { sessionId } = await at.agent.request('session/new', { cwd: scene.place.repo, mcpServers: [] })
  const { sessionId: other } = await at.agent.request('session/new', { cwd: scene.place.repo, mcpServers: [] })
  await server.kill()
  const asked = [
    at.agent.request('session/prompt', { sessionId, prompt: say('hi') }),
    at.agent.request('session/load', { sessionId: other, cwd: scene.place.repo, mcpServers: [] }),
    at.agent.request('session/list', { cwd: scene.place.repo }),
    at.agent.request('session/new', { cwd: scene.place.repo, mcpServers: [] }),
  ]
  // Nobody has an answer while nobody is there.
  await expect(fetch(`${server.url}/v2/health`)).rejects.toThrow('fetch failed')
  await scene.start({}, Number(new URL(server.url).port))
  expect(await Promise.all(asked)).toMatchObject([
    { stopReason: 'end_turn' },
    { modes: { currentModeId: 'build' } },
    { sessions: expect.any(Array) as unknown },
    { sessionId: expect.any(String) as string },
  ])
  expect(await at.agent.request('session/prompt', { sessionId, prompt: say('and now?') })).toMatchObject({ stopReason: 'end_turn' })
  expect(at.said()).toBe('Here again.')
})

test('a prompt that waits for a server that is away can be cancelled', async () => {
  const at = await begin([])
  const { sessionId } = await at.agent.request('session/new', { cwd: scene.place.repo, mcpServers: [] })
  await server.kill()
  const asked = at.agent.request('session/prompt', { sessionId, prompt: say('hi') })
  await at.agent.request('session/cancel', { sessionId })
  expect(await asked).toMatchObject({ stopReason: 'cancelled' })
})

test('a list of things to do is a plan, a command of the editor is one of svc, and a conversation is made shorter', async () => {
  const todos = [
    { content: 'look', status: 'completed', priority: 'high' },
    { content: 'leap', status: 'cancelled', priority: 'low' },
    { content: 'land', status: 'in_progress', priority: 'medium' },
  ]
  const at = await begin([
    reply(toolCall({ id: 'call_t', name: 'todowrite', input: { todos } }), finish('tool_calls')),
    reply(text('Noted.'), finish('stop')),
    reply(text('Initialised.'), finish('stop')),
  ])
  const { sessionId } = await at.agent.request('session/new', { cwd: scene.place.repo, mcpServers: [] })
  await at.agent.request('session/prompt', { sessionId, prompt: say('plan it') })
  expect(
    at
      .of('plan')
      .at(-1)
      ?.entries.map(({ status, priority }) => `${status} ${priority}`),
  ).toEqual(['completed high', 'completed low', 'in_progress medium'])
  expect(await at.agent.request('session/prompt', { sessionId, prompt: say('/init') })).toMatchObject({ stopReason: 'end_turn' })
  const said = JSON.stringify(model.requests.at(-1)?.body)
  expect(said).not.toContain('"/init"')
  await at.agent.request('session/close', { sessionId })
  await expect(at.agent.request('session/prompt', { sessionId, prompt: say('hi') })).rejects.toMatchObject({ code: -32602 })
  const resumed = await at.agent.request('session/resume', { sessionId, cwd: scene.place.repo })
  expect(resumed).toMatchObject({ modes: { currentModeId: 'build' } })
  const fork = await at.agent.request<{ readonly sessionId: string }>('session/fork', { sessionId })
  expect(fork.sessionId).not.toBe(sessionId)
})

test('an editor that loads a session whose bridge was killed is asked what waits there, and what is asked after that', async () => {
  const write = (name: string) => toolCall({ id: `call_${name}`, name: 'write', input: { filePath: name, content: 'x' } })
  model = await startModelServer(
    besideTitles([
      reply(write('a.txt'), finish('tool_calls')),
      reply(write('b.txt'), finish('tool_calls')),
      reply(text('Done.'), finish('stop')),
    ]),
  )
  scene.place.configure(withModel(model.url, { permission: { edit: 'ask' } }))
  server = await scene.start()
  const flags = ['--server', server.url]
  const asked = createGate()
  const ask = (): Promise<never> => {
    asked.open()
    return new Promise<never>(() => undefined)
  }
  const first = await openEditor(scene.place, flags, { ask })
  editor = first
  const { sessionId } = await first.agent.request('session/new', { cwd: scene.place.repo, mcpServers: [] })
  void first.agent.request('session/prompt', { sessionId, prompt: say('write both') }).catch(() => undefined)
  await asked.opened
  first.process.kill('SIGKILL')
  await once(first.process, 'exit')

  const heard: unknown[] = []
  editor = await openEditor(scene.place, flags, {
    ask: (params) => {
      heard.push(params.toolCall.toolCallId)
      return choosing('allow_once')(params)
    },
  })
  await editor.agent.request('session/load', { sessionId, cwd: scene.place.repo, mcpServers: [] })
  expect((await server.call('POST', `/v2/sessions/${sessionId}/wait`)).status).toBeLessThan(300)
  expect(heard).toEqual(['call_a.txt', 'call_b.txt'])
  expect([scene.place.read('a.txt'), scene.place.read('b.txt')]).toEqual(['x', 'x'])
  expect(await server.get('/v2/interactions/permissions')).toEqual([])
})
