/** Sharing the event loop during long work. */
import { nextTurn } from '../../kernel/pause.js'

const AT_ONCE = 16

/** The function to call before each small piece of work: every sixteenth call lets others have their turn. */
export function takeTurns(): () => Promise<void> {
  let done = 0
  return async () => {
    if (++done % AT_ONCE === 0) await nextTurn()
  }
}
