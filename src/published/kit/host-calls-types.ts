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
    readonly call: Broker
    /** Ends a program. */
    cancel(id: string, options?: HostCallOptions): Promise<void>
  }
  /** `task-spawn` */
  readonly tasks: {
    /** Has the host give tasks to agents. */
    readonly call: Broker
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
    readonly call: Broker
  }
  /** `message-read` */
  readonly messages: {
    /** Reads messages of conversations. */
    readonly call: Broker
  }
  /** `response-transform` */
  readonly responses: {
    /** Changes what a model has answered. */
    readonly call: Broker
  }
  /** `provider-access` */
  readonly providers: {
    /** Asks a model. */
    readonly call: Broker
  }
  /** `policy-invoke` */
  readonly policy: {
    /** Has the host say what the rules allow, or ask the person. */
    readonly call: Broker
  }
}
