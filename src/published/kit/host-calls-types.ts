/**
 * What a plugin may ask of the host. Part of the declarations of `svc/plugin`: types only. Made by scripts/plugin-kits.mjs; change
 * src/protocol/plugin/host-methods.ts.
 */
import type { NetworkOperations } from './operations/network-types.js'
import type { ProcessSpawnOperations } from './operations/process-spawn-types.js'
import type { TaskSpawnOperations } from './operations/task-spawn-types.js'
import type { SecretUseOperations } from './operations/secret-use-types.js'
import type { SecretReadOperations } from './operations/secret-read-types.js'
import type { PromptReadOperations } from './operations/prompt-read-types.js'
import type { MessageReadOperations } from './operations/message-read-types.js'
import type { ResponseTransformOperations } from './operations/response-transform-types.js'
import type { ProviderAccessOperations } from './operations/provider-access-types.js'
import type { PolicyInvokeOperations } from './operations/policy-invoke-types.js'

export interface HostCallOptions {
  /** Gives up waiting; the host is not told. */
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
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
