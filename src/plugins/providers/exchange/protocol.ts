/** What a protocol brings to an exchange with a model: how a step is asked for, and what its answer means. */
import type { JSONObject, LanguageModelV3CallOptions, LanguageModelV3StreamPart } from '@ai-sdk/provider'
import type { ProviderSettings } from '../../../ports/plugin.js'
import type { GenerateRequest, StreamPart } from '../../../ports/provider-adapter.js'
import type { JsonRecord } from '../../../protocol/text/json.js'
import type { Connection } from './connection.js'
import type { ErrorContext } from './errors.js'
import type { Held } from './held.js'

/** One step as a call of the SDK, but for its prompt. */
export interface Call {
  readonly options: Pick<
    LanguageModelV3CallOptions,
    'tools' | 'temperature' | 'topP' | 'maxOutputTokens' | 'providerOptions' | 'includeRawChunks' | 'headers'
  >
  /** Headers of the request, in lower case: they replace those of the SDK, and the only credential is among them. */
  readonly headers: Readonly<Record<string, string>>
  /** What belongs among the bytes of the request. */
  readonly held: Held
  /** Body fields the SDK has no name for; what it sets itself stands. */
  readonly fields: JSONObject
}

/** One that the SDK makes. */
export interface SdkCall extends Call {
  readonly options: Call['options'] & Pick<LanguageModelV3CallOptions, 'prompt'>
}

export interface CallEffects {
  /** Hex. */
  readonly sha256: (text: string) => string
  /** New for each request. */
  readonly mark: string
}

export interface Exchange {
  readonly connection: Connection
  /** Called with every event of the answer: answers what the SDK gets of it, undefined = nothing. */
  readonly read: (event: JsonRecord) => JsonRecord | undefined
  /** An event has too much in it to be parsed. */
  readonly refuse: (excess: string) => void
  /** Called with what is made of it; false = nothing more is wanted. */
  readonly take: (part: LanguageModelV3StreamPart) => boolean
  /** Waited for after each part of the work. */
  readonly turn: () => Promise<void> | undefined
  /** For a call to which the provider gives none. */
  readonly newId: () => string
  readonly context: ErrorContext
}

export interface Models<Asked = SdkCall> {
  /** Calls a model and hands on what it answers, until that is over or no more is wanted; rejects with `ProviderError`. */
  ask(modelId: string, call: Asked, exchange: Exchange): Promise<void>
}

export interface AnswerDeps {
  readonly push: (part: StreamPart) => void
  readonly context: ErrorContext
  /** Why the body ended early, if it did. */
  readonly broken: () => Error | undefined
  /** Told the figures of usage that cannot be. */
  readonly onOddUsage: (fields: readonly string[]) => void
}

/** The meaning of one answer. What it throws is a `ProviderError` and ends the step. */
export interface Answer {
  /** Looks at an event before the SDK does; answers what the SDK gets of it, undefined = nothing. */
  read(event: JsonRecord): JsonRecord | undefined
  /** Takes one part of the SDK; answers `ended` after the last. */
  take(part: LanguageModelV3StreamPart): 'more' | 'ended'
  /** How far the provider is: `finished` = it has told how the step ended, `over` = and everything else. */
  place(): 'open' | 'finished' | 'over'
}

/** `Asked` is what it asks a model with. */
export interface Protocol<Asked extends Call = SdkCall> {
  /** API root when the configuration names none. */
  endpoint(npm: string): string | undefined
  /** Loads the SDK; called with the first step. */
  load(settings: ProviderSettings, baseURL: string): Promise<Models<Asked>>
  call(settings: ProviderSettings, request: GenerateRequest, effects: CallEffects): Asked
  answer(deps: AnswerDeps): Answer
}
