/**
 * Requests to authorization servers (threat-model N2, K2).
 *
 * I1 One ends within its time, its body included, however slowly that comes.
 * I2 Of a refusal remains what OAuth has words for: a body of another kind may be anything that was sent, in any form.
 */
import type { FetchLike } from '@modelcontextprotocol/client'
import type { NativeHost } from '../../../ports/plugin.js'
import { cut } from '../../../kernel/cut.js'
import { timeLimit } from '../../../kernel/patience.js'
import { LIMITS } from '../../../protocol/limits.js'
import { parseForeign } from '../../../protocol/text/foreign-json.js'
import { isRecord } from '../../../protocol/text/json.js'
import { printable } from '../../../protocol/text/visible-text.js'

export function boundedAsking({ clock }: Pick<NativeHost['effects'], 'clock'>, fetch: FetchLike): FetchLike {
  return async (address, init = {}) => {
    const late = timeLimit(clock, LIMITS.mcp.discovery, 'it took too long')
    try {
      const signal = init.signal ? AbortSignal.any([init.signal, late.signal]) : late.signal
      const { ok, status, statusText, headers, body } = await fetch(address, { ...init, signal })
      const bytes = body === null ? null : await readWithin(new Response(body), late.signal)
      return new Response(ok || bytes === null ? bytes : refusal(bytes), { status, statusText, headers })
    } finally {
      late.clear()
    }
  }
}

/** What is read does not always end with its request. */
function readWithin(response: Response, signal: AbortSignal): Promise<ArrayBuffer> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason as Error)
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    response.arrayBuffer().then(resolve, reject)
  })
}

/** I2 */
function refusal(bytes: ArrayBuffer): string {
  try {
    const answer: unknown = parseForeign(new Uint8Array(bytes))
    if (!isRecord(answer) || typeof answer['error'] !== 'string') return ''
    const { error, error_description: description } = answer
    const said = typeof description === 'string' ? { error_description: told(description) } : {}
    return JSON.stringify({ error: told(error), ...said })
  } catch {
    return ''
  }
}

function told(text: string): string {
  return cut(printable(text), LIMITS.mcp.authReason, '…')
}
