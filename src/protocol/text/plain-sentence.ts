/** What a plugin says of itself, or of an error, as one line for people: nothing in it moves a cursor or turns text around. */
import { cut } from '../../kernel/cut.js'

const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu
const MOST = 2000

export function plainSentence(text: string): string {
  const short = cut(text, MOST)
  return short.toWellFormed().replace(UNSEEN, ' ').trim()
}
