/** Operations of `task-spawn`. Made by scripts/plugin-kits.mjs; change the operations of its broker. */
export interface TaskSpawnOperations {
  /** Delegates a task to an agent, below the session in whose tool call the plugin is. */
  readonly spawn: {
    readonly input: {
      agent?: string | undefined
      description: string
      prompt: string
      timeoutMs?: number | undefined
      sessionId?: string | undefined
    }
    readonly output: {
      opaqueId: string
      sessionId: string
      agent: string
      description: string
      status: 'running' | 'completed' | 'failed' | 'stopped'
      text: string | null
      usage: {
        cost: number
        inputTokens: number
        outputTokens: number
      } | null
    }
  }
  /** Answers how a task is by now. */
  readonly status: {
    readonly input: {
      opaqueId: string
    }
    readonly output: {
      opaqueId: string
      sessionId: string
      agent: string
      description: string
      status: 'running' | 'completed' | 'failed' | 'stopped'
      text: string | null
      usage: {
        cost: number
        inputTokens: number
        outputTokens: number
      } | null
    }
  }
  /** Answers when a task has ended, or when the time is over. */
  readonly wait: {
    readonly input: {
      opaqueId: string
      waitMs?: number | undefined
    }
    readonly output: {
      opaqueId: string
      sessionId: string
      agent: string
      description: string
      status: 'running' | 'completed' | 'failed' | 'stopped'
      text: string | null
      usage: {
        cost: number
        inputTokens: number
        outputTokens: number
      } | null
    }
  }
  /** Lists the tasks of this instance that run, or are remembered. */
  readonly list: {
    readonly input?: { [key: string]: never }
    readonly output: {
      tasks: {
        opaqueId: string
        sessionId: string
        agent: string
        description: string
        status: 'running' | 'completed' | 'failed' | 'stopped'
        text: string | null
        usage: {
          cost: number
          inputTokens: number
          outputTokens: number
        } | null
      }[]
    }
  }
}
