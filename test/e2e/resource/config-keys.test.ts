// Holds subsystems b.
/** What each key of the configuration does, seen from outside: in an answer, an event, or what the model was sent. A key without effect is told. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CONFIG_KEYS } from '../../../src/protocol/resource/config-keys.js'
import type { ConfigValidation } from '../../../src/protocol/resource/config.js'
import {
  finish,
  type ModelServer,
  type ModelServerRequest,
  type Reply,
  reply,
  startModelServer,
  text,
  toolCall,
} from '../../fixtures/model-server.js'
import { ptyRoutes } from '../../../src/protocol/terminal/pty.js'
import { makePlace } from '../server/place.js'
import { openScene, type Scene, type Server } from '../server/server.js'
import type { AnyEvent } from '../server/stream.js'

interface Turn {
  /** The requests of the run; that for a title left out. */
  readonly requests: readonly ModelServerRequest[]
  readonly events: readonly AnyEvent[]
  readonly system: string
  readonly tools: readonly string[]
}

interface Outside {
  get<T>(path: string): Promise<T>
  post(path: string, body: object): Promise<unknown>
  /** A prompt and everything that came of it. */
  turn(replies?: readonly Reply[], body?: object): Promise<Turn>
  /** Every request since the test began. */
  readonly requests: readonly ModelServerRequest[]
}

interface Case {
  /** In the configuration of the installation. */
  readonly set: object
  readonly see: (outside: Outside) => Promise<void>
}

/** It is told that the key has no effect. */
const isTold =
  (key: string) =>
  async ({ get }: Outside) => {
    const { diagnostics } = await get<ConfigValidation>('/v2/config/validate')
    expect(diagnostics).toContainEqual(expect.objectContaining({ code: 'unsupported', path: key, line: 1 }))
  }
const names = (answer: readonly { readonly name?: string; readonly id?: string }[]) => answer.map(({ id, name }) => id ?? name)
const providers = async ({ get }: Outside) => names((await get<{ all: { id: string }[] }>('/v2/providers')).all)
const bash = reply(toolCall({ id: 'c1', name: 'bash', input: { command: 'echo done', description: 'say it' } }), finish('tool_calls'))
const other = {
  npm: '@ai-sdk/openai-compatible',
  auth: 'none',
  options: { baseURL: 'http://127.0.0.1:9/v1' },
  models: { x: { name: 'X' } },
}

const CASES: Readonly<Record<keyof typeof CONFIG_KEYS, Case>> = {
  $schema: {
    set: { $schema: './schema.json' },
    see: async ({ get }) => expect(await get('/v2/config/validate')).toEqual({ ok: true, diagnostics: [] }),
  },
  shell: {
    set: { shell: { program: '/bin/sh', args: ['-i'] } },
    see: async ({ post }) => expect(await post(ptyRoutes.create.path, {})).toMatchObject({ command: ['/bin/sh', '-i'] }),
  },
  model: {
    set: { model: 'test/small' },
    see: async ({ get, turn }) => {
      expect(await get('/v2/config/defaults')).toMatchObject({ model: 'test/small' })
      expect((await turn()).requests[0]?.body?.model).toBe('small')
    },
  },
  smallModel: {
    set: { smallModel: 'test/small' },
    see: async (outside) => {
      await outside.turn([], { title: undefined })
      expect(outside.requests.map(({ body }) => body?.model ?? '').toSorted()).toEqual(['scripted', 'small'])
    },
  },
  variant: {
    set: { variant: 'high' },
    see: async ({ get, turn }) => {
      expect(await get('/v2/config/defaults')).toMatchObject({ variant: 'high' })
      expect((await turn()).requests[0]?.body).toMatchObject({ effort: 'high' })
    },
  },
  textVerbosity: {
    get set() {
      return { textVerbosity: 'low', provider: { test: { ...BASE().provider.test, npm: '@openrouter/ai-sdk-provider' } } }
    },
    see: async ({ turn }) => expect((await turn()).requests[0]?.body).toMatchObject({ verbosity: 'low' }),
  },
  defaultAgent: {
    set: { defaultAgent: 'plan' },
    see: async ({ get }) => expect(await get('/v2/config/defaults')).toMatchObject({ defaultAgent: 'plan' }),
  },
  agent: {
    set: { agent: { build: { prompt: 'Rhyme.', temperature: 0.3 } } },
    see: async ({ get, turn }) => {
      expect(await get('/v2/agents/build')).toMatchObject({ prompt: 'Rhyme.' })
      const { system, requests } = await turn()
      expect([system.includes('Rhyme.'), requests[0]?.body?.['temperature']]).toEqual([true, 0.3])
    },
  },
  command: {
    set: { command: { tidy: { template: 'Tidy $1.' } } },
    see: async ({ get }) => expect(names(await get('/v2/commands'))).toContain('tidy'),
  },
  plugin: {
    set: { plugin: ['-dev.svc.pty'] },
    see: async ({ get }) => {
      expect(await get('/v2/plugins')).toContainEqual(expect.objectContaining({ id: 'dev.svc.pty', enabled: false }))
    },
  },
  plugins: {
    set: { plugins: { 'dev.svc.pty': false } },
    see: async ({ get }) => {
      expect(await get('/v2/plugins')).toContainEqual(expect.objectContaining({ id: 'dev.svc.pty', enabled: false }))
    },
  },
  provider: { set: { provider: { other } }, see: async (outside) => expect(await providers(outside)).toContain('other') },
  enabledProviders: {
    set: { provider: { other }, enabledProviders: ['test'] },
    see: async (outside) => expect(await providers(outside)).toEqual(['test']),
  },
  disabledProviders: {
    set: { provider: { other }, disabledProviders: ['other'] },
    see: async (outside) => expect(await providers(outside)).not.toContain('other'),
  },
  skills: { set: { skills: { paths: ['library'] } }, see: async ({ get }) => expect(names(await get('/v2/skills'))).toEqual(['tidy']) },
  mcp: {
    set: { mcp: { notes: { type: 'local', command: ['true'], enabled: false } } },
    see: async ({ get }) => {
      expect(JSON.stringify(await get('/v2/plugins/dev.svc.mcp'))).toContain('notes')
    },
  },
  lsp: {
    set: { lsp: { mine: { command: ['mine-ls'], extensions: ['.mine'] } } },
    see: async ({ get }) => {
      expect(JSON.stringify([await get('/v2/plugins/dev.svc.lsp'), await get('/v2/config')])).toContain('mine-ls')
    },
  },
  formatter: {
    set: { formatter: { mine: { command: ['sed', '-i', 's/a/b/', '$FILE'], extensions: ['.mine'] } } },
    see: async ({ get, turn }) => {
      await turn([reply(toolCall({ id: 'c1', name: 'write', input: { filePath: 'x.mine', content: 'a' } }), finish('tool_calls'))])
      expect(await get<ConfigValidation>('/v2/config/validate')).toMatchObject({ diagnostics: [] })
      expect(scene.place.read('x.mine')).toBe('b')
    },
  },
  permission: {
    set: { permission: { bash: 'deny' } },
    see: async ({ turn }) => {
      const { tools } = await turn()
      expect([tools.includes('read'), tools.includes('bash')]).toEqual([true, false])
    },
  },
  dangerouslySkipPermissions: {
    set: { permission: { bash: 'ask' }, dangerouslySkipPermissions: true },
    see: async ({ turn }) => {
      const { events } = await turn([bash])
      expect(events.some(({ type }) => type === 'permission.asked')).toBe(false)
      expect(JSON.stringify(events)).toContain('"output":"done')
    },
  },
  tools: { set: { tools: { bash: false } }, see: async ({ turn }) => expect((await turn()).tools).not.toContain('bash') },
  instructions: {
    set: { instructions: ['house.md'] },
    see: async ({ turn }) => expect((await turn()).system).toContain('Wipe your feet.'),
  },
  compaction: {
    set: { compaction: { 'threshold-percent': 1 } },
    see: async ({ turn }) => {
      const { events } = await turn([], { prompt: 'The water was low and clear. '.repeat(600) })
      expect(events.map(({ type }) => type)).toContain('session.next.compaction.started')
    },
  },
  watcher: { set: { watcher: { ignore: ['x'] } }, see: isTold('watcher') },
  share: { set: { share: 'auto' }, see: isTold('share') },
  autoshare: { set: { autoshare: true }, see: isTold('autoshare') },
  autoupdate: { set: { autoupdate: 'notify' }, see: isTold('autoupdate') },
  username: {
    set: { username: 'Ada' },
    see: async ({ get }) => expect(await get('/v2/identity')).toMatchObject({ configuredName: 'Ada' }),
  },
  experimental: { set: { experimental: { batchTool: true } }, see: isTold('experimental') },
  network: {
    set: { network: { localModels: true } },
    see: async ({ get }) => {
      expect(await get('/v2/config/validate')).toEqual({ ok: true, diagnostics: [] })
      expect(names((await get<{ providers: { id: string }[] }>('/v2/providers/configured')).providers)).toContain('ollama')
    },
  },
  hosted: {
    set: { hosted: { execution: 'native' } },
    see: async ({ get }) => {
      expect(await get('/v2/config/validate')).toMatchObject({ ok: true, diagnostics: [{ path: 'hosted.execution', level: 'warning' }] })
    },
  },
  workflows: {
    set: { workflows: { acceptance: 'files' } },
    see: async ({ get }) => {
      expect(await get('/v2/config/validate')).toEqual({ ok: true, diagnostics: [] })
      const isActive = async () =>
        (await get<{ workflows: { active: boolean }[] }>('/v2/plugins/dev.svc.workflows')).workflows.map(({ active }) => active)
      await expect.poll(isActive).toEqual([true])
    },
  },
  storage: {
    set: { storage: { artifactsMiB: 0.000001 } },
    see: async ({ post }) => {
      expect(await post('/v2/artifacts', { more: 'than a byte' })).toMatchObject({ code: 'quota.exceeded', details: { limit: 1 } })
    },
  },
}

/** It came with the checkout: without the setting it is not active. */
const WORKFLOW = `---\nid: tidy\nname: Tidy\nactive: true\nschedule: { frequency: daily, timezone: UTC, time: "03:00" }\n---\nTidy up.\n`

let scene: Scene
let server: Server
let model: ModelServer
let script: Reply[] = []
beforeAll(async () => {
  model = await startModelServer(() => script.shift() ?? reply(text('Fine.'), finish('stop')))
  scene = openScene(
    makePlace({
      '.svc/workflows/tidy.md': WORKFLOW,
      'house.md': 'Wipe your feet.\n',
      'library/tidy/SKILL.md': '---\ndescription: Tidy.\n---\nTidy.\n',
    }),
  )
  scene.place.configure(BASE())
  server = await scene.start({ SVC_AGENT_OLLAMA_BASE_URL: model.url })
})
afterAll(async () => {
  await scene.close()
  await model.close()
})

const BASE = () => ({
  model: 'test/scripted',
  provider: {
    test: {
      npm: '@ai-sdk/openai-compatible',
      auth: 'none',
      options: { baseURL: model.url },
      models: {
        scripted: { name: 'Scripted', limit: { context: 100_000, output: 4000 }, variants: { high: { effort: 'high' } } },
        small: { name: 'Small', limit: { context: 100_000, output: 4000 } },
      },
    },
  },
})

test.each(Object.entries(CASES))('%s', async (_key, { set, see }) => {
  const base = BASE()
  const provider = 'provider' in set && typeof set.provider === 'object' ? { ...base.provider, ...set.provider } : base.provider
  writeFileSync(join(scene.place.configFile), JSON.stringify({ ...base, ...set, provider }))
  await server.get('/v2/config') // everything before it is known from here on
  const begun = model.requests.length
  await see({
    get: (path) => server.get(path),
    post: async (path, body) => (await server.call('POST', path, body)).body,
    get requests() {
      return model.requests.slice(begun)
    },
    turn: async (replies = [], { prompt = 'go', ...rest }: { prompt?: string; title?: undefined } = {}) => {
      script = [...replies]
      const stream = await server.stream({ tail: true })
      const session = 'title' in rest ? await server.call('POST', '/v2/sessions', {}) : undefined
      const { id } = session === undefined ? await server.createSession() : (session.body as { id: string })
      const from = model.requests.length
      await server.prompt(id, { prompt })
      await stream.idle(id)
      if (session !== undefined) await stream.waitFor(() => model.requests.length - from >= 2)
      stream.close()
      const requests = model.requests.slice(from)
      const { messages = [], tools = [] } = requests[0]?.body ?? {}
      return {
        requests,
        events: stream.events,
        system: JSON.stringify(messages.filter(({ role }) => role === 'system')),
        tools: tools.map((tool) => tool.function.name),
      }
    },
  })
})
