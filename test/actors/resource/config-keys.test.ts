// Holds http-contract §2.3.
import { expect, test } from 'vitest'
import { isDeepStrictEqual } from 'node:util'
import { AgentConfig, CommandConfig, ProviderConfig, ProviderModelConfig } from '../../../src/protocol/resource/agent-config.js'
import { CompactionConfig } from '../../../src/protocol/resource/config.js'
import { WORKSPACE_OPTIONS } from '../../../src/protocol/resource/workspace-options.js'
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
  hosted: [{ execution: 'native', providers: ['a'] }],
  storage: [{ eventsDays: 0 }],
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

/** Permissions are not taken out: they narrow apart. */
const APART = ['permission', 'tools']

test.each(rows.map(({ key, set }) => ({ key, set })))('$key is set by $set', ({ key, set }) => {
  const isTaste = Object.hasOwn(TASTE, key)
  expect([isTaste, Object.hasOwn(WIDER, key)]).toEqual([set === 'everybody', set !== 'everybody'])
  const [value, counts] = isTaste ? [TASTE[key], TASTE[key]] : (WIDER[key] ?? [])
  const { document, refused, inert } = narrowWorkspace({ [key]: value }, GROUND)
  expect({ counts: document[key], inert }).toEqual({ counts, inert: {} })
  expect(refused.length > 0).toBe(!isTaste && !APART.includes(key))
  expect(refused.every(({ path }) => path.startsWith(key))).toBe(true)
})

test('every setting of compaction is decided about', () => {
  expect(Object.keys(TASTE['compaction'] as object).toSorted()).toEqual(Object.keys(CompactionConfig.shape).toSorted())
})

test('every key has a row, in the order of the schema, with an effect or the reason why it has none', () => {
  expect(rows.map(({ key }) => key)).toHaveLength(33)
  expect(rows.filter(({ effect, schema }) => effect === '' || schema === undefined)).toEqual([])
})

/** Keys of the schema that a workspace may not set, by the place they are in: whoever adds a key decides whether it belongs to them. */
const REFUSED: Readonly<Record<string, readonly string[]>> = {
  agent: ['permission', 'tools'],
  command: [],
  provider: ['npm', 'auth', 'options', 'env', 'discoverModels', 'signIn'],
  model: ['headers', 'interleaved', 'modalities'],
}
/** A value of the right kind for each key that is permitted. */
const VALUES: Readonly<Record<string, unknown>> = {
  limit: { context: 1 },
  options: { reasoningEffort: 'low' },
  variants: { x: { topP: 1 } },
  compaction: { auto: false },
  cost: { input: 1 },
  models: { m: {} },
  compatibility: { streamUsage: true },
}
const PLACES = {
  agent: { schema: AgentConfig, wrap: (inner: object) => ({ agent: { x: inner } }), more: [] },
  command: { schema: CommandConfig, wrap: (inner: object) => ({ command: { x: inner } }), more: [] },
  provider: { schema: ProviderConfig, wrap: (inner: object) => ({ provider: { p: inner } }), more: [] },
  model: {
    schema: ProviderModelConfig,
    wrap: (inner: object) => ({ provider: { p: { models: { m: inner } } } }),
    more: ['interleaved', 'modalities', 'cost', 'status', 'releaseDate'],
  },
}

test.each(Object.entries(PLACES))('every key of a %s is permitted or refused, by name', (place, { schema, wrap, more }) => {
  const ground = { trusted: { provider: { p: {} } }, worktree: '/work' }
  const keys = [...Object.keys(schema.shape), ...more]
  const permitted = keys.filter((key) => !(REFUSED[place] ?? []).includes(key))
  const document = (key: string) => wrap({ [key]: VALUES[key] ?? 'x' })
  expect(keys.filter((key) => isDeepStrictEqual(narrowWorkspace(document(key), ground).document, document(key)))).toEqual(permitted)
})

test('every option that is permitted takes its values and no others, at every depth', () => {
  for (const [name, schema] of WORKSPACE_OPTIONS) {
    const options = (value: unknown) => narrowWorkspace({ agent: { x: { options: { [name]: value } } } }, GROUND)
    for (const hostile of [{ url: 'https://elsewhere.example' }, ['x'], 'https://elsewhere.example', null])
      expect(options(hostile).document).toEqual({ agent: { x: { options: {} } } })
    const value = ['low', 1, true, { type: 'enabled', budgetTokens: 1024 }, { effort: 'low' }, { thinkingBudget: -1 }].find(
      (each) => schema.safeParse(each).success,
    )
    expect(options(value)).toMatchObject({ document: { agent: { x: { options: { [name]: value } } } }, refused: [] })
  }
})

test('a workspace may say as many keys that nobody knows as it likes: each is kept once, however many there are', () => {
  const document = { experimental: Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`k${index}`, index])) }
  const { inert, refused } = narrowWorkspace(document, { trusted: {}, worktree: '/w' })
  expect([Object.keys(inert['experimental'] as object).length, refused]).toEqual([100_000, []])
})
