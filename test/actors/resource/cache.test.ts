import { mkdirSync, rmSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { LIMITS } from '../../../src/protocol/limits.js'
import { createWorkspace } from './workspace.js'

describe('the cache of configuration', () => {
  it('asks the disk nothing while nothing is told to have changed', async () => {
    const workspace = createWorkspace()
    workspace.write('work/svc.json', { username: 'one' })
    workspace.write('work/.svc/agents/a.md', 'Hello.')
    workspace.write('work/AGENTS.md', 'Be kind.')
    const first = await workspace.effective()
    const given = await workspace.resources.instructions(workspace.work)
    const [agent, byDefault] = [
      await workspace.resources.agent(workspace.work, 'a'),
      await workspace.resources.defaultAgent(workspace.work),
    ]
    await workspace.load()
    workspace.forgetCalls()
    workspace.effects.clock.advance(LIMITS.config.relook)
    for (let request = 0; request < 20; request++) {
      expect(await workspace.configs.load(workspace.work, { fresh: request % 2 === 0 })).toBe(first)
      expect(await workspace.resources.instructions(workspace.work)).toBe(given)
      expect(await workspace.resources.agent(workspace.work, 'a')).toBe(agent)
      expect(await workspace.resources.defaultAgent(workspace.work)).toBe(byDefault)
    }
    expect(workspace.calls()).toEqual([])
  })

  it('reads the one file that changed and nothing else', async () => {
    const workspace = createWorkspace()
    for (let index = 0; index < 20; index++) workspace.write(`work/.svc/agents/a${index}.md`, 'Hello.')
    await workspace.load()
    await workspace.load()
    workspace.forgetCalls()
    workspace.write('work/.svc/agents/a7.md', 'Good morning.')
    expect(await workspace.load()).toMatchObject({ agent: { a6: { prompt: 'Hello.' }, a7: { prompt: 'Good morning.' } } })
    expect(new Set(workspace.calls())).toEqual(new Set([workspace.at('work/.svc/agents/a7.md')]))
  })

  it('looks at everything once in a while, because a system may lose what it has to tell', async () => {
    const workspace = createWorkspace({ watchFolder: () => () => () => undefined })
    workspace.write('work/svc.json', { username: 'one' })
    await workspace.load()
    workspace.write('work/svc.json', { username: 'two, longer' })
    expect(await workspace.load()).toEqual({ username: 'one' })
    workspace.effects.clock.advance(LIMITS.config.relook + 1)
    expect(await workspace.configs.load(workspace.work)).toEqual({ username: 'two, longer' })
  })

  it('looks for changes where the system has no more watches, says so, and hears again when it has', async () => {
    let isFull = true
    const workspace = createWorkspace({ watchFolder: (real) => (path, onChange) => (isFull ? 'refused' : real(path, onChange)) })
    workspace.write('work/svc.json', { username: 'one' })
    await workspace.configs.load(workspace.work)
    workspace.effects.clock.advance(LIMITS.config.look)
    workspace.write('work/svc.json', { username: 'two, longer' })
    expect(await workspace.configs.load(workspace.work)).toEqual({ username: 'one' })
    workspace.effects.clock.advance(1)
    expect(await workspace.configs.load(workspace.work)).toEqual({ username: 'two, longer' })
    expect(await workspace.messages()).toContainEqual(expect.stringContaining('looked for instead of being told'))
    isFull = false
    workspace.effects.clock.advance(LIMITS.config.relook + 1)
    await workspace.configs.load(workspace.work)
    expect(await workspace.messages()).toEqual([])
    workspace.forgetCalls()
    await workspace.configs.load(workspace.work)
    expect(workspace.calls()).toEqual([])
  })

  it('serves what a patch of another directory wrote at once', async () => {
    const workspace = createWorkspace()
    expect(await workspace.configs.load(workspace.work)).toEqual({})
    await workspace.configs.update(workspace.effects.paths.config, { username: 'new' })
    expect(await workspace.configs.load(workspace.work)).toEqual({ username: 'new' })
  })

  it('looks at once when asked for a fresh document', async () => {
    const workspace = createWorkspace()
    workspace.write('work/svc.json', { username: 'one' })
    const before = await workspace.effective()
    expect(await workspace.effective()).toBe(before)
    workspace.write('work/svc.json', { username: 'two, longer' })
    expect(await workspace.load()).toEqual({ username: 'two, longer' })
  })

  it.each([
    ['a configuration file appears', 'work/svc.jsonc', { model: 'a/b' }],
    ['a configuration directory appears', 'work/.svc/config.json', { model: 'a/b' }],
    ['a file of the installation appears', 'config/config.jsonc', { model: 'a/b' }],
  ])('notices that %s', async (_what, path, content) => {
    const workspace = createWorkspace()
    expect(await workspace.load()).toEqual({})
    workspace.write(path, content)
    expect(await workspace.load()).toEqual(content)
    rmSync(workspace.at(path))
    expect(await workspace.load()).toEqual({})
  })

  it('notices a new Markdown file in a folder inside a known folder', async () => {
    const workspace = createWorkspace()
    mkdirSync(workspace.at('work/.svc/agents/team'), { recursive: true })
    await workspace.load()
    workspace.write('work/.svc/agents/team/review.md', 'Review.')
    expect(await workspace.load()).toEqual({ agent: { 'team/review': { prompt: 'Review.' } } })
  })

  it('notices that the worktree begins elsewhere', async () => {
    const workspace = createWorkspace({ git: false })
    workspace.write('svc.json', { username: 'above' })
    expect(await workspace.load()).toEqual({ username: 'above' })
    mkdirSync(workspace.at('work/.git'))
    expect(await workspace.load()).toEqual({})
  })

  it('does not mind what version control does inside its folder', async () => {
    const workspace = createWorkspace()
    const before = await workspace.load()
    workspace.write('work/.git/index.lock', '')
    expect(await workspace.load()).toBe(before)
  })

  it('reads again what had been written at the very moment of the look', async () => {
    const workspace = createWorkspace()
    workspace.write('work/svc.json', { username: 'one' })
    const real = workspace.effects.files.stat
    workspace.effects.files.stat = async (path) => {
      const stat = await real(path)
      return stat === undefined ? undefined : { ...stat, modifiedMs: workspace.effects.clock.now(), identity: stat.kind }
    }
    expect(await workspace.load()).toEqual({ username: 'one' })
    workspace.write('work/svc.json', { username: 'two' })
    expect(await workspace.load()).toEqual({ username: 'two' })
  })

  it('shares one look among callers that ask at the same time', async () => {
    const workspace = createWorkspace()
    workspace.write('work/svc.json', { username: 'one' })
    for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve)) // what made the place is told
    const documents = await Promise.all(
      Array.from({ length: 20 }, (_, index) => workspace.configs.load(workspace.work, { fresh: index % 2 === 0 })),
    )
    expect(new Set(documents).size).toBe(1)
    expect(workspace.counts.read).toBe(1)
  })

  it('gives a fresh look to whoever asks while an older look is under way', async () => {
    const workspace = createWorkspace()
    workspace.write('work/svc.json', { username: 'one' })
    const real = workspace.effects.files.read
    let fresh: Promise<unknown> | undefined
    workspace.effects.files.read = async (path, maxBytes, options) => {
      const bytes = await real(path, maxBytes, options)
      if (fresh === undefined) {
        workspace.write('config/config.json', { variant: 'late' })
        fresh = workspace.load()
      }
      return bytes
    }
    expect(await workspace.load()).toEqual({ username: 'one' })
    expect(await fresh).toEqual({ username: 'one', variant: 'late' })
  })

  it('forgets the directories that were used longest ago', async () => {
    const workspace = createWorkspace()
    const directories = Array.from({ length: 65 }, (_, index) => workspace.at(`work/d${index}`))
    workspace.write('work/svc.json', { username: 'one' })
    for (const directory of directories) {
      mkdirSync(directory)
      await workspace.configs.load(directory)
    }
    await workspace.load(directories[64])
    const { read } = workspace.counts
    await workspace.load(directories[64])
    expect(workspace.counts.read).toBe(read)
    await workspace.load(directories[0])
    expect(workspace.counts.read).toBe(read + 1)
  })

  it('reads again a file that changes while it is read', async () => {
    const workspace = createWorkspace()
    workspace.write('work/svc.json', { username: 'one' })
    const real = workspace.effects.files.read
    let changed = false
    workspace.effects.files.read = async (path, maxBytes, options) => {
      const bytes = await real(path, maxBytes, options)
      if (!changed) workspace.write('work/svc.json', { username: 'two, longer' })
      changed = true
      return bytes
    }
    expect(await workspace.load()).toEqual({ username: 'two, longer' })
  })
})
