/**
 * One model step over HTTP: sends the request, reads the event stream, ends on the provider's terminal signal.
 * It owns the connection of a step and its time limits; the protocol is `step.ts`, the request `request.ts`.
 *
 * I1 Parts are pushed in the tick in which their bytes were read, and never after the promise has settled.
 * I2 Abort settles the promise at once and closes the connection; nothing waits for the peer.
 * I3 Only data breaks a silence: keep-alive comments do not.
 * I4 After the terminal signal the rest of the body is read for a moment, so that the connection can serve again.
 */
import type { NativeHost, ProviderSettings } from '../../actors/plugin/native.js'
import { type GenerateRequest, type ProviderAdapter, ProviderError, type StreamPart } from '../../actors/provider/adapter.js'
import { LIMITS } from '../../protocol/limits.js'
import { answerTooLarge, connectionError, type ErrorContext, statusError, streamFault } from './errors.js'
import { readEvents, readStart } from './events.js'
import { buildRequest } from './request.js'
import { createStep } from './step.js'
import { createWatchdog } from './watchdog.js'

export interface Timeouts {
  /** Longest wait for the first data, ms. */
  readonly firstByte: number
  /** Longest silence between data, ms. */
  readonly idle: number
}

export interface AdapterDeps {
  readonly effects: Pick<NativeHost['effects'], 'clock' | 'fetch' | 'ids' | 'sha256'>
  readonly timeouts: Timeouts
}

/** The adapter of one configured provider; it keeps no state between steps. */
export function createChatAdapter(settings: ProviderSettings, deps: AdapterDeps): ProviderAdapter {
  return { generate: (request, push, signal) => generate({ settings, deps, request, push, signal }) }
}

interface Exchange {
  readonly settings: ProviderSettings
  readonly deps: AdapterDeps
  readonly request: GenerateRequest
  readonly push: (part: StreamPart) => void
  readonly signal: AbortSignal
}

function generate({ settings, deps, request, push, signal }: Exchange): Promise<void> {
  const { clock, ids } = deps.effects
  const { providerId } = settings
  const context: ErrorContext = { providerId, secret: settings.apiKey(), now: () => clock.now() }
  const connection = new AbortController()

  return new Promise((resolve, reject) => {
    let open = true
    const step = createStep(
      (part) => {
        if (open) push(part)
      },
      () => ids.next('tool'),
      context,
    )
    const watchdog = createWatchdog(clock, (ms) => {
      if (!open) connection.abort()
      else if (step.finished) complete()
      else fail(streamFault(`sent nothing for ${ms} ms.`, context))
    })
    const fail = (error: unknown) => {
      connection.abort()
      if (!open) return
      open = false
      signal.removeEventListener('abort', abort)
      watchdog.stop()
      reject(error instanceof ProviderError ? error : connectionError(error, context))
    }
    const abort = () =>
      fail(new ProviderError(`The request to provider "${providerId}" was aborted.`, { retryable: false, cause: signal.reason }))
    const complete = () => {
      if (!open) return
      try {
        step.end()
      } catch (error) {
        return fail(error)
      }
      open = false
      signal.removeEventListener('abort', abort)
      watchdog.expect(LIMITS.provider.trailer)
      resolve()
    }
    const take = (data: string) => {
      if (!open) return
      const next = step.take(data)
      if (!open) return
      if (next === 'ended') complete()
      else watchdog.expect(step.finished ? LIMITS.provider.trailer : deps.timeouts.idle)
    }

    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort)
    watchdog.expect(deps.timeouts.firstByte)
    exchange({ settings, deps, request, context, take, signal: connection.signal })
      .then(complete, (error: unknown) => (step.finished && !(error instanceof ProviderError) ? complete() : fail(error)))
      .finally(() => watchdog.stop())
  })
}

interface Connection {
  readonly settings: ProviderSettings
  readonly deps: AdapterDeps
  readonly request: GenerateRequest
  readonly context: ErrorContext
  readonly take: (data: string) => void
  readonly signal: AbortSignal
}

/** Sends the request and hands on the data of each event until the body ends. */
async function exchange({ settings, deps, request, context, take, signal }: Connection): Promise<void> {
  const { fetch, sha256 } = deps.effects
  const { url, headers, body } = buildRequest(settings, request, sha256)
  const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal })
  if (!response.ok) {
    const detail = await readStart(response, LIMITS.provider.errorBytes)
    throw statusError({ status: response.status, headers: response.headers, body: detail }, context)
  }
  if (response.body !== null) await readEvents(response.body, { take, tooLarge: (what) => answerTooLarge(what, context) })
}
