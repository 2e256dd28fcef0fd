/** Operations of `policy-invoke`. Made by scripts/plugin-kits.mjs; change the operations of its broker. */
export interface PolicyInvokeOperations {
  /** Answers what would be decided of each pattern, and by which rule; nobody is asked. */
  readonly evaluate: {
    readonly input: {
      permission: string
      patterns: string[]
      sessionId?: string | undefined
    }
    readonly output: {
      decision: 'allow' | 'ask' | 'deny'
      patterns: {
        pattern: string
        decision: 'allow' | 'ask' | 'deny'
        by: 'rule' | 'project-rule' | 'workflow-rule' | 'delegator' | 'answer' | 'bypass' | 'default' | 'session'
        rule: {
          permission: string
          pattern: string
          action: 'allow' | 'ask' | 'deny'
        } | null
      }[]
    }
  }
  /** Asks the person in the name of the plugin, unless the rules decide; the answer is read with `answer`. */
  readonly ask: {
    readonly input: {
      permission: string
      patterns: string[]
      sessionId?: string | undefined
      title: string
    }
    readonly output: {
      opaqueId: string
      outcome: 'waiting' | 'granted' | 'refused' | 'expired'
      message: string | null
    }
  }
  /** Answers what became of a question. */
  readonly answer: {
    readonly input: {
      opaqueId: string
      waitMs?: number | undefined
    }
    readonly output: {
      outcome: 'waiting' | 'granted' | 'refused' | 'expired'
      message: string | null
    }
  }
  /** Takes a question back. */
  readonly withdraw: {
    readonly input: {
      opaqueId: string
    }
    readonly output: {
      withdrawn: boolean
    }
  }
}
