/** Random numbers that repeat: the same seed gives the same numbers in every run (mulberry32). */

export interface Random {
  /** At least 0 and below 1, with 32 bits. */
  next(): number
  /** A whole number, at least 0 and below `limit`. */
  below(limit: number): number
  /** True once in so many times, on average. */
  isOneIn(times: number): boolean
  /** Throws for an empty list. */
  pick<T>(list: readonly T[]): T
  bytes(size: number): Uint8Array
}

const SPAN = 2 ** 32

export function createRandom(seed: number): Random {
  let state = seed
  const draw = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  const below = (limit: number) => Math.floor((draw() / SPAN) * limit)
  return {
    next: () => draw() / SPAN,
    below,
    isOneIn: (times) => below(times) === 0,
    pick(list) {
      const picked = list[below(list.length)]
      if (picked === undefined) throw new Error('there is nothing to pick from')
      return picked
    },
    bytes: (size) => Uint8Array.from({ length: size }, () => draw() & 0xff),
  }
}

/** Makes a source of its own for each name: one more draw from one of them shifts none of the others. */
export function namedStreams(seed: number): (name: string) => Random {
  const streams = new Map<string, Random>()
  return (name) => {
    const known = streams.get(name)
    if (known !== undefined) return known
    const made = createRandom(seedOf(`${seed}:${name}`))
    streams.set(name, made)
    return made
  }
}

/** FNV-1a. */
function seedOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash | 0
}
