// Holds plugin-protocol §4.2.
import { describe, expect, test } from 'vitest'
import { createLineSplitter } from '../../src/protocol/plugin/frame-lines.js'

function split(limit: number, chunks: readonly (string | Uint8Array)[], ends = true) {
  const lines: string[] = []
  let oversized = 0
  const splitter = createLineSplitter(limit, {
    onLine: (line) => lines.push(Buffer.from(line).toString()),
    onOversized: () => oversized++,
  })
  for (const chunk of chunks) splitter.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
  if (ends) splitter.end()
  return { lines, oversized }
}

describe('the line splitter', () => {
  test('discards a line of 9 bytes with a limit of 8 and delivers the next one', () => {
    expect(split(9, ['123456789\n{"id":2}\n'])).toEqual({ lines: ['{"id":2}'], oversized: 1 })
  })

  test('counts the newline into the limit', () => {
    expect(split(8, ['1234567\n'])).toEqual({ lines: ['1234567'], oversized: 0 })
    expect(split(8, ['12345678\n'])).toEqual({ lines: [], oversized: 1 })
  })

  test('counts bytes, not characters', () => {
    expect(split(8, ['éééé\nab\n'])).toEqual({ lines: ['ab'], oversized: 1 })
  })

  test('reports a long line once, however many pieces it comes in, and resumes after it', () => {
    expect(split(8, ['12345', '67890', '12345', '6\nok', '\n'])).toEqual({ lines: ['ok'], oversized: 1 })
  })

  test('joins pieces, also when a character or the newline is split', () => {
    const bytes = Buffer.from('{"a":"é"}\r\n{"b":1}\n')
    expect(
      split(
        64,
        Array.from(bytes, (byte) => Uint8Array.of(byte)),
      ).lines,
    ).toEqual(['{"a":"é"}', '{"b":1}'])
  })

  test('strips one carriage return and ignores blank lines', () => {
    expect(split(64, ['a\r\n\n  \t\r\n\r\nb\r\r\n']).lines).toEqual(['a', 'b\r'])
  })

  test('delivers an unterminated last line at the end and not before', () => {
    expect(split(64, ['a\nb'], false).lines).toEqual(['a'])
    expect(split(64, ['a\nb']).lines).toEqual(['a', 'b'])
    expect(split(4, ['a\n12345']).lines).toEqual(['a'])
  })
})
