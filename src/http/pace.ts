/**
 * Requests that arrive together begin a few in each turn of the event loop: whoever asks meanwhile whether the server is well is answered
 * between them, and not after all of them.
 *
 * I1 Of those who wait each has one begun in a round, his first: a tenant that asks for much keeps only itself waiting.
 */

import { createOrder, type Order, type Ordered } from '../kernel/order.js'

interface Waiting extends Ordered<Waiting> {
  readonly begin: () => void
}

/** `most` begin in one turn; `soon` runs something in the next one. */
export function createPace(most: number, soon: (run: () => void) => void): (whose: string, begin: () => void) => void {
  /** In the order of their turns; another map once nobody waits, for an emptied one would be followed by its last table (`kernel/order.ts`). */
  let waiting = new Map<string, Order<Waiting>>()
  let begun = 0
  let isTurning = false

  function turn(): void {
    isTurning = false
    begun = 0
    for (let [next] = waiting; next !== undefined; [next] = waiting) {
      if (begun >= most) return nextTurn()
      const [whose, of] = next
      const first = of.takeOldest()
      if (of.oldest === undefined && waiting.size === 1) waiting = new Map()
      else if (waiting.size > 1) {
        waiting.delete(whose)
        // Behind all others: the loop comes to it again.
        if (of.oldest !== undefined) waiting.set(whose, of)
      }
      if (first !== undefined) start(first.begin)
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
    const of = waiting.get(whose) ?? createOrder()
    of.add({ begin, older: undefined, newer: undefined })
    waiting.set(whose, of)
    nextTurn()
  }
}
