/** Sharing the event loop during long work. */

const AT_ONCE = 16

/** The function to call before each small piece of work: every sixteenth call lets others have their turn. */
export function takeTurns(): () => Promise<void> {
  let done = 0
  return async () => {
    if (++done % AT_ONCE === 0) await nextTurn()
  }
}

export function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve))
}

/** The function to call before each larger piece of work: whoever calls goes on alone, one in a turn of the event loop. */
export function inLine(): () => Promise<void> {
  let last = Promise.resolve()
  return () => (last = last.then(nextTurn))
}
