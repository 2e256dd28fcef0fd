/** A real language server behind the built program: a model is told of the error it makes, and of none after its repair, in one turn. */
import { createRequire } from 'node:module'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { finish, type ModelServer, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { listenForLsp } from '../../fixtures/lsp-socket.js'
import { makePlace, withModel } from '../server/place.js'
import { openScene, type Scene } from '../server/server.js'

const LSP = '/v2/plugins/dev.svc.lsp'
const TSC = createRequire(import.meta.url)
  .resolve('typescript/package.json')
  .replace('package.json', 'bin/tsc')
/** What the model does in its turn: an error behind an emoji, and its repair. */
const CALLS = [
  { name: 'write', input: { filePath: 'main.ts', content: '// 😀\r\n/* 😀 */ export const sum: string = 1\r\n' } },
  { name: 'edit', input: { filePath: 'main.ts', oldString: 'sum: string', newString: 'sum: number' } },
]

let scene: Scene
let model: ModelServer
let listening: Awaited<ReturnType<typeof listenForLsp>>
const heard: string[] = []
const offered = new Set<string>()

beforeAll(async () => {
  model = await startModelServer(({ body }) => {
    for (const { function: made } of body?.tools ?? []) offered.add(made.name)
    const results = (body?.messages ?? []).flatMap(({ role, content }) => (role === 'tool' ? [JSON.stringify(content)] : []))
    heard.splice(0, heard.length, ...results)
    const call = CALLS[results.length]
    if (call === undefined) return reply(text('Done.'), finish('stop'))
    return reply(toolCall({ id: `call_${results.length}`, ...call }), finish('tool_calls'))
  })
  scene = openScene(makePlace({ 'tsconfig.json': '{ "compilerOptions": { "strict": true } }', 'main.ts': 'export {}\n', 'a.it': 'bad' }))
  listening = await listenForLsp('all')
  const lsp = {
    typescript: { command: [process.execPath, TSC, '--lsp', '--stdio'] },
    it: { endpoint: listening.endpoint, extensions: ['it'] },
  }
  scene.place.configure(withModel(model.url, { permission: { '*': 'allow' }, lsp }))
})
afterAll(async () => {
  await scene.close()
  await model.close()
  listening.close()
})

test('a model is told of the error it makes, and of none after its repair', async () => {
  const server = await scene.start()
  const stream = await server.stream({ tail: true })
  expect((await server.call('GET', `${LSP}/diagnostics?file=main.ts`)).body).toEqual([])
  expect((await server.call('GET', LSP)).body).toContainEqual(expect.objectContaining({ id: 'typescript', status: 'connected' }))
  const session = await server.createSession()
  await server.prompt(session.id, { prompt: 'Write it.' })
  await server.call('POST', `/v2/sessions/${session.id}/wait`)
  expect(heard).toHaveLength(2)
  expect(heard[0]).toContain(String.raw`Errors in main.ts:\n  line 2:25: Type 'number' is not assignable to type 'string'.`)
  expect(heard[1]).not.toMatch('Errors')
  expect(offered).toContain('lsp')
  await stream.waitFor(({ type }) => type === 'lsp.updated')
  expect(JSON.stringify((await server.call('GET', `${LSP}/document-symbols?file=a.it`)).body)).toMatch('"name":"C"')
  expect(listening.sockets).toHaveLength(1)
  expect((await server.call('POST', `${LSP}/shutdown`)).body).toEqual({ shutdown: true })
  await expect.poll(() => listening.ended).toHaveLength(1)
  expect(listening.ended).not.toEqual([7])
})
