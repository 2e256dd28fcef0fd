/** Lines of a file that is read in pieces; no line is held longer than asked for. */

export interface Line {
  /** From 1. */
  readonly number: number
  readonly text: string
  /** What follows belongs to the same line. */
  readonly isPart: boolean
}

/** A line of more than `most` characters comes in parts. Undefined: the content is no text. Ends when the reader does. */
export async function* linesOf(bytes: AsyncIterable<Uint8Array>, most: number, signal: AbortSignal): AsyncGenerator<Line | undefined> {
  const decoder = new TextDecoder()
  let rest = ''
  let number = 1
  for await (const piece of bytes) {
    signal.throwIfAborted()
    if (piece.includes(0)) {
      yield undefined
      return
    }
    const texts = (rest + decoder.decode(piece, { stream: true })).split('\n')
    rest = texts.pop() ?? ''
    for (const text of texts) yield { number: number++, text: text.replace(/\r$/, ''), isPart: false }
    while (rest.length > most) {
      yield { number, text: rest.slice(0, most), isPart: true }
      rest = rest.slice(most)
    }
  }
  rest += decoder.decode()
  if (rest !== '') yield { number, text: rest, isPart: false }
}
