/** A map of what is there for a while: what was taken out of it holds no value any more, whatever table still leads to it (`order.ts`). */
export interface Passing<Key, Value> {
  readonly size: number
  get(key: Key): Value | undefined
  has(key: Key): boolean
  set(key: Key, value: Value): void
  /** Answers whether it was there. */
  delete(key: Key): boolean
  keys(): IterableIterator<Key>
  /** In the order they came. */
  values(): Value[]
}

interface Place<Value> {
  value: Value | undefined
}

export function createPassing<Key, Value extends object>(): Passing<Key, Value> {
  const places = new Map<Key, Place<Value>>()
  return {
    get size() {
      return places.size
    },
    get: (key) => places.get(key)?.value,
    has: (key) => places.has(key),
    set(key, value) {
      const place = places.get(key)
      if (place === undefined) places.set(key, { value })
      else place.value = value
    },
    delete(key) {
      const place = places.get(key)
      if (place === undefined) return false
      place.value = undefined
      return places.delete(key)
    },
    keys: () => places.keys(),
    values: () => [...places.values()].flatMap(({ value }) => value ?? []),
  }
}
