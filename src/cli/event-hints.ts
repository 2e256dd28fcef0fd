/** Moments at which something may have changed on a server, by records of its event stream that match; nothing of them is parsed. */
import type { Connection } from './connection.js'

/** Of records that a piece may cut. */
const CARRIED = 64

/** Once as soon as the stream is open, then after each piece with a match; a lost connection is opened anew, and hints as well. */
export async function* eventHints(open: Connection['open'], pattern: RegExp, signal: AbortSignal): AsyncGenerator<void> {
  while (!signal.aborted) {
    const headers = { accept: 'text/event-stream' }
    const { body } = await open({ method: 'GET', target: '/v2/events?tail=true', headers, signal })
    yield
    let text = ''
    for await (const piece of body ?? []) {
      text = text.slice(-CARRIED) + Buffer.from(piece).toString('latin1')
      if (!pattern.test(text)) continue
      text = ''
      yield
    }
  }
}
