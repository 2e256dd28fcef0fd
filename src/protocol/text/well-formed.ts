/** Text that is well-formed Unicode, also when it arrives in pieces (threat-model 6.5.3). */

/** The text with every half of a surrogate pair replaced by U+FFFD. */
export function wellFormed(text: string): string {
  return text.toWellFormed()
}

/** A JSON-like value with every text in it, keys included, well formed; the value itself when it already is. */
export function wellFormedValue<T>(value: T): T {
  if (isWellFormed(value)) return value
  const json = JSON.stringify(value)
  return json !== undefined && ESCAPED_HALF.test(json) ? (JSON.parse(json.replace(ESCAPE, repaired)) as T) : value
}

/** Whether all texts are; a long one is looked at far faster than it is written. */
function isWellFormed(root: unknown): boolean {
  const open: unknown[] = [root]
  while (open.length > 0) {
    const value = open.pop()
    if (typeof value === 'string') {
      if (!value.isWellFormed()) return false
    } else if (Array.isArray(value)) {
      for (const each of value) open.push(each)
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, each] of Object.entries(value)) {
        if (!name.isWellFormed()) return false
        open.push(each)
      }
    }
  }
  return true
}

/** JSON text writes halves of surrogate pairs, and nothing else in this range, as escapes. */
const ESCAPED_HALF = /\\ud[89a-f]/i
/** One after another, so that what follows an escaped backslash is no escape. */
const ESCAPE = /\\(?:u[\da-f]{4}|.)/gi

/** In the text: a reviver takes ten times as long for a value of many keys. */
function repaired(escape: string): string {
  return ESCAPED_HALF.test(escape) ? '\u{fffd}' : escape
}

export interface Joiner {
  /** What of the text so far may be sent on: a delta that ends inside a character keeps that half back. */
  push(delta: string): string
  /** What is kept back, for a text that ends here. */
  rest(): string
}

/** Joins the deltas of one text so that no delta ends inside a character. */
export function createJoiner(): Joiner {
  let held = ''
  return {
    push(delta) {
      const text = held + delta
      const last = text.charCodeAt(text.length - 1)
      held = last >= 0xd800 && last <= 0xdbff ? text.slice(-1) : ''
      return wellFormed(held === '' ? text : text.slice(0, -1))
    },
    rest: () => wellFormed(held),
  }
}
