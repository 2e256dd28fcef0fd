/**
 * Requests that arrive together begin a few in each turn of the event loop: whoever asks meanwhile whether the server is well is answered
 * between them, and not after all of them.
 *
 * I1 Of those who wait each has one begun in a round, his first: a tenant that asks for much keeps only itself waiting.
 */

/** `most` begin in one turn; `soon` runs something in the next one. */
export function createPace(most: number, soon: (run: () => void) => void): (whose: string, begin: () => void) => void {
  /** In the order of their turns. */
  const waiting = new Map<string, Set<() => void>>()
  let begun = 0
  let isTurning = false

  function turn(): void {
    isTurning = false
    begun = 0
    for (const [whose, of] of waiting) {
      if (begun >= most) return nextTurn()
      waiting.delete(whose)
      const [first] = of
      if (first === undefined) continue
      of.delete(first)
      // Behind all others: the loop comes to it again.
      if (of.size > 0) waiting.set(whose, of)
      start(first)
    }
  }

  function nextTurn(): void {
    if (isTurning) return
    isTurning = true
    soon(turn)
  }

  function start(begin: () => void): void {
    begun++
    nextTurn()
    begin()
  }

  return (whose, begin) => {
    if (begun < most && waiting.size === 0) return start(begin)
    const of = waiting.get(whose) ?? new Set()
    waiting.set(whose, of.add(begin))
    nextTurn()
  }
}
