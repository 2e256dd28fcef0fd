/** Token counts of a chat completion in the form of sessions-events §3.3. */
import type { TokenUsage } from '../../../protocol/message/token-usage.js'
import { isRecord } from '../../../protocol/text/json.js'
import { createCounts } from '../exchange/usage.js'

/**
 * `input` without what the cache served or stored, `output` without reasoning, `total` as reported. Vendors
 * that count reasoning beside the completion are recognised by their total. `onOdd` is told which figures cannot be: they are not
 * counted, or rounded when they are fractions.
 */
export function normaliseUsage(usage: unknown, onOdd: (fields: readonly string[]) => void = () => undefined): TokenUsage | undefined {
  if (!isRecord(usage)) return undefined
  const { odd, count } = createCounts()
  const prompt = count(usage.prompt_tokens, 'prompt_tokens')
  const completion = count(usage.completion_tokens, 'completion_tokens')
  const promptDetails = isRecord(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {}
  const completionDetails = isRecord(usage.completion_tokens_details) ? usage.completion_tokens_details : {}
  const read = count(promptDetails.cached_tokens ?? usage.prompt_cache_hit_tokens, 'cached_tokens')
  const write = count(promptDetails.cache_write_tokens ?? usage.cache_creation_input_tokens, 'cache_write_tokens')
  const reasoning = count(completionDetails.reasoning_tokens, 'reasoning_tokens')
  const total = count(usage.total_tokens, 'total_tokens')
  const beside = reasoning > 0 && total === prompt + completion + reasoning
  if (odd.size > 0) onOdd([...odd])
  return {
    input: Math.max(0, prompt - read - write),
    output: beside ? completion : Math.max(0, completion - reasoning),
    reasoning,
    cache: { read, write },
    ...(typeof usage.total_tokens === 'number' && !odd.has('total_tokens') && { total }),
  }
}
