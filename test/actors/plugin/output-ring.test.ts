import { describe, expect, test } from 'vitest'
import { createOutputRing } from '../../../src/actors/plugin/brokers/output-ring.js'
import { LIMITS } from '../../../src/protocol/limits.js'

const MOST = LIMITS.pluginProcesses.readBytes

describe('the output of a program', () => {
  test('is read in the order it came, and goes on where the last read ended', () => {
    const ring = createOutputRing(1000)
    ring.add('stdout', 'a')
    ring.add('stdout', 'b')
    ring.add('stderr', 'é')
    const first = ring.read(0, MOST)
    expect(first).toEqual({
      output: [
        { stream: 'stdout', text: 'ab' },
        { stream: 'stderr', text: 'é' },
      ],
      cursor: 4,
      skipped: 0,
      more: false,
    })
    expect(ring.read(4, MOST)).toEqual({ output: [], cursor: 4, skipped: 0, more: false })
    ring.add('stdout', 'c')
    expect(ring.read(4, MOST)).toEqual({ output: [{ stream: 'stdout', text: 'c' }], cursor: 5, skipped: 0, more: false })
  })

  test('is answered in parts that have room, at least one piece of it', () => {
    const ring = createOutputRing(1000)
    for (const text of ['one', 'two', 'three']) ring.add('stdout', text)
    expect(ring.read(0, 6)).toEqual({ output: [{ stream: 'stdout', text: 'onetwo' }], cursor: 6, skipped: 0, more: true })
    expect(ring.read(6, 1)).toEqual({ output: [{ stream: 'stdout', text: 'three' }], cursor: 11, skipped: 0, more: false })
  })

  test('loses its oldest pieces, and says how many bytes', () => {
    const ring = createOutputRing(10)
    for (const text of ['aaaaa', 'bbbbb', 'ccccc']) ring.add('stdout', text)
    expect(ring.read(0, MOST)).toEqual({ output: [{ stream: 'stdout', text: 'bbbbbccccc' }], cursor: 15, skipped: 5, more: false })
    expect(ring.end).toBe(15)
  })

  test('of one write keeps whole characters in every piece', () => {
    const ring = createOutputRing(LIMITS.pluginProcesses.outputBytes)
    const text = '😀'.repeat(20_000)
    ring.add('stdout', text)
    let read = ''
    for (let cursor = 0; cursor < ring.end; ) {
      const { output, cursor: next } = ring.read(cursor, 1024)
      for (const piece of output) read += piece.text
      cursor = next
    }
    expect(read).toBe(text)
  })

  test('ignores a place that nothing has', () => {
    const ring = createOutputRing(100)
    ring.add('stdout', 'abc')
    expect(ring.read(99, MOST)).toEqual({ output: [], cursor: 3, skipped: 0, more: false })
  })

  test('wakes whoever waits behind its end', async () => {
    const ring = createOutputRing(100)
    const { signal } = new AbortController()
    const woken = ring.added(0, signal)
    ring.add('stderr', 'x')
    await woken
    await ring.added(0, signal)
  })

  test('remembers nobody who has given up waiting', () => {
    const ring = createOutputRing(100)
    for (let polls = 0; polls < 100; polls++) {
      const over = new AbortController()
      void ring.added(0, over.signal)
      over.abort()
    }
    expect(ring.size.waiting).toBe(0)
  })

  test('that comes byte by byte is kept in few pieces, and lost to nobody who reads meanwhile', () => {
    const ring = createOutputRing(LIMITS.pluginProcesses.outputBytes)
    let read = ''
    let cursor = 0
    for (let at = 0; at < 20_000; at++) {
      ring.add('stdout', String(at % 10))
      if (at % 1777 !== 0) continue
      const next = ring.read(cursor, MOST)
      read += next.output.map(({ text }) => text).join('')
      cursor = next.cursor
    }
    expect(ring.size.pieces).toBeLessThan(200)
    read += ring
      .read(cursor, MOST)
      .output.map(({ text }) => text)
      .join('')
    expect(read).toBe('0123456789'.repeat(2000))
  })
})
