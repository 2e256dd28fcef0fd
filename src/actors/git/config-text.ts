/** The text of a git configuration file as a map. Pure; follows no include, runs nothing, keeps what it does not know. */

/** `section.key` or `section.subsection.key`, section and key in lower case, to the last value; a key without a value is `true`. */
export type GitConfig = ReadonlyMap<string, string>

const SECTION = /^\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\\n]|\\.)*)")?\s*\]/
const KEY = /^([A-Za-z][A-Za-z0-9-]*)\s*(=?)/
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', b: '\b', '"': '"', '\\': '\\' }

/** Every setting in order, also those that stand twice. Throws a sentence that names the line that cannot be read. */
export function readGitSettings(source: string): readonly (readonly [key: string, value: string])[] {
  const text = source.replace(/^\ufeff/, '').replaceAll('\r\n', '\n')
  const values: [string, string][] = []
  let section = ''
  let at = 0
  const refuse = () => new Error(`line ${text.slice(0, at).split('\n').length} of the git configuration cannot be read`)
  while (at < text.length) {
    const character = text.charAt(at)
    if (/\s/.test(character)) at++
    else if (character === '#' || character === ';') at = endOfLine(text, at)
    else if (character === '[') {
      const [whole, name = '', sub] = SECTION.exec(text.slice(at, endOfLine(text, at))) ?? []
      if (whole === undefined) throw refuse()
      section = sub === undefined ? `${name.toLowerCase()}.` : `${name.toLowerCase()}.${sub.replaceAll(/\\(.)/g, '$1')}.`
      at += whole.length
    } else {
      const [whole, name = '', equals] = KEY.exec(text.slice(at, endOfLine(text, at))) ?? []
      if (whole === undefined || section === '') throw refuse()
      at += whole.length
      const read = equals === '' ? { value: 'true', end: at } : readValue(text, at)
      if (read === undefined) throw refuse()
      values.push([section + name.toLowerCase(), read.value])
      at = read.end
    }
  }
  return values
}

/** Quotes, escapes, comments and continued lines; undefined when a quote stays open or an escape is unknown. */
function readValue(text: string, start: number): { readonly value: string; readonly end: number } | undefined {
  let value = ''
  /** Blanks that count only when something follows them. */
  let blanks = ''
  let isQuoted = false
  let at = start
  for (; at < text.length && text.charAt(at) !== '\n'; at++) {
    const character = text.charAt(at)
    if (character === '"') {
      isQuoted = !isQuoted
      continue
    }
    if (!isQuoted && (character === '#' || character === ';')) return { value, end: endOfLine(text, at) }
    if (!isQuoted && /\s/.test(character)) {
      if (value !== '') blanks += character
      continue
    }
    value += blanks
    blanks = ''
    if (character !== '\\') {
      value += character
      continue
    }
    const next = text.charAt(++at)
    if (next === '\n') continue
    const meant = ESCAPES[next]
    if (meant === undefined) return undefined
    value += meant
  }
  return isQuoted ? undefined : { value, end: at }
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end === -1 ? text.length : end
}
