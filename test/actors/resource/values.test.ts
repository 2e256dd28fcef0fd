// Holds subsystems b.5.
import { describe, expect, it, test } from 'vitest'
import type { ProviderContribution } from '../../../src/ports/plugin.js'
import { validateSnapshot } from '../../../src/actors/resource/facade/config-validate.js'
import { withPlaces } from '../../../src/actors/resource/snapshot/config-places.js'
import type { Surroundings } from '../../../src/actors/resource/config/config-values.js'
import { createFileProbe } from '../../../src/platform/watched/file-probe.js'
import { createWorkspace } from './workspace.js'

const create = () => ({ generate: () => Promise.resolve() })
const CONTRIBUTIONS: readonly ProviderContribution[] = [
  { npm: ['@ai-sdk/openai-compatible', '@ai-sdk/openai'], create },
  {
    npm: ['svc'],
    builtin: { id: 'svc', name: 'svc', models: [{ id: 'offline', name: 'Offline', limit: { context: 1, output: 1 }, reasoning: false }] },
    create,
  },
]
const THERE: Surroundings = {
  contributions: CONTRIBUTIONS,
  offered: new Map(),
  tools: ['read', 'my_tool'],
  plugins: ['dev.svc.pty', 'dev.svc.shell'],
}
const provider = {
  mock: {
    auth: 'none',
    options: { baseURL: 'http://127.0.0.1:1/v1' },
    models: { m: { variants: { high: { reasoningEffort: 'high' } } }, plain: {} },
  },
}

async function told(document: object, there = THERE): Promise<readonly string[]> {
  const workspace = createWorkspace()
  const text = JSON.stringify({ provider, ...document }, undefined, 2)
  workspace.write('config/config.json', text)
  const snapshot = await workspace.configs.snapshots.get(workspace.work)
  const { diagnostics } = await workspace.configs.validate(workspace.work)
  const more = validateSnapshot(snapshot, { surroundings: there }).diagnostics
  const placed = await withPlaces([...diagnostics, ...more], snapshot, createFileProbe(workspace.effects), '')
  for (const { path, file, line = 0, column = 0 } of placed) {
    const [key = ''] = /(?:dev\.svc\.)?[^.]+$/.exec(path) ?? []
    expect([file, text.split('\n')[line - 1]?.slice(column - 1)]).toEqual([snapshot.layers.keys().next().value, startingWith(key)])
  }
  return [...new Set(placed.map(({ path }) => path))]
}

/** The place is that of the key, or of the first of a list. */
const startingWith = (key: string): unknown => expect.stringMatching(new RegExp(`^"${key.replaceAll('.', '[.]')}"|^"thinking"`))

/** Values that change nothing, each with the path that is told, and beside it one like it that changes something. */
const CASES: readonly (readonly [path: string, without: object, like: object])[] = [
  ['workflows.acceptance', { workflows: { acceptance: 'bogus' } }, { workflows: { acceptance: 'required' } }],
  ['workflows.foo', { workflows: { foo: 1 } }, { workflows: {} }],
  ['network.localModel', { network: { localModel: true } }, { network: { localModels: true } }],
  ['tools.nosuch', { tools: { nosuch: false } }, { tools: { bash: false } }],
  ['agent.build.tools.nosuch', { agent: { build: { tools: { nosuch: false } } } }, { agent: { build: { tools: { my_tool: false } } } }],
  ['permission.nogroup', { permission: { nogroup: 'deny' } }, { permission: { my_tool: 'deny', 'web*': 'deny', mcp_server_x: 'ask' } }],
  [
    'agent.build.permission.nogroup',
    { agent: { build: { permission: { nogroup: 'ask' } } } },
    { agent: { build: { permission: { '*': 'ask' } } } },
  ],
  ['enabledProviders', { enabledProviders: ['mock', 'ghost'] }, { enabledProviders: ['mock'] }],
  ['disabledProviders', { disabledProviders: ['ghost'] }, { disabledProviders: ['svc'] }],
  ['model', { model: 'mock/none' }, { model: 'mock/m' }],
  ['model', { model: 'nop/x' }, { model: 'svc/offline' }],
  ['smallModel', { smallModel: 'nop/x' }, { smallModel: 'mock/plain' }],
  ['agent.build.model', { agent: { build: { model: 'mock/none' } } }, { agent: { build: { model: 'mock/m' } } }],
  ['command.go.model', { command: { go: { template: 'x', model: 'mock/none' } } }, { command: { go: { template: 'x', model: 'mock/m' } } }],
  ['variant', { model: 'mock/m', variant: 'zzz' }, { model: 'mock/m', variant: 'high' }],
  ['variant', { model: 'mock/plain', variant: 'high' }, { model: 'mock/plain' }],
  ['variant', { variant: 'high' }, { model: 'mock/m', thinking: 'high' }],
  [
    'agent.build.variant',
    { agent: { build: { model: 'mock/m', variant: 'zzz' } } },
    { agent: { build: { model: 'mock/m', variant: 'high' } } },
  ],
  ['agent.build.variant', { agent: { build: { variant: 'high' } } }, { agent: { build: {} } }],
  ['lsp.foo', { lsp: { foo: {} } }, { lsp: { foo: { command: ['x'] }, rust: {}, bar: false } }],
  ['lsp.foo', { lsp: { foo: 'x' } }, { lsp: { foo: { disabled: true } } }],
  ['plugins.dev.svc.nosuch', { plugins: { 'dev.svc.nosuch': false } }, { plugins: { 'dev.svc.pty': false, 'dev.svc.*': true } }],
  ['plugins.dev.svc.pty', { plugins: { 'dev.svc.pty': 'x' } }, { plugins: { 'dev.svc.pty': { enabled: true } } }],
  ['skills.paths', { skills: { paths: ['/nope'] } }, { skills: { paths: ['.'] } }],
  ['instructions', { instructions: ['missing.md'] }, { instructions: [] }],
  ['instructions', { instructions: ['/nope/missing.md'] }, {}],
  ['mode', { mode: 'plan' }, { mode: { m: { prompt: 'x' } } }],
  ['textVerbosity', { textVerbosity: 'low' }, { textVerbosity: 'low', provider: { ...provider, o: { npm: '@ai-sdk/openai' } } }],
  [
    'provider.mock.options.baseURL',
    { provider: { mock: { options: { baseURL: 'http://127.0.0.1:1/v1/chat/completions' } } } },
    { provider: { mock: { options: { baseURL: 'http://127.0.0.1:1/v1' } } } },
  ],
  [
    'provider.mock.options.baseURL',
    { provider: { mock: { options: { baseURL: 'http://127.0.0.1:1/v1/models/' } } } },
    { provider: { mock: { options: { baseURL: 'http://127.0.0.1:1/models/v1' } } } },
  ],
  [
    'provider.mock.models.m',
    { provider: { mock: { models: { m: { status: 'zzz' } } } } },
    { provider: { mock: { models: { m: { status: 'beta' } } } } },
  ],
]

describe('a value without effect', () => {
  it.each(CASES.map(([path, without, like]) => ({ path, without, like })))(
    '$path: $without is told, $like is not',
    async ({ path, without, like }) => {
      expect(await told(without)).toEqual([path])
      expect(await told(like)).toEqual([])
    },
  )
})

test('a model that is looked for at its provider, or of a catalog, is not judged; one of a provider that is off is', async () => {
  const discovered = { provider: { mock: { ...provider.mock, discoverModels: true } }, model: 'mock/new' }
  expect(await told(discovered)).toEqual([])
  expect(await told({ model: 'mock/m', disabledProviders: ['mock'] })).toEqual(['model'])
})
