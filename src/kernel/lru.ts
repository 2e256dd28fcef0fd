/**
 * A map that forgets what was used longest ago when it is full.
 *
 * I1 A look changes nothing in the map: the order of use is a list beside it. A key that is taken out of a `Map` and put back leaves a gap in
 *    the chain of its bucket until the table is made anew, and further looks for it walk over thousands of such gaps.
 */
export interface Lru<Key, Value> {
  get(key: Key): Value | undefined
  set(key: Key, value: Value): void
  delete(key: Key): void
  clear(): void
}

interface Entry<Key, Value> {
  readonly key: Key
  value: Value
  older: Entry<Key, Value> | undefined
  newer: Entry<Key, Value> | undefined
}

/** `onForgotten` gets what had to make room; it is not told of what is deleted or replaced. */
export function createLru<Key, Value>(
  limit: number,
  onForgotten?: (value: Value) => void,
  entries: Pick<Map<Key, Entry<Key, Value>>, 'get' | 'set' | 'delete' | 'clear' | 'size'> = new Map(),
): Lru<Key, Value> {
  const order = createOrder<Key, Value>()
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
        onForgotten?.(gone.value)
      }
    },
    delete(key) {
      const entry = entries.get(key)
      if (entry === undefined) return
      entries.delete(key)
      order.remove(entry)
    },
    clear() {
      entries.clear()
      order.clear()
    },
  }
}

/** The order of use, from the newest to the oldest. */
function createOrder<Key, Value>() {
  let newest: Entry<Key, Value> | undefined
  let oldest: Entry<Key, Value> | undefined

  function add(entry: Entry<Key, Value>): void {
    entry.older = newest
    if (newest === undefined) oldest = entry
    else newest.newer = entry
    newest = entry
  }

  function remove(entry: Entry<Key, Value>): void {
    if (entry.newer === undefined) newest = entry.older
    else entry.newer.older = entry.older
    if (entry.older === undefined) oldest = entry.newer
    else entry.older.newer = entry.newer
    entry.newer = undefined
    entry.older = undefined
  }

  return {
    add,
    remove,
    use(entry: Entry<Key, Value>): void {
      if (entry === newest) return
      remove(entry)
      add(entry)
    },
    takeOldest(): Entry<Key, Value> | undefined {
      const gone = oldest
      if (gone !== undefined) remove(gone)
      return gone
    },
    clear(): void {
      newest = undefined
      oldest = undefined
    },
  }
}
