/** The files that the arguments of a git command name besides those of its history. */
import { hasWildcard } from '../../words/glob.js'
import { unknownWord, type Word } from '../../words/word.js'
import { cutWord, splitArguments } from '../arguments.js'
import type { GitFiles } from './facts.js'
import { subcommandOf } from './subcommands.js'

/** Of any command. */
const PATHS_FROM = '--pathspec-from-file'
const OUTPUT = '--output'
const LISTED = unknownWord('(the names in a file)')
/** A value that leads somewhere by itself, in one word with its option. */
const PATH_VALUE = /^(?:--[a-z][\w-]*=|-[A-Za-z])(?=\/|~\/|\.\.\/)/
/** Options whose values are texts and patterns. */
const TEXT_VALUE =
  /^(?:-[SGLmneIDXsPh]|--(?:grep|author|committer|message|format|pretty|date|since|until|after|before|glob|branches|tags|remotes|exclude|include|word-diff-regex|ignore-matching-lines|src-prefix|dst-prefix|line-prefix|trailer|skip-to|rotate-to|relative|directory|prefix|find-object|contains|points-at|filter|sort|match|abbrev|path-format|subject-prefix|signature)=)/

const NONE: GitFiles = { reads: [], writes: [], wholes: [], perhaps: [], changes: [] }

/** Judges what follows `git <command>`; `changesConfig` tells whether `git config` changes its file. */
export function gitFiles(command: string, args: readonly Word[], changesConfig: boolean): GitFiles {
  const known = subcommandOf(command)
  const read = [...listOf(known?.reads), PATHS_FROM]
  const written = [...listOf(known?.writes), OUTPUT]
  const found = splitArguments(args, [...read, ...written, ...listOf(known?.texts)])
  const valuesOf = (names: readonly string[]) => found.given.filter(({ name }) => names.includes(name)).map(({ value }) => value)
  if (known === undefined) return unknownCommand(command, found.operands, args)
  const { reads = [], writes = [], wholes = [], perhaps = [], changes = [] } = known.files?.(found, args) ?? {}
  const isListed = known.changes === true && (valuesOf([PATHS_FROM]).length > 0 || found.operands.some(isPathspec))
  const named = valuesOf(read)
  const reason = known.explicit?.(found)
  return {
    reads: [...reads, ...named, ...otherValues(args)],
    writes: [...writes, ...valuesOf(written), ...(changesConfig ? named : []), ...(isListed ? [LISTED] : [])],
    wholes,
    perhaps,
    changes,
    reason: reason === undefined ? undefined : `git ${command}: ${reason}`,
  }
}

/** Git reads wildcards and a leading colon itself, wherever the shell has left them. */
function isPathspec({ text, pattern }: Word): boolean {
  return text.startsWith(':') || (/[*?[]/.test(text.replaceAll(/\\[\s\S]/g, '')) && !hasWildcard(pattern))
}

function unknownCommand(command: string, operands: readonly Word[], args: readonly Word[]): GitFiles {
  if (command === '') return NONE
  return { ...NONE, writes: [...operands, ...otherValues(args)], reason: `git ${command}: what it does with its operands is not known` }
}

/** Of options that no list has: what begins like a path leads to one. */
function otherValues(args: readonly Word[]): readonly Word[] {
  return args.flatMap((word) => {
    const length = TEXT_VALUE.test(word.text) ? undefined : PATH_VALUE.exec(word.text)?.[0].length
    return length === undefined ? [] : [cutWord(word, length)]
  })
}

function listOf(names: string | undefined): readonly string[] {
  return names === undefined ? [] : names.split(' ')
}
