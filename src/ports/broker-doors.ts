/** What brokers ask of sessions, models and rules in the name of a plugin; each is given by `src/actors/host`. */
import type { PermissionAction, PermissionRule } from '../protocol/interaction/interaction.js'
import type { TokenUsage } from '../protocol/message/token-usage.js'
import type { SessionUsage } from '../protocol/session/session.js'
import type { ModelMessage } from './provider-adapter.js'
import type { ToolContext } from './plugin.js'

/** Whose rules, models and connections count: those of a session, or those of a directory. */
export interface BrokerPlace {
  /** Canonical. */
  readonly directory: string
  readonly sessionId?: string | undefined
}

export interface DelegatedTask {
  readonly agent: string
  readonly description: string
  readonly prompt: string
}

export interface TaskOutcome {
  readonly status: 'completed' | 'failed' | 'stopped'
  readonly text: string
  readonly usage: SessionUsage | undefined
}

/** Work that a tool call delegates, by the tool that agents have for it. */
export interface TaskDoor {
  /**
   * Resolves once it has ended; `onBegun` is told its session. Stopped when `signal` or that of the call aborts. Rejects with `request.forbidden`
   * where a rule of the run denies it, and with `request.unprocessable` where it cannot be begun.
   */
  run(call: ToolContext, task: DelegatedTask, how: { readonly signal: AbortSignal; onBegun(sessionId: string): void }): Promise<TaskOutcome>
}

/** What is decided of a target, by whom, and by which rule if it is one. */
export interface Deciding {
  readonly decision: PermissionAction
  readonly by: 'rule' | 'project-rule' | 'workflow-rule' | 'delegator' | 'answer' | 'bypass' | 'default'
  readonly rule: PermissionRule | null
}

/** What rules say of targets, and asking a person. */
export interface PolicyDoor {
  /** By the rules of a session as its agent would be judged now; without one, by those of the default agent of the directory. */
  decisions(of: BrokerPlace, permission: string, patterns: readonly string[]): Promise<readonly PermissionAction[]>
  /** The same, with who decides. */
  explain(of: BrokerPlace, permission: string, patterns: readonly string[]): Promise<readonly Deciding[]>
  /** Asks the person in the name of a plugin that a tool call has called. Rejects when `signal` aborts, after the request was withdrawn. */
  ask(
    call: ToolContext,
    question: { readonly pluginId: string; readonly title: string; readonly permission: string; readonly patterns: readonly string[] },
    signal: AbortSignal,
  ): Promise<{ readonly granted: true } | { readonly granted: false; readonly message: string }>
}

export interface BrokerModel {
  /** `provider/model`. */
  readonly name: string
  /** What an answer has cost, in the currency of its prices. */
  costOf(usage: TokenUsage): number
  /** Asks once; what it says is pushed. Rejects when `signal` aborts, and with what the provider says. */
  generate(
    question: {
      readonly messages: readonly ModelMessage[]
      readonly maxOutputTokens: number
      readonly temperature?: number | undefined
      /** Stands for a session where there is none. */
      readonly asker: string
    },
    push: (text: string) => void,
    signal: AbortSignal,
  ): Promise<{ readonly reason: string; readonly usage: TokenUsage }>
}

interface ListedModel {
  readonly model: string
  readonly name: string
  readonly contextTokens: number
  readonly outputTokens: number
  readonly inputCost: number
  readonly outputCost: number
}

/** Models of the user's providers, and what packages use of them. */
export interface PluginModelDoor {
  list(of: BrokerPlace): Promise<{ readonly models: readonly ListedModel[]; readonly default: string; readonly small: string | undefined }>
  /** `provider/model`, `default` or `small`. Rejects for one that is not known or cannot be used. */
  find(of: BrokerPlace, name: string): Promise<BrokerModel>
  /** What the package may use in a day. */
  budget(pluginId: string): Promise<ModelBudget>
  /** What it has used on a day, `YYYY-MM-DD`. */
  used(pluginId: string, day: string): ModelBudget
  /** Adds to it, and to what the session has cost. */
  spend(use: {
    readonly pluginId: string
    readonly day: string
    readonly sessionId?: string | undefined
    readonly usage: TokenUsage
    readonly cost: number
  }): void
}

export interface ModelBudget {
  readonly tokens: number
  readonly cost: number
}

export interface BrokerDoors {
  readonly tasks: TaskDoor
  readonly policy: PolicyDoor
  readonly models: PluginModelDoor
}
