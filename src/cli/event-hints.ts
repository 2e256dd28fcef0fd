/** Moments at which something may have changed on a server, by the types of the events of its stream. */
import { PLATFORM } from '../published/client/platform.js'
import { readRecords } from '../published/client/records.js'
import type { Connection } from './connection.js'

/** Once as soon as the stream is open, then after each event whose type matches; a lost connection is opened anew, and hints as well. Who stops reading has no connection left. */
export async function* eventHints(open: Connection['open'], isHint: (type: string) => boolean, signal: AbortSignal): AsyncGenerator<void> {
  while (!signal.aborted) {
    const headers = { accept: 'text/event-stream' }
    const response = await open({ method: 'GET', target: '/v2/events?tail=true', headers, signal })
    try {
      yield
      for await (const { value } of readRecords(response, PLATFORM)) if (isHint(typeOf(value))) yield
    } finally {
      // Nothing where it was read: that has ended it.
      await response.body?.cancel().catch(() => undefined)
    }
  }
}

function typeOf(event: unknown): string {
  return typeof event === 'object' && event !== null && 'type' in event ? String(event.type) : ''
}
