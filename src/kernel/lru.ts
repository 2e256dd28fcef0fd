/**
 * A map that forgets what was used longest ago when it is full.
 *
 * I1 A look changes nothing in the map: the order of use is a list beside it. A key that is taken out of a `Map` and put back leaves a gap in
 *    the chain of its bucket until the table is made anew, and further looks for it walk over thousands of such gaps.
 * I2 What is no more in the map holds no value: a table that the map has left may lead to it for long (`order.ts`).
 */
import { createOrder, type Ordered } from './order.js'

export interface Lru<Key, Value> {
  get(key: Key): Value | undefined
  set(key: Key, value: Value): void
  delete(key: Key): void
  clear(): void
}

interface Entry<Key, Value> extends Ordered<Entry<Key, Value>> {
  readonly key: Key
  value: Value | undefined
}

/** `onForgotten` gets what had to make room; it is not told of what is deleted or replaced. */
export function createLru<Key, Value>(
  limit: number,
  onForgotten?: (value: Value) => void,
  entries: Pick<Map<Key, Entry<Key, Value>>, 'get' | 'set' | 'delete' | 'clear' | 'size'> = new Map(),
): Lru<Key, Value> {
  const order = createOrder<Entry<Key, Value>>()

  /** Answers its value. */
  function emptied(entry: Entry<Key, Value>): Value | undefined {
    const { value } = entry
    entry.value = undefined
    return value
  }

  return {
    get(key) {
      const entry = entries.get(key)
      if (entry === undefined) return undefined
      order.use(entry)
      return entry.value
    },
    set(key, value) {
      const known = entries.get(key)
      if (known !== undefined) {
        known.value = value
        order.use(known)
        return
      }
      const entry: Entry<Key, Value> = { key, value, older: undefined, newer: undefined }
      entries.set(key, entry)
      order.add(entry)
      while (entries.size > limit) {
        const gone = order.takeOldest()
        if (gone === undefined) return
        entries.delete(gone.key)
        const value = emptied(gone)
        if (value !== undefined) onForgotten?.(value)
      }
    },
    delete(key) {
      const entry = entries.get(key)
      if (entry === undefined) return
      entries.delete(key)
      order.remove(entry)
      emptied(entry)
    },
    clear() {
      entries.clear()
      order.clear()
    },
  }
}
