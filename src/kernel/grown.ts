/**
 * What was made of a list that grows at its end, so that only what is new is looked at.
 *
 * I1 A list is known by its first item, and what was made of it lives as long as that: nothing here has to be forgotten.
 * I2 What was made counts only for a list that begins with the same items, each the very same object.
 */
export interface Grown<Item extends object, Made> {
  /** What was made of the beginning of a list: of how many of its items; of none when nothing is known of it. */
  of(items: readonly Item[]): { readonly length: number; readonly made: Made } | undefined
  /** Remembers what was made of these items, in place of what was remembered for their first. The list may grow, and is not changed otherwise. */
  keep(items: readonly Item[], made: Made): void
}

export function createGrown<Item extends object, Made>(): Grown<Item, Made> {
  const kept = new WeakMap<Item, { readonly items: readonly Item[]; readonly length: number; readonly made: Made }>()
  return {
    of(items) {
      const known = items[0] === undefined ? undefined : kept.get(items[0])
      if (known === undefined || known.length > items.length) return undefined
      // The newest differ first.
      for (let at = known.length - 1; at > 0; at--) if (known.items[at] !== items[at]) return undefined
      return { length: known.length, made: known.made }
    },
    keep(items, made) {
      if (items[0] !== undefined) kept.set(items[0], { items, length: items.length, made })
    },
  }
}
