// Holds sessions-events §9.
import { describe, expect, test } from 'vitest'
import { type AnswerPolicy, createAnswers, readDecision } from '../../../src/cli/answers/answers.js'
import { readAnswer, readQuestions } from '../../../src/cli/answers/question-text.js'
import type { PermissionRequest } from '../../../src/protocol/interaction/interaction.js'
import { widerPatterns } from '../../../src/protocol/interaction/wider-patterns.js'
import { fakeTerminal } from '../commands/run/fake-terminal.js'

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

type Seen = Parameters<ReturnType<typeof createAnswers>['see']>[0]
const heard = (type: Seen['type'], data: object) => ({ type, data }) as Seen

function setup(policy: AnswerPolicy, typed?: (question: string, signal: AbortSignal) => Promise<string>) {
  const terminal = fakeTerminal({ ask: typed })
  const answers = createAnswers(policy, terminal)
  const { signal } = new AbortController()
  return {
    answers,
    said: terminal.said,
    permission: (asked: PermissionRequest) => answers.onPermission(asked, { signal, wider: widerPatterns(asked) }),
    question: (questions: unknown[]) => answers.onQuestion({ id: 'que_1', sessionId: 'ses_1', messageId: 'msg_1', questions }, { signal }),
  }
}

test('a program that nobody is there to accept is said, and is no refusal: the run goes on without it', async () => {
  const { question, answers, said } = setup('ask')
  const asked = { question: 'May the formatter "prettier" run?', options: [], acceptance: { kind: 'formatter', name: 'prettier' } }
  expect(await question([asked])).toBe('reject')
  expect([answers.refused, said.join()]).toEqual([
    [],
    expect.stringContaining('not accepted, because nobody is here to answer: May the formatter'),
  ])
  expect(await question([asked, { question: 'Which?' }])).toBe('reject')
  expect(answers.refused).toHaveLength(1)
})

describe('an answer of a person', () => {
  const settled = { state: 'answered' as const, asked: 1, settled: 2, by: 'local', request }
  function answering(outcome: object) {
    const sent: unknown[] = []
    const terminal = fakeTerminal({ ask: () => Promise.resolve('y') })
    const door = { reply: (given: unknown) => Promise.resolve(sent.push(given)), get: () => Promise.resolve(outcome) }
    const answers = createAnswers('ask', terminal, () => ({ permissions: door, questions: door }) as never)
    const { signal } = new AbortController()
    return { sent, said: terminal.said, onPermission: () => answers.onPermission(request, { signal, wider: [] }) }
  }

  test('is sent, and nothing is said where it counts', async () => {
    const { sent, said, onPermission } = answering({ ...settled, reply: 'once' })
    expect(await onPermission()).toBeUndefined()
    expect([sent, said.filter((line) => line.includes('late'))]).toEqual([[{ requestId: 'per_1', body: { reply: 'once' } }], []])
  })

  test('that comes late is told which one counted', async () => {
    const { said, onPermission } = answering({ ...settled, reply: 'reject', message: 'no' })
    await onPermission()
    expect(said.join()).toMatch(/too late: refused \(no\), by local at/)
  })
})

describe('permission requests', () => {
  test.each(['once', 'always', 'reject'] as const)('are answered by the policy %s without asking', async (policy) => {
    const { permission, answers } = setup(policy, () => Promise.reject(new Error('asked')))
    expect(await permission(request)).toEqual({ reply: policy })
    expect(answers.refused).toEqual([])
  })

  test('of an unattended run are left to others, after saying what was asked', async () => {
    const { permission, question, said } = setup('wait', () => Promise.reject(new Error('asked')))
    expect([await permission(request), await question([])]).toEqual([undefined, undefined])
    expect(said.join()).toContain('Run ls (bash: ls)')
  })

  test('that nobody answered in time are counted once each; what somebody refused is not', () => {
    const { answers, said } = setup('wait')
    const replied = (requestID: string, reason?: 'timeout') =>
      heard('permission.replied', { ...request, requestID, reply: 'reject', info: request, ...(reason && { reason }) })
    answers.see(replied('per_1', 'timeout'))
    answers.see(replied('per_1', 'timeout'))
    answers.see(replied('per_2'))
    const info = { id: 'que_1', sessionId: 'ses_1', messageId: 'msg_1', questions: [{ question: 'Which?' }] }
    answers.see(heard('question.rejected', { requestID: 'que_1', sessionID: 'ses_1', info, reason: 'timeout' }))
    expect(answers.refused).toEqual([
      { permission: 'bash', title: 'Run ls', patterns: ['ls'] },
      { permission: 'question', title: 'Which?', patterns: [] },
    ])
    expect(said.filter((line) => line.includes('in time'))).toHaveLength(2)
  })

  test('are refused with a reason when nobody is there, after saying what was asked, and counted', async () => {
    const { permission, answers, said } = setup('ask')
    expect(await permission(request)).toEqual({ reply: 'reject', message: expect.stringContaining('Nobody is present') as string })
    expect(said.join()).toContain('Run ls (bash: ls)')
    expect(answers.refused).toEqual([{ permission: 'bash', title: 'Run ls', patterns: ['ls'] }])
  })

  test('explain the choices, and ask again', async () => {
    const typed = ['?', 'y']
    const asked: string[] = []
    const { permission } = setup('ask', (question) => {
      asked.push(question)
      return Promise.resolve(typed.shift() ?? '')
    })
    expect(await permission(request)).toEqual({ reply: 'once' })
    expect(asked).toEqual([expect.stringContaining('[?]'), expect.stringMatching(/^y: this time[\s\S]*Allow Run ls/)])
  })

  test('offer what was asked and what is wider, each to be remembered', async () => {
    const shown: string[] = []
    const typed = ['a', 'w']
    const { permission } = setup('ask', (question) => {
      shown.push(question)
      return Promise.resolve(typed.shift() ?? '')
    })
    const answers = [await permission(request), await permission(request)]
    await permission({ ...request, always: [], metadata: undefined })
    expect(shown).toEqual([
      'Allow Run ls (bash: ls)?\n  [y] once  [a] always (just this: ls)  [w] always, and also ls *  [n] no, or say what to do instead  [?] what that means: ',
      shown[0],
      'Allow Run ls (bash: ls)?\n  [y] once  [n] no, or say what to do instead  [?] what that means: ',
    ])
    expect(answers).toEqual([{ reply: 'always' }, { reply: 'always', alwaysPatterns: ['ls *'] }])
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
    const { question } = setup('ask', (text) => {
      shown.push(text)
      return Promise.resolve(typed.shift() ?? '')
    })
    const answers = await question(questions)
    expect(shown).toEqual(['Which? (numbers, with commas)\n  1. Red - warm\n  2. Blue\n> ', 'Why?\n> '])
    expect(answers).toEqual([['Blue', 'Red'], ['because']])
  })

  test('are declined when nobody is there', async () => {
    expect(await setup('once').question(questions)).toBe('reject')
  })

  test('of unknown shape are shown as they are', () => {
    expect(readQuestions([42])).toEqual([{ text: '42\n> ', labels: [], multiple: false }])
    expect(readAnswer({ text: '', labels: ['a'], multiple: false }, '7')).toEqual(['7'])
  })
})
