/** A text of several lines and a place in it, and what keys make of them. Pure. */

export interface Draft {
  readonly text: string
  /** Offset in the text, never inside of a character. */
  readonly cursor: number
}

export const EMPTY: Draft = { text: '', cursor: 0 }

/** `word`: letters, digits and what joins them. */
const WORD = /[\p{L}\p{N}_]/u

let segmenter: Intl.Segmenter | undefined
const characters = (text: string) => (segmenter ??= new Intl.Segmenter()).segment(text)

export function insert({ text, cursor }: Draft, added: string): Draft {
  return { text: `${text.slice(0, cursor)}${added}${text.slice(cursor)}`, cursor: cursor + added.length }
}

export function left({ text, cursor }: Draft): number {
  if (cursor === 0) return 0
  // A character is at most a few code units, but for families of emoji.
  const from = Math.max(0, cursor - 64)
  return from + ([...characters(text.slice(from, cursor))].at(-1)?.index ?? 0)
}

export function right({ text, cursor }: Draft): number {
  const [first] = characters(text.slice(cursor, cursor + 64))
  return Math.min(text.length, cursor + (first?.segment.length ?? 0))
}

export function lineStart({ text, cursor }: Draft): number {
  return text.lastIndexOf('\n', cursor - 1) + 1
}

export function lineEnd({ text, cursor }: Draft): number {
  const end = text.indexOf('\n', cursor)
  return end < 0 ? text.length : end
}

export function wordLeft({ text, cursor }: Draft): number {
  let at = cursor
  while (at > 0 && !WORD.test(text[at - 1] ?? '')) at--
  while (at > 0 && WORD.test(text[at - 1] ?? '')) at--
  return at
}

export function wordRight({ text, cursor }: Draft): number {
  let at = cursor
  while (at < text.length && !WORD.test(text[at] ?? '')) at++
  while (at < text.length && WORD.test(text[at] ?? '')) at++
  return at
}

/** The same place in the line above or below; undefined where there is none. */
export function vertical(draft: Draft, direction: -1 | 1): number | undefined {
  const start = lineStart(draft)
  const column = draft.cursor - start
  if (direction < 0) {
    if (start === 0) return undefined
    const above = lineStart({ text: draft.text, cursor: start - 1 })
    return whole(draft.text, Math.min(above + column, start - 1))
  }
  const end = lineEnd(draft)
  if (end === draft.text.length) return undefined
  return whole(draft.text, Math.min(end + 1 + column, lineEnd({ text: draft.text, cursor: end + 1 })))
}

/** Not between the halves of a character. */
function whole(text: string, at: number): number {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at
}

export function remove({ text }: Draft, from: number, to: number): Draft {
  return { text: text.slice(0, from) + text.slice(to), cursor: from }
}
