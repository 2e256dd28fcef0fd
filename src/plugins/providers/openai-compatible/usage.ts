/** Token counts of a chat completion in the form of sessions-events §3.3. */
import type { TokenUsage } from '../../../protocol/message/token-usage.js'
import { isRecord } from '../../../protocol/json.js'
import { count } from './json.js'

/**
 * `input` without what the cache served or stored, `output` without reasoning, `total` as reported. Vendors
 * that count reasoning beside the completion are recognised by their total.
 */
export function normaliseUsage(usage: unknown): TokenUsage | undefined {
  if (!isRecord(usage)) return undefined
  const prompt = count(usage.prompt_tokens)
  const completion = count(usage.completion_tokens)
  const promptDetails = isRecord(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {}
  const completionDetails = isRecord(usage.completion_tokens_details) ? usage.completion_tokens_details : {}
  const read = count(promptDetails.cached_tokens ?? usage.prompt_cache_hit_tokens)
  const write = count(promptDetails.cache_write_tokens ?? usage.cache_creation_input_tokens)
  const reasoning = count(completionDetails.reasoning_tokens)
  const total = usage.total_tokens
  const beside = reasoning > 0 && total === prompt + completion + reasoning
  return {
    input: Math.max(0, prompt - read - write),
    output: beside ? completion : Math.max(0, completion - reasoning),
    reasoning,
    cache: { read, write },
    ...(typeof total === 'number' ? { total: count(total) } : {}),
  }
}
