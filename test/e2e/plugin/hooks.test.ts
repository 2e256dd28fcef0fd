/** Hooks that fail, in every tier, on the built program: runs go on, and everybody is told (choice 26). */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import type { PluginManifest } from '../../../src/protocol/plugin/plugin.js'
import { finish, type ModelServer, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { approve, lifecycleOf, untilState, writePackage } from '../server/plugins.js'
import { openScene, type Scene, type Server } from '../server/server.js'
import { textOf, toolParts } from '../server/transcript.js'

const ID = 'test.hooks'
const CALLS = [
  { name: 'glob', input: { pattern: '*.md' } },
  { name: 'read', input: { filePath: 'README.md' } },
  { name: 'bash', input: { command: 'echo ran > ran.txt', description: 'Leaves a trace' } },
]

/** Only what is called is offered: a hook command is started for the description of each tool. */
const permission = { '*': 'deny', ...Object.fromEntries(['glob', 'read', 'edit', 'bash'].map((name) => [name, 'allow'])) }

let scene: Scene
let model: ModelServer
afterEach(async () => {
  await scene.close()
  await model.close()
})

/** A server with what `prepare` writes, whose model makes all calls in one step and then says so. */
async function begin(prepare: () => void | object = () => undefined): Promise<Server> {
  model = await startModelServer((request) =>
    request.body?.messages.at(-1)?.role === 'tool'
      ? reply(text('Done.'), finish('stop'))
      : reply(
          CALLS.flatMap((call, index) => toolCall({ index, id: `call_${request.index}_${index}`, ...call })),
          finish('tool_calls'),
        ),
  )
  scene = openScene(makePlace())
  const plugins = prepare()
  scene.place.configure(withModel(model.url, plugins === undefined ? { permission } : { permission, plugins }))
  return scene.start({ SVC_AGENT_PLUGIN_SANDBOX: 'off' })
}

async function play(server: Server) {
  const { id } = await server.createSession()
  await server.prompt(id, { prompt: 'go on' })
  await server.call('POST', `/v2/sessions/${id}/wait`)
  return server.messages(id)
}

/** Whether the hook fails, as JavaScript and as Lua that reads the same. */
const FAILS = {
  js: `const fails = (hook, { toolId }) => hook.startsWith('chat.') || hook === 'tool.definition' || hook === 'shell.env' ||
  (hook === 'tool.before' && toolId === 'glob') || (hook === 'tool.after' && toolId === 'read')\n`,
  lua: `local function hook(call)
  local name, tool = call.hook, call.context.toolId
  if name:sub(1, 5) == "chat." or name == "tool.definition" or name == "shell.env" then error("broken", 0) end
  if (name == "tool.before" and tool == "glob") or (name == "tool.after" and tool == "read") then error("broken", 0) end
  return call.value
end
local hooks = {}
for _, name in ipairs({ "chat.messages", "chat.options", "chat.headers", "tool.definition", "tool.before", "tool.after", "shell.env" }) do hooks[name] = hook end
return { hooks = hooks }\n`,
}

const PROCESS = `import { listen } from './wire.mjs'
${FAILS.js}
const hooks = ['chat.messages', 'chat.options', 'chat.headers', 'tool.definition', 'tool.before', 'tool.after', 'shell.env']
listen(({ method, params }) => {
  if (method === 'initialize') return { protocol: 'svc-plugin/2', hooks }
  if (method === 'shutdown') process.exit(0)
  if (method !== 'hook.invoke') return undefined
  if (fails(params.hook, params.context)) throw new Error('broken')
  return params.value
})
`

/** Notes every start in \`calls.log\` beside it. */
const COMMAND = (body: string) => `import { appendFileSync, readFileSync } from 'node:fs'
${FAILS.js}
const { hook, context, value } = JSON.parse(readFileSync(0, 'utf8'))
appendFileSync('calls.log', hook + ' ' + (context.toolId ?? '') + '\\n')
const say = (answer) => process.stdout.write(JSON.stringify({ protocol: 'svc-plugin/1', ok: true, ...answer }))
${body}
`

const commandFile = (name: string) => join(dirname(scene.place.configFile), 'plugins', name)

function writeCommand(body: string, manifest: object = {}): void {
  mkdirSync(dirname(commandFile('hook.mjs')), { recursive: true })
  writeFileSync(commandFile('hook.mjs'), COMMAND(body))
  writeFileSync(commandFile(`${ID}.json`), JSON.stringify({ command: [process.execPath, './hook.mjs'], ...manifest }))
}

const startsFor = (hook: string): readonly string[] =>
  readFileSync(commandFile('calls.log'), 'utf8')
    .trim()
    .split('\n')
    .filter((line) => line.startsWith(`${hook} `))

async function installed(server: Server): Promise<void> {
  const stream = await server.stream({ tail: true })
  await approve(server, scene.place, ID)
  await lifecycleOf(server, ID)
  await untilState(stream, ID, 'active')
}

describe('hooks that fail in', () => {
  const tiers = [
    {
      tier: 'a process',
      start: async () => {
        const server = await begin(() =>
          writePackage(scene.place, ID, { files: { 'plugin.mjs': PROCESS, 'wire.mjs': 'fixture:wire.mjs' } }),
        )
        await installed(server)
        return server
      },
    },
    {
      tier: 'Lua',
      start: async () => {
        const agent = { runtime: 'lua', entrypoint: 'main.lua', command: [] }
        const server = await begin(() => writePackage(scene.place, ID, { agent, files: { 'main.lua': FAILS.lua } }))
        await installed(server)
        return server
      },
    },
    {
      tier: 'a hook command',
      start: () => begin(() => writeCommand(`if (fails(hook, context)) process.exit(3)\nelse say({ value })`)),
    },
  ]

  test.each(tiers)('$tier leave the request as it was and fail the calls they guard', async ({ start }) => {
    const server = await start()
    const messages = await play(server)
    expect(textOf(messages.at(-1))).toBe('Done.')
    expect(toolParts(messages).map(({ tool, state }) => [tool, state.status === 'error' ? state.error : state.status])).toEqual([
      ['glob', expect.stringContaining(`Plugin ${ID}: Its hook "tool.before" failed`)],
      ['read', expect.stringContaining(`Plugin ${ID}: Its hook "tool.after" failed`)],
      ['bash', expect.stringContaining(`Plugin ${ID}: Its hook "shell.env" failed`)],
    ])
    expect(() => scene.place.read('ran.txt')).toThrow('ENOENT')
    const notes = messages.slice(1).map(({ info }) => (info.role === 'assistant' ? (info.metadata?.hookFailures ?? []) : []))
    for (const failures of notes) {
      expect(new Set(failures.map(({ hook, pluginId }) => `${pluginId} ${hook}`))).toEqual(
        new Set([`${ID} tool.definition`, `${ID} chat.messages`, `${ID} chat.options`, `${ID} chat.headers`].slice(0, failures.length)),
      )
      expect(failures.length).toBeGreaterThan(0)
    }
    const plugin = (await server.get<PluginManifest[]>('/v2/plugins')).find(({ id }) => id === ID)
    expect(plugin).toMatchObject({ active: false, reason: expect.stringContaining(' failed: ') as string })
    const package_ = await lifecycleOf(server, ID)
    expect(package_ ?? { state: 'degraded', diagnostics: [{ code: 'degraded' }] }).toMatchObject({
      state: 'degraded',
      // A hook of every tool may fail more often than its log has lines.
      diagnostics: expect.arrayContaining([expect.objectContaining({ code: 'degraded' })]) as object[],
    })
  })

  test('a process that dies of it do not end the run', async () => {
    const dies = PROCESS.replace(`throw new Error('broken')`, 'process.exit(9)')
    const server = await begin(() => writePackage(scene.place, ID, { files: { 'plugin.mjs': dies, 'wire.mjs': 'fixture:wire.mjs' } }))
    await installed(server)
    expect(textOf((await play(server)).at(-1))).toBe('Done.')
  })
})

describe('a hook command', () => {
  test('is asked about each tool once, whatever the number of requests, until its program changes', async () => {
    const server = await begin(() =>
      writeCommand(`say({ value: hook === 'tool.definition' ? { ...value, description: 'Mine.' } : value })`),
    )
    await play(server)
    const offered = model.requests[0]?.body?.tools?.map(({ function: { name } }) => name) ?? []
    expect(offered.length).toBeGreaterThan(1)
    const once = offered.map((name) => `tool.definition ${name}`).toSorted()
    expect(startsFor('tool.definition').toSorted()).toEqual(once)
    await play(server)
    expect(model.requests).toHaveLength(4)
    expect(startsFor('tool.definition').toSorted()).toEqual(once)
    expect(startsFor('chat.messages')).toHaveLength(4)
    for (const { body } of model.requests) expect(body?.tools?.[0]).toMatchObject({ function: { description: 'Mine.' } })

    writeFileSync(
      commandFile('hook.mjs'),
      COMMAND(`say({ value: hook === 'tool.definition' ? { ...value, description: 'Newer.' } : value })`),
    )
    await play(server)
    expect(model.requests.at(-1)?.body?.tools?.[0]).toMatchObject({ function: { description: 'Newer.' } })
  })

  test('that lists hooks is started for these alone', async () => {
    const server = await begin(() => writeCommand('say({ value: { ...value, MARK: hook } })', { hooks: ['shell.env'] }))
    const messages = await play(server)
    expect(toolParts(messages).map(({ state }) => state.status)).toEqual(['completed', 'completed', 'completed'])
    expect(readFileSync(commandFile('calls.log'), 'utf8')).toBe('shell.env \n')
  })
})
