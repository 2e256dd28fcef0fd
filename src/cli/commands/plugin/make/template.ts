/** What the templates of all languages share: what a new package can be made with, and how its parts are put together. Pure. */
import { MANIFEST_FILE } from '../../../../protocol/plugin/plugin.js'

export type Files = Readonly<Record<string, string>>

/** A part of a plugin, in one language. */
export interface Piece {
  /** What stands above the table of the plugin, without a blank line around it. */
  readonly code?: string
  /** Where in the table it goes: `tools`, `services.commands`. */
  readonly group: string
  /** What stands there, in the depth of the group. */
  readonly entry: string
}

/** Names that a new package goes by. */
export interface Names {
  readonly id: string
  /** For people, and in ids: `word-count`. */
  readonly short: string
  /** Of a tool, a function, a variable: `word_count`. Two packages of a directory cannot have the same. */
  readonly word: string
}

export function namesOf(id: string): Names {
  const short = id.slice(id.lastIndexOf('.') + 1)
  return { id, short, word: short.replaceAll('-', '_') }
}

/** The manifest of a package; `agent` says how it runs. */
export function manifestFile(id: string, agent: Readonly<Record<string, unknown>>): Files {
  const manifest = { id, name: namesOf(id).short, version: '0.1.0', apiVersion: 1, agent: { ...agent, capabilities: [] } }
  return { [MANIFEST_FILE]: `${JSON.stringify(manifest, null, 2)}\n` }
}

export const TEXTS = {
  tool: 'Greets somebody by name. Use it when a greeting is asked for.',
  command: 'Sums up in three lines',
  template: 'Sum up $ARGUMENTS in three lines.',
  agent: 'Reads and answers, and changes nothing',
  prompt: 'You answer questions about this project. You change nothing.',
  context: 'Write dates as YYYY-MM-DD.',
} as const

/** What stands above the table. */
export function codeOf(pieces: readonly Piece[]): string {
  return pieces.flatMap(({ code }) => (code === undefined ? [] : [`${code}\n\n`])).join('')
}

/** How a language writes a table: `open` and `close` stand around the entries of a group. */
export interface Grammar {
  group(name: string, entries: readonly string[], indent: string): string
  /** Groups below `services`. */
  services(groups: readonly string[], indent: string): string
}

/** The groups of a table, each once, in the order its parts come. */
export function tableOf(pieces: readonly Piece[], grammar: Grammar, indent: string): string {
  const groups = grouped(pieces)
  const [services, others] = [
    [...groups].filter(([name]) => name.startsWith('services.')),
    [...groups].filter(([name]) => !name.startsWith('services.')),
  ]
  const inner = `${indent}${indent}`
  const lists = services.map(([name, entries]) => grammar.group(name.slice('services.'.length), entries, inner))
  return [
    ...others.map(([name, entries]) => grammar.group(name, entries, indent)),
    ...(lists.length === 0 ? [] : [grammar.services(lists, indent)]),
  ].join('')
}

function grouped(pieces: readonly Piece[]): Map<string, string[]> {
  const groups = new Map<string, string[]>()
  for (const { group, entry } of pieces) groups.set(group, [...(groups.get(group) ?? []), entry])
  return groups
}

/** A text in another depth. */
export function indented(text: string, indent: string): string {
  return text.replaceAll(/(?<=^|\n)(?=[^\n])/g, indent)
}
