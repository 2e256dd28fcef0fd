/**
 * Requests that arrive together begin a few in each turn of the event loop, in their order: whoever asks meanwhile whether the server is well is
 * answered between them, and not after all of them.
 */

/** `most` begin in one turn; `soon` runs something in the next one. */
export function createPace(most: number, soon: (run: () => void) => void): (begin: () => void) => void {
  const waiting = new Set<() => void>()
  let begun = 0
  let isTurning = false

  function turn(): void {
    isTurning = false
    begun = 0
    for (const begin of waiting) {
      if (begun >= most) return nextTurn()
      waiting.delete(begin)
      start(begin)
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

  return (begin) => {
    if (begun < most && waiting.size === 0) return start(begin)
    waiting.add(begin)
    nextTurn()
  }
}
