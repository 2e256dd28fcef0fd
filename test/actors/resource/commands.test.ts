import { describe, expect, it } from 'vitest'
import { containing } from './matchers.js'
import { createWorkspace } from './workspace.js'

const SUMMARIZE = { name: 'summarize', description: 'Summarise the conversation so far.', template: containing('Summarise') }

describe('commands of a directory', () => {
  it('are the built-in ones', async () => {
    const workspace = createWorkspace()
    expect(await workspace.resources.commands(workspace.work)).toEqual([
      { name: 'init', description: 'Study the project and write AGENTS.md.', template: containing('AGENTS.md') },
      SUMMARIZE,
    ])
  })

  it('merge configured ones over them', async () => {
    const workspace = createWorkspace()
    workspace.write('work/svc.json', {
      command: { summarize: { template: 'Sum up.', agent: 'plan', model: 'a/b' }, init: { description: 'Mine.' } },
    })
    expect(await workspace.resources.commands(workspace.work)).toEqual([
      { name: 'init', description: 'Mine.', template: containing('AGENTS.md') },
      { ...SUMMARIZE, template: 'Sum up.', agent: 'plan', model: 'a/b' },
    ])
  })

  it('are offered only if they can be run; what cannot says why, once in the log', async () => {
    const workspace = createWorkspace()
    workspace.write('config/config.json', {
      command: {
        empty: { template: ' ' },
        bare: {},
        delegates: { template: 'Go.', subtask: true },
        explores: { template: 'Go.', agent: 'explore' },
        lost: { template: 'Go.', agent: 'nobody' },
        vague: { template: 'Go.', model: 'gpt' },
        works: { template: 'Go.' },
      },
    })
    const { resources, configs, work } = workspace
    const names = async () => (await resources.commands(work)).map(({ name }) => name)
    expect([await names(), await names()]).toEqual([
      ['delegates', 'explores', 'init', 'summarize', 'works'],
      ['delegates', 'explores', 'init', 'summarize', 'works'],
    ])
    const { diagnostics } = await configs.validate(work)
    expect(diagnostics.map(({ path, code, message }) => [path, code, message])).toEqual([
      ['command.bare.template', undefined, 'is missing or empty; the command is not offered'],
      ['command.empty.template', undefined, 'is missing or empty; the command is not offered'],
      ['command.lost.agent', undefined, 'there is no agent "nobody"; the command is not offered'],
      ['command.vague.model', undefined, '"gpt" is not of the form provider/model; the command is not offered'],
    ])
    expect(workspace.effects.logs.filter(({ message }) => message === 'a command is not offered')).toHaveLength(4)
  })

  it('are found by name, and refused with what is known', async () => {
    const { resources, write, work } = createWorkspace()
    write('config/config.json', { command: { delegates: { template: 'Go.', agent: 'explore' }, empty: { template: ' ' } } })
    expect((await resources.command(work, 'init')).name).toBe('init')
    expect(await resources.command(work, 'delegates')).toMatchObject({ agent: 'explore', subtask: true })
    await expect(resources.command(work, 'empty')).rejects.toMatchObject({
      code: 'request.unprocessable',
      message: 'The command "empty" cannot be run: its "template" is missing or empty.',
    })
    await expect(resources.command(work, 'nothing')).rejects.toMatchObject({
      code: 'request.invalid',
      message: 'There is no command "nothing". Known: delegates, init, summarize.',
    })
  })
})
