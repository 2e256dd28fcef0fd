// Holds plugin-protocol §1.1: what means nothing in a manifest is told to whoever writes it.
import { expect, test } from 'vitest'
import { parseManifest } from '../../../../src/actors/plugin/package/package-manifest.js'
import { unknownKeys, withoutAgent } from '../../../../src/cli/commands/plugin/manifest-keys.js'

const manifest = (more: object) => parseManifest(Buffer.from(JSON.stringify({ id: 'dev.example.one', ...more })))

test('keys that are none are named, with what was probably meant', () => {
  const told = unknownKeys(manifest({ verson: '1', scope: 'user', agent: { capabilites: [], colour: 1 }, capabilities: ['network'] }))
  expect(told.map((line) => line.replace('svc-plugin.json: ', ''))).toEqual([
    '"verson" is no key svc knows, and means nothing; did you mean "version"?',
    '"scope" is no key svc knows, and means nothing; did you mean "agent.scope"?',
    '"agent.capabilites" is no key svc knows, and means nothing; did you mean "agent.capabilities"?',
    '"agent.colour" is no key svc knows, and means nothing',
    '"capabilities" at the top is for editors; what is for agents is "agent.capabilities"',
  ])
  expect(unknownKeys(manifest({ $schema: 'x', name: 'one', agent: { runtime: 'process', command: ['a'] } }))).toEqual([])
  expect(unknownKeys(manifest({ editor: {}, capabilities: ['x'], agent: {} }))).toEqual([])
})

test('a manifest for nobody says that there is no agent, and what belongs into it', () => {
  expect(withoutAgent(manifest({ capabilities: ['network'], command: ['python3'] }))).toMatch(
    /^there is no "agent" in svc-plugin\.json, .*; "command", "capabilities" belong into it$/,
  )
  expect(withoutAgent(manifest({}))).toMatch(/^there is no "agent" in svc-plugin\.json.* command$/)
  expect(withoutAgent(manifest({ editor: {} }))).toContain('a package for editors')
})

test('what is missing is said to be', () => {
  expect(() => parseManifest(Buffer.from('{"agent": {"secrets": [{"alias": "token"}]}}'))).toThrow(
    'id: is missing; agent.secrets.0.purpose: is missing',
  )
})
