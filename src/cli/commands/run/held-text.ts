/**
 * The answer for programs: text leaves once nothing can withdraw it any more.
 *
 * A step that failed is tried again in its message, and only before a call of a tool has begun. So text is settled by a call of its message
 * that runs, by another message, and by the end.
 */

export interface HeldText {
  add(messageId: string, partId: string, delta: string): void
  /** What was said in this message is withdrawn; answers whether something of it stands there already. */
  withdraw(messageId: string): boolean
  /** Everything held is the answer. */
  settle(): void
}

/** `write` gets whole parts, in order. */
export function createHeldText(write: (text: string) => void): HeldText {
  let message: string | undefined
  const parts = new Map<string, string>()

  function settle(): void {
    for (const text of parts.values()) write(text)
    parts.clear()
  }

  return {
    settle,
    add(messageId, partId, delta) {
      if (message !== messageId) settle()
      message = messageId
      parts.set(partId, (parts.get(partId) ?? '') + delta)
    },
    withdraw(messageId) {
      if (message === messageId) parts.clear()
      return false
    },
  }
}
