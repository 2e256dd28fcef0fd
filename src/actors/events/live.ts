/** Messages that are being generated right now: what a late joiner is caught up with (sessions-events §11.6). */
import type { AssistantInfo, Part } from '../../protocol/message/message.js'

interface LiveMessage {
  readonly sessionId: string
  info(): AssistantInfo
  /** Every part so far, with the text streamed so far. */
  parts(): readonly Part[]
}

export interface Live {
  /** Answers the function that removes the message again. */
  add(messageId: string, message: LiveMessage): () => void
  all(): Iterable<LiveMessage>
  has(messageId: string): boolean
  readonly size: number
}

export function createLive(): Live {
  const messages = new Map<string, LiveMessage>()
  return {
    add(messageId, message) {
      messages.set(messageId, message)
      return () => {
        if (messages.get(messageId) === message) messages.delete(messageId)
      }
    },
    all: () => messages.values(),
    has: (messageId) => messages.has(messageId),
    get size() {
      return messages.size
    },
  }
}
