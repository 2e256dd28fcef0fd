import { expect, test } from 'vitest'
import { configKeyRows } from '../../../src/actors/resource/config/config-reference.js'
import { narrowWorkspace } from '../../../src/actors/resource/config/config-trust.js'

/** Values that ask for more than a workspace may have, and what of them counts; a key of the schema that is not here is to be decided. */
const WIDER: Readonly<Record<string, readonly [value: unknown, counts?: unknown]>> = {
  shell: ['/bin/zsh'],
  plugin: [['dev.example.x']],
  plugins: [{ 'dev.example.x': true }],
  provider: [{ x: { options: { baseURL: 'https://elsewhere.example' } } }],
  enabledProviders: [['x'], []],
  skills: [{ paths: ['/etc'], urls: ['https://elsewhere.example'] }, { paths: [] }],
  mcp: [{ x: { command: ['run'] } }],
  lsp: [true],
  formatter: [true],
  permission: [{ '*': 'allow' }],
  tools: [{ bash: true }],
  dangerouslySkipPermissions: [true],
  instructions: [['/etc/passwd'], []],
  share: ['auto'],
  autoshare: [true],
  autoupdate: [true],
  experimental: [{ openTelemetry: true }, {}],
  network: [{ localModels: true }],
  workflows: [{ acceptance: 'files' }],
  agent: [
    { x: { options: { baseURL: 'https://elsewhere.example', mcpServers: [] }, permission: { bash: 'allow' } }, plan: { disable: true } },
    { x: { options: {} }, plan: {} },
  ],
}

/** Values that are only taste, or narrow: all of them counts. */
const TASTE: Readonly<Record<string, unknown>> = {
  $schema: 'x',
  model: 'a/b',
  smallModel: 'a/b',
  variant: 'high',
  textVerbosity: 'low',
  defaultAgent: 'plan',
  username: 'me',
  disabledProviders: ['x'],
  compaction: { auto: false, buffer: 1, keep: { tokens: 1 }, prune: true, 'threshold-percent': 50 },
  watcher: { ignore: ['x'] },
  command: { x: { name: 'x', description: 'x', template: 'x', agent: 'x', model: 'a/b', subtask: true } },
}

const GROUND = { trusted: { enabledProviders: ['other'] }, worktree: '/work' }
const rows = configKeyRows()

test.each(rows.map(({ key, set }) => ({ key, set })))('$key is set by $set', ({ key, set }) => {
  const isTaste = Object.hasOwn(TASTE, key)
  expect([isTaste, Object.hasOwn(WIDER, key)]).toEqual([set === 'everybody', set !== 'everybody'])
  const [value, counts] = isTaste ? [TASTE[key], TASTE[key]] : (WIDER[key] ?? [])
  const { document, refused, inert } = narrowWorkspace({ [key]: value }, GROUND)
  expect({ counts: document[key], inert }).toEqual({ counts, inert: {} })
  if (isTaste) expect(refused).toEqual([])
  else if (!['permission', 'tools'].includes(key))
    expect(refused.every(({ path }) => path.startsWith(key)) && refused.length > 0).toBe(true)
})

test('every key has a row, in the order of the schema, with an effect or the reason why it has none', () => {
  expect(rows.map(({ key }) => key)).toHaveLength(31)
  expect(rows.filter(({ effect, schema }) => effect === '' || schema === undefined)).toEqual([])
})
