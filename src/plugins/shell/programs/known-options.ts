/**
 * Options of programs that can write files or start others. The lists are closed: an option that is not listed could name any file
 * or program, or take the next word as its value, so that every operand would be taken for another one (threat-model G1, G3).
 *
 * I1 An option whose value is a file or a program is either judged by the program's own record, and listed under `judged`, or left out.
 */
import type { Word } from '../words/word.js'
import { type KnownOptions, OPTIONS } from './options-table.js'

export interface ReadOptions {
  /** The first option nobody knows, as it stands. */
  readonly unknown?: string
  /** The arguments without what is known to be text. */
  readonly rest: readonly Word[]
}

/** Reads the arguments of a program with a list; those of others as they are. */
export function readOptions(program: string, args: readonly Word[]): ReadOptions {
  const known = OPTIONS.get(program)
  if (known === undefined) return { rest: args }
  const rest: Word[] = []
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at]
    if (word === undefined) break
    if (word.text === '--') return { rest: [...rest, ...args.slice(at)] }
    if (!word.text.startsWith('-') || word.text === '-' || word.dynamic) {
      rest.push(word)
      continue
    }
    const kind = word.text.startsWith('--') ? kindOfName(known, word.text) : kindOfLetters(known, word.text)
    if (kind === 'unknown') return { rest: args, unknown: word.text }
    if (kind === 'text') at += 1
    else if (kind === 'judged') rest.push(...args.slice(at, (at += 1) + 1))
    else rest.push(word)
  }
  return { rest }
}

/** `text` and `judged`: the value is the next word. */
type Kind = 'own' | 'text' | 'judged' | 'unknown'

function kindOfName(known: KnownOptions, text: string): Kind {
  const [name = '', value] = text.split('=', 2)
  if (known.flags.has(name)) return 'own'
  if (!known.texts.has(name) && !known.judged.has(name)) return 'unknown'
  if (value !== undefined) return 'own'
  return known.texts.has(name) ? 'text' : 'judged'
}

function kindOfLetters(known: KnownOptions, text: string): Kind {
  if (known.flags.has(text.replace(/(?<=^-\w{2,})=.*$/s, '')) || (known.numeric && /^-\d+$/.test(text))) return 'own'
  if (known.judged.has(text)) return 'judged'
  for (let at = 1; at < text.length; at += 1) {
    const letter = `-${text.charAt(at)}`
    if (known.attached.has(letter)) return 'own'
    const isText = known.texts.has(letter)
    if (isText || known.judged.has(letter)) return at + 1 < text.length ? 'own' : isText ? 'text' : 'judged'
    if (!known.flags.has(letter)) return 'unknown'
  }
  return 'own'
}
