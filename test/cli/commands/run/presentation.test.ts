import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { PromptEvent } from '../../../../src/published/client/client-types.js'
import { createPresentation, createSilentPresentation } from '../../../../src/cli/commands/run/presentation.js'
import type { Terminal } from '../../../../src/cli/terminal/terminal.js'
import type { ToolPart } from '../../../../src/protocol/message/message.js'
import { fakeTerminal } from './fake-terminal.js'

function shown(
  events: readonly PromptEvent[],
  given: Partial<Terminal> = {},
  options = { isVerbose: false, isThinking: false },
): readonly string[] {
  const terminal = fakeTerminal(given)
  const presentation = createPresentation(terminal, options)
  for (const event of events) presentation.show(event)
  presentation.end()
  return terminal.said
}

const says = (delta: string, partId = 'prt_1', messageId = 'msg_1'): PromptEvent => ({ type: 'text', messageId, partId, delta })
const thinks = (delta: string): PromptEvent => ({ type: 'reasoning', messageId: 'msg_1', partId: 'prt_0', delta })
const tool = (state: ToolPart['state'], name = 'read'): PromptEvent => ({
  type: 'tool',
  part: { sessionId: 'ses_1', messageId: 'msg_1', id: 'prt_2', type: 'tool', tool: name, callId: 'call_1', state },
})
const pending = tool({ status: 'pending', input: {}, raw: '' })
const running = tool({ status: 'running', input: { filePath: 'src/\u001b[31ma.ts' }, time: { start: 1 } })
const failed = tool({ status: 'error', input: {}, error: 'no\nsuch file', time: { start: 1 } })
const withdrawn: PromptEvent = { type: 'withdrawn', messageId: 'msg_1' }
const retry: PromptEvent = { type: 'retry', attempt: 1, attempts: 4, message: 'overloaded', next: 0 }

describe('for programs', () => {
  test('what was withdrawn is never said, and the rest once it is settled', () => {
    expect(shown([says('ba'), withdrawn, says('go'), pending, says('od'), running, says('half', 'prt_9')])).toEqual([
      'break',
      'text good',
      'note → read src/ [31ma.ts',
      'break',
      'text half',
      'break',
    ])
    expect(shown([says('one'), says('two', 'prt_4', 'msg_2'), withdrawn])).toEqual(['break', 'text one', 'break', 'text two', 'break'])
  })

  test('tools are told when they start and when they fail, once, in one line without control characters', () => {
    expect(shown([pending, running, running, failed])).toEqual(['note → read src/ [31ma.ts', 'note ✗ read: no such file', 'break'])
  })

  test('what happens beside the answer is told in notes', () => {
    expect(shown([thinks('hm'), retry, { type: 'compacting', messageId: 'msg_2' }])).toEqual([
      'note overloaded; attempt 2 of 4, again in 0 s',
      'note The conversation is being compacted.',
      'break',
    ])
  })

  test('what the model thinks, and what tools answered, is told where it is asked for', () => {
    const done = tool({
      status: 'completed',
      input: {},
      output: 'line one\nline two',
      metadata: {},
      title: 'a.ts',
      time: { start: 1, end: 2 },
    })
    expect(shown([thinks('hm'), thinks('\nso'), done], {}, { isVerbose: true, isThinking: true })).toEqual([
      'line hm',
      'line so',
      'note   line one',
      'note   line two',
      'break',
    ])
  })

  test('a record tells only that events were lost', () => {
    const terminal = fakeTerminal()
    for (const event of [says('Hello'), retry, { type: 'gap', reason: 'expired', after: 7 } as const])
      createSilentPresentation(terminal).show(event)
    expect(terminal.said).toEqual(['note the server no longer keeps some events of this run; what happened is read again'])
  })
})

describe('on a screen', () => {
  const screen = { isLive: true, isRich: true }

  test('the answer comes block by block, as soon as a block is whole', () => {
    expect(shown([says('# Title\n\nSome *wo'), says('rds*\n\n- one\n'), says('- two')], screen)).toEqual([
      'status waiting for the model',
      'status writing',
      'answer Title',
      'answer',
      'answer Some words',
      'answer',
      'answer • one',
      'answer • two',
      'rest',
      'break',
    ])
  })

  test('the moving line has the end of the block that is being written, as long as there is room for it', () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const terminal = fakeTerminal({ ...screen, width: () => 40 })
    const { show, end } = createPresentation(terminal, { isVerbose: false, isThinking: false })
    for (const word of ['one ', 'two\n', '\u001b[31mthree']) show(says(word))
    vi.advanceTimersByTime(150)
    show(says(' and what is said after that is longer than a line'))
    vi.advanceTimersByTime(150)
    end()
    expect(terminal.said.filter((each) => each.startsWith('status writing'))).toEqual([
      'status writing',
      expect.stringMatching(/^status writing {2}one two .*three$/),
      expect.stringMatching(/^status writing {2}….*longer than a line$/),
    ])
  })

  test('a call is in the moving line while it runs, and a card when it is over', () => {
    const patch = '--- a.ts\n+++ a.ts\n@@ -1 +1 @@\n-old\n+new\n'
    const edited = tool(
      {
        status: 'completed',
        input: {},
        output: 'done',
        metadata: { files: [{ relativePath: 'a.ts', patch }] },
        title: 'Edit a.ts',
        time: { start: 0, end: 1500 },
      },
      'edit',
    )
    expect(shown([running, edited, failed, retry], screen)).toEqual([
      'status waiting for the model',
      'status read src/ [31ma.ts',
      'line ● Edit a.ts  1.5 s',
      'line   @@ -1 +1 @@',
      'line   -old',
      'line   +new',
      'status waiting for the model',
      'line ✗ read',
      'line   no',
      'line   such file',
      'status attempt 2 of 4: overloaded, in 0 s',
      'rest',
      'break',
    ])
  })

  test('nothing moves while a person is asked', () => {
    const request = { id: 'per_1', sessionId: 's', messageId: 'm', title: 't', permission: 'edit', patterns: [], always: [] }
    expect(shown([says('half'), { type: 'permission', request }, { type: 'settled', requestId: 'per_1' }], screen)).toEqual([
      'status waiting for the model',
      'status writing',
      'answer half',
      'rest',
      'status waiting for the model',
      'rest',
      'break',
    ])
  })
})
