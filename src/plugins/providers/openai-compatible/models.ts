/** Chat completions, asked for and read without the SDK: what it would make of a prompt, and of the chunks that are given to it. */
import type { PlainAnswer } from '../../../ports/effects.js'
import type { ProviderSettings } from '../../../ports/plugin.js'
import { ProviderError } from '../../../ports/provider-adapter.js'
import { messageOf } from '../../../protocol/message-of.js'
import { connectionError, statusError, streamFault } from '../exchange/errors.js'
import { eventsOf } from '../exchange/events.js'
import { wellFormed } from '../exchange/json.js'
import type { Call, Exchange, Models } from '../exchange/protocol.js'
import { asksForUsage, SDK_NAME, toBody } from './call.js'
import { messagesOf } from './messages.js'
import { createChatParts } from './parts.js'

type Tools = NonNullable<Call['options']['tools']>
type Bytes = Uint8Array<ArrayBuffer>

export function createChatModels(settings: ProviderSettings, baseURL: string): Models {
  const address = new URL(`${baseURL}/chat/completions`).toString()
  const bodyOf = toBody(settings.npm)
  const streamOptions = asksForUsage(settings) ? { include_usage: true } : undefined
  return {
    async ask(modelId, call, exchange) {
      const body = bodyOf({ ...requestOf(modelId, call.options), stream: true, ...(streamOptions && { stream_options: streamOptions }) })
      await readAnswer(await answerTo(address, jsonOf(body, call.options.tools), call, exchange), exchange)
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
    ...(tools.length > 0 && { tools }),
  }
}

/** The body as JSON. What is said of tools is the larger part of a short request, and the same in every step: it stands between as bytes. */
function jsonOf(body: Readonly<Record<string, unknown>>, tools: Tools = []): (string | Bytes)[] {
  if (tools.length === 0) return [JSON.stringify(body)]
  const members = Object.entries(body)
  const at = members.findIndex(([name]) => name === 'tools')
  const before = JSON.stringify(Object.fromEntries(members.slice(0, at)))
  const after = JSON.stringify(Object.fromEntries(members.slice(at + 1)))
  return [`${before.slice(0, -1)},"tools":`, bytesOf(tools), `,${after.slice(1)}`]
}

/** Of lists of tools, by their first one: the latest that was written. */
const writtenLists = new WeakMap<object, { readonly tools: Tools; readonly bytes: Bytes }>()

function bytesOf(tools: Tools): Bytes {
  const [first] = tools
  const known = first && writtenLists.get(first)
  if (known?.tools.length === tools.length && tools.every((tool, at) => tool === known.tools[at])) return known.bytes
  const bytes = Buffer.from(wellFormed(`[${tools.flatMap(jsonOfTool).join()}]`))
  if (first !== undefined) writtenLists.set(first, { tools, bytes })
  return bytes
}

const writtenTools = new WeakMap<object, string>()

/** None of a tool that is no function: no other is offered here. */
function jsonOfTool(tool: Tools[number]): string[] {
  if (tool.type !== 'function') return []
  const { name, description } = tool
  const parameters: unknown = tool.inputSchema
  const json = writtenTools.get(tool) ?? JSON.stringify({ type: 'function', function: { name, description, parameters } })
  writtenTools.set(tool, json)
  return [json]
}

async function answerTo(address: string, body: readonly (string | Bytes)[], { held }: Call, { connection, context }: Exchange) {
  try {
    const { answer, refusal } = await connection.post(address, body, held)
    if (refusal !== undefined) throw statusError({ status: answer.status, headers: { get: answer.header }, body: refusal }, context)
    return answer
  } catch (error) {
    throw error instanceof ProviderError ? error : connectionError(error, context)
  }
}

async function readAnswer(answer: PlainAnswer, exchange: Exchange): Promise<void> {
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
  await connection.read(answer, feed)
  making(() => parts.end())
}
