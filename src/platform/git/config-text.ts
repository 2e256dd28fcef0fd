/** The text of a git configuration file as a map. Pure; follows no include, runs nothing, keeps what it does not know. */
import { LIMITS } from '../../protocol/limits.js'
import { ENTRY, type Reading } from '../../kernel/work.js'

/** `section.key` or `section.subsection.key`, section and key in lower case, to the last value; a key without a value is `true`. */
export type GitConfig = ReadonlyMap<string, string>

/** In order, also those that stand twice. */
export type GitSettings = readonly (readonly [key: string, value: string])[]

const SECTION = /\[[^\S\n]*([A-Za-z0-9.-]+)(?:[^\S\n]+"((?:[^"\\\n]|\\.)*)")?[^\S\n]*\]/y
const KEY = /([A-Za-z][A-Za-z0-9-]*)[^\S\n]*(=?)/y
const BLANK = /\s+/y
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', b: '\b', '"': '"', '\\': '\\' }
/** Each character of a value is looked at by itself; after so many of them it is paid for. */
const PER_CHARACTER = 2
const STEP = 4096

interface Value {
  readonly value: string
  readonly end: number
}

/** Every setting. Throws a sentence that names the line that cannot be read, or the bound. */
export function* readGitSettings(source: string): Reading<GitSettings> {
  const text = source.replace(/^\ufeff/, '').replaceAll('\r\n', '\n')
  yield text.length
  const values: [string, string][] = []
  let section = ''
  let at = 0
  const refuse = () => new Error(`line ${text.slice(0, at).split('\n').length} of the git configuration cannot be read`)
  while (at < text.length) {
    const start = at
    const character = text.charAt(at)
    if (character === '#' || character === ';') at = endOfLine(text, at)
    else if (character === '[') {
      const [whole, name = '', sub] = matchAt(SECTION, text, at) ?? []
      if (whole === undefined) throw refuse()
      section = sub === undefined ? `${name.toLowerCase()}.` : `${name.toLowerCase()}.${sub.replaceAll(/\\(.)/g, '$1')}.`
      if (section.length > LIMITS.git.nameLength) throw new Error('a name in the git configuration is too long')
      at += whole.length
    } else {
      const blank = matchAt(BLANK, text, at)
      if (blank !== undefined) at += blank[0].length
      else {
        const [whole, name = '', equals] = matchAt(KEY, text, at) ?? []
        if (whole === undefined || section === '') throw refuse()
        at += whole.length
        const read: Value | undefined = equals === '' ? { value: 'true', end: at } : yield* readValue(text, at)
        if (read === undefined) throw refuse()
        if (values.length >= LIMITS.git.settings) throw new Error(`the git configuration has more than ${LIMITS.git.settings} settings`)
        values.push([section + name.toLowerCase(), read.value])
        yield section.length + name.length
        at = read.end
      }
    }
    yield at - start + ENTRY
  }
  return values
}

/** Quotes, escapes, comments and continued lines; undefined when a quote stays open or an escape is unknown. */
function* readValue(text: string, start: number): Reading<Value | undefined> {
  let value = ''
  /** Blanks that count only when something follows them. */
  let blanks = ''
  let isQuoted = false
  let at = start
  for (; at < text.length && text.charAt(at) !== '\n'; at++) {
    if (at > start && (at - start) % STEP === 0) yield STEP * PER_CHARACTER
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

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at
  return pattern.exec(text) ?? undefined
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end === -1 ? text.length : end
}
