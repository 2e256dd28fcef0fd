/** A map that forgets what was used longest ago when it is full. */
export interface Lru<Key, Value> {
  get(key: Key): Value | undefined
  set(key: Key, value: Value): void
  delete(key: Key): void
  clear(): void
}

/** `onForgotten` gets what had to make room; it is not told of what is deleted or replaced. */
export function createLru<Key, Value>(limit: number, onForgotten?: (value: Value) => void): Lru<Key, Value> {
  const entries = new Map<Key, { readonly value: Value }>()
  return {
    get(key) {
      const entry = entries.get(key)
      if (entry === undefined) return undefined
      entries.delete(key)
      entries.set(key, entry)
      return entry.value
    },
    set(key, value) {
      entries.delete(key)
      entries.set(key, { value })
      for (const [oldest, entry] of entries) {
        if (entries.size <= limit) return
        entries.delete(oldest)
        onForgotten?.(entry.value)
      }
    },
    delete: (key) => void entries.delete(key),
    clear: () => entries.clear(),
  }
}
