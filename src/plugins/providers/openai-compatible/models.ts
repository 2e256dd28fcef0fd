/** Chat completions, asked for and read without the SDK: what it would make of a prompt, and of the chunks that are given to it. */
import type { LanguageModelV3CallOptions } from '@ai-sdk/provider'
import type { ProviderSettings } from '../../../ports/plugin.js'
import { ProviderError } from '../../../ports/provider-adapter.js'
import { messageOf } from '../../../protocol/message-of.js'
import { connectionError, statusError, streamFault } from '../exchange/errors.js'
import { eventsOf } from '../exchange/events.js'
import type { Call, Exchange, Models } from '../exchange/protocol.js'
import { asksForUsage, SDK_NAME, toBody } from './call.js'
import { messagesOf } from './messages.js'
import { createChatParts } from './parts.js'

export function createChatModels(settings: ProviderSettings, baseURL: string): Models {
  const address = new URL(`${baseURL}/chat/completions`).toString()
  const bodyOf = toBody(settings.npm)
  const streamOptions = asksForUsage(settings) ? { include_usage: true } : undefined
  return {
    async ask(modelId, call, exchange) {
      const body = JSON.stringify(
        bodyOf({ ...requestOf(modelId, call.options), stream: true, ...(streamOptions && { stream_options: streamOptions }) }),
      )
      await readAnswer(await answerTo(address, body, call, exchange), exchange)
    },
  }
}

/** The body, as the SDK names and orders it. */
function requestOf(
  model: string,
  { prompt, tools = [], temperature, topP, maxOutputTokens, providerOptions }: Call['options'],
): Record<string, unknown> {
  return {
    model,
    max_tokens: maxOutputTokens,
    temperature,
    top_p: topP,
    ...providerOptions?.[SDK_NAME],
    messages: messagesOf(prompt),
    ...(tools.length > 0 && { tools: toolsOf(tools) }),
  }
}

function toolsOf(tools: NonNullable<LanguageModelV3CallOptions['tools']>) {
  return tools.flatMap((tool) =>
    tool.type === 'function'
      ? [{ type: 'function', function: { name: tool.name, description: tool.description, parameters: tool.inputSchema as unknown } }]
      : [],
  )
}

async function answerTo(address: string, body: string, { held }: Call, { connection, context }: Exchange) {
  try {
    const { response, refusal } = await connection.post(address, body, held)
    const { status, headers } = response
    if (refusal !== undefined) throw statusError({ status, headers, body: refusal }, context)
    if (response.body === null) throw streamFault('ended the stream without a finish reason.', context)
    return response.body
  } catch (error) {
    throw error instanceof ProviderError ? error : connectionError(error, context)
  }
}

async function readAnswer(source: ReadableStream<Uint8Array<ArrayBuffer>>, exchange: Exchange): Promise<void> {
  const { connection, read, refuse, take, newId, context } = exchange
  const parts = createChatParts(take, newId)
  const making = (make: () => void): void => {
    try {
      make()
    } catch (error) {
      throw error instanceof ProviderError ? error : streamFault(`sent what cannot be read: ${messageOf(error)}`, context)
    }
  }
  const feed = eventsOf({
    on(event) {
      const rest = read(event)
      if (rest !== undefined) making(() => parts.add(rest))
    },
    onOther(data) {
      if (data !== '[DONE]') throw streamFault('sent data that is not a JSON object.', context)
    },
    refuse,
  })
  await connection.read(source, feed)
  making(() => parts.end())
}
