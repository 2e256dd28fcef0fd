/** Directories of tools: nothing of one runs before it is approved, each file stands for itself, and the model calls what they export. */
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { finish, type ModelServer, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { lifecycleOf, untilState } from '../server/plugins.js'
import { openScene, PROGRAM, type Scene, type Server } from '../server/server.js'
import type { Stream } from '../server/stream.js'
import { toolParts } from '../server/transcript.js'

/** The example of the guide. */
const [, GUIDE = ''] =
  /^```ts\n(import \{ readFile \}[^]*?)^```$/m.exec(readFileSync(new URL('../../../docs/plugins.md', import.meta.url), 'utf8')) ?? []
const OF_WORKSPACE = 'workspace.tools'
const FILES = {
  'greet.ts': `import type { PluginTool } from 'svc/plugin'
import { readFileSync } from 'node:fs'
import { loud } from './lib/loud'
console.log('it runs')
enum Mood { Good = 'good' }
interface Input { readonly name: string }
const tool: PluginTool<Input> = {
  description: 'Greets somebody.',
  parameters: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  execute: ({ name }, { directory }) => loud(\`hello \${name} in \${readFileSync(directory + '/README.md', 'utf8').trim()} \${Mood.Good}\`),
}
export default tool
`,
  'wc.ts': GUIDE,
  'lib/loud.ts': 'export const loud = (text: string): string => `${text}!`\n',
  'sums.js': `export const add = {
  description: 'Adds.',
  parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } },
  execute: ({ a, b }) => ({ output: String(a + b), title: a + ' + ' + b }),
}
export const fail = { description: 'Fails.', execute() {
  throw new TypeError('it does not add up')
} }
export const leave = { description: 'Ends the process.', execute: () => process.exit(3) }
`,
  'broken.mts': 'const one: number = 1\nconst two = {{\n',
}

let scene: Scene
let model: ModelServer
let server: Server
let stream: Stream
let calls: readonly { readonly name: string; readonly input: object }[] = []

beforeAll(async () => {
  model = await startModelServer(({ body }) => {
    if (body?.messages.at(-1)?.role === 'tool' || body?.tools === undefined) return reply(text('Done.'), finish('stop'))
    return reply(...calls.map((call, index) => toolCall({ id: `c${index}`, index, ...call })), finish('tool_calls'))
  })
  scene = openScene(makePlace())
  scene.place.configure(withModel(model.url))
  for (const [name, content] of Object.entries(FILES)) scene.place.write(join('.svc/tools', name), content)
  server = await scene.start()
  stream = await server.stream({ tail: true })
})
afterAll(async () => {
  stream.close()
  await scene.close()
  await model.close()
})

async function outcomes(...wanted: typeof calls) {
  calls = wanted
  const { id } = await server.createSession()
  await server.prompt(id, { prompt: 'go on' })
  await server.call('POST', `/v2/sessions/${id}/wait`)
  return toolParts(await server.messages(id)).map(({ state }) =>
    state.status === 'completed' ? state.output : state.status === 'error' ? state.error : state.status,
  )
}

async function svc(...args: readonly string[]): Promise<string> {
  const { repo, env } = scene.place
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [PROGRAM, ...args], { cwd: repo, env })
  return stdout + stderr
}

test('nothing runs before the content is approved; then a model calls what the files export, and a broken file is told', async () => {
  expect(await lifecycleOf(server, OF_WORKSPACE)).toMatchObject({ state: 'permission-required', source: 'workspace', leaseActive: false })
  expect(await outcomes({ name: 'greet', input: { name: 'Ada' } })).toEqual([expect.stringContaining('greet')])
  expect(await svc('logs')).not.toContain('it runs')
  expect(await svc('plugin', 'trust', OF_WORKSPACE, '--yes')).toContain('its files in a process of Node, with your rights')
  await lifecycleOf(server, OF_WORKSPACE)
  await untilState(stream, OF_WORKSPACE, 'active')

  expect(
    await outcomes(
      { name: 'greet', input: { name: 'Ada' } },
      { name: 'sums_add', input: { a: 1, b: 2 } },
      { name: 'sums_fail', input: {} },
      { name: 'greet', input: {} },
      { name: 'wc', input: { file: 'README.md' } },
    ),
  ).toEqual(['hello Ada in hello good!', '3', 'TypeError: it does not add up', expect.stringContaining('name') as string, '1 words'])
  const { diagnostics } = (await lifecycleOf(server, OF_WORKSPACE)) ?? {}
  expect(diagnostics).toMatchObject([{ code: 'reported', message: expect.stringMatching(/^broken\.mts:3: SyntaxError: /) as string }])
  expect(await svc('plugin', 'list', '--server', server.url)).toContain('serves, but not whole: broken.mts:3: SyntaxError')
  const logs = await svc('logs', '--plugin', OF_WORKSPACE)
  expect(logs).toContain('it runs')
  expect(logs).toContain(`${join(scene.place.repo, '.svc/tools/sums.js')}:7:`)
})

test('a process that ends comes back, and other content waits for another approval', async () => {
  expect(await outcomes({ name: 'sums_leave', input: {} })).toEqual(['plugin process exited'])
  await expect.poll(async () => outcomes({ name: 'sums_add', input: { a: 2, b: 2 } })).toEqual(['4'])
  const from = stream.events.length
  scene.place.write('.svc/tools/broken.mts', "export default { description: 'Whole again.', execute: () => 'whole' }\n")
  await lifecycleOf(server, OF_WORKSPACE)
  await untilState(stream, OF_WORKSPACE, 'update-available', from)
  expect(await outcomes({ name: 'sums_add', input: { a: 3, b: 3 } }, { name: 'broken', input: {} })).toEqual([
    '6',
    expect.stringContaining('broken') as string,
  ])
  await svc('plugin', 'trust', OF_WORKSPACE, '--yes')
  await lifecycleOf(server, OF_WORKSPACE)
  await expect.poll(async () => outcomes({ name: 'broken', input: {} })).toEqual(['whole'])
})

test('tools of the user are there in every workspace', async () => {
  const tools = join(dirname(scene.place.configFile), 'tools')
  mkdirSync(tools)
  writeFileSync(join(tools, 'now.cjs'), "module.exports = { description: 'Tells.', execute: () => 'noon' }\n")
  await svc('plugin', 'trust', 'user.tools', '--yes')
  await lifecycleOf(server, 'user.tools')
  await untilState(stream, 'user.tools', 'active')
  expect(await outcomes({ name: 'now', input: {} })).toEqual(['noon'])
  writeFileSync(join(tools, 'now.cjs'), "module.exports = { description: 'Tells.', execute() { throw new RangeError('no') } }\n")
  await svc('plugin', 'trust', 'user.tools', '--yes')
  const thrown: unknown = await svc('plugin', 'test', 'user.tools', 'now', '{}').catch((error: unknown) => error)
  expect(thrown).toMatchObject({ code: 1, stderr: expect.stringMatching(/RangeError: no\n +at .*tools\/now\.cjs:1/) as string })
})
