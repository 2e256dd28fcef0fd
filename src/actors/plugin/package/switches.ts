/**
 * Who has switched a plugin off: the installation for everybody, a workspace for itself (choices 22; threat-model W3).
 *
 * I1 A configuration of the installation that was never readable switches nothing on; one that cannot be read any more counts as it was.
 */
import { toFailure } from '../../../protocol/errors.js'
import type { Snapshots } from '../../resource/snapshot/snapshots.js'
import { type PluginEntries, readPluginEntries } from '../../resource/config/entries.js'

export interface Switches {
  /** For everybody: why a plugin is off, by id; undefined = it is on. */
  forAll(): Promise<(pluginId: string) => string | undefined>
  /** Why a plugin is off in a canonical directory, by the files that can be read; undefined = it is on. */
  reason(directory: string, pluginId: string): Promise<string | undefined>
}

export const OFF_FOR_ALL = 'disabled by installation config'
export const OFF_HERE = 'switched off by this workspace'
/** Of what the workspace has not brought. */
export const HOOKS_STAY = '; its hooks stay, because the installation has brought it'

export function offReason(entries: Pick<PluginEntries, 'isDisabled' | 'isDisabledForAll'>, pluginId: string): string | undefined {
  if (entries.isDisabledForAll(pluginId)) return OFF_FOR_ALL
  return entries.isDisabled(pluginId) ? OFF_HERE : undefined
}

/** `installation` is a directory without a workspace layer. */
export function createSwitches(snapshots: Snapshots, installation: string): Switches {
  let known: ((pluginId: string) => string | undefined) | undefined
  return {
    async forAll() {
      try {
        const { trusted } = await snapshots.get(installation, { fresh: true })
        const entries = readPluginEntries(trusted, {})
        known = (pluginId) => offReason(entries, pluginId)
        return known
      } catch (error) {
        if (known !== undefined) return known
        const reason = `the configuration of the installation cannot be read: ${toFailure(error).message}` // I1
        return () => reason
      }
    },
    async reason(directory, pluginId) {
      const { trusted, workspace } = await snapshots.get(directory).catch(() => snapshots.inspect(directory))
      return offReason(readPluginEntries(trusted, workspace), pluginId)
    },
  }
}
