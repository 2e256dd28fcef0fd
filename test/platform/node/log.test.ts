import { expect, it } from 'vitest'
import { createNodeLog, type LogLevel, parseLogLevel } from '../../../src/platform/node/log.js'

function logging(level: LogLevel) {
  const lines: string[] = []
  return { lines, log: createNodeLog({ level, now: () => 0, write: (line) => lines.push(line) }) }
}

it('writes one line of JSON per fact, at its level and above', () => {
  const { lines, log } = logging('info')
  log.debug('unseen')
  log.info('server started', { port: 1, sessionId: 'ses_1' })
  log.error('failed', { message: 'cannot replace the message' })
  expect(parse(lines)).toEqual([
    { time: '1970-01-01T00:00:00.000Z', level: 'info', message: 'server started', port: 1, sessionId: 'ses_1' },
    { time: '1970-01-01T00:00:00.000Z', level: 'error', message: 'failed' },
  ])
  expect(lines.every((line) => line.indexOf('\n') === line.length - 1)).toBe(true)
})

it('escapes controls, formats and bidirectional marks without losing them', () => {
  const { lines, log } = logging('info')
  const text = 'a\u001b[2J\r\n\u0085\u007f\u202e\u2028\u200b\u{e0001}é😀'
  log.warn(text)
  expect(lines[0]).toMatch(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*\n$/u)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ message: text })
})

it('hides fields that are named like secrets', () => {
  const { lines, log } = logging('info')
  log.info('x', { headers: { authorization: 'Bearer abc', Cookie: 'c' }, apiKey: 'k', accessToken: 't', tokens: 12, inputTokens: 'many' })
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    headers: { authorization: '[redacted]', Cookie: '[redacted]' },
    apiKey: '[redacted]',
    accessToken: '[redacted]',
    tokens: 12,
    inputTokens: 'many',
  })
})

it('tells errors with code and cause, and survives what JSON cannot hold', () => {
  const { lines, log } = logging('info')
  log.error('x', { error: Object.assign(new Error('outer', { cause: new Error('inner') }), { code: 'EIO' }) })
  const cycle: Record<string, unknown> = {}
  cycle['self'] = cycle
  log.error('y', { cycle, big: 1n })
  log.error('z', { big: 1n })
  expect(parse(lines)).toMatchObject([
    { error: { name: 'Error', message: 'outer', code: 'EIO', cause: { message: 'inner' } } },
    { message: 'y', fields: 'not serialisable' },
    { message: 'z', big: '1' },
  ])
})

it('bounds every text and every line', () => {
  const { lines, log } = logging('info')
  log.info('a', { text: 'x'.repeat(10_000) })
  log.info('b', { list: Array.from({ length: 100 }, () => 'x'.repeat(4000)) })
  expect(parse(lines)).toMatchObject([
    { text: `${'x'.repeat(4096)}… (10000 characters)` },
    { message: 'b', fields: 'omitted: 400373 characters' },
  ])
})

it('takes its level from a name, and info from anything else', () => {
  expect([' DEBUG ', 'error', 'silent', 'loud', undefined].map(parseLogLevel)).toEqual(['debug', 'error', 'silent', 'info', 'info'])
})

function parse(lines: string[]): unknown[] {
  return lines.map((line): unknown => JSON.parse(line))
}
