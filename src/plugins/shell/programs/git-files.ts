/** The files that the arguments of a git command name besides those of its history. */
import type { Word } from '../judge/word.js'
import { type Arguments, cutWord, hasOption, splitArguments } from './arguments.js'

export interface GitFiles {
  readonly reads: readonly Word[]
  readonly writes: readonly Word[]
  /** Written with everything below. */
  readonly wholes: readonly Word[]
  /** Read when they exist; else names of commits. */
  readonly perhaps: readonly Word[]
}

type Rule = (args: Arguments) => Partial<GitFiles>

const MESSAGES = ['-F', '--file', '-m', '--message']
/** Options of single commands whose values are files: read, or written. */
const READ: Readonly<Record<string, readonly string[]>> = {
  commit: [...MESSAGES, '-t'],
  tag: MESSAGES,
  notes: MESSAGES,
  merge: MESSAGES,
  blame: ['--contents', '-S', '--ignore-revs-file'],
  annotate: ['--contents', '-S'],
  grep: ['-f', '-e', '-A', '-B', '-C', '-m'],
  archive: ['--add-file'],
  config: ['-f', '--file'],
}
const WRITTEN: Readonly<Record<string, readonly string[]>> = {
  'format-patch': ['-o', '--output-directory'],
  archive: ['-o'],
  'checkout-index': ['--prefix'],
  bugreport: ['-o', '--output-directory'],
  diagnose: ['-o', '--output-directory'],
}
const TEXTS = /^(?:-[emABC]|--message)$/
/** Of any command. */
const PATHS_FROM = '--pathspec-from-file'

const COMMANDS: Readonly<Record<string, Rule>> = {
  apply: ({ operands }) => ({ reads: operands }),
  am: ({ operands }) => ({ reads: operands }),
  'hash-object': ({ operands }) => ({ reads: operands }),
  'interpret-trailers': ({ operands }) => ({ reads: operands, writes: operands }),
  grep: ({ operands, options }) => ({ perhaps: hasOption(options, 'ef') ? operands : operands.slice(1) }),
  clone: ({ operands }) => ({ reads: places(operands).filter(isPlace), writes: operands.slice(1) }),
  fetch: ({ operands }) => ({ reads: places(operands).filter(isFarPlace) }),
  pull: ({ operands }) => ({ reads: places(operands).filter(isFarPlace) }),
  'ls-remote': ({ operands }) => ({ reads: places(operands).filter(isFarPlace) }),
  push: ({ operands }) => ({ wholes: places(operands).filter(isFarPlace) }),
  init: ({ operands }) => ({ writes: operands }),
  worktree: ({ operands: [verb, first, second] }) =>
    verb?.text === 'add' || verb?.text === 'remove'
      ? { wholes: some(first) }
      : verb?.text === 'move'
        ? { wholes: some(first, second) }
        : {},
  bundle: ({ operands: [verb, file] }) => (verb?.text === 'create' ? { writes: some(file) } : { reads: some(file) }),
  mv: ({ operands }) => ({ reads: operands.slice(0, -1), wholes: operands }),
  rm: ({ operands, options }) => ({ wholes: hasOption(options, '', '--cached') ? [] : operands }),
}

/** Judges what follows `git <command>`; `writes` tells whether `git config` changes its file. */
export function gitFiles(command: string, args: readonly Word[], changesConfig: boolean): GitFiles {
  const read = [...(Object.hasOwn(READ, command) ? (READ[command] ?? []) : []), PATHS_FROM]
  const written = ['--output', ...(Object.hasOwn(WRITTEN, command) ? (WRITTEN[command] ?? []) : [])]
  const found = splitArguments(args, [...read, ...written])
  const valuesOf = (names: readonly string[]) =>
    found.given.filter(({ name }) => names.includes(name) && !TEXTS.test(name)).map(({ value }) => value)
  const { reads = [], writes = [], wholes = [], perhaps = [] } = Object.hasOwn(COMMANDS, command) ? (COMMANDS[command]?.(found) ?? {}) : {}
  const named = valuesOf(read)
  return { reads: [...reads, ...named], writes: [...writes, ...valuesOf(written), ...(changesConfig ? named : [])], wholes, perhaps }
}

function some(...words: readonly (Word | undefined)[]): readonly Word[] {
  return words.filter((word) => word !== undefined)
}

/** From where to where, without the scheme of files. */
function places(operands: readonly Word[]): readonly Word[] {
  return operands.slice(0, 1).map((word) => (/^file:\/\//i.test(word.text) ? cutWord(word, 'file://'.length) : word))
}

/** A place on this machine, and no address. */
function isPlace({ text, dynamic }: Word): boolean {
  return !dynamic && !/^[a-z][\w+.-]*:\/\//i.test(text) && !/^[^/]+:/.test(text)
}

/** Else it is the name of a remote. */
function isFarPlace(word: Word): boolean {
  return isPlace(word) && /^[./~]/.test(word.text)
}
