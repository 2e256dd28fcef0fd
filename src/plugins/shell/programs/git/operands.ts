/** Operands of subcommands of git that change files of the worktree, or go to other places. */
import { plainWord, type Word } from '../../words/word.js'
import { type Arguments, cutWord, hasOption } from '../arguments.js'
import type { GitFiles } from './facts.js'

type Files = Partial<GitFiles>

/** After `--`, and after a first operand, are paths; the first may be one. Only the index is changed by `--staged` alone. */
export function checkedOut({ operands }: Arguments, words: readonly Word[]): Files {
  const [first, ...others] = operands
  const end = words.findIndex(({ text }) => text === '--')
  if (end < 0) return { writes: others, changes: first === undefined ? [] : [first] }
  return { writes: words.slice(end + 1) }
}

export function restored({ operands, options }: Arguments): Files {
  const onlyIndex = hasOption(options, 'S', '--staged') && !hasOption(options, 'W', '--worktree')
  return { writes: onlyIndex ? [] : operands }
}

/** What is stashed away is changed. */
export function stashed({ operands: [verb, ...rest] }: Arguments, words: readonly Word[]): Files {
  if (verb?.text === 'push') return { writes: rest }
  const end = words.findIndex(({ text }) => text === '--')
  return { writes: end < 0 ? [] : words.slice(end + 1) }
}

/** Without a directory it is named after the end of the address. */
export function cloned({ operands: [from, ...to] }: Arguments): Files {
  if (from === undefined) return {}
  return { reads: [local(from)].filter(isPlace), writes: to.length > 0 ? to : [named(from)] }
}

export function ofSubmodule({ operands: [verb, from, ...to] }: Arguments): Files {
  if (verb?.text !== 'add' || from === undefined) return {}
  return { reads: farPlaces([from]), wholes: to.length > 0 ? to : [named(from)] }
}

export function linkedWorktree({ operands: [verb, place, ...others] }: Arguments): Files {
  const places = place === undefined ? [] : [place]
  if (verb?.text === 'add' || verb?.text === 'remove') return { wholes: [...places, ...others.filter(isFarPlace)] }
  return verb?.text === 'move' || verb?.text === 'repair' ? { wholes: [...places, ...others] } : {}
}

/** The first operand, unless it is the name of a remote or an address. */
export function farPlaces(operands: readonly Word[]): readonly Word[] {
  return operands.slice(0, 1).map(local).filter(isFarPlace)
}

/** Without the scheme of files. */
function local(word: Word): Word {
  return /^file:\/\//i.test(word.text) ? cutWord(word, 'file://'.length) : word
}

/** A place on this machine, and no address. */
function isPlace({ text, dynamic }: Word): boolean {
  return !dynamic && !/^[a-z][\w+.-]*:\/\//i.test(text) && !/^[^/]+:/.test(text)
}

/** Else it is the name of a remote. */
function isFarPlace(word: Word): boolean {
  return isPlace(word) && /^[./~]/.test(word.text)
}

function named(address: Word): Word {
  if (address.dynamic || address.approximate) return address
  const path = address.text.replace(/\/+$/, '').replace(/\/\.git$/, '')
  return plainWord(path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf(':')) + 1).replace(/(?<=.)\.git$|\.bundle$/, '') || '.')
}
