import { expect, test } from 'vitest'
import type { PromptEvent } from '../../../src/client/client-types.js'
import { createPresentation } from '../../../src/cli/run/presentation.js'
import type { Terminal } from '../../../src/cli/terminal.js'
import type { ToolPart } from '../../../src/protocol/message/message.js'

function shown(events: readonly PromptEvent[], withText = true, isLive = true): string[] {
  const lines: string[] = []
  const say = (kind: string) => (text: string) => void lines.push(`${kind} ${text}`)
  const terminal: Terminal = {
    isLive,
    text: say('text'),
    break: () => void lines.push('break'),
    note: say('note'),
    error: say('error'),
    record: say('record'),
    ask: undefined,
  }
  const presentation = createPresentation(terminal, withText)
  for (const event of events) presentation.show(event)
  return lines
}

const says = (delta: string, partId = 'prt_1'): PromptEvent => ({ type: 'text', messageId: 'msg_1', partId, delta })
const tool = (state: ToolPart['state']): PromptEvent => ({
  type: 'tool',
  part: { sessionId: 'ses_1', messageId: 'msg_1', id: 'prt_2', type: 'tool', tool: 'read', callId: 'call_1', state },
})
const end: PromptEvent = { type: 'end', message: undefined, text: '', error: undefined }

test('the text comes as it is said, each part on lines of its own', () => {
  expect(shown([says('Hel'), says('lo'), says('then', 'prt_3'), end])).toEqual([
    'break',
    'text Hel',
    'text lo',
    'break',
    'text then',
    'break',
  ])
})

test('what is said again after it was withdrawn begins anew', () => {
  expect(shown([says('bad'), { type: 'withdrawn', messageId: 'msg_1' }, says('good')])).toEqual([
    'break',
    'text bad',
    'break',
    'break',
    'text good',
  ])
})

test('for programs, what was withdrawn is never said, and the rest once it is settled', () => {
  const withdrawn: PromptEvent = { type: 'withdrawn', messageId: 'msg_1' }
  const running = tool({ status: 'running', input: { filePath: 'a.ts' }, time: { start: 1 } })
  const pending = tool({ status: 'pending', input: {}, raw: '' })
  expect(shown([says('ba'), withdrawn, says('go'), pending, says('od'), running, says('half', 'prt_9')], true, false)).toEqual([
    'break',
    'text good',
    'note → read a.ts',
  ])
  expect(shown([says('bad'), withdrawn, says('good'), end], true, false)).toEqual(['break', 'text good', 'break'])
  const next: PromptEvent = { type: 'text', messageId: 'msg_2', partId: 'prt_4', delta: 'two' }
  expect(shown([says('one'), next], true, false)).toEqual(['break', 'text one'])
})

test('tools are shown when they start and when they fail, once, in one line without control characters', () => {
  const running = tool({ status: 'running', input: { filePath: 'src/\u001b[31ma.ts' }, time: { start: 1 } })
  const failed = tool({ status: 'error', input: {}, error: 'no\nsuch file', time: { start: 1 } })
  expect(shown([tool({ status: 'pending', input: {}, raw: '' }), running, running, failed])).toEqual([
    'note → read src/ [31ma.ts',
    'note ✗ read: no such file',
  ])
})

test('what happens beside the answer is told in notes', () => {
  const thinks: PromptEvent = { type: 'reasoning', messageId: 'msg_1', partId: 'prt_1', delta: 'hm' }
  const retry: PromptEvent = { type: 'retry', attempt: 2, message: 'overloaded' }
  expect(shown([thinks, retry, { type: 'compacting', messageId: 'msg_2' }])).toEqual([
    'note retrying (2): overloaded',
    'note The conversation is being compacted.',
  ])
})

test('without the text only lost events are told', () => {
  expect(
    shown([says('Hello'), { type: 'retry', attempt: 1, message: '' }, { type: 'gap', reason: 'expired', after: 7 }, end], false),
  ).toEqual(['note the server no longer keeps some events of this run; what happened is read again'])
})
