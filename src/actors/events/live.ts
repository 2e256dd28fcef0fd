/** Messages that are being generated right now: what a late joiner is caught up with (sessions-events §11.6), and whose text may be replaced. */
import { createPassing } from '../../kernel/passing.js'
import { SvcError } from '../../protocol/errors.js'
import type { AssistantInfo, Part } from '../../protocol/message/message.js'

interface LiveMessage {
  readonly sessionId: string
  info(): AssistantInfo
  /** Every part so far, with the text streamed so far. */
  parts(): readonly Part[]
  /** The text of a model while it is recorded; absent where there is none. */
  readonly text?: OpenText
}

interface OpenText {
  current(): TextSoFar | undefined
  /** As `Live.replaceText`. */
  replace(replacement: TextReplacement): number
}

export interface TextSoFar {
  readonly messageId: string
  readonly partId: string
  readonly text: string
}

/** Another text for the first `length` characters (UTF-16) of a part. */
export interface TextReplacement {
  readonly partId: string
  readonly length: number
  readonly text: string
}

export interface Live {
  /** Answers the function that removes the message again. */
  add(messageId: string, message: LiveMessage): () => void
  all(): Iterable<LiveMessage>
  has(messageId: string): boolean
  /** Of the answer of a session, as far as it has come; undefined = none is being recorded. */
  textOf(sessionId: string): TextSoFar | undefined
  /**
   * What has come since stays behind the other text; answers how long the text is then. Throws `resource.conflict` where the part is closed or
   * shorter than that, and `request.unprocessable` where it would be too long.
   */
  replaceText(sessionId: string, replacement: TextReplacement): number
  readonly size: number
}

export function createLive(): Live {
  const messages = createPassing<string, LiveMessage>()
  const openText = (sessionId: string) =>
    messages.values().findLast((message) => message.sessionId === sessionId && message.text?.current() !== undefined)?.text
  return {
    add(messageId, message) {
      messages.set(messageId, message)
      return () => {
        if (messages.get(messageId) === message) messages.delete(messageId)
      }
    },
    all: () => messages.values(),
    has: (messageId) => messages.has(messageId),
    textOf: (sessionId) => openText(sessionId)?.current(),
    replaceText(sessionId, replacement) {
      const open = openText(sessionId)
      if (open === undefined) throw new SvcError('resource.conflict', 'the text is closed: it stays as it was recorded')
      return open.replace(replacement)
    },
    get size() {
      return messages.size
    },
  }
}
