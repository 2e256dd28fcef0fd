/** Plugins in the words of people. */
import { cut } from '../../../kernel/cut.js'
import type { AgentTarget, PluginScope } from '../../../protocol/plugin/plugin.js'

/** What is started, as a person would write it; `rights` of a program are in `rightsWords`. */
export function runtimeWords({ runtime, entrypoint, command }: AgentTarget, rights: string): string {
  if (runtime === 'lua') return `Lua ${entrypoint}, in a sandbox`
  if (entrypoint === '' && command.length === 0) return `its files in a process of Node, ${rights}` // a directory of tools
  return `the program ${command.length > 0 ? command.join(' ') : entrypoint}, ${rights}`
}

/** How it runs where its native part is approved. */
export function insideWords({ native }: Pick<AgentTarget, 'native'>): string {
  return `${native?.entrypoint ?? ''} inside of the server`
}

interface Rights {
  readonly isContained: boolean
  readonly network: boolean
  /** Why it is not contained though it would be. */
  readonly why?: string | undefined
}

/** What a program may that was approved. */
export function rightsWords({ isContained, network, why }: Rights): string {
  if (!isContained) return why === undefined ? 'with your rights' : `with your rights, since nothing contains it: ${why}`
  return `contained by bubblewrap: it sees its own folder and the programs of the system, ${network ? 'and the network' : 'and no network'}`
}

/** `sha256:` and the first characters of a revision. */
export function shortRevision(revision: string): string {
  return revision.slice(0, 'sha256:'.length + 12)
}

/** Of a name or a version, which are for people and as long as whoever wrote them liked. */
const SHOWN = 80

/** A package as its manifest calls it, with the id first. */
export function titleOf(id: string, { name, version }: { readonly name: string; readonly version: string }): string {
  return `${id}  ${cut(name, SHOWN)} ${cut(version, SHOWN)}`.trimEnd()
}

/** Rows in columns, the last one as it is. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]) => row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
  return rows.map((row) => `${line(row).join('  ').trimEnd()}\n`).join('')
}

const SCOPES: Readonly<Record<PluginScope, string>> = {
  workspace: 'each workspace that you approve it for',
  session: 'each session that you approve it for',
  user: 'you, in every workspace',
  global: 'every workspace and user',
}

/** Whom a package serves, before it is said where. */
export function scopeName(scope: PluginScope): string {
  return SCOPES[scope]
}
