/** The one module that loads the SDK; it is imported at the first step. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { APICallError, type LanguageModelV3, type LanguageModelV3StreamPart } from '@ai-sdk/provider'
import type { ProviderSettings } from '../../../actors/plugin/native/native.js'
import type { ProviderError } from '../../../actors/provider/adapter.js'
import { asksForUsage, type ChatCall, toBody } from './call.js'
import { rewriteChunks } from './chunks.js'
import type { Connection } from './connection.js'
import { connectionError, type ErrorContext, statusError, streamFault } from './errors.js'
import type { JsonRecord } from '../../../protocol/json.js'
import { createLru } from '../../../protocol/lru.js'

/** Name under which the SDK knows every provider, and finds the options of a call. */
const SDK_NAME = 'svc'

/** Models kept per provider: making one takes a millisecond, because the SDK builds its schemas anew. */
const KEPT = 8

interface Exchange {
  readonly connection: Connection
  /** Called with every chunk, before the parts the SDK makes of it. */
  readonly look: (chunk: JsonRecord) => void
  readonly context: ErrorContext
}

export interface ChatModels {
  /** Calls a model; rejects with `ProviderError`. */
  stream(modelId: string, call: ChatCall, exchange: Exchange): Promise<ReadableStream<LanguageModelV3StreamPart>>
}

/** The models at one address. A model serves many steps at once: a request finds its step by its signal. */
export function createChatModels(settings: ProviderSettings, baseURL: string): ChatModels {
  const exchanges = new WeakMap<AbortSignal, Exchange & Pick<ChatCall, 'held'>>()
  const models = createLru<string, LanguageModelV3>(KEPT)
  const provider = createOpenAICompatible({
    name: SDK_NAME,
    baseURL,
    includeUsage: asksForUsage(settings),
    transformRequestBody: toBody(settings.npm),
    fetch: (input, init) => {
      const exchange = init?.signal == null ? undefined : exchanges.get(init.signal)
      if (init === undefined || exchange === undefined) return Promise.reject(new Error('the request belongs to no step'))
      return exchange.connection.fetch(input, init, { rewrite: rewriteChunks(exchange.look), held: exchange.held })
    },
  })
  const modelOf = (id: string) => {
    const model = models.get(id) ?? provider.chatModel(id)
    models.set(id, model)
    return model
  }
  return {
    async stream(modelId, { fields, held, ...call }, exchange) {
      const abortSignal = exchange.connection.signal
      exchanges.set(abortSignal, { ...exchange, held })
      try {
        const { stream } = await modelOf(modelId).doStream({
          ...call,
          abortSignal,
          includeRawChunks: true,
          providerOptions: { [SDK_NAME]: { fields } },
        })
        return stream
      } catch (error) {
        throw callError(error, exchange.context)
      }
    },
  }
}

/** What a refused call means. An answer of success that could not be opened had no body. */
function callError(error: unknown, context: ErrorContext): ProviderError {
  if (!APICallError.isInstance(error) || error.statusCode === undefined) return connectionError(error, context)
  const { statusCode: status, responseHeaders, responseBody = '' } = error
  if (status < 300) return streamFault('ended the stream without a finish reason.', context)
  return statusError({ status, headers: new Headers(responseHeaders), body: responseBody }, context)
}
