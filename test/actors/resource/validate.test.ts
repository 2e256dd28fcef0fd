import { describe, expect, it } from 'vitest'
import { anyNumber, anyText } from './matchers.js'
import { createWorkspace } from './workspace.js'

const validate = async (document: unknown) => {
  const workspace = createWorkspace()
  workspace.write('config/config.json', document)
  return workspace.configs.validate(workspace.work)
}

describe('validation', () => {
  it('finds nothing in a sound document', async () => {
    const document = {
      $schema: 'x',
      model: 'a/b',
      defaultAgent: 'helper',
      agent: { helper: { steps: 1 } },
      command: { go: { template: 'Go.', agent: 'Helper' }, init: { agent: 'plan' } },
      keybinds: {},
    }
    const named = { ...document, agent: { agent: { helper: { steps: 1, name: 'Helper' } } } }
    expect(await validate(named)).toEqual({ ok: true, diagnostics: [] })
  })

  it.each([
    ['error', 'providers', { enabledProviders: ['a', 'b'], disabledProviders: ['b'] }],
    ['error', 'agent', { agent: { '': {} } }],
    ['error', 'agent.x.steps', { agent: { x: { steps: 0 } } }],
    ['error', 'agent.x.steps', { agent: { x: { maxSteps: 0 } } }],
    ['error', 'permission.bash', { permission: { bash: 'perhaps' } }],
    ['error', 'agent.x.permission.read.*.env', { agent: { x: { permission: { read: { '*.env': 'no' } } } } }],
    ['error', 'permission.sandbox', { permission: { sandbox: 'yes' } }],
    ['error', 'permission.sandbox', { permission: { sandbox: { x: 'on' } } }],
    ['error', 'agent.x.permission.sandbox', { agent: { x: { permission: { sandbox: 'on' } } } }],
    ['warning', 'defaultAgent', { defaultAgent: 'nobody' }],
    ['warning', 'model', { model: 'gpt' }],
    ['warning', 'agent.x.model', { agent: { x: { model: 'gpt' } } }],
    ['warning', 'command.go.template', { command: { go: {} } }],
    ['warning', 'command.go.template', { command: { go: { template: '  ' } } }],
    ['warning', 'command.go.agent', { command: { go: { template: 'Go.', agent: 'nobody' } } }],
    ['warning', 'colour', { colour: 1 }],
  ])('reports the %s %s', async (level, path, document) => {
    expect(await validate(document)).toEqual({
      ok: level === 'warning',
      diagnostics: [{ level, path, message: anyText, file: anyText, line: 1, column: anyNumber }],
    })
  })

  it('knows built-in agents', async () => {
    expect(await validate({ defaultAgent: 'plan', command: { go: { template: 'Go.', agent: 'build' } } })).toEqual({
      ok: true,
      diagnostics: [],
    })
  })
})
