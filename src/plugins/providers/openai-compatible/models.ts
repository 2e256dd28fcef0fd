/** Chat completions, asked for and read without the SDK: what it would make of a prompt, and of the chunks that are given to it. */
import { createGrown } from '../../../kernel/grown.js'
import type { ProviderSettings } from '../../../ports/plugin.js'
import { ProviderError } from '../../../ports/provider-adapter.js'
import { messageOf } from '../../../protocol/message-of.js'
import { connectionError, statusError, streamFault } from '../exchange/errors.js'
import type { JsonRecord } from '../../../protocol/text/json.js'
import type { Saying } from '../exchange/alike.js'
import { textAlone } from './chunks.js'
import { eventsOf } from '../exchange/events.js'
import { wellFormed } from '../exchange/json.js'
import { type Bytes, bytesOf, type Piece } from '../exchange/pieces.js'
import type { Exchange, Models } from '../exchange/protocol.js'
import { asksForUsage, type ChatCall, SDK_NAME, toBody } from './call.js'
import { createChatParts } from './parts.js'
import { written } from './written.js'

type Tool = NonNullable<ChatCall['options']['tools']>[number]

/** Members of the body whose JSON is made elsewhere. */
type Made = Readonly<Record<string, () => Piece[]>>

export function createChatModels(settings: ProviderSettings, baseURL: string): Models<ChatCall> {
  const address = new URL(`${baseURL}/chat/completions`).toString()
  const bodyOf = toBody(settings.npm)
  const streamOptions = asksForUsage(settings) ? { include_usage: true } : undefined
  return {
    async ask(modelId, call, exchange) {
      const body = bodyOf({ ...requestOf(modelId, call.options), stream: true, ...(streamOptions && { stream_options: streamOptions }) })
      const made = {
        messages: () => written(call.messages, call.writing),
        tools: () => [jsonOfTools(call.options.tools ?? [])],
      }
      const asked = answerTo(address, jsonOf(body, made), call, exchange)
      const reader = createReader(exchange) // while the model thinks
      await exchange.connection.read(await asked, reader.feed)
      reader.end()
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
function jsonOf(body: Readonly<Record<string, unknown>>, made: Made): Piece[] {
  const members = Object.entries(body).flatMap(([name, value]) => {
    const json = made[name]?.() ?? jsonText(value)
    return json === undefined ? [] : [[`${JSON.stringify(name)}:`, ...json]]
  })
  return ['{', ...members.flatMap((member, index) => (index === 0 ? member : [',', ...member])), '}']
}

/** Undefined for what JSON has no word for. */
function jsonText(value: unknown): Piece[] | undefined {
  const json: string | undefined = JSON.stringify(value)
  return json === undefined ? undefined : [wellFormed(json)]
}

const writtenTools = createGrown<Tool, Bytes>()

/** None of a tool that is no function: no other is offered here. */
function jsonOfTools(tools: readonly Tool[]): Bytes {
  const known = writtenTools.of(tools)
  if (known?.length === tools.length) return known.made
  const functions = tools.flatMap((tool) => {
    if (tool.type !== 'function') return []
    const { name, description } = tool
    const parameters: unknown = tool.inputSchema
    return [{ type: 'function', function: { name, description, parameters } }]
  })
  const made = Buffer.from(wellFormed(JSON.stringify(functions)))
  writtenTools.keep(tools, made)
  return made
}

async function answerTo(address: string, body: readonly Piece[], { held }: ChatCall, { connection, context }: Exchange) {
  try {
    const { answer, refusal } = await connection.post(address, bytesOf(body, held))
    if (refusal !== undefined) throw statusError({ status: answer.status, headers: { get: answer.header }, body: refusal }, context)
    return answer
  } catch (error) {
    throw error instanceof ProviderError ? error : connectionError(error, context)
  }
}

/** The piece of text that a chunk says and nothing else. */
export function saying(chunk: JsonRecord): ReturnType<Saying> {
  const text = textAlone(chunk)
  return text === undefined ? undefined : { name: 'content', text }
}

/** Makes parts of the events of an answer. */
function createReader({ read, refuse, take, newId, context }: Exchange) {
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
    saying,
  })
  return { feed, end: () => making(() => parts.end()) }
}
