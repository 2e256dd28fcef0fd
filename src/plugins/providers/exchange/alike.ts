/**
 * Events that say a piece of text and are in all else the same, to the letter, as one before: most of an answer is made of them. What several
 * say in a row is one event that says all of it, which is parsed once.
 *
 * I1 What is known of an event is the text around its piece. That text is JSON of the same shape with any other piece in its place.
 * I2 A provider whose events are never alike is not compared for long, and an event that is long is not compared: a look at its piece costs more
 *    than parsing it.
 */
import { isRecord, type JsonRecord } from '../../../protocol/text/json.js'
import { parseJson } from './json.js'

/** The member that says text, of an event that does nothing else; undefined for any other event. */
export type Saying = (event: JsonRecord) => { readonly name: string; readonly text: string } | undefined

export interface Alike {
  /** Whether the event is like the one learned, and is kept to be joined with those around it. */
  keep(data: string): boolean
  /** Those kept, as one. Undefined = there are none. */
  joined(): string | undefined
  learn(event: JsonRecord, data: string): void
}

/** Events in vain, one after the other (I2). */
const PATIENCE = 16

/** Characters of an event that is compared (I2). */
const LONGEST = 4096

/** What may stand between the quotes of a string in JSON, but for escapes by number. */
const PIECE = /^(?:[ !#-[\]-\uffff]|\\["\\/bfnrt])+$/

export function createAlike(saying: Saying): Alike {
  /** Whether it is that text which is said (I1), and no other member of the same name and value. */
  const saysIt = ([before, after]: readonly [string, string], text: string): boolean => {
    const event = parseJson(`${before}${JSON.stringify(text + text).slice(1, -1)}${after}`)
    return isRecord(event) && saying(event)?.text === text + text
  }
  let before = ''
  let after = ''
  let pieces = ''
  let vain = 0
  return {
    keep(data) {
      if (before === '' || data.length > LONGEST || data.length <= before.length + after.length) return false
      if (!data.startsWith(before) || !data.endsWith(after)) return false
      const piece = data.slice(before.length, data.length - after.length)
      if (!PIECE.test(piece)) return false
      pieces += piece
      vain = 0
      return true
    },
    joined() {
      if (pieces === '') return undefined
      const data = `${before}${pieces}${after}`
      pieces = ''
      return data
    },
    learn(event, data) {
      if (vain > PATIENCE || data.length > LONGEST) return
      const said = saying(event)
      if (said === undefined) return
      vain++
      const found = aroundOf(data, said)
      if (found !== undefined && saysIt(found, said.text)) [before, after] = found
    },
  }
}

/** The text before and after the piece, up to its quotes; undefined where that is not clear. */
function aroundOf(data: string, { name, text }: { readonly name: string; readonly text: string }): readonly [string, string] | undefined {
  const value = JSON.stringify(text)
  for (const space of ['', ' ']) {
    const member = `"${name}":${space}${value}`
    const at = data.indexOf(member)
    if (at === -1) continue
    if (data.indexOf(member, at + 1) !== -1) return undefined
    const end = at + member.length
    return [data.slice(0, end - value.length + 1), data.slice(end - 1)]
  }
  return undefined
}
