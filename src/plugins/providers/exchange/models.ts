/** The models of the SDK at one address, over connections of our own. */
import { APICallError, type LanguageModelV3, type LanguageModelV3StreamPart } from '@ai-sdk/provider'
import { messageOf } from '../../../protocol/message-of.js'
import { isRecord } from '../../../protocol/text/json.js'
import { createLru } from '../../../kernel/lru.js'
import { ProviderError } from '../../../ports/provider-adapter.js'
import { connectionError, type ErrorContext, refusedCall, statusError, streamFault } from './errors.js'
import { rewriteEvents } from './events.js'
import { parseJson } from './json.js'
import type { Exchange, Models, SdkCall } from './protocol.js'

/** Models kept per provider: making one takes a millisecond, because the SDK builds its schemas anew. */
const KEPT = 8

/** `make` is given the `fetch` of all models. A model serves many steps at once: a request finds its step by its signal. */
export function createModels(make: (fetch: typeof globalThis.fetch) => (id: string) => LanguageModelV3): Models {
  const steps = new WeakMap<AbortSignal, { readonly call: SdkCall; readonly exchange: Exchange }>()
  const models = createLru<string, LanguageModelV3>(KEPT)
  const makeModel = make((input, init) => {
    const step = init?.signal == null ? undefined : steps.get(init.signal)
    if (init === undefined || step === undefined) return Promise.reject(new Error('the request belongs to no step'))
    const { connection } = step.exchange
    const { held, fields } = step.call
    return connection.fetch(input, { ...init, body: withFields(init.body, fields) }, { rewrite: rewriteEvents(step.exchange), held })
  })
  const modelOf = (id: string) => {
    const model = models.get(id) ?? makeModel(id)
    models.set(id, model)
    return model
  }
  const open = async (modelId: string, call: SdkCall, { connection, context }: Exchange) => {
    try {
      return await modelOf(modelId).doStream({ ...call.options, abortSignal: connection.signal() })
    } catch (error) {
      throw callError(error, context)
    }
  }
  return {
    async ask(modelId, call, exchange) {
      steps.set(exchange.connection.signal(), { call, exchange })
      const { stream } = await open(modelId, call, exchange)
      await readParts(stream, exchange)
    },
  }
}

/** Hands on parts until no more is wanted. The SDK breaks its stream only over what it cannot read. */
async function readParts(stream: ReadableStream<LanguageModelV3StreamPart>, { take, context, turn }: Exchange): Promise<void> {
  const reader = stream.getReader()
  for (;;) {
    let next: ReadableStreamReadResult<LanguageModelV3StreamPart>
    try {
      next = await reader.read()
    } catch (error) {
      throw streamFault(`sent what cannot be read: ${messageOf(error)}`, context)
    }
    if (next.done) return
    if (!take(next.value)) return reader.cancel()
    await turn()
  }
}

function withFields(body: RequestInit['body'] = null, fields: SdkCall['fields']): BodyInit | null {
  if (Object.keys(fields).length === 0 || typeof body !== 'string') return body
  const set = parseJson(body)
  return isRecord(set) ? JSON.stringify({ ...fields, ...set }) : body
}

/** What a refused call means. An answer of success that could not be opened had no body. */
function callError(error: unknown, context: ErrorContext): ProviderError {
  if (error instanceof ProviderError) return error
  if (error instanceof Error && /^AI_(InvalidArgument|UnsupportedFunctionality|TypeValidation|InvalidPrompt)/.test(error.name))
    return refusedCall(error.message, context)
  if (!APICallError.isInstance(error) || error.statusCode === undefined) return connectionError(error, context)
  const { statusCode: status, responseHeaders, responseBody = '' } = error
  if (status < 300) return streamFault('ended the stream without a finish reason.', context)
  return statusError({ status, headers: new Headers(responseHeaders), body: responseBody }, context)
}
