/** What a frame that cannot be read says of itself: whose answer or question it is, so that nobody waits for it in vain (plugin-protocol §13-3). */
const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const BLANK = 0x20
/** Bytes of a key or a value that are looked at. */
const LONGEST = 128
/** Outermost names and colons that are looked at: a frame has some nine members, and each takes as long to read as a hundred bytes of the rest. */
const MOST = 128

export interface Envelope {
  readonly id: number
  /** Of a request; undefined = it is a reply. */
  readonly method: string | undefined
}

/** By the outermost members of an object alone, whatever else its text is; undefined where there is no id. */
export function envelopeOf(line: Uint8Array): Envelope | undefined {
  let id: number | undefined
  let method: string | undefined
  let level = 0
  let key = ''
  let isValue = false
  let looked = 0
  for (let at = 0; at < line.length && looked <= MOST; at++) {
    const byte = line[at] ?? 0
    if (byte === QUOTE) {
      const end = endOfString(line, at)
      if (level === 1) looked++
      if (level === 1 && !isValue) key = textOf(line, at + 1, end)
      else if (level === 1 && key === 'method') method = textOf(line, at + 1, end)
      if (level === 1) isValue = false
      at = end
    } else if (byte === 0x7b || byte === 0x5b) {
      level++
      isValue = false
    } else if (byte === 0x7d || byte === 0x5d) level--
    else if (level !== 1 || byte <= BLANK) continue
    else if (byte === COLON) {
      isValue = true
      looked++
    } else if (isValue) {
      if (key === 'id') id = wholeNumber(textOf(line, at, at + LONGEST))
      isValue = false
    }
  }
  return id === undefined ? undefined : { id, method }
}

function endOfString(line: Uint8Array, from: number): number {
  for (let at = from + 1; at < line.length; at++) {
    if (line[at] === BACKSLASH) at++
    else if (line[at] === QUOTE) return at
  }
  return line.length
}

function textOf(line: Uint8Array, from: number, end: number): string {
  return new TextDecoder().decode(line.subarray(from, Math.min(end, from + LONGEST)))
}

function wholeNumber(text: string): number | undefined {
  const digits = /^(\d{1,15})\s*[,}]/.exec(text)?.[1]
  return digits === undefined ? undefined : Number(digits)
}
