/** Which of the latest messages stay as they are when the rest is summarised (sessions-events §6.4). */

export interface SizedMessage {
  readonly tokens: number
  /** Somebody asked something: a turn begins. */
  readonly beginsTurn: boolean
}

const TURNS = 2

/**
 * Position of the first message that is kept; the number of messages when none is. Of the last two turns, newest first, a turn that
 * fits is kept, and the first that does not is split at the earliest message from which on it fits.
 */
export function tailStart(messages: readonly SizedMessage[], budget: number): number {
  let start = messages.length
  let room = budget
  for (let turn = 0; turn < TURNS && start > 0; turn++) {
    const begin = messages.findLastIndex(({ beginsTurn }, index) => index < start && beginsTurn)
    for (let index = start - 1; index >= Math.max(0, begin); index--) {
      const { tokens } = messages[index] ?? { tokens: 0 }
      if (tokens > room) return start
      room -= tokens
      start = index
    }
  }
  return start
}
