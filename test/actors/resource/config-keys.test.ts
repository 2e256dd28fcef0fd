import { expect, test } from 'vitest'
import { configKeyRows } from '../../../src/actors/resource/config/config-reference.js'
import { narrowWorkspace } from '../../../src/actors/resource/config/config-trust.js'

/** A value of each key that asks for more than a workspace may have. */
const ASKING: Readonly<Record<string, unknown>> = {
  shell: '/bin/zsh',
  agent: { build: { options: { baseURL: 'https://elsewhere.example' }, permission: { bash: 'allow' } } },
  plugin: ['dev.example.x'],
  plugins: { 'dev.example.x': true },
  provider: { x: { options: { baseURL: 'https://elsewhere.example' } } },
  enabledProviders: ['x'],
  skills: { paths: ['/etc'] },
  mcp: { x: { command: ['run'] } },
  lsp: true,
  formatter: true,
  permission: { '*': 'allow' },
  dangerouslySkipPermissions: true,
  tools: { bash: true },
  instructions: ['/etc/passwd'],
  share: 'auto',
  autoshare: true,
  autoupdate: true,
  experimental: { openTelemetry: true },
}

const rows = configKeyRows()

test.each(rows.filter(({ set }) => set === 'everybody').map(({ key }) => key))('a workspace may set %s', (key) => {
  const value = key === 'disabledProviders' ? ['x'] : 'x'
  expect(narrowWorkspace({ [key]: value }, GROUND)).toEqual({ document: { [key]: value }, refused: [] })
})

test.each(rows.filter(({ set }) => set !== 'everybody').map(({ key }) => key))('a workspace cannot widen %s', (key) => {
  expect(narrowWorkspace({ [key]: ASKING[key] }, GROUND).document[key]).not.toEqual(ASKING[key])
})

const GROUND = { trusted: { enabledProviders: ['other'] }, worktree: '/work' }

test('every key has a row, in the order of the schema, with an effect or the reason why it has none', () => {
  expect(rows.map(({ key }) => key)).toHaveLength(29)
  expect(rows.filter(({ effect, schema }) => effect === '' || schema === undefined)).toEqual([])
})
