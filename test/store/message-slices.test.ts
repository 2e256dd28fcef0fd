// Holds sessions-events §3.
import { describe, expect, it } from 'vitest'
import { memoryStore, session, text, user } from './records.js'

/** Twenty messages of 100 characters and more. */
function opened() {
  const store = memoryStore()
  store.transact('process', () => {
    store.sessions.insert(session('ses_1'))
    for (let at = 0; at < 20; at++) store.messages.append(user(`msg_${at}`), [text(`prt_${at}`, `msg_${at}`, 'x'.repeat(100))])
  })
  const slice = (query: Partial<Parameters<typeof store.messages.slice>[0]>) => {
    const { items, next } = store.messages.slice({ sessionId: 'ses_1', order: 'asc', characters: 1000, ...query })
    return { ids: items.map(({ id }) => Number(id.slice(4))), items, next }
  }
  return { store, slice }
}

const range = (from: number, to: number) => Array.from({ length: Math.abs(to - from) }, (_, at) => (to > from ? from + at : from - at))

describe('a slice of a history', () => {
  it.each(['asc', 'desc'] as const)('follows the one before, %s, and all of them are all', (order) => {
    const { store, slice } = opened()
    const seen: number[] = []
    let after: number | undefined
    let slices = 0
    do {
      const { ids, items, next } = slice({ order, after })
      seen.push(...ids)
      const characters = items.reduce((sum, { json }) => sum + json.length, 0)
      expect(characters - (items.at(-1)?.json.length ?? 0)).toBeLessThan(1000)
      expect(JSON.parse(items[0]?.json ?? '')).toEqual(store.messages.get(items[0]?.id ?? ''))
      after = next
      slices++
    } while (after !== undefined)
    expect(seen).toEqual(order === 'asc' ? range(0, 20) : range(19, -1))
    expect(slices).toBeGreaterThan(3)
  })

  it('has one message at least, no more than asked for, and says when there is nothing behind it', () => {
    const { slice } = opened()
    expect(slice({ characters: 1 })).toMatchObject({ ids: [0], next: 0 })
    expect(slice({ characters: 1e9, limit: 3 })).toMatchObject({ ids: [0, 1, 2], next: 2 })
    expect(slice({ characters: 1e9 })).toMatchObject({ ids: range(0, 20), next: undefined })
    expect(slice({ characters: 1e9, after: 19 })).toMatchObject({ ids: [], next: undefined })
  })

  it('begins after a message or a part, and from the first on where there is none', () => {
    const { slice } = opened()
    expect(slice({ after: 'msg_17', characters: 1e9 }).ids).toEqual([18, 19])
    expect(slice({ after: 'prt_17', characters: 1e9 }).ids).toEqual([18, 19])
    expect(slice({ after: 'msg_nowhere', characters: 1e9 }).ids).toEqual(range(0, 20))
  })

  it('has what was undone only where that is asked for, and goes on when its last message is gone', () => {
    const { store, slice } = opened()
    store.transact('process', () => store.messages.conceal('ses_1', { messageID: 'msg_15' }))
    expect(slice({ characters: 1e9 }).ids).toEqual(range(0, 15))
    expect(slice({ characters: 1e9, undone: true }).ids).toEqual(range(0, 20))
    const { ids, next } = slice({})
    store.transact('process', () => store.messages.remove(`msg_${ids.at(-1)}`))
    expect(slice({ after: next }).ids[0]).toBe((ids.at(-1) ?? 0) + 1)
  })
})
