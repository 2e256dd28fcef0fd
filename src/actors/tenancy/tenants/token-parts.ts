/**
 * The text of a token file in parts of a few tokens each, as it arrives: a file of many megabytes is never read in one turn (decision 38). Pure.
 *
 * I1 Each part is a piece of the text, and the parts with the commas between them are all that stands in the array: what is read of the parts
 *    is what would be read of the whole.
 * I2 What the text may be beside its tokens is said in one form only: `{"tokens": […]}`, with white space where JSON has it.
 */
import { LIMITS } from '../../../protocol/limits.js'

/** Some of the tokens: what stands between the brackets of the array, or part of it, whole tokens only. */
export interface TokenPart {
  readonly text: string
  /** Of the line in which the text begins. */
  readonly line: number
}

export interface TokenParts {
  /** Answers the parts that are whole with this text. Throws `Misshapen`. */
  push(text: string): TokenPart[]
  /** There is no more. Throws `Misshapen`. */
  end(): void
}

/** Not JSON, or not of the form. */
export class Misshapen extends Error {
  readonly line: number

  constructor(line: number) {
    super('is not JSON of the form {"tokens": [...]}')
    this.line = line
  }
}

const HEAD = '{"tokens":['
/** Places of `HEAD` before which white space may stand. */
const GAPS = new Set([0, 1, 9, 10])
const [NEWLINE, QUOTE, COMMA, BACKSLASH] = [10, 34, 44, 92]
const [OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = [123, 125, 91, 93]

export function createTokenParts(partCharacters: number = LIMITS.tenants.partCharacters): TokenParts {
  /** How much of `HEAD` was seen; then the array; then what closes it. */
  let head = 0
  let place: 'head' | 'array' | 'tail' | 'over' = 'head'
  let line = 1
  /** Of the part that has begun: what earlier pushes had of it, its line, whether there is a token in it. */
  let before = ''
  let began = 1
  let depth = 0
  let isText = false
  let isEscaped = false
  let count = 0

  /** Between two commas there is a token; nothing at all only where there is no token. */
  function partOf(text: string, isLast: boolean): TokenPart {
    if (text.trim() === '' && (count > 0 || !isLast)) throw new Misshapen(line)
    count++
    return { text, line: began }
  }

  function headIs(code: number): void {
    if (isSpace(code) && GAPS.has(head)) return
    if (code !== HEAD.charCodeAt(head)) throw new Misshapen(line)
    head++
    if (head === HEAD.length) place = 'array'
  }

  /** Inside a token: whether this character ends it, and with it a part or all of them. */
  function ends(code: number): boolean {
    if (isEscaped) isEscaped = false
    else if (isText) {
      if (code === BACKSLASH) isEscaped = true
      else if (code === QUOTE) isText = false
    } else if (code === QUOTE) isText = true
    else if (code === OPEN || code === OPEN_LIST) depth++
    else if (code === CLOSE_LIST && depth === 0) return true
    else if (code === CLOSE || code === CLOSE_LIST) depth--
    else if (code === COMMA) return depth === 0
    if (depth < 0) throw new Misshapen(line)
    return false
  }

  function tailIs(code: number): void {
    if (isSpace(code)) return
    if (place === 'over' || code !== CLOSE) throw new Misshapen(line)
    place = 'over'
  }

  return {
    push(text) {
      const parts: TokenPart[] = []
      let from = 0
      for (let at = 0; at < text.length; at++) {
        const code = text.charCodeAt(at)
        if (place === 'head') {
          headIs(code)
          from = at + 1
          began = line
        } else if (place === 'array') {
          if (ends(code)) {
            const isLast = code === CLOSE_LIST
            if (isLast || before.length + at - from >= partCharacters) {
              parts.push(partOf(before + text.slice(from, at), isLast))
              before = ''
              from = at + 1
              began = line
            }
            if (isLast) place = 'tail'
          }
        } else tailIs(code)
        if (code === NEWLINE) line++
      }
      if (place === 'array') before += text.slice(from)
      return parts
    },
    end() {
      if (place !== 'over') throw new Misshapen(line)
    },
  }
}

function isSpace(code: number): boolean {
  return code === 32 || code === NEWLINE || code === 13 || code === 9
}
