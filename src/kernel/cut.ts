/** The beginning of a text that is too long: never half a character (a lone surrogate is no text, and breaks what it is sent in). Pure. */

/** At most `most` UTF-16 units of a text, and then `end`, which stands for what was left out; the text itself where it is no longer. */
export function cut(text: string, most: number, end = '…'): string {
  if (text.length <= most) return text
  const last = text.charCodeAt(most - 1)
  const isHalf = last >= 0xd800 && last <= 0xdbff
  return `${text.slice(0, Math.max(0, isHalf ? most - 1 : most))}${end}`
}
