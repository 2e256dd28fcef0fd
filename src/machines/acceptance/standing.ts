/** Whether a program that loads code of a workspace may start, and the lines that rules are asked about (choice 34). Pure. */
import type { PermissionAction } from '../../protocol/interaction/interaction.js'
import type { ProgramKind, ProgramStanding } from '../../protocol/acceptance/acceptance.js'

export interface Grounds {
  readonly kind: ProgramKind
  /** The configuration of the installation names it. */
  readonly isNamed: boolean
  /** Somebody accepted exactly this content for this workspace. */
  readonly isAccepted: boolean
  readonly sandbox: 'off' | 'on' | 'missing'
}

/**
 * The sandbox stands for what it confines, the installation for what it names, somebody's act for the rest. A server of the Model Context
 * Protocol that a workspace brings takes an act in any case: its tools are offered to a model.
 */
export function stateOf({ kind, isNamed, isAccepted, sandbox }: Grounds): ProgramStanding['state'] {
  if (kind === 'mcp-server') {
    if (isNamed) return 'named'
    if (!isAccepted) return 'waiting'
    return sandbox === 'missing' ? 'unavailable' : 'accepted'
  }
  if (sandbox !== 'off') return sandbox === 'on' ? 'confined' : 'unavailable'
  if (isNamed) return 'named'
  return isAccepted ? 'accepted' : 'waiting'
}

export function mayStart(state: ProgramStanding['state']): boolean {
  return state !== 'waiting' && state !== 'unavailable'
}

/** As somebody would type it in a shell. */
export function lineText(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`)).join(' ')
}

/** The line under every name that its program has: as it is called, as it is found, and by its last name. */
export function lineNames(words: readonly string[], program: string | undefined): readonly string[] {
  const [name = '', ...rest] = words
  const names = [name, program ?? name].flatMap((each) => [each, each.slice(each.lastIndexOf('/') + 1)])
  return [...new Set(names)].flatMap((each) => [lineText([each, ...rest]), [each, ...rest].join(' ')]).filter(isFirst)
}

/** Whether rules deny the line under one of its names. `decisions` are what the rules of the run say of each. */
export function isDenied(decisions: readonly PermissionAction[]): boolean {
  return decisions.includes('deny')
}

function isFirst(text: string, at: number, all: readonly string[]): boolean {
  return all.indexOf(text) === at
}
