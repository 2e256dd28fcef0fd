/**
 * What a plugin may ask of the host. Part of the declarations of `svc/plugin`: types only. Made by scripts/plugin-kits.mjs; change
 * src/protocol/plugin/host-methods.ts, or the operations of a broker.
 */

export interface HostCallOptions {
  /** Gives up waiting; the host is not told. */
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
}

/** Operations of `network`. */
interface NetworkOperations {
  /** Makes a whole request and answers what came back, as text, or as base64 where it is no text. */
  readonly fetch: {
    readonly input: {
      url: string
      method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS' | undefined
      headers?:
        | {
            [key: string]: string
          }
        | undefined
      redirects?: number | undefined
      credential?:
        | {
            alias: string
          }
        | undefined
      body?: string | undefined
      bodyBase64?: string | undefined
      maxBytes?: number | undefined
    }
    readonly output: {
      url: string
      status: number
      headers: {
        [key: string]: string
      }
      body?: string | undefined
      bodyBase64?: string | undefined
      truncated: boolean
    }
  }
  /** Begins a request whose body is written, and whose answer is read, piece by piece. */
  readonly open: {
    readonly input: {
      url: string
      method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS' | undefined
      headers?:
        | {
            [key: string]: string
          }
        | undefined
      redirects?: number | undefined
      credential?:
        | {
            alias: string
          }
        | undefined
      upload?: boolean | undefined
    }
    readonly output: {
      opaqueId: string
    }
  }
  /** Adds a piece to the body, and ends it with `end`; answers when there is room for the next piece. */
  readonly write: {
    readonly input: {
      opaqueId: string
      text?: string | undefined
      base64?: string | undefined
      end?: boolean | undefined
    }
    readonly output: { [key: string]: never }
  }
  /** Waits for the next piece of the answer; the first one comes with status and headers. */
  readonly read: {
    readonly input: {
      opaqueId: string
    }
    readonly output: {
      answer?:
        | {
            url: string
            status: number
            headers: {
              [key: string]: string
            }
          }
        | undefined
      base64: string
      end: boolean
    }
  }
  /** Ends a request at once, whatever of it is still to come. */
  readonly close: {
    readonly input: {
      opaqueId: string
    }
    readonly output: {
      closed: boolean
    }
  }
}

/** Operations of `process-spawn`. */
interface ProcessSpawnOperations {
  /** Starts a program in a process group of its own. */
  readonly spawn: {
    readonly input: {
      command: string[]
      cwd?: string | undefined
      env?:
        | {
            [key: string]: string
          }
        | undefined
      stdin?: boolean | undefined
      timeoutMs?: number | undefined
      outputBytes?: number | undefined
      sessionId?: string | undefined
    }
    readonly output: {
      opaqueId: string
      program: string
      sandboxed: boolean
    }
  }
  /** Answers what was written since a place in the output, in the order of arrival. */
  readonly read: {
    readonly input: {
      opaqueId: string
      cursor?: number | undefined
      maxBytes?: number | undefined
      waitMs?: number | undefined
    }
    readonly output: {
      output: {
        stream: 'stdout' | 'stderr'
        text: string
      }[]
      cursor: number
      skipped: number
      more: boolean
      ended: boolean
      exitCode: number | null
      signal: string | null
      stopped: 'time' | 'asked' | null
    }
  }
  /** Writes to the input of a program. */
  readonly write: {
    readonly input: {
      opaqueId: string
      text?: string | undefined
      end?: boolean | undefined
    }
    readonly output: {
      waiting: number
    }
  }
  /** Answers when a program has ended, or when the time is over. */
  readonly wait: {
    readonly input: {
      opaqueId: string
      waitMs?: number | undefined
    }
    readonly output: {
      ended: boolean
      exitCode: number | null
      signal: string | null
      stopped: 'time' | 'asked' | null
    }
  }
  /** Sends a signal to the process group of a program. */
  readonly signal: {
    readonly input: {
      opaqueId: string
      signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGQUIT' | 'SIGUSR1' | 'SIGUSR2' | 'SIGKILL'
    }
    readonly output: {
      sent: boolean
    }
  }
  /** Lists the programs of this instance that run, or can still be read. */
  readonly list: {
    readonly input?: { [key: string]: never }
    readonly output: {
      processes: {
        opaqueId: string
        command: string[]
        startedAt: number
        ended: boolean
        exitCode: number | null
        signal: string | null
        stopped: 'time' | 'asked' | null
      }[]
    }
  }
  /** Ends a program that runs, and forgets it. `host.process.cancel` does the same. */
  readonly close: {
    readonly input: {
      opaqueId: string
    }
    readonly output: {
      closed: boolean
    }
  }
}

/** Operations of `task-spawn`. */
interface TaskSpawnOperations {
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

/** Operations of `secret-use`. */
interface SecretUseOperations {
  /** Names the secrets of the manifest, and whether each has a value. */
  readonly list: {
    readonly input?: { [key: string]: never }
    readonly output: {
      secrets: {
        alias: string
        isSet: boolean
      }[]
    }
  }
  /** Answers the HMAC of a text or of bytes with the secret as its key. */
  readonly sign: {
    readonly input: {
      alias: string
      algorithm?: 'sha256' | 'sha512' | undefined
      text?: string | undefined
      base64?: string | undefined
      encoding?: 'hex' | 'base64' | undefined
    }
    readonly output: {
      signature: string
    }
  }
}

/** Operations of `secret-read`. */
interface SecretReadOperations {
  /** Answers the value of a secret. */
  readonly get: {
    readonly input: {
      alias: string
    }
    readonly output: {
      value: string
    }
  }
}

/** Operations of `prompt-read`. */
interface PromptReadOperations {
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

/** Operations of `message-read`. */
interface MessageReadOperations {
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

/** Operations of `response-transform`. */
interface ResponseTransformOperations {
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

/** Operations of `provider-access`. */
interface ProviderAccessOperations {
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

/** Operations of `policy-invoke`. */
interface PolicyInvokeOperations {
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

type Broker = (operation: string, input?: unknown, options?: HostCallOptions) => Promise<unknown>

/** One signature for each operation that svc knows; others are those of another host. */
type Operated<Operations> = (<Name extends keyof Operations & string>(
  operation: Name,
  ...args: OperationArguments<Operations[Name]>
) => Promise<Operations[Name] extends { readonly output: infer Output } ? Output : never>) &
  Broker
type OperationArguments<Operation> = Operation extends { readonly input?: infer Input }
  ? [input?: Input, options?: HostCallOptions]
  : Operation extends { readonly input: infer Input }
    ? [input: Input, options?: HostCallOptions]
    : never

/** What a plugin may ask of the host. Each part needs the capability named beside it, granted by the installation. */
export interface Host {
  /** `config-read`, `config-write` */
  readonly config: {
    /** Answers a value of the effective configuration by its dotted key, as it was when the plugin started; the empty key is all of it, and null is what is not set. */
    get(key: string, options?: HostCallOptions): Promise<unknown>
    /** Changes a setting of the plugin itself. */
    set(key: string, value: unknown, options?: HostCallOptions): Promise<void>
  }
  /** `workspace-read`, `workspace-write` */
  readonly workspace: {
    /** Answers the bytes of a file of the workspace. */
    read(path: string, options?: HostCallOptions): Promise<Uint8Array>
    /** Answers the names in a folder of the workspace, sorted. */
    list(path: string, options?: HostCallOptions): Promise<string[]>
    /** Writes a whole file of the workspace; its folder must be there. */
    write(path: string, contents: Uint8Array, options?: HostCallOptions): Promise<void>
  }
  /** `event-publish` */
  readonly events: {
    /** Publishes the event plugin.<namespace>.<name>, in a namespace of the manifest. */
    publish(
      event: { readonly namespace: string; readonly name: string; readonly payload: unknown },
      options?: HostCallOptions,
    ): Promise<void>
  }
  /** `network` */
  readonly network: {
    /** Asks the network. */
    readonly call: Operated<NetworkOperations>
  }
  /** `process-spawn` */
  readonly process: {
    /** Has the host run programs. */
    readonly call: Operated<ProcessSpawnOperations>
    /** Ends a program. */
    cancel(id: string, options?: HostCallOptions): Promise<void>
  }
  /** `task-spawn` */
  readonly tasks: {
    /** Has the host give tasks to agents. */
    readonly call: Operated<TaskSpawnOperations>
    /** Stops a task. */
    cancel(id: string, options?: HostCallOptions): Promise<void>
  }
  /** `secret-use`, `secret-read` */
  readonly secrets: {
    /** Has the host use a secret that the plugin does not see. */
    readonly use: Operated<SecretUseOperations>
    /** Answers a secret. */
    readonly read: Operated<SecretReadOperations>
  }
  /** `prompt-read` */
  readonly prompts: {
    /** Reads prompts and instructions. */
    readonly call: Operated<PromptReadOperations>
  }
  /** `message-read` */
  readonly messages: {
    /** Reads messages of conversations. */
    readonly call: Operated<MessageReadOperations>
  }
  /** `response-transform` */
  readonly responses: {
    /** Changes what a model has answered. */
    readonly call: Operated<ResponseTransformOperations>
  }
  /** `provider-access` */
  readonly providers: {
    /** Asks a model. */
    readonly call: Operated<ProviderAccessOperations>
  }
  /** `policy-invoke` */
  readonly policy: {
    /** Has the host say what the rules allow, or ask the person. */
    readonly call: Operated<PolicyInvokeOperations>
  }
}
