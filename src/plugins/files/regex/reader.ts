/** Reads a pattern code point by code point. */
import { ToolError } from '../../../actors/plugin/native.js'

export interface Reader {
  done(): boolean
  peek(): string | undefined
  /** The next character; fails at the end. */
  next(): string
  /** Consumes `text` when it comes next. */
  accept(text: string): boolean
  /** Consumes up to `end` and `end` itself, and answers what was before it; fails without `end`. */
  until(end: string): string
  /** Consumes the longest run of characters that match `test`. */
  while(test: RegExp): string
}

export function createReader(pattern: string): Reader {
  const characters = [...pattern]
  let at = 0
  const reader: Reader = {
    done: () => at >= characters.length,
    peek: () => characters[at],
    next() {
      const character = characters[at++]
      if (character === undefined) throw invalid('it ends too early')
      return character
    },
    accept(text) {
      for (const [index, character] of [...text].entries()) if (characters[at + index] !== character) return false
      at += [...text].length
      return true
    },
    until(end) {
      let text = ''
      while (!reader.accept(end)) text += reader.next()
      return text
    },
    while(test) {
      let text = ''
      for (let next = reader.peek(); next !== undefined && test.test(next); next = reader.peek()) text += reader.next()
      return text
    },
  }
  return reader
}

/** The error of a pattern that cannot be used. */
export function invalid(why: string): ToolError {
  return new ToolError(`The regular expression is not usable: ${why}.`)
}
