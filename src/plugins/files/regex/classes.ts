/** Escapes and bracket classes of regular expressions. */
import { type CharTest, isDigit, isSpace, isWord, negate, oneOf, posixClass, propertyClass, range } from './characters.js'
import { invalid, type Reader } from './reader.js'

const CONTROLS: Readonly<Record<string, number>> = { n: 10, t: 9, r: 13, f: 12, v: 11, a: 7 }
const SETS: Readonly<Record<string, CharTest>> = {
  d: isDigit,
  D: negate(isDigit),
  w: isWord,
  W: negate(isWord),
  s: isSpace,
  S: negate(isSpace),
}

/** What follows a backslash: one code point or a set. */
export function parseEscape(reader: Reader): number | CharTest {
  const letter = reader.next()
  const set = Object.hasOwn(SETS, letter) ? SETS[letter] : undefined
  if (set !== undefined) return set
  const control = Object.hasOwn(CONTROLS, letter) ? CONTROLS[letter] : undefined
  if (control !== undefined) return control
  if (letter === 'p' || letter === 'P') return parseProperty(reader, letter === 'P')
  if (letter === 'x') return parseHex(reader, 2)
  if (letter === 'u') return parseHex(reader, 4)
  if (letter === 'U') return parseHex(reader, 8)
  if (/[0-9]/.test(letter)) throw invalid('back-references are not supported')
  if (/[A-Za-z]/.test(letter)) throw invalid(`the escape "\\${letter}" is not known`)
  return letter.codePointAt(0) ?? 0
}

/** The rest of a bracket class, after its `[`. */
export function parseClass(reader: Reader, ignoreCase: boolean): CharTest {
  const negated = reader.accept('^')
  const tests: CharTest[] = []
  if (reader.accept(']')) tests.push(range(0x5d, 0x5d, false))
  while (!reader.accept(']')) {
    if (reader.done()) throw invalid('a "[" has no "]"')
    if (reader.accept('[:')) tests.push(parsePosix(reader))
    else if (reader.accept('[')) tests.push(parseClass(reader, ignoreCase))
    else if (reader.accept('&&') || reader.accept('--') || reader.accept('~~')) throw invalid('operations on classes are not supported')
    else tests.push(parseMember(reader, ignoreCase))
  }
  return negated ? negate(oneOf(tests)) : oneOf(tests)
}

function parseMember(reader: Reader, ignoreCase: boolean): CharTest {
  const first = parsePoint(reader)
  if (typeof first !== 'number') return first
  if (reader.peek() !== '-') return range(first, first, ignoreCase)
  reader.next()
  if (reader.peek() === ']') return oneOf([range(first, first, ignoreCase), range(0x2d, 0x2d, false)])
  const last = parsePoint(reader)
  if (typeof last !== 'number' || last < first) throw invalid('a range in a class is not valid')
  return range(first, last, ignoreCase)
}

function parsePoint(reader: Reader): number | CharTest {
  const character = reader.next()
  return character === '\\' ? parseEscape(reader) : (character.codePointAt(0) ?? 0)
}

function parsePosix(reader: Reader): CharTest {
  const negated = reader.accept('^')
  const name = reader.until(':]')
  const test = posixClass(name)
  if (test === undefined) throw invalid(`there is no class "[:${name}:]"`)
  return negated ? negate(test) : test
}

function parseProperty(reader: Reader, negated: boolean): CharTest {
  const not = reader.accept('{') ? reader.accept('^') : undefined
  const name = not === undefined ? reader.next() : reader.until('}')
  const test = propertyClass(name)
  if (test === undefined) throw invalid(`there is no property "${name}"`)
  return negated !== (not === true) ? negate(test) : test
}

function parseHex(reader: Reader, digits: number): number {
  let text = ''
  if (reader.accept('{')) text = reader.until('}')
  else while (text.length < digits) text += reader.next()
  const code = /^[0-9A-Fa-f]{1,8}$/.test(text) ? Number.parseInt(text, 16) : Number.NaN
  if (!(code <= 0x10ffff)) throw invalid(`"${text}" is not the number of a character`)
  return code
}
