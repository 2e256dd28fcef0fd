/** Operations of `message-read`. Made by scripts/plugin-kits.mjs; change the operations of its broker. */
export interface MessageReadOperations {
  /** Lists messages of a session, page by page. */
  readonly list: {
    readonly input: {
      sessionId?: string | undefined
      cursor?: string | undefined
      limit?: number | undefined
      order?: 'latest-first' | 'oldest-first' | undefined
    }
    readonly output: {
      messages: {
        info: {
          [key: string]: unknown
        }
        parts: {
          [key: string]: unknown
        }[]
        cut: boolean
      }[]
      cursor: string | null
    }
  }
  /** Answers one message. */
  readonly get: {
    readonly input: {
      messageId: string
    }
    readonly output: {
      message: {
        info: {
          [key: string]: unknown
        }
        parts: {
          [key: string]: unknown
        }[]
        cut: boolean
      }
    }
  }
  /** Lists a session and those below it. */
  readonly sessions: {
    readonly input?: {
      sessionId?: string | undefined
    }
    readonly output: {
      sessions: {
        sessionId: string
        parentId: string | null
        title: string
        agent: string | null
      }[]
    }
  }
}
