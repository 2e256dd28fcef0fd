/** The stream of a process provider as parts of a model step (plugin-protocol §7.1). */
import { type TokenUsage, ZERO_USAGE } from '../../../protocol/message/token-usage.js'
import { ProviderStreamEvent } from '../../../protocol/plugin/plugin-services.js'
import { ProviderError, type StreamPart } from '../../../ports/provider-adapter.js'
import { wellFormed } from '../../../protocol/text/well-formed.js'
import { isFields } from '../link/initialize.js'

type Finish = Extract<ProviderStreamEvent, { type: 'finish' | 'finish-step' }>

/** Older plugins spell the keys of usage with underscores. */
const OLDER: Readonly<Record<string, string>> = {
  total_tokens: 'totalTokens',
  input_tokens: 'inputTokens',
  output_tokens: 'outputTokens',
  reasoning_tokens: 'reasoningTokens',
  cache_read_tokens: 'cacheReadTokens',
  cache_write_tokens: 'cacheWriteTokens',
}
const REASONS: Readonly<Record<string, string>> = {
  tool_calls: 'tool-calls',
  tool_use: 'tool-calls',
  content_filter: 'content-filter',
  max_tokens: 'length',
  end_turn: 'stop',
  stop_sequence: 'stop',
}

export interface StreamReader {
  /** Takes one item; throws `ProviderError` for an error and for what is no event. */
  take(item: unknown): void
  /** The stream is over: the terminal part, if a step alone was finished. Throws when nothing was. */
  end(): void
  readonly isFinished: boolean
}

/** `push` gets the parts. Nothing follows `finish` but calls that came too late, for the run to refuse. */
export function createStreamReader(providerId: string, push: (part: StreamPart) => void): StreamReader {
  const thoughts = new Map<string, unknown>()
  const inputs = new Set<string>()
  let hasCalls = false
  let step: Finish | undefined
  let isFinished = false

  const think = (id: string): void => {
    if (thoughts.has(id)) return
    thoughts.set(id, undefined)
    push({ type: 'reasoning-start', id })
  }
  const endThought = (id: string): void => {
    if (!thoughts.has(id)) return
    const metadata = thoughts.get(id)
    thoughts.delete(id)
    push({ type: 'reasoning-end', id, ...(metadata === undefined ? {} : { metadata }) })
  }
  const finish = (event: Finish): void => {
    for (const id of thoughts.keys()) endThought(id)
    isFinished = true
    const own = usageOf(event)
    const usage = own.input + own.output === 0 && step !== undefined ? usageOf(step) : own
    const reason = event.finish ?? step?.finish ?? (hasCalls ? 'tool-calls' : 'stop')
    push({ type: 'finish', reason: REASONS[reason] ?? reason, usage })
  }

  const apply = (event: ProviderStreamEvent): void => {
    switch (event.type) {
      case 'text-delta':
        return push({ type: 'text', delta: event.delta })
      case 'reasoning-start':
        return think(event.id)
      case 'reasoning-delta':
        think(event.id)
        return push({ type: 'reasoning', id: event.id, delta: event.delta })
      case 'reasoning-metadata':
        think(event.id)
        return void thoughts.set(event.id, event.metadata)
      case 'reasoning-end':
        return endThought(event.id)
      case 'tool-input-start':
        inputs.add(event.id)
        return push({ type: 'tool-input-start', callId: event.id, tool: event.name })
      case 'tool-input-delta':
        return inputs.has(event.id) ? push({ type: 'tool-input', callId: event.id, delta: event.delta }) : undefined
      case 'file':
        return push({ type: 'file', file: fileOf(event) })
      case 'start-step':
        step = undefined
        return undefined
      case 'tool-call':
        if (step !== undefined && !isFinished) finish(step)
        hasCalls = true
        return push({ type: 'tool-call', callId: event.id, tool: event.name, input: jsonText(event.input) })
      case 'finish-step':
        step = event
        return undefined
      case 'finish':
        return finish(event)
      case 'error':
        throw new ProviderError(`Provider "${providerId}" failed: ${event.message}`, { retryable: false })
      default: // starts, ends of texts and inputs, and what tools the provider ran itself answered
        return undefined
    }
  }

  return {
    take(item) {
      const parsed = ProviderStreamEvent.safeParse(isFields(item) ? renamed(item) : item)
      if (isFinished) return parsed.data?.type === 'tool-call' ? apply(parsed.data) : undefined
      if (!parsed.success) throw new ProviderError(`Provider "${providerId}" sent something that is no stream event.`, { retryable: false })
      apply(parsed.data)
    },
    end() {
      if (isFinished) return
      if (step === undefined)
        throw new ProviderError(`Provider "${providerId}" ended its stream without finishing the step.`, { retryable: true })
      finish(step)
    },
    get isFinished() {
      return isFinished
    },
  }
}

function usageOf(event: Finish): TokenUsage {
  const { inputTokens, outputTokens, reasoningTokens, cacheReadTokens, cacheWriteTokens, totalTokens } = event
  return {
    ...ZERO_USAGE,
    input: Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens),
    output: Math.max(0, outputTokens - reasoningTokens),
    reasoning: reasoningTokens,
    cache: { read: cacheReadTokens, write: cacheWriteTokens },
    ...(totalTokens === undefined || totalTokens === null ? {} : { total: totalTokens }),
  }
}

function fileOf({ mime, filename, dataBase64 }: Extract<ProviderStreamEvent, { type: 'file' }>) {
  const url = `data:${mime};base64,${dataBase64}`
  return { mime, url, ...(typeof filename === 'string' && filename !== '' && { filename: wellFormed(filename.slice(0, FILENAME)) }) }
}

/** Characters of the name of a file. */
const FILENAME = 200

function renamed(item: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (item['type'] !== 'finish' && item['type'] !== 'finish-step') return item
  const named = Object.entries(item).flatMap(([key, value]) => (value === null ? [] : [[OLDER[key] ?? key, value] as const]))
  return Object.fromEntries(named)
}

/** Arguments as JSON text; a string is taken as the text itself. */
function jsonText(input: unknown): string {
  if (typeof input === 'string') return input
  return JSON.stringify(input ?? {})
}
