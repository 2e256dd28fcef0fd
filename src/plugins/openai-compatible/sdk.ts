/** The one module that loads the SDK; it is imported at the first step. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { APICallError, type LanguageModelV3, type LanguageModelV3CallOptions, type LanguageModelV3StreamPart } from '@ai-sdk/provider'
import type { ProviderSettings } from '../../actors/plugin/native.js'
import type { ProviderError } from '../../actors/provider/adapter.js'
import { asksForUsage, SDK_NAME, toBody } from './call.js'
import { leanChunks } from './chunk-schema.js'
import type { Connection } from './connection.js'
import { connectionError, type ErrorContext, statusError, streamFault } from './errors.js'

/** Models kept per provider: making one takes a millisecond, because the SDK builds its schemas anew. */
const KEPT = 8

export interface ChatModels {
  /** Calls a model over `connection`; rejects with `ProviderError`. */
  stream(
    modelId: string,
    call: LanguageModelV3CallOptions,
    exchange: { readonly connection: Connection; readonly context: ErrorContext },
  ): Promise<ReadableStream<LanguageModelV3StreamPart>>
}

/** The models at one address. A model serves many steps at once; the signal of a step leads to its connection. */
export function createChatModels(settings: ProviderSettings, baseURL: string): ChatModels {
  const connections = new WeakMap<AbortSignal, Connection>()
  const models = new Map<string, LanguageModelV3>()
  const provider = createOpenAICompatible({
    name: SDK_NAME,
    baseURL,
    includeUsage: asksForUsage(settings),
    transformRequestBody: toBody(settings.npm),
    fetch: (input, init) => {
      const connection = init?.signal == null ? undefined : connections.get(init.signal)
      return connection === undefined ? Promise.reject(new Error('a request without a connection')) : connection.fetch(input, init)
    },
  })
  const modelOf = (id: string) => {
    const known = models.get(id)
    if (known !== undefined) return known
    const model = provider.chatModel(id)
    leanChunks(model)
    const [oldest] = models.keys()
    if (models.size >= KEPT && oldest !== undefined) models.delete(oldest)
    models.set(id, model)
    return model
  }
  return {
    async stream(modelId, call, { connection, context }) {
      connections.set(connection.signal, connection)
      try {
        const { stream } = await modelOf(modelId).doStream({ ...call, abortSignal: connection.signal })
        return stream
      } catch (error) {
        throw callError(error, context)
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
