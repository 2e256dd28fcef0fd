/** Token counts of an answer in the form of sessions-events §3.3. */
import type { LanguageModelV3Usage } from '@ai-sdk/provider'
import type { TokenUsage } from '../../../protocol/message/token-usage.js'
import { LIMITS } from '../../../protocol/limits.js'

/** Reads counts; `odd` are the names of those that cannot be: they are not counted, or rounded when they are fractions. */
export function createCounts() {
  const odd = new Set<string>()
  return {
    odd,
    count(value: unknown, field: string): number {
      if (value === undefined || value === null) return 0
      const isCount = typeof value === 'number' && value >= 0 && value <= LIMITS.provider.stepTokens
      if (!isCount || !Number.isInteger(value)) odd.add(field)
      return isCount ? Math.round(value) : 0
    },
  }
}

/** `input` without what the cache served or stored, `output` without reasoning, `total` as the vendor reported it. */
export function usageOf(
  { inputTokens, outputTokens, raw }: LanguageModelV3Usage,
  onOdd: (fields: readonly string[]) => void = () => undefined,
): TokenUsage {
  const { odd, count } = createCounts()
  const read = count(inputTokens.cacheRead, 'cacheRead')
  const write = count(inputTokens.cacheWrite, 'cacheWrite')
  const input = inputTokens.noCache ?? (inputTokens.total ?? 0) - read - write
  const reasoning = count(outputTokens.reasoning, 'reasoning')
  const output = count(outputTokens.total, 'output')
  const reported = raw?.['total_tokens'] ?? raw?.['totalTokenCount']
  const total = count(reported, 'total')
  const usage = {
    input: count(Math.max(0, input), 'input'),
    output: Math.max(0, output - reasoning),
    reasoning,
    cache: { read, write },
    ...(typeof reported === 'number' && !odd.has('total') && { total }),
  }
  if (odd.size > 0) onOdd([...odd])
  return usage
}
