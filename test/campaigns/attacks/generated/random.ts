/** Choices that a seed decides, so that a case can be made again alone. */
export interface Choices {
  /** In [from, to]. */
  number(from: number, to: number): number
  one<Item>(items: readonly Item[]): Item
  /** Lower-case letters. */
  word(length?: number): string
}

/** The choices of case number `index` of a campaign that began with `seed`. */
export function choicesOf(seed: number, index: number): Choices {
  let state = Math.imul(seed, 0x9e37_79b1) ^ Math.imul(index + 1, 0x85eb_ca6b)
  const next = (): number => {
    state = (state + 0x6d2b_79f5) | 0
    let value = Math.imul(state ^ (state >>> 15), state | 1)
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61)
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296
  }
  const number = (from: number, to: number) => from + Math.floor(next() * (to - from + 1))
  return {
    number,
    one(items) {
      const item = items[number(0, items.length - 1)]
      if (item === undefined) throw new Error('there is nothing to choose from')
      return item
    },
    word: (length = 6) => Array.from({ length }, () => String.fromCharCode(number(97, 122))).join(''),
  }
}
