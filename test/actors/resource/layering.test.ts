// Holds subsystems b.4.
import { mkdirSync, symlinkSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createWorkspace } from './workspace.js'

describe('configuration layers', () => {
  it('is empty when there is no file', async () => {
    expect(await createWorkspace().load()).toEqual({})
  })

  it('lets each later place win over every earlier one', async () => {
    const env = { SVC_AGENT_CONFIG: 'named.json', SVC_AGENT_CONFIG_DIR: 'extra', SVC_AGENT_CONFIG_CONTENT: '{"username":"content"}' }
    const places = [
      'config/config.json',
      'config/config.jsonc',
      'config/svc.json',
      'config/svc.jsonc',
      'work/svc.json',
      'work/svc.jsonc',
      'work/app/svc.json',
      'work/app/svc.jsonc',
      'work/.svc/config.json',
      'work/.svc/config.jsonc',
      'work/.svc/svc.json',
      'work/.svc/svc.jsonc',
      'work/app/.svc/config.json',
      'home/.svc/config.json',
      'work/extra/config.json',
      'work/named.json',
    ]
    for (let count = 1; count <= places.length; count++) {
      const workspace = createWorkspace({ env: { ...env, SVC_AGENT_CONFIG_CONTENT: '' } })
      mkdirSync(workspace.at('work/app'))
      const present = places.slice(0, count)
      for (const place of present.toReversed()) workspace.write(place, { username: place })
      expect((await workspace.load(workspace.at('work/app')))['username']).toBe(present.at(-1))
    }
    const all = createWorkspace({ env })
    for (const place of places) all.write(place, { username: place })
    expect((await all.load(all.at('work/app')))['username']).toBe('content')
  })

  it('reads mcp.json after the files of its directory, as a group or as the bare map', async () => {
    const workspace = createWorkspace()
    workspace.write('config/config.json', { mcp: { a: { command: ['config'] }, b: { command: ['config'] } } })
    workspace.write('config/mcp.json', { mcp: { a: { command: ['group'] } } })
    workspace.write('config/mcp.jsonc', '{ "b": { "command": ["bare"] }, /* new */ "c": { "url": "http://127.0.0.1" }, }')
    expect(await workspace.load()).toEqual({
      mcp: { a: { command: ['group'] }, b: { command: ['bare'] }, c: { url: 'http://127.0.0.1' } },
    })
  })

  it('merges objects, replaces arrays and scalars, and unites instructions', async () => {
    const workspace = createWorkspace()
    workspace.write('config/config.json', {
      model: 'a/b',
      watcher: { ignore: ['x'] },
      compaction: { auto: true, keep: { tokens: 1 } },
      instructions: ['one.md', 'two.md'],
    })
    workspace.write('work/svc.json', {
      model: 'c/d',
      watcher: { ignore: ['y'] },
      compaction: { keep: { tokens: 2 } },
      instructions: ['two.md', 'three.md'],
    })
    expect(await workspace.load()).toEqual({
      model: 'c/d',
      watcher: { ignore: ['y'] },
      compaction: { auto: true, keep: { tokens: 2 } },
      instructions: ['one.md', 'two.md', 'three.md'],
    })
  })

  it('takes null for a key that is absent, at every depth', async () => {
    const workspace = createWorkspace()
    workspace.write('config/config.json', {
      model: 'a/b',
      compaction: { buffer: 3 },
      agent: { helper: { color: 'red' } },
      provider: { p: { options: null, models: { m: { limit: { input: null }, headers: null } } } },
    })
    workspace.write('work/svc.json', {
      model: null,
      share: null,
      compaction: { buffer: null, keep: { tokens: null } },
      agent: { helper: { steps: null, permission: null } },
    })
    workspace.write('config/agents/other.md', '---\ncolor: null\nsteps: ~\n---\nBe kind.')
    expect(await workspace.load()).toEqual({
      model: 'a/b',
      compaction: { buffer: 3, keep: {} },
      agent: { helper: { color: 'red' }, other: { prompt: 'Be kind.' } },
      provider: { p: { models: { m: { limit: {} } } } },
    })
  })

  it('replaces a same-named agent by a Markdown entry as a whole', async () => {
    const workspace = createWorkspace()
    workspace.write('config/config.json', { agent: { helper: { model: 'a/b', temperature: 0.1 }, other: { color: 'red' } } })
    workspace.write('config/agents/helper.md', '---\ndescription: from Markdown\n---\nBe kind.')
    expect((await workspace.load())['agent']).toEqual({
      helper: { description: 'from Markdown', prompt: 'Be kind.' },
      other: { color: 'red' },
    })
  })

  it('reads project files up to the file system root outside a worktree, and only to its top inside one', async () => {
    for (const git of [true, false]) {
      const workspace = createWorkspace({ git })
      workspace.write('svc.json', { username: 'above' })
      workspace.write('.svc/config.json', { variant: 'above' })
      workspace.write('work/svc.json', { model: 'a/b' })
      const above = git ? {} : { username: 'above', variant: 'above' }
      expect(await workspace.load()).toEqual({ ...above, model: 'a/b' })
    }
  })

  it('accepts a .git file as the mark of a worktree', async () => {
    const workspace = createWorkspace({ git: false })
    workspace.write('work/.git', 'gitdir: elsewhere')
    workspace.write('svc.json', { username: 'above' })
    expect(await workspace.load()).toEqual({})
  })

  it.each(['1', 'true', 'TRUE', 'yes', 'YES'])('skips every project layer when SVC_AGENT_DISABLE_PROJECT_CONFIG is %s', async (value) => {
    const workspace = createWorkspace({ env: { SVC_AGENT_DISABLE_PROJECT_CONFIG: value } })
    workspace.write('config/config.json', { username: 'installation' })
    workspace.write('work/svc.json', { username: 'project' })
    workspace.write('work/.svc/config.json', { username: 'project' })
    workspace.write('home/.svc/config.json', { variant: 'home' })
    expect(await workspace.load()).toEqual({ username: 'installation', variant: 'home' })
  })

  it('reads project layers when SVC_AGENT_DISABLE_PROJECT_CONFIG is anything else', async () => {
    const workspace = createWorkspace({ env: { SVC_AGENT_DISABLE_PROJECT_CONFIG: '0' } })
    workspace.write('work/svc.json', { username: 'project' })
    expect(await workspace.load()).toEqual({ username: 'project' })
  })

  it('takes one directory once, whatever names lead to it', async () => {
    const workspace = createWorkspace({ env: { SVC_AGENT_CONFIG_DIR: 'alias' } })
    workspace.write('config/config.json', { username: 'installation' })
    workspace.write('home/.svc/config.json', { username: 'home' })
    symlinkSync(workspace.at('config'), workspace.at('work/alias'))
    expect(await workspace.load()).toEqual({ username: 'home' })
  })

  it('does not let a link in a workspace take a directory of the installation away', async () => {
    const workspace = createWorkspace()
    workspace.write('config/mcp.json', { files: { command: ['server'] } })
    symlinkSync(workspace.at('config'), workspace.at('work/.svc'))
    expect(await workspace.load()).toEqual({ mcp: { files: { command: ['server'] } } })
    expect(await workspace.messages()).toEqual([expect.stringMatching(/config\/mcp.json:1:\d+: "mcp.files" has no effect/)])
  })

  it('has no project layer for the directory that stands for the installation', async () => {
    const workspace = createWorkspace()
    workspace.write('config/config.json', { username: 'installation' })
    workspace.write('svc.json', { username: 'above' })
    expect(await workspace.load(workspace.at('config'))).toEqual({ username: 'installation' })
  })

  it('warns when the file that SVC_AGENT_CONFIG names is absent', async () => {
    const workspace = createWorkspace({ env: { SVC_AGENT_CONFIG: '~/gone.json' } })
    expect(await workspace.messages()).toEqual([`${workspace.at('home/gone.json')}, named by SVC_AGENT_CONFIG, does not exist`])
  })
})

describe('accepted forms', () => {
  const load = async (document: unknown) => {
    const workspace = createWorkspace()
    workspace.write('config/config.json', document)
    return workspace.load()
  }

  it('reads comments, trailing commas, a byte order mark and an empty file', async () => {
    expect(await load('\uFEFF// a\n{ "model": "a/b", /* c */ }\n')).toEqual({ model: 'a/b' })
    expect(await load('')).toEqual({})
    expect(await load('// nothing\n')).toEqual({})
  })

  it('lifts the agent group when an editor group is present', async () => {
    expect(await load({ keybinds: { quit: 'q' }, agent: { model: 'a/b', agent: { helper: { color: 'red' } } } })).toEqual({
      keybinds: { quit: 'q' },
      model: 'a/b',
      agent: { helper: { color: 'red' } },
    })
  })

  it('lifts the agent group when it holds a key of the agent document, in any spelling', async () => {
    expect(await load({ agent: { 'enabled-providers': ['a'], extra: 1 } })).toEqual({ enabledProviders: ['a'], extra: 1 })
  })

  it('otherwise takes agent as the map of agents', async () => {
    expect(await load({ agent: { helper: { color: 'red' } } })).toEqual({ agent: { helper: { color: 'red' } } })
  })

  it('accepts kebab-case and other aliases, the documented name winning', async () => {
    expect(
      await load({
        'small-model': 'a/b',
        thinking: 'high',
        'dangerously-skip-permissions': false,
        agent: { helper: { 'top-p': 0.5, maxSteps: 3, reasoningEffort: 'low' }, both: { steps: 1, maxSteps: 2 } },
        provider: {
          local: {
            'discover-models': true,
            options: { 'base-url': 'http://127.0.0.1/v1' },
            models: { m: { 'tool-call': true, reasoning: true } },
          },
        },
        compaction: { thresholdPercent: 50 },
      }),
    ).toEqual({
      smallModel: 'a/b',
      variant: 'high',
      dangerouslySkipPermissions: false,
      agent: { helper: { topP: 0.5, steps: 3, variant: 'low' }, both: { steps: 1 } },
      provider: {
        local: { discoverModels: true, options: { baseURL: 'http://127.0.0.1/v1' }, models: { m: { toolCall: true, reasoning: true } } },
      },
      compaction: { 'threshold-percent': 50 },
    })
  })

  it('turns modes into primary agents and names commands', async () => {
    expect(await load({ mode: { review: { prompt: 'Review.' } }, command: { go: { template: 'Go.' } } })).toEqual({
      agent: { review: { mode: 'primary', prompt: 'Review.' } },
      command: { go: { name: 'go', template: 'Go.' } },
    })
  })

  it('turns tools into permissions where none is written, one refusal winning for write and edit', async () => {
    expect(
      await load({
        tools: { bash: true, webfetch: false, write: false, edit: true },
        permission: { bash: 'ask' },
        agent: { helper: { tools: { write: true } } },
      }),
    ).toEqual({
      permission: { bash: 'ask', webfetch: 'deny', edit: 'deny' },
      agent: { helper: { permission: { edit: 'allow' } } },
    })
  })

  it('uses terminal.shell when the agent document names no shell', async () => {
    const terminal = { shell: { program: '/bin/fish', args: ['-l'] } }
    expect((await load({ terminal }))['shell']).toEqual(terminal.shell)
    expect((await load({ terminal, agent: { shell: '/bin/zsh' } }))['shell']).toBe('/bin/zsh')
  })

  it('keeps keys it does not know', async () => {
    expect(await load({ colour: { of: 'the sky' } })).toEqual({ colour: { of: 'the sky' } })
  })
})
