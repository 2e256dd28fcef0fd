/**
 * Text from outside as the page shows it: directories, commands, names of plugins and of actors. What is unseen is written out, so that nothing reads as
 * another thing than it is (threat-model S4, G5).
 *
 * The page is a program of its own and takes nothing but types from elsewhere; a test holds this to `protocol/text/visible-text.ts`.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|(?![\ufe00-\ufe0f])\p{Default_Ignorable_Code_Point}/gu
const NAMES: Readonly<Record<string, string>> = { '\n': '\\n', '\t': '\\t', '\r': '\\r' }

/** Line ends and tabs stay. */
export function shownText(text: string): string {
  return text.replace(UNSEEN, (character) => (character === '\n' || character === '\t' ? character : written(character)))
}

/** What somebody decides about, in one line. */
export function shownLine(text: string): string {
  return text.replace(UNSEEN, written)
}

function written(character: string): string {
  return NAMES[character] ?? `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`
}
