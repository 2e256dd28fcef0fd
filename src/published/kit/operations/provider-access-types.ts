/** Operations of `provider-access`. Made by scripts/plugin-kits.mjs; change the operations of its broker. */
export interface ProviderAccessOperations {
  /** Lists the models that may be used. */
  readonly models: {
    readonly input?: {
      sessionId?: string | undefined
    }
    readonly output: {
      models: {
        model: string
        name: string
        contextTokens: number
        outputTokens: number
        inputCost: number
        outputCost: number
      }[]
      default: string
      small: string | null
    }
  }
  /** Answers what of the budget of the package is used today. */
  readonly budget: {
    readonly input?: { [key: string]: never }
    readonly output: {
      day: string
      tokens: {
        limit: number
        used: number
      }
      cost: {
        limit: number
        used: number
      }
    }
  }
  /** Asks a model and answers its whole answer. */
  readonly complete: {
    readonly input: {
      model?: string | undefined
      system?: string | undefined
      messages: {
        role: 'user' | 'assistant'
        text: string
      }[]
      maxOutputTokens?: number | undefined
      temperature?: number | undefined
      sessionId?: string | undefined
    }
    readonly output: {
      text: string
      model: string
      reason: string
      usage: {
        inputTokens: number
        outputTokens: number
        reasoningTokens: number
        cachedTokens: number
        cost: number
      }
    }
  }
  /** Asks a model; its answer is read while it comes. */
  readonly open: {
    readonly input: {
      model?: string | undefined
      system?: string | undefined
      messages: {
        role: 'user' | 'assistant'
        text: string
      }[]
      maxOutputTokens?: number | undefined
      temperature?: number | undefined
      sessionId?: string | undefined
    }
    readonly output: {
      opaqueId: string
    }
  }
  /** Answers what a model has said since the last read. */
  readonly read: {
    readonly input: {
      opaqueId: string
      waitMs?: number | undefined
    }
    readonly output: {
      text: string
      end: {
        model: string
        reason: string
        usage: {
          inputTokens: number
          outputTokens: number
          reasoningTokens: number
          cachedTokens: number
          cost: number
        }
      } | null
    }
  }
  /** Ends a question, whatever of its answer is still to come. */
  readonly close: {
    readonly input: {
      opaqueId: string
    }
    readonly output: {
      closed: boolean
    }
  }
}
