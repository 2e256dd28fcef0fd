import type { StepFailure } from '../../machines/session/retry.js'
import { OVERFLOW } from '../../machines/session/run.machine.js'
import { SvcError } from '../../protocol/errors.js'
import { ProviderError } from '../../ports/provider-adapter.js'
import { messageOf } from '../../protocol/message-of.js'

/** Any rejection of a stream as the run machine's failure. */
export function stepFailure(error: unknown): StepFailure {
  if (error instanceof ProviderError) {
    const code = error.overflow ? OVERFLOW : 'provider.failed'
    const { message, retryable, retryAfterMs, retries } = error
    return { code, message, retryable, retryAfterMs, ...(retries !== undefined && { retries }) }
  }
  if (error instanceof SvcError) return { code: error.code, message: error.message, retryable: false }
  return { code: 'server.internal', message: messageOf(error), retryable: false }
}
