import { describe, expect, test } from 'vitest'
import { stepsOf } from '../../../src/cli/commands/config/key-steps.js'

describe('a key of the configuration', () => {
  test.each([
    ['model', ['model']],
    ['agent.build.model', ['agent', 'build', 'model']],
    ['provider.mine.models."a-1.5".name', ['provider', 'mine', 'models', 'a-1.5', 'name']],
    ['plugins.dev.example.x.options.hosts', ['plugins', 'dev.example.x', 'options', 'hosts']],
    ['plugins.dev.example.x.options.config.a.b', ['plugins', 'dev.example.x', 'options', 'config', 'a', 'b']],
    ['plugins."dev.example.x".enabled', ['plugins', 'dev.example.x', 'enabled']],
    ['agent.plugins.dev.example.x.enabled', ['agent', 'plugins', 'dev.example.x', 'enabled']],
    ['plugins.dev.options.x.enabled', ['plugins', 'dev.options.x', 'enabled']],
    ['plugins.dev.example.x', ['plugins', 'dev.example.x']],
    ['plugins', ['plugins']],
  ])('%s is %j', (key, steps) => {
    expect(stepsOf(key)).toEqual(steps)
  })

  test.each(['a..b', '.a', 'a.', 'a."b', 'a.""', '"a"b'])('%s is none', (key) => {
    expect(() => stepsOf(key)).toThrow(/is no key: write steps with dots/)
  })
})
