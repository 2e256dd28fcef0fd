/**
 * Text from outside on its way to a terminal, a log or a page (threat-model S4). Pure, and character by character: what
 * is split over two pieces passes as little as what comes in one.
 */

/** Controls, formats (bidirectional and zero-width ones, tags), line and paragraph separators, and what else shows nothing; emoji keep their variation selectors. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|(?![\ufe00-\ufe0f])\p{Default_Ignorable_Code_Point}/gu
const UNSEEN_RUN = new RegExp(`(?:${UNSEEN.source})+`, 'gu')

/** Text of several lines without anything unseen but line ends and tabs. */
export function visibleText(text: string): string {
  return text.replace(UNSEEN, (character) => (character === '\n' || character === '\t' ? character : ''))
}

/** One line: what is unseen becomes a space. */
export function printable(text: string): string {
  return text.replace(UNSEEN_RUN, ' ')
}

const NAMES: Readonly<Record<string, string>> = { '\n': '\\n', '\t': '\\t', '\r': '\\r' }

/** One line for somebody who decides about it: what is unseen is written out, so that nothing reads as another thing than it is (threat-model G5). */
export function escapedText(text: string): string {
  return text.replace(UNSEEN, (character) => NAMES[character] ?? `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`)
}

/** JSON in which what is unseen is escaped, so that nothing is lost; the line ends between its values stay. */
export function escapedJson(json: string): string {
  return json.replace(UNSEEN, (character) => (character === '\n' ? character : escape(character)))
}

function escape(character: string): string {
  let escaped = ''
  for (let unit = 0; unit < character.length; unit++) escaped += `\\u${character.charCodeAt(unit).toString(16).padStart(4, '0')}`
  return escaped
}
