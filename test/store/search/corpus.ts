/** A conversation store to search in, and words to make messages of. */
import type { Parts } from '../../../src/store/found.js'
import type { Store } from '../../../src/store/store.js'
import { memoryStore, session, text, user } from '../records.js'

export interface Said {
  readonly id: string
  readonly text: string
  readonly sessionId?: string
}

/** A store with the messages, each as a user has said it. */
export function storeWith(said: readonly Said[], store = memoryStore()): Store {
  store.transact('process', () => {
    for (const id of ['ses_1', 'ses_2']) if (store.sessions.get(id) === undefined) store.sessions.insert(session(id))
    for (const each of said) say(store, each)
  })
  return store
}

export function say(store: Store, { id, text: words, sessionId = 'ses_1' }: Said): void {
  store.messages.append(user(id, sessionId), [{ ...text(`prt_${id}`, id, words), sessionId }])
}

let sequence = 100

/** Notes an event of the kind the index follows. */
export function tell(store: Store, type: string, data: object, sessionId = 'ses_1'): void {
  sequence += 1
  store.events.insert({ sequence, type, sessionId, json: JSON.stringify({ sequence, type, data }), created: 1 })
}

/** Steps until nothing is left; answers how many there were. */
export function catchUp({ search }: Pick<Store, 'search'>): number {
  search.open()
  for (let steps = 0; ; steps++) {
    const step = search.step()
    if (step === 'damaged') throw new Error('the index is damaged')
    if (step === 'done') return steps
  }
}

/** What work in parts comes to. */
export function wholeOf<T>(parts: Parts<T>): T {
  for (;;) {
    const part = parts.next()
    if (part.done === true) return part.value
  }
}

export function find({ search }: Pick<Store, 'search'>, query: string, limit = 10, sessions?: readonly string[]): string[] {
  return (wholeOf(search.parts(query, limit, sessions)) ?? []).map(({ messageId }) => messageId)
}

/** Numbers that look random and are the same every time (mulberry32). */
export function dice(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const SYLLABLES = 'ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu bra cle dri flo gru pla ste tri'.split(' ')

/** So many different words of two to four syllables. */
export function vocabulary(size: number, roll: () => number): string[] {
  const words = new Set<string>()
  while (words.size < size) {
    const syllables = Array.from({ length: 2 + Math.floor(roll() * 3) }, () => SYLLABLES[Math.floor(roll() * SYLLABLES.length)] ?? 'ba')
    words.add(syllables.join(''))
  }
  return [...words]
}

/** A few words often, most of them seldom. */
export function pick(words: readonly string[], roll: () => number): string {
  return words[Math.floor(words.length * roll() ** 3)] ?? ''
}
