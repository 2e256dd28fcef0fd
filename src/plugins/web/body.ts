/** What an answer holds, as text: bounded, unpacked, decoded as it arrives, so that nothing holds up anybody else (threat-model N2). */
import { ToolError } from '../../ports/plugin.js'

/** A page says in its first bytes what it is written in. */
const SNIFFED = 1024
const UNPACKED: Readonly<Record<string, CompressionFormat>> = { gzip: 'gzip', 'x-gzip': 'gzip', deflate: 'deflate' }
const DECLARED = /<meta[^>]{0,200}charset\s*=\s*["']?([\w:.-]{1,40})|^<\?xml[^>]{0,100}encoding\s*=\s*["']([\w:.-]{1,40})/i
const MARKS: readonly (readonly [bytes: readonly number[], encoding: string])[] = [
  [[0xef, 0xbb, 0xbf], 'utf-8'],
  [[0xfe, 0xff], 'utf-16be'],
  [[0xff, 0xfe], 'utf-16le'],
]

export interface Content {
  readonly text: string
  /** After unpacking. */
  readonly bytes: number
}

/** Text of an answer of at most `most` bytes; what is no text in its encoding is U+FFFD. Throws `ToolError` beyond, the reason of `signal`, and what reading throws. */
export async function textOf(response: Response, most: number, signal: AbortSignal): Promise<Content> {
  const tooLarge = () => new ToolError(`The answer is larger than ${most} bytes.`)
  const { body } = response
  if (body === null) return { text: '', bytes: 0 }
  if (Number(response.headers.get('content-length') ?? 0) > most) {
    await body.cancel()
    throw tooLarge()
  }
  const reader = unpacked(body, response.headers.get('content-encoding')).getReader()
  const leave = () => void reader.cancel(signal.reason).catch(() => undefined)
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  const pieces: string[] = []
  let head: Uint8Array<ArrayBuffer> = new Uint8Array(0)
  let decoder: TextDecoder | undefined
  let bytes = 0
  try {
    for (;;) {
      const { done, value } = await reader.read()
      signal.throwIfAborted()
      if (value !== undefined) {
        bytes += value.length
        if (bytes > most) throw tooLarge()
        if (decoder === undefined) head = joined(head, value)
        else pieces.push(decoder.decode(value, { stream: true }))
      }
      if (decoder === undefined && (done || head.length >= SNIFFED)) {
        decoder = decoderFor(head, response.headers.get('content-type') ?? '')
        pieces.push(decoder.decode(head, { stream: true }))
      }
      if (done) return { text: pieces.join('') + (decoder?.decode() ?? ''), bytes }
    }
  } finally {
    signal.removeEventListener('abort', leave)
    await reader.cancel().catch(() => undefined)
  }
}

function unpacked(body: ReadableStream<Uint8Array<ArrayBuffer>>, encoding: string | null): ReadableStream<Uint8Array<ArrayBuffer>> {
  const name = encoding?.trim().toLowerCase() ?? ''
  if (name === '' || name === 'identity') return body
  const format = UNPACKED[name]
  if (format === undefined) throw new ToolError(`The answer is packed as ${name}, which was not asked for.`)
  return body.pipeThrough(new DecompressionStream(format))
}

/** What the bytes say of themselves, then the header, then the page; UTF-8 for what says nothing, or nothing known. */
function decoderFor(head: Uint8Array, contentType: string): TextDecoder {
  const mark = MARKS.find(([bytes]) => bytes.every((byte, index) => head[index] === byte))?.[1]
  const header = /charset\s*=\s*["']?([\w:.-]{1,40})/i.exec(contentType)?.[1]
  const own = DECLARED.exec(new TextDecoder('latin1').decode(head.subarray(0, SNIFFED)))
  for (const name of [mark, header, own?.[1] ?? own?.[2]]) {
    if (name === undefined) continue
    try {
      return new TextDecoder(name)
    } catch {
      // An encoding nobody knows.
    }
  }
  return new TextDecoder()
}

function joined(first: Uint8Array<ArrayBuffer>, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(first.length + second.length)
  all.set(first)
  all.set(second, first.length)
  return all
}
