/** How OTLP leaves svc: by its way out, tried again while the collector has no time, given up in the end. */
import { createAlarm } from '../../kernel/alarm.js'
import { waitAtMost } from '../../kernel/patience.js'
import type { Effects } from '../../ports/effects.js'
import { messageOf } from '../../protocol/message-of.js'
import type { TraceSettings } from './trace-settings.js'

export interface Sender {
  /** Whether it was taken; what is not is lost, and the log says so. */
  send(body: Uint8Array): Promise<boolean>
  /** Nothing is tried any more. */
  end(): void
}

const ATTEMPTS = 3
const PAUSE = 1000
const REPORT = 60_000
const TYPES = { json: 'application/json', protobuf: 'application/x-protobuf' } as const
/** What a collector says that has no time now. */
const LATER: ReadonlySet<number> = new Set([429, 502, 503, 504])

export function createSender({ clock, fetch, log }: Pick<Effects, 'clock' | 'fetch' | 'log'>, settings: TraceSettings): Sender {
  const { url, headers, encoding, timeout } = settings
  const closing = new AbortController()
  const closed = new Promise<void>((resolve) => closing.signal.addEventListener('abort', () => resolve(), { once: true }))
  let reported = Number.NEGATIVE_INFINITY

  async function post(body: Uint8Array): Promise<number> {
    const deadline = new AbortController()
    const alarm = createAlarm(clock, () => deadline.abort(new Error(`no answer within ${timeout} ms`)))
    alarm.set(timeout)
    try {
      const signal = AbortSignal.any([deadline.signal, closing.signal])
      const type = { 'content-type': TYPES[encoding] }
      const answer = await fetch(url, { method: 'POST', headers: { ...headers, ...type }, body: Buffer.from(body), signal })
      await answer.arrayBuffer()
      return answer.status
    } finally {
      alarm.end()
    }
  }

  async function tried(body: Uint8Array): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const isLast = attempt >= ATTEMPTS || closing.signal.aborted
      const status = await post(body).catch((error: unknown) => {
        if (isLast) throw error
        return 503
      })
      if (status >= 200 && status < 300) return
      if (!LATER.has(status) || isLast) throw new Error(`the collector answered ${status}`)
      await waitAtMost(clock, closed, PAUSE * attempt)
    }
  }

  return {
    async send(body) {
      try {
        await tried(body)
        return true
      } catch (error) {
        const isTold = clock.monotonic() - reported < REPORT
        if (!isTold) {
          reported = clock.monotonic()
          log.warn('traces could not be sent; they are lost', { host: new URL(url).host, cause: messageOf(error) })
        }
        return false
      }
    },
    end: () => closing.abort(new Error('the server ends')),
  }
}
