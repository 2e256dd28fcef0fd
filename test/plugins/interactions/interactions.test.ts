// Holds sessions-events §2.13.
import { describe, expect, it } from 'vitest'
import { type NativeHost, ToolError, type ToolContext, type ToolContribution } from '../../../src/ports/plugin.js'
import { interactionsPlugin } from '../../../src/plugins/interactions/interactions.plugin.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { noDoors } from '../../fakes/doors.js'

function setup(host: Partial<NativeHost>): (id: string) => ToolContribution {
  const { tools = [] } = interactionsPlugin().start({
    ...noDoors,
    effects: createFakeEffects(),
    outputs: { store: async () => ({ id: '', path: '' }) },
    questions: { ask: async () => [] },
    todos: { replace: () => undefined },
    planMode: { set: () => true },
    instructions: { nested: async () => [] },
    protectedFiles: { reasons: async () => [] },
    shellEnvironment: async () => ({}),
    config: async () => ({}),
    ...host,
  })
  return (id) => {
    const tool = tools.find((candidate) => candidate.id === id)
    if (tool === undefined) throw new Error(`there is no tool ${id}`)
    return tool
  }
}

const context: ToolContext = {
  sessionId: 'ses_1',
  messageId: 'msg_1',
  callId: 'call_1',
  agent: 'build',
  directory: '/w',
  signal: new AbortController().signal,
  progress: () => undefined,
  decisions: (_, patterns) => patterns.map(() => 'ask'),
}

describe('todowrite', () => {
  it('replaces the whole list and counts what is open', async () => {
    const replaced: unknown[] = []
    const tool = setup({ todos: { replace: (...args) => replaced.push(args) } })('todowrite')
    const todos = [
      { content: 'read', status: 'completed', priority: 'high' },
      { content: 'write', status: 'in_progress', priority: 'medium' },
      { content: 'test', status: 'pending', priority: 'low' },
      { content: 'dance', status: 'cancelled', priority: 'low' },
    ]
    const input = tool.input.parse({ todos })
    expect(await tool.needs(input, context)).toEqual([{ permission: 'todowrite', patterns: ['*'], title: 'Update the todo list' }])
    expect(await tool.invoke(input, context)).toEqual({ title: '2 todos', output: JSON.stringify(todos, null, 2), metadata: { todos } })
    expect(replaced).toEqual([['ses_1', todos]])
  })

  it('takes an empty list', async () => {
    expect(await setup({})('todowrite').invoke({ todos: [] }, context)).toEqual({ title: '0 todos', output: '[]', metadata: { todos: [] } })
  })

  it.each([{}, { todos: [{ content: 'x' }] }, { todos: [{ content: 'x', status: 'done', priority: 'high' }] }, { todos: [], more: 1 }])(
    'refuses %j',
    (input) => {
      expect(setup({})('todowrite').input.safeParse(input).success).toBe(false)
    },
  )

  it('changes nothing once aborted', async () => {
    const replace = () => {
      throw new Error('replaced')
    }
    const aborted = { ...context, signal: AbortSignal.abort(new Error('stopped')) }
    await expect(setup({ todos: { replace } })('todowrite').invoke({ todos: [] }, aborted)).rejects.toThrow('stopped')
  })
})

describe('question', () => {
  const questions = [
    { question: 'Which colour?\nReally', header: 'Colour', options: [{ label: 'red', description: 'warm' }, { label: 'blue' }] },
    { question: 'Which sizes?', multiple: true, extra: { kept: true } },
    { question: 'Why?' },
  ]

  it('asks and puts the answers on one line', async () => {
    const asked: unknown[] = []
    const ask = async (...args: unknown[]) => {
      asked.push(args)
      return [['red'], ['S', 'M'], []]
    }
    const tool = setup({ questions: { ask } })('question')
    const input = tool.input.parse({ questions })
    expect(await tool.needs(input, context)).toEqual([{ permission: 'question', patterns: ['*'], title: 'Ask the user' }])
    expect(await tool.invoke(input, context)).toEqual({
      title: 'Asked 3 questions',
      output: 'The user answered: "Which colour? Really"="red", "Which sizes?"="S, M", "Why?"="Unanswered".',
      metadata: { answers: [['red'], ['S', 'M'], []] },
    })
    expect(asked).toEqual([[context, questions]])
  })

  it('says so when answers are missing', async () => {
    const result = await setup({})('question').invoke({ questions: [{ question: 'Why?' }] }, context)
    expect([result.title, result.output]).toEqual(['Asked 1 question', 'The user answered: "Why?"="Unanswered".'])
  })

  it('fails as the question does', async () => {
    const ask = async () => Promise.reject(new ToolError('The user declined to answer.'))
    await expect(setup({ questions: { ask } })('question').invoke({ questions }, context)).rejects.toThrow('declined')
  })

  it.each([{}, { questions: [] }, { questions: ['x'] }, { questions: [{ question: 'x' }], more: 1 }])('refuses %j', (input) => {
    expect(setup({})('question').input.safeParse(input).success).toBe(false)
  })
})
