/** What is known of a program, one record each; the records are in `table.ts`. */
import type { Word } from '../words/word.js'
import type { FileUse } from './file-use.js'

export interface ProgramFacts {
  /** The files its arguments name. */
  readonly files?: (args: readonly Word[]) => FileUse
  /** Why these arguments need an explicit answer: they run, load or redefine something that the line does not show. */
  readonly explicit?: (args: readonly Word[]) => string | undefined
  /** An option may start another program, or name a file: a word that may be one decides. */
  readonly optionsDecide?: true
  /** After these options free text stands, however it begins. */
  readonly textAfter?: RegExp
  /** Its arguments are another program to start. */
  readonly starts?: Starter
  /** Its arguments or its input are program text. */
  readonly language?: 'bash' | 'other-shell' | 'interpreter'
  /** Every operand means the same, however many there are; or every one after a text. */
  readonly operandsAlike?: 'all' | 'after-text'
  /** It puts files in place whose content is not known, or moves whole trees. */
  readonly brings?: 'unknown' | 'trees'
  /** Wider patterns to offer beside an exact command: any arguments, or subcommands. */
  readonly wider?: 'any' | Subcommands
}

/** How a program that starts another one is called. */
export interface Starter {
  /** Short letters without a value. */
  readonly flags?: string
  /** Short letters with a value. */
  readonly values?: string
  readonly longFlags?: readonly string[]
  readonly longValues?: readonly string[]
  /** Operands before the program, e.g. a duration. */
  readonly operands?: number
  /** `NAME=value` words come before the program. */
  readonly assignments?: boolean
  /** An option that is a number, as in `nice -10`. */
  readonly numeric?: boolean
}

/** Words that may follow a program, in lists separated by blanks. */
export interface Subcommands {
  /** `<program> <subcommand> *` */
  readonly of?: string
  /** `<program> <group> <subcommand> *` */
  readonly groups?: Readonly<Record<string, string>>
  /** Groups whose next word is a name of the project, such as a script. */
  readonly named?: string
}

/** Names separated by blanks, and what is known of each of them. */
export type Entry = readonly [names: string, facts: ProgramFacts]
