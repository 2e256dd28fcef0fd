/** The latest of a stream of text, bounded. */

export interface Ring {
  add(text: string): void
  /** What is kept, not beginning inside a character. */
  text(): string
  /** Something was dropped. */
  readonly isCut: boolean
}

/** Keeps the latest `limit` bytes of UTF-8, or a little less; takes amortised constant time for each character. */
export function createRing(limit: number): Ring {
  const pieces: { readonly text: string; readonly bytes: number }[] = []
  let first = 0
  let held = 0
  let isCut = false

  function drop(): void {
    for (let piece = pieces[first]; piece !== undefined && held - piece.bytes >= limit; piece = pieces[first]) {
      held -= piece.bytes
      first += 1
      isCut = true
    }
    if (first < pieces.length - first) return
    pieces.splice(0, first)
    first = 0
  }

  const kept = (): string => {
    const text = pieces
      .slice(first)
      .map((piece) => piece.text)
      .join('')
    if (held <= limit) return text
    const bytes = new TextEncoder().encode(text)
    return new TextDecoder().decode(bytes.subarray(bytes.length - limit)).replace(/^\ufffd+/, '')
  }

  return {
    add(text) {
      if (text === '') return
      const bytes = Buffer.byteLength(text)
      pieces.push({ text, bytes })
      held += bytes
      drop()
    },
    text: kept,
    get isCut() {
      return isCut || held > limit
    },
  }
}
