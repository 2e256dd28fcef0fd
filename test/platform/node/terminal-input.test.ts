import { describe, expect, test, vi } from 'vitest'
import { createInput } from '../../../src/platform/node/pty/input.js'

const busy = () => Object.assign(new Error('not now'), { code: 'EAGAIN' })

/** A descriptor that takes so many bytes at a time, and none while it is closed; what it was given, write by write. */
function descriptor(most: number) {
  const writes: string[] = []
  const state = { isClosed: false }
  const input = createInput((bytes) => {
    if (state.isClosed) throw busy()
    const taken = bytes.subarray(0, most)
    writes.push(Buffer.from(taken).toString('latin1'))
    return taken.length
  })
  return { input, writes, state }
}

const letter = (at: number) => String.fromCharCode(97 + (at % 26))
const letters = (count: number) => Array.from({ length: count }, (_, at) => letter(at))

describe('what is typed into a terminal', () => {
  test('is written at once while it is taken', () => {
    const { input, writes } = descriptor(4096)
    for (const each of ['a', 'bc', 'd']) input.add(Buffer.from(each))
    expect(writes).toEqual(['a', 'bc', 'd'])
    expect(input.waiting).toBe(0)
  })

  test('is gathered while it waits, so that the writes are as many as its pages and not as its pieces', async () => {
    const { input, writes, state } = descriptor(4096)
    state.isClosed = true
    const typed = letters(70_000)
    for (const each of typed) input.add(Buffer.from(each))
    expect(input.waiting).toBe(70_000)
    state.isClosed = false
    await input.taken()
    expect(writes.join('')).toBe(typed.join(''))
    expect(writes.length).toBeLessThanOrEqual(Math.ceil(70_000 / 4096) + 2)
  })

  test('keeps its order whatever the size of its pieces, where little is taken at a time', async () => {
    const { input, writes, state } = descriptor(1000)
    state.isClosed = true
    const pieces = [1, 5000, 1, 1, 4095, 2, 4096, 4097, 3, 20_000, 1].map((size, at) => letter(at).repeat(size))
    for (const each of pieces) input.add(Buffer.from(each))
    state.isClosed = false
    await input.taken()
    expect(writes.join('')).toBe(pieces.join(''))
  })

  test('is written a bounded part in one turn of the event loop', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const { input, writes } = descriptor(4096)
      input.add(Buffer.alloc(1024 * 1024, 'a'))
      const turns = [writes.length]
      for (; input.waiting > 0; vi.advanceTimersToNextTimer()) turns.push(writes.length)
      expect(turns[0]).toBe(16)
      expect(writes.join('')).toHaveLength(1024 * 1024)
    } finally {
      vi.useRealTimers()
    }
  })

  test('is what was typed, not what the buffer of it holds later', async () => {
    const { input, writes, state } = descriptor(4096)
    state.isClosed = true
    const reused = Buffer.from('a')
    input.add(reused)
    reused.write('b')
    state.isClosed = false
    await input.taken()
    expect(writes).toEqual(['a'])
  })

  test('that waits is dropped at the end, and who waits for it goes on', async () => {
    const { input, writes, state } = descriptor(4096)
    state.isClosed = true
    input.add(Buffer.from('a'))
    const taken = input.taken()
    input.end()
    await taken
    input.add(Buffer.from('b'))
    expect([input.waiting, writes]).toEqual([0, []])
  })
})
