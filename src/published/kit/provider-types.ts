/** Model providers as plugins write them. Part of the declarations of `svc/plugin`: types only. */
import type { GenerationRequest, MediaRequest } from '../../protocol/plugin/plugin-requests.js'
import type { AnyRecord, CallContext, Maybe } from './host-types.js'
import type { RouteResponse } from './route-types.js'

export interface PluginProvider {
  readonly descriptor: { readonly id: string; readonly name: string; readonly models?: readonly string[]; readonly configSchema?: unknown }
  readonly priority?: number
  /** The answer of the model, piece by piece. At most 64 pieces may wait for the reader, each at most 256 KiB of JSON. */
  stream(request: GenerationRequest, context: CallContext): Maybe<AsyncIterable<GenerationEvent> | Iterable<GenerationEvent>>
  metadata?(model: { readonly providerId: string; readonly modelId: string }, context: CallContext): Maybe<AnyRecord>
  auth?(providerId: string, context: CallContext): Maybe<AnyRecord | null>
  route?(request: AnyRecord, context: CallContext): Maybe<RouteResponse>
  media?(request: MediaRequest, context: CallContext): Maybe<MediaAnswer>
}

interface Usage {
  readonly finish?: string | null
  readonly totalTokens?: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly reasoningTokens?: number
  readonly cacheReadTokens?: number
  readonly cacheWriteTokens?: number
}

type GenerationEvent =
  | { readonly type: 'start' | 'start-step' }
  | { readonly type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end' | 'tool-input-end'; readonly id: string }
  | { readonly type: 'text-delta' | 'reasoning-delta' | 'tool-input-delta'; readonly id: string; readonly delta: string }
  | { readonly type: 'reasoning-metadata'; readonly id: string; readonly metadata: unknown }
  | { readonly type: 'tool-input-start'; readonly id: string; readonly name: string }
  | { readonly type: 'tool-call'; readonly id: string; readonly name: string; readonly input: unknown }
  | { readonly type: 'tool-result'; readonly id: string; readonly output: string }
  | { readonly type: 'tool-error'; readonly id: string; readonly message: string }
  /** What the model made: `image/…`, `video/…` or `audio/…`. At most 16 of a step are kept. */
  | { readonly type: 'file'; readonly mime: string; readonly filename?: string; readonly dataBase64: string }
  | ({ readonly type: 'finish-step' | 'finish' } & Usage)
  | { readonly type: 'error'; readonly message: string }

interface MediaAnswer {
  readonly mime: string
  readonly filename: string
  /** At most 786,432 bytes once decoded. */
  readonly dataBase64: string
  readonly revisedPrompt?: string | null
}
