/** What is known of programs, by name: one record for each, put together from what is known of them as readers, writers and starters. */
import type { Word } from '../words/word.js'
import type { Entry, ProgramFacts } from './facts.js'
import { CHANGING } from './table-changing.js'
import { NETWORK } from './table-network.js'
import { READING } from './table-reading.js'
import { STARTING } from './table-starting.js'
import { WIDER } from './table-wider.js'

const NOTHING: ProgramFacts = {}
/** Interpreters are installed with their version in the name. */
const VERSION = /[\d.]+$/

export const ENTRIES: readonly Entry[] = [...READING, ...CHANGING, ...NETWORK, ...STARTING, ...WIDER]

const TABLE = new Map<string, ProgramFacts>()
for (const [names, facts] of ENTRIES) for (const name of names.split(' ')) TABLE.set(name, { ...TABLE.get(name), ...facts })

export function factsOf(program: string): ProgramFacts {
  const known = TABLE.get(program)
  if (known !== undefined) return known
  const bare = TABLE.get(program.replace(VERSION, ''))
  return bare?.language === 'interpreter' ? bare : NOTHING
}

/** Why this program with these arguments needs an explicit answer, or undefined. */
export function explicitReason(program: string, args: readonly Word[]): string | undefined {
  const reason = factsOf(program).explicit?.(args)
  return reason === undefined ? undefined : `${program}: ${reason}`
}
