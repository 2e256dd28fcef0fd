// Holds plugin-protocol §1.1.
import { expect, test } from 'vitest'
import { withoutEffect } from '../../../src/actors/plugin/facade/without-effect.js'
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
  ['MCP metadata', manifest(), { mcp: [{ id: 'm' }] }, 'mcp (m): it is listed, and starts no server'],
  ['media', manifest(), { providers: [{ media: () => undefined }] }, 'provider media: nothing here calls it'],
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
