/** Texts of a grammar, each from a number of its own, so that one can be made again alone. */
import type { Grammar } from './grammar.js'

const MAX_DEPTH = 14
const HOLE = /§('?)([a-z]+0?)/g

/** The text number `index` of a campaign that began with `seed`. */
export function generate(grammar: Grammar, seed: number, index: number): string {
  const random = randomOf(Math.imul(seed, 0x9e37_79b1) ^ Math.imul(index + 1, 0x85eb_ca6b))
  return expand('line', 0)

  function expand(rule: string, depth: number): string {
    const texts = grammar.get(rule)
    if (texts === undefined) throw new Error(`no rule ${rule}`)
    const at = depth > MAX_DEPTH ? 0 : Math.floor(random() * texts.length)
    return (texts[at] ?? '').replaceAll(HOLE, (_, quote: string, inner: string) => {
      const text = expand(inner, depth + 1)
      return quote === '' ? text : `'${text.replaceAll("'", `'\\''`)}'`
    })
  }
}

/** Numbers in [0, 1), the same ones for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b_79f5) | 0
    let value = Math.imul(state ^ (state >>> 15), state | 1)
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61)
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296
  }
}
