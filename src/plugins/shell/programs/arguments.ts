/** Reading the arguments of a known program: options, their values, operands. */
import { plainWord, type Word } from '../judge/word.js'

export interface Arguments {
  /** Options before `--`, as given. */
  readonly options: readonly string[]
  readonly operands: readonly Word[]
  /** Values of the options asked for, in order. */
  readonly values: readonly Word[]
}

/**
 * Splits arguments. A value option is found in every spelling: `-o x`, `-ox`, inside a cluster (`-so x`),
 * `--output x`, `--output=x` and shortened long names. A word only known at run time counts as an operand.
 */
export function splitArguments(args: readonly Word[], wanted: readonly string[] = []): Arguments {
  const options: string[] = []
  const operands: Word[] = []
  const values: Word[] = []
  let plain = false
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at]
    if (word === undefined) break
    if (plain || !word.text.startsWith('-') || word.text === '-') operands.push(word)
    else if (word.text === '--') plain = true
    else {
      options.push(word.text)
      const value = valueOf(word, wanted)
      if (value === 'next') {
        at += 1
        const next = args[at]
        if (next !== undefined) values.push(next)
      } else if (value !== undefined) values.push(value)
      else if (word.dynamic) operands.push(word)
    }
  }
  return { options, operands: operands.filter((word) => word.text !== '-'), values }
}

/** True when one of the short letters or long names is among the options. */
export function hasOption(options: readonly string[], letters: string, ...longs: readonly string[]): boolean {
  return options.some((option) =>
    option.startsWith('--')
      ? longs.some((long) => isLong(option, long))
      : letters !== '' && Array.from(letters).some((letter) => option.slice(1).includes(letter)),
  )
}

function valueOf(word: Word, wanted: readonly string[]): Word | 'next' | undefined {
  const { text } = word
  for (const name of wanted) {
    if (name.startsWith('--')) {
      if (!isLong(text, name)) continue
      const equals = text.indexOf('=')
      return equals < 0 ? 'next' : cutWord(word, equals + 1)
    }
    if (text.startsWith('--')) continue
    const at = text.indexOf(name.slice(1), 1)
    if (at < 0) continue
    return at + 1 === text.length ? 'next' : cutWord(word, at + 1)
  }
  return undefined
}

function isLong(option: string, long: string): boolean {
  const [name = ''] = option.split('=', 1)
  return name.length > 2 && long.startsWith(name)
}

/** The word without its first `length` characters. */
export function cutWord(word: Word, length: number): Word {
  return word.dynamic || word.approximate ? { ...word, dynamic: true } : plainWord(word.text.slice(length))
}
