/** Counts what texts are asked for: work that takes the same on every machine. */

/** What a call of a method of texts looks at, characters at most, by what it was called on, with and what it answered. */
const COSTS: Readonly<Record<string, (text: string, args: readonly unknown[], answer: unknown) => number>> = {
  charCodeAt: () => 1,
  charAt: () => 1,
  indexOf: searched,
  lastIndexOf: (text, [needle]) => text.length * String(needle).length,
  startsWith: (_text, [needle]) => String(needle).length,
  slice: (_text, _args, answer) => String(answer).length,
  trim: ({ length }) => length,
  trimStart: ({ length }) => length,
  replace: ({ length }) => length,
  replaceAll: ({ length }) => length,
  split: ({ length }) => length,
}

/** A search looks at each place before the one it finds, in the worst case with all of the needle. */
function searched({ length }: string, [needle, from]: readonly unknown[], answer: unknown): number {
  const start = typeof from === 'number' ? from : 0
  const places = answer === -1 ? length - start : Number(answer) - start + 1
  return Math.max(0, places) * String(needle).length
}

/** How many characters `work` looks at, at most. It ends before this answers. */
export function charactersOf(work: () => unknown): number {
  let count = 0
  const originals = Object.keys(COSTS).map((name) => ({ name, original: Reflect.get(String.prototype, name) as Function }))
  for (const { name, original } of originals) {
    const cost = COSTS[name]
    const value = function (this: string, ...args: readonly unknown[]): unknown {
      const answer: unknown = Reflect.apply(original, this, args)
      count += cost?.(this, args, answer) ?? 0
      return answer
    }
    Reflect.set(String.prototype, name, value)
  }
  try {
    work()
  } finally {
    for (const { name, original } of originals) Reflect.set(String.prototype, name, original)
  }
  return count
}
