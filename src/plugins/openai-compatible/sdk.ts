/** The one module that loads the SDK; it is imported at the first step. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { APICallError, type LanguageModelV3, type LanguageModelV3StreamPart } from '@ai-sdk/provider'
import type { ProviderSettings } from '../../actors/plugin/native.js'
import type { ProviderError } from '../../actors/provider/adapter.js'
import { asksForUsage, type ChatCall, toBody } from './call.js'
import { leanChunks } from './chunk-schema.js'
import type { Connection } from './connection.js'
import { connectionError, type ErrorContext, statusError, streamFault } from './errors.js'
import { isRecord } from '../../protocol/json.js'

/** Name under which the SDK knows every provider, and finds the options of a call. */
const SDK_NAME = 'svc'

/** Models kept per provider: making one takes a millisecond, because the SDK builds its schemas anew. */
const KEPT = 8

interface Exchange {
  readonly connection: Connection
  /** Called with every chunk, parsed, before the parts the SDK makes of it. */
  readonly look: (chunk: unknown) => void
  readonly context: ErrorContext
}

export interface ChatModels {
  /** Calls a model; rejects with `ProviderError`. */
  stream(modelId: string, call: ChatCall, exchange: Exchange): Promise<ReadableStream<LanguageModelV3StreamPart>>
}

/**
 * The models at one address. A model serves many steps at once, so what the SDK calls back must find its step: its
 * body by the fields only that step has, its request by its signal, and its chunks because the SDK asks for their
 * observer right after the body. A request whose chunks nobody observes is refused.
 */
export function createChatModels(settings: ProviderSettings, baseURL: string): ChatModels {
  const exchanges = new WeakMap<object, Exchange>()
  const observed = new WeakSet<Exchange>()
  const models = new Map<string, LanguageModelV3>()
  const body = toBody(settings.npm)
  let asked: Exchange | undefined
  const provider = createOpenAICompatible({
    name: SDK_NAME,
    baseURL,
    includeUsage: asksForUsage(settings),
    transformRequestBody: (args) => {
      asked = isRecord(args.fields) ? exchanges.get(args.fields) : undefined
      return body(args)
    },
    metadataExtractor: {
      extractMetadata: () => Promise.resolve(undefined),
      createStreamExtractor: () => {
        const exchange = asked
        asked = undefined
        if (exchange !== undefined) observed.add(exchange)
        return { processChunk: (chunk) => exchange?.look(chunk), buildMetadata: () => undefined }
      },
    },
    fetch: (input, init) => {
      const exchange = init?.signal == null ? undefined : exchanges.get(init.signal)
      if (exchange === undefined || !observed.has(exchange)) return Promise.reject(new Error('the request belongs to no step'))
      return exchange.connection.fetch(input, init)
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
    async stream(modelId, { fields, ...call }, exchange) {
      const abortSignal = exchange.connection.signal
      exchanges.set(abortSignal, exchange).set(fields, exchange)
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
