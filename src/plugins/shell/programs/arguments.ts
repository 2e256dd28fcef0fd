/** Reading the arguments of a known program: options, their values, operands. */
import { plainWord, type Word } from '../words/word.js'

export interface Arguments {
  /** Options before `--`, as given; of one with its value in the same word, what stands before the value. */
  readonly options: readonly string[]
  readonly operands: readonly Word[]
  /** Values of the options asked for, in order. */
  readonly values: readonly Word[]
  /** The same with the names they were asked for by. */
  readonly given: readonly Given[]
}

export interface Given {
  readonly name: string
  readonly value: Word
}

/**
 * Splits arguments. A value option is found in every spelling: `-o x`, `-ox`, inside a cluster (`-so x`), `--output x`,
 * `--output=x` and shortened long names; `-out` is found as a whole word only. A word only known at run time counts as an operand.
 */
export function splitArguments(args: readonly Word[], wanted: readonly string[] = []): Arguments {
  const options: string[] = []
  const operands: Word[] = []
  const given: Given[] = []
  let plain = false
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at]
    if (word === undefined) break
    if (plain || !word.text.startsWith('-') || word.text === '-') operands.push(word)
    else if (word.text === '--') plain = true
    else {
      const found = findOption(word, wanted)
      options.push(found?.until === undefined ? word.text : word.text.slice(0, found.until))
      const value = found?.value ?? (found === undefined ? undefined : args[(at += 1)])
      if (found !== undefined && value !== undefined) given.push({ name: found.name, value })
      else if (found === undefined && word.dynamic) operands.push(word)
    }
  }
  return { options, operands: operands.filter((word) => word.text !== '-'), values: given.map(({ value }) => value), given }
}

/** True when one of the short letters or long names is among the options. */
export function hasOption(options: readonly string[], letters: string, ...longs: readonly string[]): boolean {
  return options.some((option) =>
    option.startsWith('--')
      ? longs.some((long) => isLong(option, long))
      : letters !== '' && Array.from(letters).some((letter) => option.slice(1).includes(letter)),
  )
}

interface Found {
  readonly name: string
  readonly value?: Word
  /** Where its value begins in a cluster of letters. */
  readonly until?: number
}

/** The option a word is, and its value when that is in the same word. */
function findOption(word: Word, wanted: readonly string[]): Found | undefined {
  const { text } = word
  if (wanted.includes(text)) return { name: text }
  if (text.startsWith('--')) {
    const equals = text.indexOf('=')
    const name = wanted.find((long) => long === text.slice(0, equals)) ?? wanted.find((long) => isLong(text, long))
    if (name === undefined) return undefined
    return equals < 0 ? { name } : { name, value: cutWord(word, equals + 1) }
  }
  const letters = wanted.filter((name) => name.length === 2)
  const at = Array.from(text).findIndex((letter, index) => index > 0 && letters.includes(`-${letter}`))
  if (at < 0) return undefined
  const name = `-${text.charAt(at)}`
  return at + 1 === text.length ? { name } : { name, value: cutWord(word, at + 1), until: at + 1 }
}

function isLong(option: string, long: string): boolean {
  const [name = ''] = option.split('=', 1)
  return long.startsWith('--') && name.length > 2 && long.startsWith(name)
}

/** The word without its first `length` characters. */
export function cutWord(word: Word, length: number): Word {
  return word.dynamic || word.approximate ? { ...word, dynamic: true } : plainWord(word.text.slice(length))
}
