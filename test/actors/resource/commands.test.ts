import { describe, expect, it } from 'vitest'
import { containing } from './matchers.js'
import { createWorkspace } from './workspace.js'

describe('commands of a directory', () => {
  it('are the built-in ones', async () => {
    const workspace = createWorkspace()
    expect(await workspace.resources.commands(workspace.work)).toEqual([
      { name: 'init', description: 'Study the project and write AGENTS.md.', template: containing('AGENTS.md') },
      { name: 'summarize', description: 'Summarise the conversation so far.' },
    ])
  })

  it('merge configured ones over them', async () => {
    const workspace = createWorkspace()
    workspace.write('work/svc.json', {
      command: { summarize: { template: 'Sum up.', agent: 'plan', model: 'a/b' }, init: { description: 'Mine.' } },
    })
    expect(await workspace.resources.commands(workspace.work)).toEqual([
      { name: 'init', description: 'Mine.', template: containing('AGENTS.md') },
      { name: 'summarize', description: 'Summarise the conversation so far.', template: 'Sum up.', agent: 'plan', model: 'a/b' },
    ])
  })
})
