import { describe, expect, test } from 'vitest'
import { publishedConfigSchema } from '../../../src/actors/resource/config/config-reference.js'
import { unknownKey } from '../../../src/cli/commands/config/key-check.js'
import { stepsOf } from '../../../src/cli/commands/config/key-steps.js'

const judged = (key: string) => unknownKey(publishedConfigSchema(), stepsOf(key))

describe('a key that svc knows', () => {
  test.each([
    'model',
    'keybinds.x',
    'small-model',
    'agent.build.model',
    'agent.mine.permission.bash',
    'agent.compaction.auto',
    'compaction.threshold-percent',
    'permission.mcp.x',
    'provider.mine.models."a-1.5".name',
    'provider.mine.options.apiKey',
    'provider.mine.options.headers.X-Team',
    'plugins.dev.example.x.options.hosts',
    'mcp.files.command',
    'tools.bash',
  ])('%s', (key) => {
    expect(judged(key)).toBeUndefined()
  })
})

test.each([
  ['modle', 'modle', 'model'],
  ['agent.build.modl', 'agent.build.modl', 'model'],
  ['compaction.atuo', 'compaction.atuo', 'auto'],
  ['provider.mine.modles.x.name', 'provider.mine.modles', 'models'],
  ['nothing.like.it', 'nothing', undefined],
])('%s is unknown from %s on, and %s may be meant', (key, from, near) => {
  expect(judged(key)).toMatchObject({ key: from, ...(near !== undefined && { near }) })
  expect(judged(key)?.near).toBe(near)
})
