import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { readAnswerSchema } from '../../../../src/cli/commands/run/answer-schema.js'
import { attachmentsOf, mentionsOf } from '../../../../src/cli/commands/run/attachments.js'
import { readPrompt } from '../../../../src/cli/commands/run/prompt-input.js'
import { createMeter, reportOf } from '../../../../src/cli/commands/run/report.js'
import { exitCodeOf } from '../../../../src/cli/line/wrong-use.js'
import type { SvcEvent } from '../../../../src/published/client/operation-types.js'

let folder = ''
const file = (name: string, content: string | Uint8Array) => {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-prompt-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

function input(text: string | undefined, isTTY = false): NodeJS.ReadStream {
  const stream = Object.assign(new PassThrough(), { isTTY })
  if (text !== undefined) stream.end(text)
  return stream as unknown as NodeJS.ReadStream
}
const never = () => expect.unreachable('nothing was silent')

describe('the text of a prompt', () => {
  test.each([
    ['ask', 'piped\n', 'ask\n\npiped'],
    [undefined, 'piped\n', 'piped'],
    ['ask', '', 'ask'],
  ])('is %j with %j after it', async (typed, piped, text) => {
    expect(await readPrompt(typed, input(piped), never)).toBe(text)
  })

  test('is what was typed on a terminal', async () => {
    expect(await readPrompt('ask', input(undefined, true), never)).toBe('ask')
    await expect(readPrompt(undefined, input(undefined, true), never)).rejects.toThrow('a prompt is needed')
  })

  test('does not wait for ever for an input nobody writes to', async () => {
    const silent = vi.fn<() => void>()
    expect(await readPrompt('ask', input(undefined), silent, 1)).toBe('ask')
    expect(silent).toHaveBeenCalledOnce()
  })

  test('that is empty is wrong use', async () => {
    const error: unknown = await readPrompt(undefined, input(' \n'), never).catch((cause: unknown) => cause)
    expect([String(error), exitCodeOf(error)]).toEqual([expect.stringContaining('the prompt on standard input is empty'), 2])
  })
})

describe('files of a prompt', () => {
  test('are those that are named and those it mentions, once each', () => {
    const notes = file('notes.md', '# Notes')
    const shot = file('shot.PNG', Uint8Array.of(137, 80, 0))
    const parts = attachmentsOf({ files: [notes], images: [shot] }, 'compare @notes.md, @shot.PNG and @nothing', folder)
    expect(parts).toEqual([
      { type: 'file', filename: 'notes.md', mime: 'text/plain', url: `data:text/plain;base64,${btoa('# Notes')}` },
      { type: 'file', filename: 'shot.PNG', mime: 'image/png', url: expect.stringMatching(/^data:image\/png;base64,/) as string },
    ])
    expect(attachmentsOf({ files: [file('a.bin', Uint8Array.of(0, 1))], images: [] }, '', folder)[0]?.mime).toBe('application/octet-stream')
  })

  test('are mentioned at the start of a word', () => {
    expect(mentionsOf('@a.ts: see (@src/b.ts) and "@c d", not me@example.org or @')).toEqual(['a.ts', 'src/b.ts', 'c'])
  })

  test.each([
    [{ files: ['nope.txt'], images: [] }, 'nope.txt does not exist'],
    [{ files: ['.'], images: [] }, '. is not a file'],
    [{ files: [], images: ['package.json'] }, 'package.json is not an image'],
  ])('that cannot be sent are refused: %j', (named, problem) => {
    expect(() => attachmentsOf(named, '', folder)).toThrow(problem)
  })

  test('are not larger than a request may be', () => {
    const large = file('large.txt', 'x'.repeat(2_500_000))
    expect(() => attachmentsOf({ files: [large], images: [] }, '', folder)).toThrow('at most')
  })
})

describe('an answer as a value', () => {
  const schema = () => readAnswerSchema(file('schema.json', '{"type":"object","required":["n"],"properties":{"n":{"type":"number"}}}'))

  test('is read with and without a fence', () => {
    for (const text of ['{"n": 3}', '```json\n{"n": 3}\n```\n']) expect(schema().read(text)).toEqual({ ok: true, value: { n: 3 } })
  })

  test.each([
    ['three', 'it is not JSON'],
    ['{"n": "3"}', 'n '],
    ['{}', 'the value '],
  ])('that is %s is told what is wrong', (text, problem) => {
    expect(schema().read(text)).toEqual({ ok: false, problem: expect.stringContaining(problem) as string })
  })

  test.each([
    ['nonsense', 'cannot be read as JSON'],
    ['{"type": 3}', 'is not a JSON Schema'],
  ])('needs a schema, which %s is not', (text, problem) => {
    expect(() => readAnswerSchema(file('broken.json', text))).toThrow(problem)
  })
})

describe('the record of a run', () => {
  const tokens = { input: 10, output: 2, reasoning: 1, cache: { read: 3, write: 4 } }
  const answer = (id: string, parentId: string, cost: number) =>
    ({
      type: 'message.updated',
      data: { sessionID: 's', info: { role: 'assistant', id, parentId, cost, tokens, providerId: 'p', modelId: 'm', agent: 'build' } },
    }) as unknown as SvcEvent

  test('adds up every answer to its prompts once', () => {
    const meter = createMeter(new Set(['msg_1']))
    for (const event of [answer('a', 'msg_1', 0), answer('a', 'msg_1', 1), answer('b', 'msg_1', 2), answer('c', 'msg_other', 9)])
      meter.see(event)
    expect(meter.spent()).toEqual({
      usage: { input: 20, output: 4, reasoning: 2, cacheRead: 6, cacheWrite: 8 },
      cost: 3,
      model: 'p/m',
      agent: 'build',
    })
  })

  test.each([
    [{}, 'done', 0],
    [{ refused: [{ permission: 'edit', title: 't', patterns: [] }] }, 'refused', 3],
    [{ error: { message: 'no' } }, 'failed', 1],
    [{ error: { message: 'no' }, isInterrupted: true }, 'interrupted', 130],
  ])('of %j says %s and ends with %i', (known, status, exitCode) => {
    const report = reportOf({ refused: [], isInterrupted: false, durationMs: 1.4, ...known }, createMeter(new Set()).spent())
    expect(report).toMatchObject({ type: 'result', status, exitCode, answer: '', durationMs: 1 })
  })
})
