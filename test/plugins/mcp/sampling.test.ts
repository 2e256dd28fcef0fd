// Holds subsystems b.2.
/** Servers that ask the model: nobody is asked unless the configuration lets them, the rules decide each question, and all of it is bounded. */
import { expect, test } from 'vitest'
import { LIMITS } from '../../../src/protocol/limits.js'
import { serverFault } from '../../../src/protocol/mcp/mcp-config.js'
import { hostile, openMcp } from './fixture.js'

const ACT = 'mcp__s__act'
type Decision = 'allow' | 'ask' | 'deny'
async function open(sampling: unknown, decision: Decision = 'ask', answer = 'Allow') {
  const mcp = openMcp({ s: { ...hostile('samples'), sampling } }, { decide: () => decision, answers: [[answer]] })
  await mcp.prepare()
  const outcomes = async (input: object = {}) => JSON.parse((await mcp.call(ACT, input)).output) as string[]
  return { mcp, outcomes }
}

test('a server that is not configured to asks nobody', async () => {
  const { mcp, outcomes } = await open(false, 'allow')
  expect(await outcomes()).toEqual([expect.stringContaining('not found')])
  expect([mcp.modelled, mcp.questions]).toEqual([[], []])
})

test('the rules decide each question, and the person where they say so', async () => {
  const allowed = await open(true, 'allow')
  expect(await allowed.outcomes({ count: 2 })).toEqual(['an answer', 'an answer'])
  expect([allowed.mcp.modelled.length, allowed.mcp.questions.length]).toEqual([2, 0])

  const denied = await open(true, 'deny')
  expect(await denied.outcomes()).toEqual([expect.stringContaining('rejected')])
  expect([denied.mcp.modelled.length, denied.mcp.questions.length]).toEqual([0, 0])

  const asked = await open(true)
  expect(await asked.outcomes({ count: 2 })).toEqual(['an answer', 'an answer'])
  expect(asked.mcp.questions).toHaveLength(2)
  expect(asked.mcp.questions[0]).toMatchObject({
    header: 's',
    question: expect.stringMatching(/asks the model.*at most 4096 tokens.*allowed all tools/s),
  })

  const refused = await open(true, 'ask', 'Decline')
  expect(await refused.outcomes()).toEqual([expect.stringContaining('rejected')])
  expect(refused.mcp.modelled).toEqual([])
})

test('questions of a call are counted, answers bounded, and what they cost stands beside the result', async () => {
  const { mcp, outcomes } = await open({ requests: 3, maxTokens: 7 }, 'allow')
  expect(await outcomes({ count: 5 })).toEqual([
    ...Array.from({ length: 3 }, () => 'an answer'),
    ...Array.from({ length: 2 }, () => expect.stringContaining('3 times in a call')),
  ])
  expect(mcp.modelled.map(({ sessionId, maxOutputTokens }) => [sessionId, maxOutputTokens])).toEqual(
    Array.from({ length: 3 }, () => ['ses_1', 7]),
  )
  expect(await outcomes()).toEqual(['an answer'])
  expect((await mcp.call(ACT)).metadata).toMatchObject({ mcp: { sampling: { requests: 1, inputTokens: 3, outputTokens: 2 } } })
})

test.each([
  ['tools', { tools: [{ name: 'rm', inputSchema: { type: 'object' } }] }, 'gets no tools'],
  ['sounds', { messages: [{ role: 'user', content: { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' } }] }, 'not with "audio"'],
  ['too many words', { systemPrompt: 'x'.repeat(LIMITS.mcp.samplingText) }, 'characters'],
  [
    'too many messages',
    { messages: Array.from({ length: 101 }, () => ({ role: 'user', content: { type: 'text', text: 'x' } })) },
    'messages',
  ],
  [
    'too large pictures',
    { messages: [{ role: 'user', content: { type: 'image', mimeType: 'image/png', data: 'A'.repeat(LIMITS.mcp.attachmentBytes + 4) } }] },
    'bytes of pictures',
  ],
])('a question with %s is refused', async (_name, question, reason) => {
  const { mcp, outcomes } = await open(true, 'allow')
  expect(await outcomes(question)).toEqual([expect.stringContaining(reason)])
  expect(mcp.modelled).toEqual([])
  const fine = {
    systemPrompt: 'Be brief.',
    messages: [
      { role: 'user', content: { type: 'image', mimeType: 'image/png', data: 'AAAA' } },
      { role: 'assistant', content: { type: 'text', text: 'A picture.' } },
    ],
  }
  expect(await outcomes(fine)).toEqual(['an answer'])
})

test('what it asks passes for nothing that the runtime says, and the person is told how much is not shown', async () => {
  const { mcp, outcomes } = await open(true)
  await outcomes({ systemPrompt: 'y'.repeat(10_000) })
  expect(JSON.stringify(mcp.modelled)).not.toMatch(/<\/?(svc-runtime-notification|system-reminder)>/)
  expect(mcp.questions[0]).toMatchObject({ question: expect.stringMatching(/\[… \d+ more characters\]$/) })
})

test('what it may ask is configured within bounds', () => {
  const fault = (sampling: unknown) => serverFault('s', { type: 'local', command: 'x', sampling })
  expect(fault({ requests: 1, maxTokens: 1 })).toBeUndefined()
  expect(fault({ requests: 0 })).toContain('"sampling')
  expect(fault({ maxTokens: 1_000_000 })).toContain('"sampling')
})
