import { mkdirSync, symlinkSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createWorkspace } from './workspace.js'

type Workspace = ReturnType<typeof createWorkspace>

const texts = async (workspace: Workspace) => (await workspace.resources.instructions(workspace.work)).map(({ text }) => text)
const skills = async (workspace: Workspace) => (await workspace.resources.skills(workspace.work)).map(({ name }) => name)

/** A home with a credential, a skill and a note, and a worktree with rules of its own. */
function household(): Workspace {
  const workspace = createWorkspace()
  workspace.write('home/.aws/credentials', 'aws_secret')
  workspace.write('home/notes.md', 'notes')
  workspace.write('home/skills/private/SKILL.md', '---\ndescription: private\n---\nDo.')
  workspace.write('work/docs/rules.md', 'rules')
  workspace.write('work/skills/shared/SKILL.md', '---\ndescription: shared\n---\nDo.')
  return workspace
}

describe('paths that a workspace names', () => {
  it.each([
    ['$HOME/.aws/credentials', 'is not expanded: a workspace names files of its worktree as they are'],
    ['~/.aws/credentials', 'is not expanded: a workspace names files of its worktree as they are'],
    ['${HOME}/.aws/credentials', 'is not expanded: a workspace names files of its worktree as they are'],
    ['{env:HOME}/.aws/credentials', 'is not expanded: a workspace names files of its worktree as they are'],
    ['../home/.aws/credentials', 'is outside the worktree'],
    ['docs/../../home/notes.md', 'is outside the worktree'],
    ['file:///etc/passwd', 'is an address; only files are read'],
    ['docs/*.md', 'is a pattern; name each file'],
  ])('are not read as %s', async (entry, reason) => {
    const workspace = household()
    workspace.write('work/svc.json', { instructions: [entry, 'docs/rules.md'], skills: { paths: [entry, 'skills'] } })
    expect(await texts(workspace)).toEqual(['rules'])
    expect(await skills(workspace)).toEqual(['shared'])
    expect(await workspace.load()).toEqual({ instructions: ['docs/rules.md'], skills: { paths: ['skills'] } })
    const told = ['instructions', 'skills.paths'].map(
      (key) => `"${key}" in ${workspace.at('work/svc.json')} has no effect: "${entry}" ${reason}`,
    )
    expect(await workspace.messages()).toEqual(expect.arrayContaining(told))
  })

  it('do not lead out of it, nor to its own secrets', async () => {
    const workspace = household()
    workspace.write('work/.env', 'TOKEN=secret')
    symlinkSync(workspace.at('home/.aws'), workspace.at('work/linked'))
    symlinkSync(workspace.at('work/.env'), workspace.at('work/AGENTS.md'))
    mkdirSync(workspace.at('work/.svc'))
    symlinkSync(workspace.at('home/skills'), workspace.at('work/.svc/skills'))
    workspace.write('work/svc.json', { instructions: ['linked/credentials', '.env', 'docs/rules.md'] })
    expect(await texts(workspace)).toEqual(['rules'])
    expect(await skills(workspace)).toEqual([])
    expect(await workspace.messages()).toEqual([
      `${workspace.at('work/AGENTS.md')} is not given to the model: it leads to a file that holds secrets`,
      `${workspace.at('work/linked/credentials')} is not given to the model: it leads to a file outside ${workspace.work}`,
      `${workspace.at('work/.env')} is not given to the model: it leads to a file that holds secrets`,
    ])
  })
})

describe('paths that the installation names', () => {
  it('are expanded', async () => {
    const workspace = household()
    workspace.write('config/config.json', { instructions: ['$HOME/notes.md'], skills: { paths: ['~/skills'] } })
    expect(await texts(workspace)).toEqual(['notes'])
    expect(await skills(workspace)).toEqual(['private'])
    expect(await workspace.messages()).toEqual([])
  })

  it('do not leave the worktree again by a link of the worktree', async () => {
    const workspace = household()
    symlinkSync(workspace.work, workspace.at('home/project'))
    symlinkSync(workspace.at('home/.aws'), workspace.at('work/linked'))
    symlinkSync(workspace.at('home/skills'), workspace.at('work/more'))
    workspace.write('config/config.json', {
      instructions: ['~/project/docs/rules.md', '~/project/linked/credentials'],
      skills: { paths: ['~/project/skills', '~/project/more'] },
    })
    expect(await texts(workspace)).toEqual(['rules'])
    expect(await skills(workspace)).toEqual(['shared'])
  })

  it('are told when nothing is done with them', async () => {
    const workspace = household()
    workspace.write('config/config.json', { instructions: ['docs/*.md'], skills: { paths: ['~/skills/*'] } })
    expect(await workspace.messages()).toEqual([
      '"~/skills/*" in "skills.paths" has no effect: it is a pattern; name each file',
      'docs/*.md is not given to the model: it is a pattern; name each file',
    ])
  })
})
