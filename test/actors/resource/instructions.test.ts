// Holds subsystems b.11.
import { mkdirSync, symlinkSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createWorkspace } from './workspace.js'

type Workspace = ReturnType<typeof createWorkspace>

const texts = async (workspace: Workspace, directory = workspace.work) =>
  (await workspace.resources.instructions(directory)).map(({ text }) => text)

describe('instruction files', () => {
  it('come global first, then project from the outside in, then configured', async () => {
    const workspace = createWorkspace()
    workspace.write('config/AGENTS.md', 'installation')
    workspace.write('home/.claude/CLAUDE.md', 'other tool')
    workspace.write('AGENTS.md', 'above the worktree')
    workspace.write('work/AGENTS.md', 'top')
    workspace.write('work/app/AGENTS.md', 'app')
    workspace.write('work/CLAUDE.md', 'second name')
    workspace.write('work/docs/rules.md', 'rules')
    workspace.write('home/taste.md', 'taste')
    workspace.write('config/config.json', { instructions: ['~/taste.md', 'https://x.test/a.md', 'gone.md'] })
    workspace.write('work/svc.json', { instructions: ['docs/rules.md'] })
    const directory = workspace.at('work/app')
    expect(await workspace.resources.instructions(directory)).toEqual([
      { path: workspace.at('config/AGENTS.md'), text: 'installation' },
      { path: workspace.at('AGENTS.md'), text: 'above the worktree' },
      { path: workspace.at('work/AGENTS.md'), text: 'top' },
      { path: workspace.at('work/app/AGENTS.md'), text: 'app' },
      { path: workspace.at('home/taste.md'), text: 'taste' },
      { path: workspace.at('work/docs/rules.md'), text: 'rules' },
    ])
  })

  it('fall back from name to name, for all ancestors at once', async () => {
    const workspace = createWorkspace()
    workspace.write('home/.claude/CLAUDE.md', 'other tool')
    workspace.write('work/CONTEXT.md', 'context')
    workspace.write('work/app/CLAUDE.md', 'claude')
    expect(await texts(workspace, workspace.at('work/app'))).toEqual(['other tool', 'claude'])
    expect(await texts(workspace)).toEqual(['other tool', 'context'])
  })

  it('are given once each and not at all when blank or too large', async () => {
    const workspace = createWorkspace()
    workspace.write('config/AGENTS.md', ' \n')
    workspace.write('work/AGENTS.md', 'top')
    workspace.write('work/huge.md', 'x'.repeat(512 * 1024 + 1))
    symlinkSync(workspace.at('work/AGENTS.md'), workspace.at('work/same.md'))
    workspace.write('work/svc.json', { instructions: ['AGENTS.md', 'same.md', 'huge.md'] })
    expect(await texts(workspace)).toEqual(['top'])
    expect(workspace.effects.logs).toEqual([
      {
        level: 'warn',
        message: 'instruction file not read',
        fields: { path: workspace.at('work/huge.md'), reason: 'is larger than 524288 bytes' },
      },
    ])
  })

  it('never bring a file from elsewhere because a workspace says so', async () => {
    const workspace = createWorkspace({ git: false })
    workspace.write('secret.md', 'secret')
    symlinkSync(workspace.at('secret.md'), workspace.at('work/AGENTS.md'))
    workspace.write('work/svc.json', { instructions: ['secret.md'] })
    expect(await texts(workspace)).toEqual([])
    workspace.write('config/config.json', { instructions: ['secret.md'] })
    await workspace.load()
    expect(await texts(workspace)).toEqual(['secret'])
  })
})

describe('nested instruction files', () => {
  const nested = async (workspace: Workspace, session: string, file: string) =>
    (await workspace.instructions.nested(session, workspace.work, workspace.at(file))).map(({ text }) => text)

  it('between the directory and the file are given once per session, outermost first', async () => {
    const workspace = createWorkspace()
    workspace.write('work/AGENTS.md', 'top')
    workspace.write('work/a/CLAUDE.md', 'a')
    workspace.write('work/a/b/AGENTS.md', 'b')
    workspace.write('work/a/b/CLAUDE.md', 'second name')
    workspace.write('work/c/CONTEXT.md', 'c')
    expect(await nested(workspace, 'ses_1', 'work/a/b/x.ts')).toEqual(['a', 'b'])
    expect(await nested(workspace, 'ses_1', 'work/a/b/y.ts')).toEqual([])
    expect(await nested(workspace, 'ses_1', 'work/c/x.ts')).toEqual(['c'])
    expect(await nested(workspace, 'ses_2', 'work/a/x.ts')).toEqual(['a'])
    expect(await nested(workspace, 'ses_2', 'work/x.ts')).toEqual([])
    expect(await nested(workspace, 'ses_2', 'elsewhere/x.ts')).toEqual([])
  })

  it('are given once also to reads at the same time', async () => {
    const workspace = createWorkspace()
    workspace.write('work/a/AGENTS.md', 'a')
    const given = await Promise.all([nested(workspace, 'ses_1', 'work/a/x.ts'), nested(workspace, 'ses_1', 'work/a/y.ts')])
    expect(given.flat()).toEqual(['a'])
  })

  it('are found when they appear later, and not repeated when they are what is read', async () => {
    const workspace = createWorkspace()
    mkdirSync(workspace.at('work/a'))
    expect(await nested(workspace, 'ses_1', 'work/a/x.ts')).toEqual([])
    workspace.write('work/a/AGENTS.md', 'a')
    expect(await nested(workspace, 'ses_2', 'work/a/AGENTS.md')).toEqual([])
    expect(await nested(workspace, 'ses_2', 'work/a/x.ts')).toEqual([])
    expect(await nested(workspace, 'ses_1', 'work/a/x.ts')).toEqual(['a'])
  })

  it('do not follow links out of the directory', async () => {
    const workspace = createWorkspace()
    workspace.write('secret.md', 'secret')
    mkdirSync(workspace.at('work/a'))
    symlinkSync(workspace.at('secret.md'), workspace.at('work/a/AGENTS.md'))
    expect(await nested(workspace, 'ses_1', 'work/a/x.ts')).toEqual([])
  })
})
