import { escapedText } from '../../../protocol/text/visible-text.js'

/** Command text for people: one line, nothing invisible, any cut marked (threat-model G5). */

/** Of a command in a title or a list. */
export const TITLE_LENGTH = 200

/** The text with invisible characters escaped, cut after `limit` characters with the rest counted. */
export function displayText(text: string, limit: number): string {
  const shown = escapedText(text)
  const characters = Array.from(shown)
  return characters.length <= limit ? shown : `${characters.slice(0, limit).join('')}… (${characters.length - limit} more characters)`
}
