/** An answer as one value: read to its end or to as much as is wanted, within time (threat-model N2). */
import { createAlarm } from '../../../../kernel/alarm.js'
import { SvcError } from '../../../../protocol/errors.js'
import { LIMITS } from '../../../../protocol/limits.js'
import type { OperationOutput } from '../../../../protocol/plugin/broker-operations.js'
import type { Clock } from '../../../../ports/effects.js'
import { type Answered, explained } from './request.js'

interface Reading {
  readonly host: string
  readonly clock: Clock
  readonly maxBytes: number
  readonly signal: AbortSignal
  count(bytes: number): void
}

const { header, idle, total, textBytes } = LIMITS.pluginNetwork
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export async function wholeAnswer(
  { clock, host, maxBytes, signal, count }: Reading,
  send: (signal: AbortSignal) => Promise<Answered>,
): Promise<OperationOutput<'network', 'fetch'>> {
  const late = new AbortController()
  const give = (up: string) => () => late.abort(new SvcError('request.unprocessable', up))
  const quiet = createAlarm(clock, give(`there was no answer, or no more of it, for ${idle} ms`))
  const whole = createAlarm(clock, give(`there was no whole answer within ${total} ms`))
  quiet.set(header)
  whole.set(total)
  const limited = AbortSignal.any([signal, late.signal])
  try {
    const { body, filter, ...answer } = await send(limited)
    const parts: Uint8Array[] = []
    let size = 0
    let truncated = false
    for await (const chunk of body ?? []) {
      quiet.set(idle)
      count(chunk.byteLength)
      size += parts[parts.push(filter.push(chunk)) - 1]?.byteLength ?? 0
      if (size <= maxBytes) continue
      truncated = true // what the filter still holds is not given out
      break
    }
    if (!truncated) size += parts[parts.push(filter.end()) - 1]?.byteLength ?? 0
    return { ...answer, ...shown(Buffer.concat(parts).subarray(0, maxBytes)), truncated: truncated || size > maxBytes }
  } catch (error) {
    throw explained(error, host, limited)
  } finally {
    quiet.end()
    whole.end()
  }
}

/** Text where it is some, and takes no more room than bytes would. */
function shown(bytes: Uint8Array): { readonly body: string } | { readonly bodyBase64: string } {
  try {
    const body = utf8.decode(bytes)
    if (Buffer.byteLength(JSON.stringify(body)) <= textBytes) return { body }
  } catch {
    // It is no text.
  }
  return { bodyBase64: Buffer.from(bytes).toString('base64') }
}
