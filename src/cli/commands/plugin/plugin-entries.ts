/** Plugins that are no packages: what entries of the configuration start or name, and what of it runs. */
import { findHookCommands } from '../../../actors/plugin/entry/hook-manifest.js'
import type { PackageState, PluginManifest } from '../../../protocol/plugin/plugin.js'
import type { PluginPlace } from './plugin-place.js'

export interface EntryRow {
  readonly id: string
  /** What it starts, as the configuration says it. */
  readonly location: string
  readonly state: PackageState
  readonly problem?: string
}

/** By id. `plugins`: what a server says of them; undefined where none was asked. Never rejects. */
export async function entryRows(
  { effects, entries, packages }: PluginPlace,
  plugins: readonly PluginManifest[] | undefined,
): Promise<EntryRow[]> {
  const { commands, off, broken } = await findHookCommands(effects, entries)
  const processes = [...entries.driven, ...entries.off].flatMap((entry) => (entry.form === 'declarative' ? [] : [entry]))
  const found = [
    ...processes.map((entry) => ({
      id: entry.id,
      location: entry.form === 'npm' ? `npm ${entry.spec}` : entry.form === 'entry' ? entry.path : entry.command.join(' '),
    })),
    ...[...commands, ...off].map(({ id, file }) => ({ id, location: file })),
    ...broken.map(({ id, reason }) => ({ id, location: 'its entry', reason })),
  ]
  const installed = new Set(packages.map(({ id }) => id))
  return found
    .filter(({ id }) => !installed.has(id))
    .map((row) => rowOf(row, entries.isDisabled(row.id), plugins))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

interface FoundEntry {
  readonly id: string
  readonly location: string
  /** Why it cannot be used at all. */
  readonly reason?: string
}

function rowOf({ id, location, reason }: FoundEntry, isDisabled: boolean, plugins: readonly PluginManifest[] | undefined): EntryRow {
  const told = plugins?.find((each) => each.id === id && !each.internal)
  const problem = reason ?? (told?.active === true ? undefined : told?.reason)
  const state = isDisabled ? 'disabled' : told?.active === true ? 'active' : problem === undefined ? 'trusted' : 'failed'
  return { id, location, state, ...(problem !== undefined && !isDisabled && { problem }) }
}
