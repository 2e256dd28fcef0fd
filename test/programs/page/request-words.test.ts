/** The page says what the command line says: of answers, of decisions and of schedules. */
import { describe, expect, test } from 'vitest'
import { hasCounted as countedThere, outcomeText } from '../../../src/cli/answers/outcome-text.js'
import { explanationText } from '../../../src/cli/commands/permission/explanation-text.js'
import { scheduleWords as wordsThere } from '../../../src/cli/commands/workflow/workflow-words.js'
import { emptyLog } from '../../../src/programs/page/views/empty-log.js'
import {
  explanationLines,
  hasCounted,
  type Outcome,
  outcomeWords,
  questionOf,
  widerOf,
} from '../../../src/programs/page/views/request-words.js'
import { scheduleWords } from '../../../src/programs/page/views/schedule-words.js'
import type { Explanation } from '../../../src/protocol/interaction/explanation.js'
import { widerPatterns } from '../../../src/protocol/interaction/wider-patterns.js'
import { WorkflowSchedule } from '../../../src/protocol/workflow/workflow.js'

const PERMISSION = {
  request: {
    id: 'per_1',
    sessionId: 'ses_1',
    messageId: 'msg_1',
    title: 'git push',
    permission: 'bash',
    patterns: ['git push'],
    always: [],
  },
  asked: 1,
}
const QUESTION = { request: { id: 'que_1', sessionId: 'ses_1', messageId: 'msg_1', questions: [] }, asked: 1 }
const OUTCOMES: readonly Outcome[] = [
  { ...PERMISSION, state: 'pending' },
  ...(['once', 'always', 'reject', 'cancelled'] as const).map(
    (reply): Outcome => ({ ...PERMISSION, state: 'answered', reply, by: 'ada', settled: 1_700_000_000_000 }),
  ),
  { ...PERMISSION, state: 'answered', reply: 'reject', message: 'not\nnow' },
  { ...QUESTION, state: 'answered', answers: [['Blue'], [], ['a', 'b']], by: 'ada' },
  { ...QUESTION, state: 'answered' },
  ...['timeout', 'cancelled', 'restart', 'else'].map((reason): Outcome => ({ ...PERMISSION, state: 'withdrawn', reason, settled: 1 })),
]

test.each(OUTCOMES.map((each) => [outcomeText(each), each] as const))('what counted: %s', (words, outcome) => {
  expect(outcomeWords(outcome)).toBe(words)
})

test('an answer has counted where the record of the request says the same', () => {
  const sent = [
    { reply: 'once' },
    { reply: 'reject' },
    { reply: 'reject', message: 'not\nnow' },
    { answers: undefined },
    { answers: [['Blue'], [], ['a', 'b']] },
  ] as const
  const told = OUTCOMES.map((outcome) => sent.map((each) => hasCounted(outcome, each)))
  expect(told).toEqual(OUTCOMES.map((outcome) => sent.map((each) => countedThere(outcome, each))))
  expect(told.flat().filter(Boolean).length).toBeGreaterThan(4)
})

describe('what would be decided', () => {
  const RULE = { permission: 'bash', pattern: 'git *', action: 'ask' } as const
  const need = (by: Explanation['needs'][number]['patterns'][number]['by'], more: object = {}): Explanation['needs'][number] => ({
    permission: 'bash',
    decision: 'ask',
    explicit: 'it deletes',
    patterns: [{ pattern: 'git push', decision: 'ask', by, rule: RULE, ...more }],
  })
  const explained = (needs: Explanation['needs']): Explanation => ({ decision: 'ask', agent: 'build', directory: '/', needs })

  test.each(['rule', 'project-rule', 'workflow-rule', 'delegator', 'explicit', 'harmless', 'bypass', 'floor', 'default'] as const)(
    '%s',
    (by) => {
      const [head, line = ''] = explanationLines('git push', explained([need(by)]))
      expect(`${head}\n  ${line}\n`).toBe(explanationText('git push', explained([need(by)])))
    },
  )

  test('an answer is named with its origin; no need is said to be none', () => {
    const answer = {
      id: 'ans_0123456789abcdef',
      permission: 'bash',
      pattern: 'git push',
      place: '/',
      by: 'ada',
      remembered: 1_700_000_000_000,
    }
    const one = explained([need('answer', { answer })])
    const [head, line = ''] = explanationLines('git push', one)
    expect(explanationText('git push', one)).toBe(`${head}\n  ${line} (svc permissions revoke takes it back)\n`)
    expect(explanationLines('ls', explained([]))).toEqual(['asked: ls (agent build)', 'it needs no permission'])
  })
})

test.each([
  { frequency: 'once', date: '2026-12-01', time: '09:00' },
  { frequency: 'once', at: '2026-12-01T09:00:00Z' },
  { frequency: 'hourly', interval: 3, minute: 20 },
  { frequency: 'daily', timezone: 'Europe/Berlin', time: '09:00' },
  { frequency: 'weekly', interval: 2, weekdays: ['mon', 'thu'], time: '18:30' },
  { frequency: 'monthly', monthDay: 3 },
])('the schedule %o', (fields) => {
  const schedule = WorkflowSchedule.parse(fields)
  const { when, zone } = scheduleWords(schedule)
  expect(zone === undefined ? when : `${when}, ${zone}`).toBe(wordsThere(schedule))
})

test('a question of unknown shape is its JSON, and wider patterns are those that are offered', () => {
  expect(questionOf({ question: 'Which?', options: [{ label: 'a' }, 7], multiple: true })).toEqual({
    text: 'Which?',
    options: [{ label: 'a', description: '' }],
    isMultiple: true,
  })
  expect(questionOf(['x'])).toEqual({ text: '["x"]', options: [], isMultiple: false })
  for (const metadata of [{ alwaysPatterns: ['git *', 3] }, {}, null, 'x'])
    expect(widerOf(metadata)).toEqual(widerPatterns({ ...PERMISSION.request, metadata }))
})

test('an empty log says why, and what to do', () => {
  expect(emptyLog({ held: 0, past: 0, isLive: true }, []).text).toContain('svc run')
  expect(emptyLog({ held: 0, past: 0, isLive: false }, []).text).toBe('This trace holds no records.')
  expect(emptyLog({ held: 9, past: 0, isLive: true }, [])).toMatchObject({ act: 'forward' })
  expect(emptyLog({ held: 9, past: 4, isLive: true }, ['only failures'])).toEqual({
    text: 'None of the 4 records up to here is shown: only failures.',
    act: 'show-all',
  })
})
