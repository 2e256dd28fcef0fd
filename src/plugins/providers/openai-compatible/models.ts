/** Chat completions, asked for and read without the SDK: what it would make of a prompt, and of the chunks that are given to it. */
import type { ProviderSettings } from '../../../ports/plugin.js'
import { ProviderError } from '../../../ports/provider-adapter.js'
import { messageOf } from '../../../protocol/message-of.js'
import { connectionError, statusError, streamFault } from '../exchange/errors.js'
import { eventsOf } from '../exchange/events.js'
import { wellFormed } from '../exchange/json.js'
import type { Exchange, Models } from '../exchange/protocol.js'
import { asksForUsage, type ChatCall, SDK_NAME, toBody } from './call.js'
import { createChatParts } from './parts.js'
import { written } from './written.js'

type Tool = NonNullable<ChatCall['options']['tools']>[number]

/** Members of the body whose JSON is made elsewhere. */
type Made = Readonly<Record<string, () => string>>

export function createChatModels(settings: ProviderSettings, baseURL: string): Models<ChatCall> {
  const address = new URL(`${baseURL}/chat/completions`).toString()
  const bodyOf = toBody(settings.npm)
  const streamOptions = asksForUsage(settings) ? { include_usage: true } : undefined
  return {
    async ask(modelId, call, exchange) {
      const body = bodyOf({ ...requestOf(modelId, call.options), stream: true, ...(streamOptions && { stream_options: streamOptions }) })
      const made = {
        messages: () => written(call.messages, call.writing),
        tools: () => `[${(call.options.tools ?? []).flatMap(jsonOfTool).join()}]`,
      }
      await readAnswer(await answerTo(address, jsonOf(body, made), call, exchange), exchange)
    },
  }
}

/** The body, as the SDK names and orders it; that there are messages and tools is all that is said of them here. */
function requestOf(
  model: string,
  { tools = [], temperature, topP, maxOutputTokens, providerOptions }: ChatCall['options'],
): Record<string, unknown> {
  return {
    model,
    max_tokens: maxOutputTokens,
    temperature,
    top_p: topP,
    ...providerOptions?.[SDK_NAME],
    messages: [],
    ...(tools.length > 0 && { tools }),
  }
}

/** The body as well-formed JSON. What is the same in every step, tools and what was said before, is written once. */
function jsonOf(body: Readonly<Record<string, unknown>>, made: Made): string {
  const members = Object.entries(body).flatMap(([name, value]) => {
    const json = made[name]?.() ?? jsonText(value)
    return json === undefined ? [] : [`${JSON.stringify(name)}:${json}`]
  })
  return `{${members.join()}}`
}

/** Undefined for what JSON has no word for. */
function jsonText(value: unknown): string | undefined {
  const json: string | undefined = JSON.stringify(value)
  return json === undefined ? undefined : wellFormed(json)
}

const writtenTools = new WeakMap<object, string>()

/** None of a tool that is no function: no other is offered here. */
function jsonOfTool(tool: Tool): string[] {
  if (tool.type !== 'function') return []
  const { name, description } = tool
  const parameters: unknown = tool.inputSchema
  const json = writtenTools.get(tool) ?? wellFormed(JSON.stringify({ type: 'function', function: { name, description, parameters } }))
  writtenTools.set(tool, json)
  return [json]
}

async function answerTo(address: string, body: string, { held }: ChatCall, { connection, context }: Exchange) {
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
