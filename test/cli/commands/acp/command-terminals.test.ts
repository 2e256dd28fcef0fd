import { describe, expect, test } from 'vitest'
import { createCommandTerminals } from '../../../../src/cli/commands/acp/command-terminals.js'
import type { ToolPart } from '../../../../src/protocol/message/message.js'

const MOST = 64 * 1024
/** Begins a terminal anew. */
const CLEAR = '\u001b[2J\u001b[3J\u001b[H'
const time = { start: 1, end: 2 }

function part(state: object, metadata?: object, tool = 'bash'): ToolPart {
  const whole = { id: 'prt_1', sessionId: 'ses_1', messageId: 'msg_1', type: 'tool', tool, callId: 'call_1', state, metadata }
  return whole as never
}
const running = (output?: string) => part({ status: 'running', input: {}, time }, output === undefined ? undefined : { output })
const completed = (output: string, exit: number | null = 0) =>
  part({ status: 'completed', input: {}, title: '', output, metadata: { exit }, time })
const failed = (error: string, metadata: object) => part({ status: 'error', input: {}, error, time }, metadata)

type Told = ReturnType<ReturnType<typeof createCommandTerminals>['update']>
const printed = (told: Told) => (told?._meta?.['terminal_output'] as { readonly data: string } | undefined)?.data ?? ''

/** What a terminal shows that is told of these parts, and how its command ended. */
function shownAfter(parts: readonly ToolPart[]): { readonly text: string; readonly exit: unknown } {
  const terminals = createCommandTerminals(MOST)
  terminals.open(running(), '/at')
  let text = ''
  let exit: unknown
  for (const each of parts) {
    const told = terminals.update(each)
    const data = printed(told)
    const ended = told?._meta?.['terminal_exit'] as { readonly exit_code: unknown } | undefined
    const cleared = data.split(CLEAR)
    text = cleared.length > 1 ? (cleared.at(-1) ?? '') : text + data
    if (ended !== undefined) exit = ended.exit_code
  }
  return { text, exit }
}

describe('a terminal of a command shows in the end what the server keeps', () => {
  test.each([
    ['of which nothing was shown before', [completed('one\ntwo')], 'one\ntwo'],
    ['that was shown in pieces', [running('one\n'), running('one\ntwo\n'), completed('one\ntwo')], 'one\ntwo\n'],
    ['whose last piece came with the end', [running('one\n'), completed('one\ntwo')], 'one\ntwo'],
    ['whose streams came mixed', [running('out\nerr\n'), running('out\nerr\nout\n'), completed('out\nout\nerr')], 'out\nout\nerr'],
    [
      'that repeats itself',
      [running('y\n'.repeat(9)), running('y\n'.repeat(12)), completed('y\n'.repeat(15).trimEnd())],
      'y\n'.repeat(15).trimEnd(),
    ],
  ])('%s', (_, parts, text) => {
    expect(shownAfter(parts)).toEqual({ text, exit: 0 })
  })

  test('also where its beginning was dropped while it ran, and each line is told once until then', () => {
    const lines = Array.from({ length: 12_000 }, (_, index) => `line ${index}\n`)
    const terminals = createCommandTerminals(MOST)
    terminals.open(running(), '/at')
    let told = ''
    for (let upTo = 500; upTo <= lines.length; upTo += 500) {
      told += printed(
        terminals.update(
          running(
            lines
              .slice(0, upTo)
              .join('')
              .slice(-30 * 1024),
          ),
        ),
      )
    }
    expect(told).toBe(lines.join(''))
    const last = printed(terminals.update(completed(lines.join('').trimEnd())))
    expect(last.startsWith(`${CLEAR}line 0\n`)).toBe(true)
  })
})

test('a command that fails has its code and its output, one that was ended what the server says of it', () => {
  const failure = 'The command failed with exit status 3. Its output:\n\noops'
  expect(shownAfter([running('oops\n'), failed(failure, { exit: 3 })])).toEqual({ text: 'oops\n', exit: 3 })
  const stopped = 'The command was stopped after 10 ms. Its output so far:\n\nhalf'
  expect(shownAfter([running('half'), failed(stopped, { exit: null })])).toEqual({ text: stopped, exit: null })
  expect(shownAfter([running('half'), failed('aborted', { interrupted: true })])).toEqual({ text: 'half\naborted', exit: null })
})

test('what has not run, and what is no command, has no terminal', () => {
  const terminals = createCommandTerminals(MOST)
  expect(terminals.open(part({ status: 'running', input: { workdir: 'in' }, time }), '/at')).toEqual({
    content: [{ type: 'terminal', terminalId: 'call_1' }],
    _meta: { terminal_info: { terminal_id: 'call_1', cwd: '/at/in' } },
  })
  expect(terminals.update(failed('not allowed', {}))).toBe(undefined)
  expect(terminals.open(part({ status: 'running', input: {}, time }, {}, 'read'), '/at')).toBe(undefined)
  expect(terminals.update(completed('text'))).toBe(undefined)
})
