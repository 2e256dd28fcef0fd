/** Sets of characters as tests on code points. */

export type CharTest = (code: number) => boolean

export const isDigit: CharTest = (code) => code >= 0x30 && code <= 0x39
export const isWord: CharTest = (code) =>
  code < 128
    ? isDigit(code) || code === 0x5f || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a)
    : /[\p{L}\p{M}\p{N}\p{Pc}]/u.test(String.fromCodePoint(code))
export const isSpace: CharTest = (code) =>
  code === 0x20 || (code >= 0x09 && code <= 0x0d) || (code >= 128 && /\s/u.test(String.fromCodePoint(code)))
export const isAny: CharTest = () => true
export const isNotNewline: CharTest = (code) => code !== 0x0a

const POSIX: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7F',
  blank: '\\t ',
  cntrl: '\\x00-\\x1F\\x7F',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@\\[-`{-~',
  space: '\\t\\n\\v\\f\\r ',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
}

export function negate(test: CharTest): CharTest {
  return (code) => !test(code)
}

export function oneOf(tests: readonly CharTest[]): CharTest {
  const [only] = tests
  return tests.length === 1 && only !== undefined ? only : (code) => tests.some((test) => test(code))
}

/** Both ends included; with `ignoreCase` a character counts when any of its case forms does. */
export function range(first: number, last: number, ignoreCase: boolean): CharTest {
  const within: CharTest = first === last ? (code) => code === first : (code) => code >= first && code <= last
  return ignoreCase ? (code) => within(code) || caseForms(code).some(within) : within
}

/** `[:name:]`, or undefined when there is no such class. */
export function posixClass(name: string): CharTest | undefined {
  const set = Object.hasOwn(POSIX, name) ? POSIX[name] : undefined
  if (set === undefined) return undefined
  const test = new RegExp(`[${set}]`)
  return (code) => test.test(String.fromCodePoint(code))
}

/** `\p{name}`, or undefined when Unicode has no such property. */
export function propertyClass(name: string): CharTest | undefined {
  if (!/^[A-Za-z0-9_=]{1,64}$/.test(name)) return undefined
  const test = compileProperty(name) ?? compileProperty(`Script=${name}`)
  return test && ((code) => test.test(String.fromCodePoint(code)))
}

function compileProperty(name: string): RegExp | undefined {
  try {
    return new RegExp(`^\\p{${name}}$`, 'u')
  } catch {
    return undefined
  }
}

function caseForms(code: number): number[] {
  const text = String.fromCodePoint(code)
  return [text.toLowerCase(), text.toUpperCase()].flatMap((form) =>
    form !== text && [...form].length === 1 ? [form.codePointAt(0) ?? code] : [],
  )
}
