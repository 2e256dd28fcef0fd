// Holds sessions-events §6.4.
import { describe, expect, it } from 'vitest'
import { conversationOf, leadMessages, summaryMessages } from '../../../src/actors/session/history/conversation.js'
import { cleanSummary, summaryPrompt, toText } from '../../../src/actors/session/compaction/summary-text.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import type { Message, Part } from '../../../src/protocol/message/message.js'

const SESSION = 'ses_1'
const usage = { input: 1, output: 1, reasoning: 0, cache: { read: 0, write: 0 } }
type PartFields = { readonly type: Part['type'] } & Record<string, unknown>

function message(id: string, role: 'user' | 'assistant', parts: readonly PartFields[], info: object = {}): Message {
  const own = role === 'user' ? { agent: 'build' } : { mode: 'primary', tokens: usage, time: { created: 1, completed: 2 } }
  const placed = parts.map((part, at) => ({ id: `prt_${id}_${at}`, sessionId: SESSION, messageId: id, ...part }))
  return { info: { id, role, sessionId: SESSION, time: { created: 1 }, ...own, ...info }, parts: placed } as unknown as Message
}
const said = (id: string, role: 'user' | 'assistant', text: string, info: object = {}) => message(id, role, [{ type: 'text', text }], info)
const mark = (id: string) => message(id, 'user', [{ type: 'compaction', reason: 'auto', summary: false }], { agent: 'svc' })
const summary = (id: string, text: string, tail?: string, info: object = {}) =>
  message(
    id,
    'assistant',
    [
      { type: 'compaction', reason: 'summary', summary: true, ...(tail !== undefined && { tailStartMessageId: tail }) },
      { type: 'text', text },
    ],
    { mode: 'compaction', ...info },
  )
const ids = (transcript: readonly Message[]) => conversationOf(transcript).messages.map(({ info }) => info.id)

const before = [said('u1', 'user', 'first'), said('a1', 'assistant', 'one'), said('u2', 'user', 'second'), said('a2', 'assistant', 'two')]

describe('what a model is shown of a conversation', () => {
  it('is all of it without a summary, but no message that is being written', () => {
    const open = said('a3', 'assistant', 'thr', { time: { created: 1 } })
    expect(ids([...before, open])).toEqual(['u1', 'a1', 'u2', 'a2'])
    expect(summaryMessages(conversationOf(before))).toEqual([])
  })

  it('is the latest summary, the tail and what came later', () => {
    const transcript = [
      ...before,
      mark('m1'),
      summary('s1', 'old', 'u2'),
      said('u3', 'user', 'third'),
      mark('m2'),
      summary('s2', 'new', 'a2'),
    ]
    const conversation = conversationOf([...transcript, said('u4', 'user', 'fourth')])
    expect(conversation.messages.map(({ info }) => info.id)).toEqual(['a2', 'u3', 'u4'])
    expect(JSON.stringify(summaryMessages(conversation))).toContain('new')
    expect(leadMessages(conversation, 100)).toEqual([{ role: 'user', content: [{ type: 'text', text: expect.stringMatching(/second$/) }] }])
  })

  it('begins with the user: what was said before is repeated, cut to size, or the model is asked to go on', () => {
    const long = [said('u1', 'user', 'heron '.repeat(1000)), mark('m1'), summary('s1', 'new')]
    const [lead] = leadMessages(conversationOf([...long, said('a2', 'assistant', 'on')]), 100)
    expect(JSON.stringify(lead)).toContain('characters left out')
    expect(JSON.stringify(lead).length).toBeLessThan(800)
    const alone = [said('a1', 'assistant', 'on'), mark('m1'), summary('s1', 'new')]
    expect(JSON.stringify(leadMessages(conversationOf(alone), 100))).toContain('Continue from the summary.')
    expect(leadMessages(conversationOf([...long, said('u2', 'user', 'next')]), 100)).toEqual([])
  })

  it('is what it was when a compaction failed, was cut short, or its summary was deleted', () => {
    const failed = summary('s1', 'half', 'u2', { error: { message: 'no' } })
    const open = summary('s1', 'half', 'u2', { time: { created: 1 } })
    for (const ended of [[failed], [open], []]) expect(ids([...before, mark('m1'), ...ended])).toEqual(['u1', 'a1', 'u2', 'a2'])
  })

  it('has no tail when its first message was deleted', () => {
    expect(ids([...before, mark('m1'), summary('s1', 'new', 'gone'), said('u3', 'user', 'third')])).toEqual(['u3'])
  })
})

describe('what is asked of the model that summarises', () => {
  it('shows calls of tools with what came of them, cut, and names files', () => {
    const output = 'x'.repeat(LIMITS.compaction.toolOutput * 2)
    const call = (state: object) => ({ type: 'tool' as const, tool: 'read', callId: 'c', state: { input: { filePath: 'a.ts' }, ...state } })
    const text = toText(
      message('a1', 'assistant', [
        { type: 'step-start' },
        { type: 'reasoning', text: 'hidden' },
        call({ status: 'completed', output }),
        call({ status: 'error', error: 'no such file' }),
      ]),
    )
    expect(text).toContain('[tool read {"filePath":"a.ts"}]\nxxx')
    expect(text).toContain('failed: no such file')
    expect(text).not.toContain('hidden')
    expect(text.length).toBeLessThan(LIMITS.compaction.toolOutput + 300)
    const file = { type: 'file' as const, mime: 'image/png', url: `data:image/png;base64,${'A'.repeat(999)}`, filename: 'plan.png' }
    expect(toText(message('u1', 'user', [file]))).toBe('[user]\n[file: plan.png]')
    expect(toText(message('a2', 'assistant', [{ type: 'step-start' }]))).toBe('')
  })

  it('names every section, and asks to update what there is', () => {
    const first = summaryPrompt('said', undefined)
    for (const heading of [
      '## Goal',
      '## Constraints',
      '### Done',
      '### In progress',
      '### Blocked',
      '## Key',
      '## Next',
      '## Critical',
      '## Relevant',
    ])
      expect(first).toContain(`\n${heading}`)
    expect(first).not.toContain('up to date')
    expect(summaryPrompt('said', 'before')).toMatch(/^<summary-so-far>\nbefore\n<\/summary-so-far>[^]*up to date/)
  })
})

describe('a summary', () => {
  it.each([
    ['thoughts', '<think>hm\n## Goal</think>\n## Goal\nx', '## Goal\nx'],
    ['thoughts that do not end', '## Goal\nx\n<thinking>and then', '## Goal\nx'],
    ['fences, not what they hold', '```markdown\n## Goal\nx\n```', '## Goal\nx'],
    ['calls of tools written as text', '## Goal\n<tool_call>\n<|tool_calls_begin|>\n[TOOL_CALLS] read\nx', '## Goal\nx'],
    ['nothing else', '## Goal\nuse `a < b` and <div>', '## Goal\nuse `a < b` and <div>'],
  ])('loses %s', (_, answer, clean) => {
    expect(cleanSummary(answer)).toBe(clean)
  })

  it('is cut to its length, and says so', () => {
    const cut = cleanSummary('x'.repeat(LIMITS.compaction.summary + 1))
    expect(cut).toHaveLength(LIMITS.compaction.summary)
    expect(cut).toMatch(/\[The summary was longer and is cut here\.\]$/)
    expect(cleanSummary('x'.repeat(100), 80)).toHaveLength(80)
  })
})
