import { StringDecoder } from 'node:string_decoder'

export interface Capture {
  push(chunk: Buffer): void
  /** No more bytes will come: hands out what an unfinished character leaves. */
  end(): void
  /** The kept head as text; malformed bytes become U+FFFD, and a cut never splits a character. */
  text(): string
  readonly truncated: boolean
}

/** Keeps the first `limit` bytes of a stream and hands all of it on to `onText` in whole UTF-8 characters. */
export function createCapture(limit: number, onText?: (text: string) => void): Capture {
  const decoder = onText && new StringDecoder('utf8')
  let kept = Buffer.alloc(0)
  let length = 0
  let truncated = false

  const keep = (chunk: Buffer) => {
    const take = Math.min(chunk.length, limit - length)
    truncated ||= take < chunk.length
    if (take <= 0) return
    if (length + take > kept.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(limit, Math.max(length + take, kept.length * 2)))
      kept.copy(larger, 0, 0, length)
      kept = larger
    }
    chunk.copy(kept, length, 0, take)
    length += take
  }
  const handOn = (text: string | undefined) => {
    if (text) onText?.(text)
  }

  return {
    push(chunk) {
      keep(chunk)
      handOn(decoder?.write(chunk))
    },
    end: () => handOn(decoder?.end()),
    text: () => kept.toString('utf8', 0, truncated ? wholeCharacters(kept, length) : length),
    get truncated() {
      return truncated
    },
  }
}

/** Length of the head that does not end inside a character. */
function wholeCharacters(bytes: Buffer, length: number): number {
  for (let back = 1; back <= Math.min(3, length); back++) {
    const byte = bytes[length - back] ?? 0
    if (byte < 0x80) return length
    if (byte >= 0xc0) {
      const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
      return needed > back ? length - back : length
    }
  }
  return length
}
