import { describe, expect, test } from 'vitest'
import { type AnswerPolicy, createAnswers, readDecision } from '../../../src/cli/run/answers.js'
import type { CallInput, Client } from '../../../src/cli/client.js'
import { readAnswer, readQuestions } from '../../../src/cli/run/question-text.js'
import type { Terminal } from '../../../src/cli/terminal.js'

const request = {
  id: 'per_1',
  sessionId: 'ses_1',
  messageId: 'msg_1',
  title: 'Run ls',
  permission: 'bash',
  patterns: ['ls'],
  always: ['ls'],
  metadata: { alwaysPatterns: ['ls *'] },
}

function setup(policy: AnswerPolicy, typed?: (question: string, signal: AbortSignal) => Promise<string>) {
  const calls: { id: string; input: CallInput | undefined }[] = []
  const said: string[] = []
  const client = {
    call: (route: { id: string }, input?: CallInput) => {
      calls.push({ id: route.id, input: input && { params: input.params ?? {}, body: input.body } })
      return Promise.resolve(true)
    },
  } as unknown as Client
  const say = (text: string) => void said.push(text)
  const terminal: Terminal = { text: say, break: () => undefined, note: say, error: say, record: say, ask: typed }
  return { answers: createAnswers(client, policy, terminal), calls, said }
}

const reply = (body: unknown) => ({ id: 'v2.interactions.permissions.reply', input: { params: { request_id: 'per_1' }, body } })

describe('permission requests', () => {
  test.each(['once', 'always', 'reject'] as const)('are answered by the policy %s without asking', async (policy) => {
    const { answers, calls } = setup(policy, () => Promise.reject(new Error('asked')))
    await answers.permission(request)
    expect(calls).toEqual([reply({ reply: policy })])
  })

  test('of an unattended run are left to others, after saying what was asked', async () => {
    const { answers, calls, said } = setup('wait', () => Promise.reject(new Error('asked')))
    await answers.permission(request)
    await answers.question({ id: 'que_1', sessionId: 'ses_1', messageId: 'msg_1', questions: [] })
    expect(calls).toEqual([])
    expect(said.join()).toContain('Run ls (bash: ls)')
  })

  test('are refused with a reason when nobody is there, after saying what was asked', async () => {
    const { answers, calls, said } = setup('ask')
    await answers.permission(request)
    expect(calls).toEqual([reply({ reply: 'reject', message: expect.stringContaining('Nobody is present') as string })])
    expect(said.join()).toContain('Run ls (bash: ls)')
  })

  test('are asked one at a time', async () => {
    let open = 0
    const { answers, calls } = setup('ask', async () => {
      expect(++open).toBe(1)
      await Promise.resolve()
      open--
      return 'y'
    })
    await Promise.all([answers.permission(request), answers.permission({ ...request, id: 'per_2' })])
    expect(calls).toHaveLength(2)
  })

  test('are dropped when somebody else answers first', async () => {
    const { answers, calls } = setup(
      'ask',
      (_, signal) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')))),
    )
    const asking = answers.permission(request)
    await Promise.resolve()
    answers.settled('per_1')
    await asking
    expect(calls).toEqual([])
  })

  test('offer what was asked and what is wider, each to be remembered', async () => {
    const shown: string[] = []
    const typed = ['a', 'w']
    const { answers, calls } = setup('ask', (question) => {
      shown.push(question)
      return Promise.resolve(typed.shift() ?? '')
    })
    await answers.permission(request)
    await answers.permission(request)
    await answers.permission({ ...request, always: [], metadata: undefined })
    expect(shown).toEqual([
      'Allow Run ls (bash: ls)?\n  [y] once  [a] always (just this: ls)  [w] always, and also ls *  [n] no, or say what to do instead: ',
      shown[0],
      'Allow Run ls (bash: ls)?\n  [y] once  [n] no, or say what to do instead: ',
    ])
    expect(calls.slice(0, 2)).toEqual([reply({ reply: 'always' }), reply({ reply: 'always', alwaysPatterns: ['ls *'] })])
  })

  test.each([
    ['y', { reply: 'once' }],
    ['Always', { reply: 'always' }],
    ['w', { reply: 'always', alwaysPatterns: ['ls *'] }],
    ['', { reply: 'reject' }],
    ['no', { reply: 'reject' }],
    ['use rg instead', { reply: 'reject', message: 'use rg instead' }],
  ])('understand "%s"', (typed, decision) => {
    expect(readDecision(typed, ['ls *'])).toEqual(decision)
  })
})

test('a wider answer that is not offered is a refusal with that text', () => {
  expect(readDecision('w', [])).toEqual({ reply: 'reject', message: 'w' })
})

describe('questions', () => {
  const questions = [
    { question: 'Which?', options: [{ label: 'Red', description: 'warm' }, { label: 'Blue' }], multiple: true },
    { question: 'Why?' },
  ]

  test('are shown with numbered options, and numbers stand for them', async () => {
    const typed = ['2, 1', 'because']
    const shown: string[] = []
    const { answers, calls } = setup('ask', (question) => {
      shown.push(question)
      return Promise.resolve(typed.shift() ?? '')
    })
    await answers.question({ id: 'que_1', sessionId: 'ses_1', messageId: 'msg_1', questions })
    expect(shown).toEqual(['Which? (numbers, with commas)\n  1. Red - warm\n  2. Blue\n> ', 'Why?\n> '])
    expect(calls).toEqual([
      {
        id: 'v2.interactions.questions.reply',
        input: { params: { request_id: 'que_1' }, body: { answers: [['Blue', 'Red'], ['because']] } },
      },
    ])
  })

  test('are declined when nobody is there', async () => {
    const { answers, calls } = setup('once')
    await answers.question({ id: 'que_1', sessionId: 'ses_1', messageId: 'msg_1', questions })
    expect(calls).toEqual([{ id: 'v2.interactions.questions.reject', input: { params: { request_id: 'que_1' }, body: undefined } }])
  })

  test('of unknown shape are shown as they are', () => {
    expect(readQuestions([42])).toEqual([{ text: '42\n> ', labels: [], multiple: false }])
    expect(readAnswer({ text: '', labels: ['a'], multiple: false }, '7')).toEqual(['7'])
  })
})
