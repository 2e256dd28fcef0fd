/** Reads bodies of answers within bounds: whole small ones, and streams of server-sent events. */
import { createParser } from 'eventsource-parser'
import { LIMITS } from '../../protocol/limits.js'

export interface EventReader {
  /** Called with the data of each event, in the tick its bytes arrive; what it throws ends the reading. */
  readonly take: (data: string) => void
  /** Makes the error for an answer beyond the bounds. */
  readonly tooLarge: (what: string) => Error
}

/** Reads events until the body ends. */
export async function readEvents(body: ReadableStream<Uint8Array>, { take, tooLarge }: EventReader): Promise<void> {
  let overflowed = false
  const parser = createParser({
    maxBufferSize: LIMITS.provider.eventBytes,
    onEvent: (event) => take(event.data),
    onError: (error) => {
      overflowed ||= error.type === 'max-buffer-size-exceeded'
    },
  })
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    size += value.byteLength
    parser.feed(decoder.decode(value, { stream: true }))
    if (overflowed) throw tooLarge(`sent an event larger than ${LIMITS.provider.eventBytes} bytes.`)
    if (size > LIMITS.provider.stepBytes) throw tooLarge(`sent an answer larger than ${LIMITS.provider.stepBytes} bytes.`)
  }
  parser.reset({ consume: true })
}

/** The beginning of a body as text, at most `maxBytes`; the rest is not read. */
export async function readStart(response: Response, maxBytes: number): Promise<string> {
  if (response.body === null) return ''
  const decoder = new TextDecoder()
  const reader = response.body.getReader()
  let text = ''
  for (let size = 0; size < maxBytes; ) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    text += decoder.decode(value.subarray(0, maxBytes - size), { stream: true })
    size += value.byteLength
  }
  await reader.cancel()
  return text
}
