// Holds subsystems g.
import { describe, expect, test } from 'vitest'
import { type Output, createOutput } from '../../../src/plugins/pty/output.js'

const bytesOf = (text: string) => new TextEncoder().encode(text)

/** Everything a reader gets from a cursor, and where it stands then. */
function readAll(output: Output, cursor?: number): { text: string; end: number; from: number } {
  let position = output.seek(cursor)
  const { cursor: from } = position
  const parts: Uint8Array[] = []
  for (let piece = output.read(position); piece !== undefined; piece = output.read(position)) {
    parts.push(piece.text)
    position = piece.next
  }
  return { text: Buffer.concat(parts).toString(), end: position.cursor, from }
}

/** An output that has read `text` in pieces of `size` bytes. */
function outputOf(text: string | Uint8Array, size = 4095): Output {
  const bytes = typeof text === 'string' ? bytesOf(text) : text
  const output = createOutput()
  for (let at = 0; at < bytes.length; at += size) output.append(bytes.subarray(at, at + size))
  return output
}

describe('the output of a terminal', () => {
  test.each([1, 2, 3, 5, 7, 4095])('decodes characters that are split between reads of %i bytes', (size) => {
    const text = 'aé€😀z'.repeat(50)
    const output = outputOf(text, size)
    output.finish()
    expect(readAll(output)).toEqual({ text, end: text.length, from: 0 })
    expect(output.end).toBe(text.length)
  })

  test('puts U+FFFD where bytes are no UTF-8, at the end too, and counts it', () => {
    const output = outputOf(Uint8Array.of(0x61, 0xff, 0x62, 0xc3, 0x63, 0xf0, 0x9f), 1)
    expect(readAll(output).text).toBe('a\ufffdb\ufffdc')
    output.finish()
    expect(readAll(output)).toEqual({ text: 'a\ufffdb\ufffdc\ufffd', end: 6, from: 0 })
    output.append(bytesOf('late'))
    expect(output.end).toBe(6)
  })

  test('keeps a byte order mark', () => {
    expect(readAll(outputOf('\ufeffx')).text).toBe('\ufeffx')
  })

  test('replays from every cursor what a string has from there, a half of a pair as U+FFFD', () => {
    const text = 'ab😀é€😀cd'.repeat(3)
    const output = outputOf(text, 3)
    for (let cursor = 0; cursor < text.length; cursor++) {
      const expected = text.slice(cursor).toWellFormed()
      expect(readAll(output, cursor)).toEqual({ text: expected, end: text.length, from: cursor })
    }
  })

  test('replays nothing for a cursor that is negative or beyond the end, and says where it stands', () => {
    const output = outputOf('hello')
    for (const cursor of [-1, -100, 5, 6, 1_000_000]) expect(readAll(output, cursor)).toEqual({ text: '', end: 5, from: 5 })
    const waiting = output.seek(-1)
    output.append(bytesOf(' world'))
    expect(Buffer.from(output.read(waiting)?.text ?? []).toString()).toBe(' world')
  })

  test('keeps the latest 2 MiB in whole blocks, and counts on', () => {
    const line = `${'x'.repeat(99)}\n`
    const output = outputOf(line.repeat(60_000))
    expect(output.held).toBeLessThanOrEqual(2 * 1024 * 1024)
    expect(output.held).toBeGreaterThan(2 * 1024 * 1024 - 64 * 1024)
    const all = readAll(output)
    expect(all.end).toBe(6_000_000)
    expect(all.from).toBe(6_000_000 - output.held)
    expect(all.text).toBe(line.repeat(60_000).slice(all.from))
    expect(readAll(output, 10).from).toBe(all.from)
    expect(readAll(output, all.from + 12_345).text).toBe(all.text.slice(12_345))
  })

  test('tells a reader that was too slow how much it has lost', () => {
    const output = outputOf('first')
    const slow = output.seek(0)
    expect(output.behind(slow)).toBe(5)
    for (let block = 0; block < 40; block++) output.append(bytesOf('y'.repeat(64 * 1024)))
    expect(output.behind(slow)).toBe(output.held)
    const piece = output.read(slow)
    expect(piece?.from).toBe(5 + 8 * 64 * 1024)
    expect(piece?.from).toBe(output.end - output.held)
  })

  test('costs little more than what it holds, however small the pieces', () => {
    const output = createOutput()
    const one = bytesOf('z')
    globalThis.gc?.()
    const before = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed
    for (let count = 0; count < 3_000_000; count++) output.append(one)
    globalThis.gc?.()
    const grown = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed - before
    expect(output.end).toBe(3_000_000)
    expect(grown).toBeLessThan(16 * 1024 * 1024)
  })
})
