// Holds sessions-events §11.3, §11.8: what a reader of events costs, counted.
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { createEventStreams } from '../../src/http/streams/sse.js'
import { createFakeClock } from '../../src/simulation/clock.js'

const frame = (text: string) => new TextEncoder().encode(`data: ${text}\n\n`)
const textOf = (pieces: readonly Uint8Array[]) => pieces.map((piece) => Buffer.from(piece).toString()).join('')

/** Streams whose turn of the event loop is over when it is said, each with what was written to its socket after the head. */
function streams() {
  const clock = createFakeClock()
  const turns: (() => void)[] = []
  const all = createEventStreams({ clock, soon: (run) => turns.push(run) })
  function open() {
    const written: Uint8Array[] = []
    const socket = Object.assign(new Socket(), {
      _write(piece: Uint8Array, _encoding: string, done: () => void) {
        written.push(piece)
        done()
      },
      _writev: undefined,
    })
    const raw = new ServerResponse(new IncomingMessage(socket))
    raw.assignSocket(socket)
    const stream = all.create(raw, 'somebody')
    stream.open({}, () => undefined)
    written.length = 0
    return { stream, written }
  }
  return {
    clock,
    open: (count: number) => Array.from({ length: count }, open),
    endTurn: () => {
      for (const run of turns.splice(0)) run()
    },
  }
}

describe('what is written to many readers', () => {
  test('within some milliseconds is one write for each, of bytes that all of them share', () => {
    const { clock, open, endTurn } = streams()
    const readers = open(100)
    const frames = Array.from({ length: 30 }, (_, at) => frame(`${at}`))
    for (const [at, each] of frames.entries()) {
      for (const { stream } of readers) stream.write(each, at % 2 === 0 ? 'growing' : 'whole')
      endTurn()
    }
    expect(readers.filter(({ written }) => written.length > 0)).toEqual([])
    clock.advance(4)
    expect(readers.map(({ written }) => written.length)).toEqual(readers.map(() => 1))
    expect(new Set(readers.flatMap(({ written }) => written)).size).toBe(1)
    expect(textOf(readers[7]?.written ?? [])).toBe(textOf(frames))
    expect(readers.every(({ stream }) => stream.pending() === 0)).toBe(true)
  })

  test('waits longer the more they are, and twenty milliseconds at most', () => {
    for (const [count, wait] of [
      [30, 1],
      [250, 10],
      [900, 20],
    ] as const) {
      const { clock, open, endTurn } = streams()
      const readers = open(count)
      for (const { stream } of readers) stream.write(frame('one'))
      endTurn()
      clock.advance(wait - 1)
      expect(readers[0]?.written).toHaveLength(0)
      clock.advance(1)
      expect(readers.at(-1)?.written).toHaveLength(1)
    }
  })

  test('is of each what it was written, where some hear less than others', () => {
    const { clock, open } = streams()
    const readers = open(60)
    const [all, some] = [readers.slice(0, 30), readers.slice(30)]
    for (const text of ['a', 'b', 'c', 'd']) {
      const told = frame(text)
      for (const { stream } of text === 'b' ? all : readers) stream.write(told)
    }
    clock.advance(2)
    expect(textOf(all[3]?.written ?? [])).toBe(textOf(['a', 'b', 'c', 'd'].map(frame)))
    expect(textOf(some[3]?.written ?? [])).toBe(textOf(['a', 'c', 'd'].map(frame)))
    expect(new Set(readers.flatMap(({ written }) => written)).size).toBe(2)
  })

  test('waits for nothing where it is much', () => {
    const { clock, open, endTurn } = streams()
    const [first, ...others] = open(100)
    const large = new Uint8Array(64 * 1024 + 1).fill(97)
    first?.stream.write(frame('before'))
    first?.stream.write(large)
    for (const { stream } of others) stream.write(frame('beside'))
    endTurn()
    expect([first, others[0]].map((reader) => reader?.written.length)).toEqual([1, 1])
    clock.advance(4)
    expect(others.at(-1)?.written).toHaveLength(1)
  })

  test('leaves before the end of its stream', () => {
    const { open } = streams()
    const [first] = open(100)
    first?.stream.write(frame('last words'))
    first?.stream.end()
    expect(textOf(first?.written ?? [])).toContain('data: last words\n\n')
  })
})
