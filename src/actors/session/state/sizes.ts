/**
 * How many tokens a request has. Each message is looked at once; how a model counts is learnt from what it reports.
 *
 * I1 An estimate is corrected by at most a factor of two either way, whatever a model reports.
 */
import { estimateTokens } from '../../../machines/session/compaction/tokens.js'
import { LIMITS } from '../../../protocol/limits.js'
import { createGrown } from '../../../kernel/grown.js'
import { createLru } from '../../../kernel/lru.js'
import type { ModelRef } from '../../../protocol/message/message.js'
import type { TokenUsage } from '../../../protocol/message/token-usage.js'
import type { AssistantContent, GenerateRequest, ModelMessage, ToolDefinition } from '../../../ports/provider-adapter.js'

const MESSAGE = 4
const MEDIA = 4096
const FURTHEST = 2
/** Too little to learn from. */
const LITTLE = 200

export interface Sizes {
  /** Tokens of what is sent, as the model would count them. */
  of(ref: ModelRef, parts: RequestParts): number
  /** Looks at what `of` will be asked for, giving way to others after each slice of time. */
  lookAt(parts: RequestParts): Promise<void> | undefined
  /** Learns from the usage a model reported for a request. */
  learn(request: GenerateRequest, usage: TokenUsage): void
}

interface RequestParts {
  readonly messages: readonly ModelMessage[]
  readonly tools?: readonly ToolDefinition[]
}

/** `slices` begins a slice of time and answers what is waited for after each part of the work. */
export function createSizes(slices: () => () => Promise<void> | undefined): Sizes {
  const known = new WeakMap<ModelMessage | ToolDefinition, number>()
  const sums = createGrown<ModelMessage, number>()
  /** Of whole requests: each is asked about several times. */
  const wholes = new WeakMap<readonly ModelMessage[], number>()
  const factors = createLru<string, number>(LIMITS.compaction.models)
  const keyOf = ({ providerId, id }: ModelRef) => `${providerId}/${id}`

  function sizeOf<Item extends ModelMessage | ToolDefinition>(item: Item, measure: (item: Item) => number): number {
    const before = known.get(item)
    if (before !== undefined) return before
    const size = measure(item)
    known.set(item, size)
    return size
  }

  function sizeAt(messages: readonly ModelMessage[], at: number): number {
    const message = messages[at]
    return message === undefined ? 0 : sizeOf(message, messageTokens)
  }

  function messagesSize(messages: readonly ModelMessage[]): number {
    const whole = wholes.get(messages)
    if (whole !== undefined) return whole
    const said = saidIn(messages)
    const before = sums.of(said)
    let sum = before?.made ?? 0
    for (let at = before?.length ?? 0; at < said.length; at++) sum += sizeAt(said, at)
    sums.keep(said, sum)
    for (let at = 0; at < messages.length - said.length; at++) sum += sizeAt(messages, at)
    wholes.set(messages, sum)
    return sum
  }

  function raw({ messages, tools = [] }: RequestParts): number {
    let sum = messagesSize(messages)
    for (const tool of tools) sum += sizeOf(tool, toolTokens)
    return sum
  }

  return {
    of: (ref, parts) => Math.ceil(raw(parts) * (factors.get(keyOf(ref)) ?? 1)),
    lookAt({ messages }) {
      const said = saidIn(messages)
      const unseen = said.slice(sums.of(said)?.length).filter((message) => !known.has(message))
      const turn = slices()
      const look = (from: number): Promise<void> | undefined => {
        for (let at = from; at < unseen.length; at++) {
          const message = unseen[at]
          if (message === undefined) continue
          sizeOf(message, messageTokens)
          const due = turn()
          if (due !== undefined) return due.then(() => look(at + 1))
        }
        return undefined
      }
      return look(0)
    },
    learn(request, { input, cache }) {
      const reported = input + cache.read + cache.write
      const estimated = raw(request)
      if (reported < LITTLE || estimated < LITTLE) return
      factors.set(keyOf(request.model), Math.min(Math.max(reported / estimated, 1 / FURTHEST), FURTHEST))
    },
  }
}

/** The conversation, without what the system says before it: that is made anew for each request. */
function saidIn(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  const start = messages.findIndex(({ role }) => role !== 'system')
  return start === -1 ? [] : messages.slice(start)
}

/** What a step reports it took, as it counts against the window (sessions-events §6.3). */
export function usedTokens({ total = 0, input, output, cache }: TokenUsage): number {
  return total > 0 ? total : input + output + cache.read + cache.write
}

function toolTokens({ id, description, parameters }: ToolDefinition): number {
  return MESSAGE + estimateTokens(id) + estimateTokens(description) + estimateTokens(JSON.stringify(parameters))
}

function messageTokens(message: ModelMessage): number {
  switch (message.role) {
    case 'system':
      return MESSAGE + estimateTokens(message.text)
    case 'user':
      return sum(message.content, (part) => (part.type === 'text' ? estimateTokens(part.text) : mediaTokens(part.file)))
    case 'assistant':
      return sum(message.content, answerTokens)
    case 'tool':
      return sum(message.results, ({ output, attachments = [] }) => estimateTokens(output) + attachments.length * MEDIA)
  }
}

function answerTokens(part: AssistantContent): number {
  if (part.type === 'tool-call') return estimateTokens(part.tool) + estimateTokens(JSON.stringify(part.input) ?? '')
  if (part.type === 'tool-result') return estimateTokens(JSON.stringify(part.output) ?? '')
  return estimateTokens(part.text)
}

/** Text travels as text; of other media the length says nothing. */
function mediaTokens({ mime, url }: { readonly mime: string; readonly url: string }): number {
  return mime.startsWith('text/') ? Math.ceil(url.length / 4) : MEDIA
}

function sum<Part>(parts: readonly Part[], tokens: (part: Part) => number): number {
  return parts.reduce((total, part) => total + MESSAGE + tokens(part), 0)
}
