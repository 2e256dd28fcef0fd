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

test('what the table says of who may set a key is what happens to it in a workspace', () => {
  for (const { key, set } of configKeyRows()) {
    if (set === 'everybody') {
      const value = key === 'disabledProviders' ? ['x'] : 'x'
      expect(narrowWorkspace({ [key]: value }, GROUND), key).toEqual({ document: { [key]: value }, refused: [] })
      continue
    }
    const { document } = narrowWorkspace({ [key]: ASKING[key] }, GROUND)
    expect(document[key], key).not.toEqual(ASKING[key])
  }
})

const GROUND = { trusted: { enabledProviders: ['other'] }, worktree: '/work' }

test('every key has a row, in the order of the schema, with an effect or the reason why it has none', () => {
  const rows = configKeyRows()
  expect(rows.map(({ key }) => key)).toHaveLength(29)
  expect(rows.filter(({ effect, schema }) => effect === '' || schema === undefined)).toEqual([])
})
