/** Operations of `prompt-read`. Made by scripts/plugin-kits.mjs; change the operations of its broker. */
export interface PromptReadOperations {
  /** Answers the prompt that was admitted last. */
  readonly current: {
    readonly input?: {
      sessionId?: string | undefined
    }
    readonly output: {
      prompt: {
        sessionId: string
        messageId: string | null
        text: string
        cut: boolean
        agent: string | null
        createdAt: number | null
      } | null
    }
  }
  /** Lists the prompts of a session, the latest first. */
  readonly list: {
    readonly input: {
      sessionId?: string | undefined
      cursor?: string | undefined
      limit?: number | undefined
    }
    readonly output: {
      prompts: {
        sessionId: string
        messageId: string | null
        text: string
        cut: boolean
        agent: string | null
        createdAt: number | null
      }[]
      cursor: string | null
    }
  }
  /** Lists the prompts that wait in the queue of a session, the oldest first. */
  readonly waiting: {
    readonly input?: {
      sessionId?: string | undefined
    }
    readonly output: {
      prompts: {
        sessionId: string
        messageId: string | null
        text: string
        cut: boolean
        agent: string | null
        createdAt: number | null
      }[]
    }
  }
  /** Lists the sessions whose prompts may be read, those that changed last first. */
  readonly sessions: {
    readonly input: {
      cursor?: string | undefined
      limit?: number | undefined
    }
    readonly output: {
      sessions: {
        sessionId: string
        parentId: string | null
        title: string
        updatedAt: number
      }[]
      cursor: string | null
    }
  }
}
