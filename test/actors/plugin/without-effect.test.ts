// Holds plugin-protocol §1.1.
import { expect, test } from 'vitest'
import { withoutEffect } from '../../../src/actors/plugin/facade/without-effect.js'
import { parseInitializeReply, unusedOf } from '../../../src/actors/plugin/link/initialize.js'
import type { Contributions } from '../../../src/ports/plugin.js'
import { PackageManifest } from '../../../src/protocol/plugin/plugin.js'

const agent = { runtime: 'lua', entrypoint: 'agent.lua' }
const manifest = (values: object = {}) => PackageManifest.parse({ id: 'dev.example.x', agent, ...values })
const service = (id: string) => ({ id, priority: 0, call: () => Promise.reject(new Error('unused')) })
const messages = (...[what, scope, offered]: Parameters<typeof withoutEffect>) =>
  withoutEffect(what, scope, offered).map(({ code, message }) => `${code}: ${message}`)

test('a package of which everything is used is told nothing, in any scope that has it', () => {
  const used = { tools: [], hooks: {}, systemContext: [service('c')], prompts: [service('p')], routes: [] } as unknown as Contributions
  for (const scope of ['workspace', 'session', 'user', 'global'] as const) expect(messages(manifest(), scope, used)).toEqual([])
  const offered = { agents: [service('a')], commands: [service('c')], skills: [service('s')], providers: [{}] } as unknown as Contributions
  for (const scope of ['workspace', 'session', 'user', 'global'] as const) expect(messages(manifest(), scope, offered)).toEqual([])
})

test.each([
  ['a part for editors', manifest({ editor: { entrypoint: 'm.js' } }), {}, 'editor: the part for editors is not run here'],
  [
    'schemas of parts that are none',
    manifest(),
    { messageParts: [{ id: 'x.part', schema: { type: 'nonsense' } }] },
    'the schema of messageParts (x.part): it is no JSON Schema, and nothing is checked by it',
  ],
  [
    'contributions of a manifest',
    manifest({ lsp: { gopls: {} }, agent: { ...agent, mcp: { files: {} }, vcs: [], pty: null } }),
    {},
    'lsp, agent.mcp of the manifest: a plugin says what it contributes when it starts',
  ],
  [
    'contributions of a kind that is not taken',
    manifest(),
    { unused: ['lsp', 'services.pty'] },
    'lsp, services.pty: nothing here takes it from a plugin, or not where it stands',
  ],
  ['MCP metadata', manifest(), { mcp: [{ id: 'm' }] }, 'mcp (m): it is listed, and starts no server'],
])('%s are told', (_, what, offered, message) => {
  expect(messages(what, 'workspace', offered as unknown as Contributions)).toEqual([`no-effect: has no effect: ${message}`])
})

test('the configuration of a session is told by name, and that of wider scopes used', () => {
  const offered = { config: [service('one')] } as unknown as Contributions
  expect(messages(manifest(), 'session', offered)).toEqual([
    'no-effect: has no effect: config (one) of a package of the scope "session": a session has the configuration of its workspace',
  ])
  expect(messages(manifest(), 'user', offered)).toEqual([])
})

test('kinds that stand where nothing takes them are told by where they stand, empty ones are not', () => {
  const reply = parseInitializeReply({
    protocol: 'svc-plugin/2',
    agents: [{ id: 'a' }],
    lsp: [{ id: 'l' }],
    vcs: [],
    mcp: [{ id: 'm' }],
    services: { agents: [{ id: 'a' }], pty: [{ id: 'p' }], tools: {} },
  })
  expect(unusedOf(reply)).toEqual(['agents', 'lsp', 'services.pty'])
})
