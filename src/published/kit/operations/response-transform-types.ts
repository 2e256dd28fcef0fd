/** Operations of `response-transform`. Made by scripts/plugin-kits.mjs; change the operations of its broker. */
export interface ResponseTransformOperations {
  /** Answers the text of the answer that is being recorded, as far as it has come. */
  readonly read: {
    readonly input?: {
      sessionId?: string | undefined
    }
    readonly output: {
      open: {
        sessionId: string
        messageId: string
        partId: string
        text: string
        length: number
      } | null
    }
  }
  /** Puts another text in the place of what was read; what has come since stays behind it. Everybody sees it at once. */
  readonly replace: {
    readonly input: {
      sessionId?: string | undefined
      partId: string
      length: number
      text: string
    }
    readonly output: {
      length: number
    }
  }
}
