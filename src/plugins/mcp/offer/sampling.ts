/**
 * What a server asks the model of the session whose call it works on ("sampling"; issue: off unless the configuration allows it for that server).
 *
 * I1 Each question is decided by the rules for `mcp_sampling`, and where they say to ask, by the person, who is shown it.
 * I2 Questions of a call are bounded in number and size, and answers in tokens; the model gets no tools, nothing of the conversation, and no
 *    way to do anything.
 * I3 No text of a server passes for what the runtime says.
 */
import { cut } from '../../../kernel/cut.js'
import type { CreateMessageRequest, CreateMessageResult } from '@modelcontextprotocol/client'
import { type NativeHost, type ToolContext, ToolError } from '../../../ports/plugin.js'
import { LIMITS } from '../../../protocol/limits.js'
import { type McpConfig, samplingOf } from '../../../protocol/mcp/mcp-config.js'
import { breakMarks } from '../../../protocol/text/runtime-marks.js'

/** Group of the rules; its patterns are names of servers. */
const PERMISSION = 'mcp_sampling'
const ALLOW = 'Allow'
const DECLINE = 'Decline'
const STOP_REASONS: Readonly<Record<string, string>> = { stop: 'endTurn', length: 'maxTokens' }
const { samplingText, samplingMessages, attachmentBytes, question: SHOWN } = LIMITS.mcp

type Params = CreateMessageRequest['params']
type Messages = Parameters<NativeHost['models']['ask']>[1]['messages']

/** What a server has had of the model during one call. */
interface Sampled {
  requests: number
  inputTokens: number
  outputTokens: number
}

export interface Sampling {
  /** Throws a sentence for the server when it is refused. */
  ask(
    place: { readonly server: string; readonly config: McpConfig },
    params: Params,
    context: ToolContext,
    signal: AbortSignal,
  ): Promise<CreateMessageResult>
  sampled(context: ToolContext): Readonly<Sampled> | undefined
}

export function createSampling({ models, questions }: Pick<NativeHost, 'models' | 'questions'>): Sampling {
  const calls = new WeakMap<ToolContext, Sampled>()

  /** I1 */
  async function isAllowed(server: string, shown: string, context: ToolContext): Promise<boolean> {
    const [decision] = context.decisions(PERMISSION, [server])
    if (decision === 'deny') return false
    if (decision === 'allow') return true
    try {
      const [answer = []] = await questions.ask(context, [
        { header: server, question: shown, options: [{ label: ALLOW }, { label: DECLINE }] },
      ])
      return answer.includes(ALLOW)
    } catch (error) {
      if (error instanceof ToolError) return false
      throw error
    }
  }

  return {
    async ask({ server, config }, params, context, ended) {
      const bounds = samplingOf(config)
      if (bounds === undefined) throw new Error('This server may not ask the model.')
      const call = calls.get(context) ?? { requests: 0, inputTokens: 0, outputTokens: 0 }
      calls.set(context, call)
      if (++call.requests > bounds.requests) throw new Error(`The model is asked ${bounds.requests} times in a call at most.`)
      const messages = messagesOf(params)
      const maxOutputTokens = Math.min(bounds.maxTokens, params.maxTokens)
      const signal = AbortSignal.any([ended, context.signal])
      const shown = `The MCP server "${server}" asks the model, for an answer of at most ${maxOutputTokens} tokens:\n${shownText(messages)}`
      if (!(await isAllowed(server, shown, { ...context, signal }))) throw new Error('The user rejected this question for the model.')
      const { temperature } = params
      const { model, text, reason, usage } = await models.ask(context.sessionId, { messages, maxOutputTokens, temperature }, signal)
      call.inputTokens += usage.input
      call.outputTokens += usage.output
      return { model, role: 'assistant', content: { type: 'text', text }, stopReason: STOP_REASONS[reason] ?? reason }
    },
    sampled: (context) => calls.get(context),
  }
}

/** I2, I3. Throws what is wrong with them. */
function messagesOf({ messages, systemPrompt, tools = [] }: Params): Messages {
  if (tools.length > 0) throw new Error('The model gets no tools.')
  if (messages.length > samplingMessages) throw new Error(`A question for the model has at most ${samplingMessages} messages.`)
  let room = samplingText
  let bytes = attachmentBytes
  const textOf = (text: string) => {
    room -= text.length
    if (room < 0) throw new Error(`A question for the model has at most ${samplingText} characters.`)
    return breakMarks(text)
  }
  const system = systemPrompt === undefined ? [] : [{ role: 'system' as const, text: textOf(systemPrompt) }]
  const said = messages.map(({ role, content }): Messages[number] => {
    const parts = (Array.isArray(content) ? content : [content]).map((block) => {
      if (block.type === 'text') return { type: 'text' as const, text: textOf(block.text) }
      if (block.type !== 'image' || role !== 'user') throw new Error(`The model is asked in words and pictures, not with "${block.type}".`)
      bytes -= block.data.length
      if (bytes < 0) throw new Error(`A question for the model has at most ${attachmentBytes} bytes of pictures.`)
      const url = `data:${block.mimeType};base64,${block.data}`
      return { type: 'file' as const, file: { mime: block.mimeType, url, filename: 'picture' } }
    })
    if (role === 'user') return { role, content: parts }
    return { role, content: parts.flatMap((part) => (part.type === 'text' ? [part] : [])) }
  })
  return [...system, ...said]
}

/** For the person: all of it, or as much as fits, and how much does not (threat-model G5). */
function shownText(messages: Messages): string {
  const lines = messages.map((message) => {
    if (message.role === 'system') return `[system] ${message.text}`
    if (message.role === 'tool') return ''
    return `[${message.role}] ${message.content.map((part) => (part.type === 'text' ? part.text : '(a picture)')).join('\n')}`
  })
  const text = lines.join('\n')
  return cut(text, SHOWN, `\n[… ${text.length - SHOWN} more characters]`)
}
