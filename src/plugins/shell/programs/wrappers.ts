/** Programs whose arguments are another program to start: where that program begins. */
import type { Word } from '../words/word.js'
import type { Starter } from './facts.js'
import { factsOf } from './table.js'

export interface Unwrapped {
  /** The inner program and its arguments; empty when there is none. */
  readonly inner: readonly Word[]
  readonly assignments: readonly Word[]
  /** Value of `-I` and the like of xargs: where the arguments go. */
  readonly placeholder: string | undefined
}

export function isWrapper(program: string): boolean {
  return factsOf(program).starts !== undefined
}

/** Finds the program inside; undefined when an option is not known, so that what would start is not certain. */
export function unwrap(program: string, args: readonly Word[]): Unwrapped | undefined {
  const options = factsOf(program).starts
  if (options === undefined) return undefined
  let placeholder: string | undefined
  let at = 0
  for (; at < args.length; at += 1) {
    const word = args[at]
    if (word === undefined || word.dynamic) break
    if (word.text === '--') {
      at += 1
      break
    }
    if (!word.text.startsWith('-') || (word.text === '-' && program !== 'env')) break
    const step = readOption(word.text, options)
    if (step === undefined) return undefined
    if (program === 'xargs' && /^(?:-[0rtpxo]*I|--replace)/.test(word.text)) {
      placeholder = step === 'next' ? args[at + 1]?.text : word.text.replace(/^(?:-[0rtpxo]*I|--replace=?)/, '') || '{}'
    }
    if (step === 'next') at += 1
  }
  const assignments: Word[] = []
  while (options.assignments === true && /^[A-Za-z_]\w*\+?=/.test(args[at]?.text ?? '')) {
    const word = args[at]
    if (word !== undefined) assignments.push(word)
    at += 1
  }
  return { inner: args.slice(at + (options.operands ?? 0)), assignments, placeholder }
}

/** Whether an option ends in its own word or takes the next one; undefined when it is not known. */
function readOption(text: string, options: Starter): 'own' | 'next' | undefined {
  if (text === '-') return 'own'
  if (text.startsWith('--')) {
    const [name = '', value] = text.split('=', 2)
    if (options.longFlags?.includes(name) === true) return 'own'
    if (options.longValues?.includes(name) !== true) return undefined
    return value === undefined && name !== '--replace' ? 'next' : 'own'
  }
  if (options.numeric === true && /^-\d+$/.test(text)) return 'own'
  for (let at = 1; at < text.length; at += 1) {
    const letter = text.charAt(at)
    if (options.values?.includes(letter) === true) return at + 1 === text.length ? 'next' : 'own'
    if (options.flags?.includes(letter) !== true) return undefined
  }
  return 'own'
}
