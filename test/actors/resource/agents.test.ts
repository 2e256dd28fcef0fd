// Holds http-contract §2.2; sessions-events §8.5.
import { describe, expect, it } from 'vitest'
import { evaluate } from '../../../src/machines/permission/permission.js'
import type { PermissionRule } from '../../../src/protocol/interaction/interaction.js'
import { Agent } from '../../../src/protocol/resource/resource.js'
import { containing } from './matchers.js'
import { createWorkspace } from './workspace.js'

async function withConfig(installation: unknown) {
  const workspace = createWorkspace()
  workspace.write('config/config.json', installation)
  const names = async () => (await workspace.resources.agents(workspace.work)).map(({ name }) => name)
  const agent = async (name: string) => workspace.resources.agent(workspace.work, name)
  const defaultName = async () => (await workspace.resources.defaultAgent(workspace.work)).record.name
  return { workspace, names, agent, defaultName }
}

const rule = (permission: string, pattern: string, action: PermissionRule['action']): PermissionRule => ({ permission, pattern, action })

it('the agent "compaction" is told from the settings of that name by what is said of it', async () => {
  const { agent, workspace } = await withConfig({ agent: { compaction: { prompt: 'You shorten.' } } })
  expect((await agent('compaction')).record.prompt).toBe('You shorten.')
  expect(await workspace.load()).not.toHaveProperty('compaction')
  const grouped = await withConfig({ agent: { compaction: { auto: false }, agent: { build: { compaction: { thresholdPercent: 30 } } } } })
  expect(await grouped.workspace.load()).toMatchObject({ compaction: { auto: false } })
  expect((await grouped.agent('build')).record).toMatchObject({ compaction: { 'threshold-percent': 30 } })
})

describe('built-in agents', () => {
  it('are listed with the default one first, the others by name, and match the wire schema', async () => {
    const { workspace, names } = await withConfig({})
    expect(await names()).toEqual(['build', 'compaction', 'explore', 'general', 'plan', 'summary', 'title'])
    const agents = await workspace.resources.agents(workspace.work)
    for (const agent of agents) expect(Agent.strict().safeParse(agent).success).toBe(true)
    expect(agents.map(({ mode, native, hidden, color }) => [mode, native, hidden, color])).toEqual([
      ['primary', true, false, 'primary'],
      ['primary', true, true, undefined],
      ['subagent', true, false, 'info'],
      ['subagent', true, false, 'accent'],
      ['primary', true, false, 'secondary'],
      ['primary', true, true, undefined],
      ['primary', true, true, undefined],
    ])
    expect(agents.every(({ prompt }) => prompt !== undefined && prompt.length > 100)).toBe(true)
  })

  it('build may do what the table says', async () => {
    const { workspace, agent } = await withConfig({})
    const { rules } = await agent('build')
    expect(rules).toEqual([
      rule('*', '*', 'allow'),
      rule('doom_loop', '*', 'ask'),
      rule('network', '*', 'ask'),
      rule('question', '*', 'allow'),
      rule('plan_enter', '*', 'allow'),
      rule('plan_exit', '*', 'deny'),
      rule('external_agent', '*', 'ask'),
      rule('read', '*', 'allow'),
      rule('read', '*.env', 'ask'),
      rule('read', '*.env.*', 'ask'),
      rule('read', '*.env.example', 'allow'),
      rule('git', '*', 'ask'),
      rule('external_directory', '*', 'ask'),
      rule('external_directory', `${workspace.at('temp')}/*`, 'allow'),
      rule('external_directory', `${workspace.at('state')}/tool-output/*`, 'allow'),
    ])
  })

  it('plan, general and explore differ as the table says', async () => {
    const { agent } = await withConfig({})
    const decide = async (name: string, permission: string, pattern = 'x') => evaluate((await agent(name)).rules, permission, pattern)
    expect(await decide('plan', 'edit', 'src/a.ts')).toBe('ask')
    expect(await decide('plan', 'edit', '.svc/plans/a.md')).toBe('allow')
    expect(await decide('plan', 'write')).toBe('deny')
    expect(await decide('plan', 'plan_enter')).toBe('deny')
    expect(await decide('plan', 'plan_exit')).toBe('allow')
    expect(await decide('general', 'todowrite')).toBe('deny')
    expect(await decide('general', 'edit')).toBe('allow')
    expect(await decide('explore', 'edit')).toBe('deny')
    expect(await decide('explore', 'read', 'src/a.ts')).toBe('allow')
    expect((await agent('title')).record.temperature).toBe(0.5)
    for (const name of ['compaction', 'title', 'summary']) expect((await agent(name)).rules).toEqual([rule('*', '*', 'deny')])
  })
})

describe('permissions of agents', () => {
  it('are one map: built-in, global, own, each merged into the one before', async () => {
    const { agent } = await withConfig({
      permission: { read: { '*.env': 'deny', 'secrets/*': 'deny' }, bash: { 'rm *': 'deny', '*': 'ask' } },
      agent: { build: { permission: { bash: { 'rm *': 'ask' }, doom_loop: 'deny' } } },
    })
    expect((await agent('build')).rules.filter(({ permission }) => ['read', 'bash', 'doom_loop'].includes(permission))).toEqual([
      rule('doom_loop', '*', 'deny'),
      rule('read', '*', 'allow'),
      rule('read', '*.env', 'deny'),
      rule('read', '*.env.*', 'ask'),
      rule('read', '*.env.example', 'allow'),
      rule('read', 'secrets/*', 'deny'),
      rule('bash', '*', 'ask'),
      rule('bash', 'rm *', 'ask'),
    ])
  })

  it('keep a global star from unlocking agents that are denied everything', async () => {
    const { agent } = await withConfig({ permission: { '*': 'allow' } })
    for (const name of ['explore', 'title', 'summary', 'compaction']) expect(evaluate((await agent(name)).rules, 'edit', 'x')).toBe('deny')
    const strict = await withConfig({ permission: { '*': 'ask' } })
    expect(evaluate((await strict.agent('build')).rules, 'edit', 'x')).toBe('ask')
  })

  it('a global star that allows settles the doom loop, unless it is named', async () => {
    const allowed = await withConfig({ permission: { '*': 'allow' } })
    expect(evaluate((await allowed.agent('build')).rules, 'doom_loop', 'read')).toBe('allow')
    expect(evaluate((await allowed.agent('build')).rules, 'external_directory', '/etc/*')).toBe('ask')
    const named = await withConfig({ permission: { '*': 'allow', doom_loop: 'ask' } })
    expect(evaluate((await named.agent('build')).rules, 'doom_loop', 'read')).toBe('ask')
  })

  it('let an agent of its own raise its star', async () => {
    const { agent } = await withConfig({ agent: { explore: { permission: { '*': 'ask' } } } })
    expect(evaluate((await agent('explore')).rules, 'edit', 'x')).toBe('ask')
  })

  it('expand the home directory', async () => {
    const { workspace, agent } = await withConfig({ permission: { external_directory: { '~/notes/*': 'allow' } } })
    expect((await agent('build')).rules.at(-1)).toEqual(rule('external_directory', `${workspace.at('home')}/notes/*`, 'allow'))
  })
})

describe('configured agents', () => {
  it('start with no prompt, every mode and the permissions of build', async () => {
    const { agent } = await withConfig({
      agent: {
        helper: {
          model: 'local/big/model',
          variant: 'high',
          topP: 0.5,
          temperature: 0,
          steps: 3,
          color: 'red',
          description: 'Helps.',
          options: { seed: 1 },
          permission: { edit: 'ask' },
        },
      },
    })
    const { permission, ...record } = (await agent('helper')).record
    expect(record).toEqual({
      name: 'helper',
      mode: 'all',
      native: false,
      hidden: false,
      options: { seed: 1 },
      description: 'Helps.',
      color: 'red',
      model: { providerId: 'local', id: 'big/model', variant: 'high' },
      variant: 'high',
      steps: 3,
      temperature: 0,
      topP: 0.5,
    })
    expect(permission).toEqual({ ...(await agent('build')).record.permission, edit: 'ask' })
  })

  it('override built-in ones, which stay native, and disappear when disabled', async () => {
    const { names, agent } = await withConfig({ agent: { plan: { prompt: 'Mine.', hidden: true }, general: { disable: true } } })
    expect((await agent('plan')).record).toMatchObject({ native: true, hidden: true, prompt: 'Mine.', color: 'secondary' })
    expect(await names()).not.toContain('general')
    await expect(agent('general')).rejects.toMatchObject({ code: 'resource.not_found', message: containing('build') })
  })

  it('are found by key and by the name they show', async () => {
    const { names, agent } = await withConfig({ agent: { zeta: { name: 'Alpha' } } })
    expect(await names()).toEqual(['build', 'Alpha', 'compaction', 'explore', 'general', 'plan', 'summary', 'title'])
    expect((await agent('zeta')).record).toEqual((await agent('Alpha')).record)
  })
})

describe('the default agent', () => {
  it.each([
    ['build', {}],
    ['plan', { defaultAgent: 'plan' }],
    ['Alpha', { defaultAgent: 'a', agent: { a: { name: 'Alpha' } } }],
    ['build', { defaultAgent: 'explore' }],
    ['build', { defaultAgent: 'title' }],
    ['build', { defaultAgent: 'nobody' }],
    ['build', { agent: { aaa: {} } }],
    ['aaa', { agent: { aaa: {}, build: { disable: true } } }],
    ['plan', { agent: { aaa: { hidden: true }, build: { mode: 'subagent' } } }],
    ['build', { agent: { build: { disable: true }, plan: { disable: true } } }],
  ])('is %s for %j', async (expected, installation) => {
    const { defaultName, names } = await withConfig(installation)
    expect(await defaultName()).toBe(expected)
    expect((await names()).indexOf(expected)).toBeLessThan(1)
  })
})
