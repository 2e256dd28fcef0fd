/**
 * What one look at a workspace means for the package actors: who is told what, and who is gone (plugin-protocol §3.2, §9.1).
 *
 * I1 A package that is not seen any more is removed; one that everybody shares, when no plugin directory of the user holds it.
 * I2 At most `perWorkspace` plugins of a workspace are looked after; what is beyond is reported, not run.
 */
import type { Assessment } from '../../../machines/plugin/assessment.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Effects } from '../../../ports/effects.js'
import type { ConfigSnapshot } from '../../resource/snapshot/snapshot.js'
import { drivenSignature } from '../entry/driven.js'
import { type PluginEntries, readPluginEntries } from '../../resource/config/entries.js'
import { findHookCommands } from '../entry/hook-manifest.js'
import type { NpmCache } from '../entry/npm-cache.js'
import { lookAtPackages, type LookDeps, placeKey } from './package-look.js'
import type { PackageSupervisor } from './package-supervisor.js'
import type { Origin, PluginRecords } from './plugin-records.js'
import type { Registry } from '../registry/registry.js'
import { OFF_FOR_ALL, offReason } from './switches.js'
import type { Workspace } from './workspaces.js'

export interface DirectoryDeps {
  readonly effects: Pick<Effects, 'files' | 'clock' | 'paths' | 'env' | 'sha256' | 'log' | 'processes' | 'childEnv' | 'platform'>
  readonly looking: LookDeps
  readonly npm: NpmCache
  readonly registry: Registry
  readonly supervisor: PackageSupervisor
  readonly records: PluginRecords
}

export interface DirectoryPlugins {
  look(workspace: Workspace, snapshot: ConfigSnapshot): Promise<{ readonly perSession: boolean }>
  /** Keys of everything that serves a workspace, shared packages included. */
  keys(directory: string): ReadonlySet<string>
  /** Manifests of hook commands that cannot be used. */
  broken(directory: string): readonly { readonly id: string; readonly reason: string }[]
  /** Retires what runs for a workspace, or for one session of it, alone. */
  release(directory: string, sessionId?: string): void
}

interface Found {
  readonly key: string
  readonly origin: Origin
  readonly assessment: Assessment
  /** Asked when it is told: a session may have gone to rest meanwhile. */
  isWanted(): boolean
}

export function createDirectoryPlugins(deps: DirectoryDeps): DirectoryPlugins {
  const { effects, registry, supervisor, records } = deps
  const known = new Map<string, ReadonlySet<string>>()
  const brokenIn = new Map<string, readonly { readonly id: string; readonly reason: string }[]>()

  async function packages(workspace: Workspace, entries: PluginEntries): Promise<Found[]> {
    const sightings = await lookAtPackages(deps.looking, workspace.directory, entries, workspace.sessions)
    return sightings.map((sighting) => ({
      key: placeKey(sighting.found.id, sighting.place),
      origin: { kind: 'package', sighting },
      assessment: sighting.assessment,
      isWanted: () => sighting.place.scope !== 'session' || workspace.sessions.has(sighting.place.scopeId ?? ''),
    }))
  }

  async function processes({ directory }: Workspace, entries: PluginEntries): Promise<Found[]> {
    const found = entries.driven.flatMap((entry) => (entry.form === 'declarative' ? [] : [entry]))
    const off = entries.off.flatMap((entry) => (entry.form === 'declarative' ? [] : [entry]))
    const on = await Promise.all(
      found.map(async (entry) => {
        const signature = `${await drivenSignature(deps, entry, directory)} ${JSON.stringify({ ...entry, config: deps.looking.assessing.noticed(entry.id, entry.config) })}`
        return drivenFound(`${entry.id}@${directory}`, { kind: 'process', entry, directory }, entry.revision ?? '', signature)
      }),
    )
    return [...on, ...off.map((entry) => offFound(`${entry.id}@${directory}`, { kind: 'process', entry, directory }, entries, entry.id))]
  }

  async function hookCommands({ directory }: Workspace, entries: PluginEntries): Promise<Found[]> {
    const { commands, off, broken } = await findHookCommands(effects, entries)
    brokenIn.set(directory, broken)
    return [
      ...commands.map((command) =>
        drivenFound(`${command.id}@${directory}`, { kind: 'hook-command', command, directory }, command.revision, command.revision),
      ),
      ...off.map((command) => offFound(`${command.id}@${directory}`, { kind: 'hook-command', command, directory }, entries, command.id)),
    ]
  }

  function forget(key: string): void {
    supervisor.tell(key, { type: 'removed' })
    records.delete(key)
  }

  return {
    async look(workspace, snapshot) {
      const { directory } = workspace
      const entries = readPluginEntries(snapshot.trusted, snapshot.workspace)
      registry.hide(directory, entries.isDisabled) // built-ins and what everybody shares run on for others
      const installed = await packages(workspace, entries)
      const taken = new Set(installed.map(({ key }) => key))
      const driven = [...(await processes(workspace, entries)), ...(await hookCommands(workspace, entries))]
      const both = [...installed, ...driven.filter(({ key }) => !taken.has(key))] // a package is not its entry
      const all = both.toSorted((a, b) => Number(b.isWanted()) - Number(a.isWanted())) // what only rests is left out first
      if (all.length > LIMITS.plugins.perWorkspace)
        effects.log.warn('too many plugins in a workspace; the last ones are left out', { directory, plugins: all.length })
      const found = new Map(all.slice(0, LIMITS.plugins.perWorkspace).map((each) => [each.key, each]))
      for (const key of known.get(directory) ?? []) if (!found.has(key)) forget(key) // I1
      known.set(directory, new Set(found.keys()))
      for (const { key, origin, assessment, isWanted } of found.values()) {
        records.put(key, origin)
        supervisor.found(key, assessment, { strict: origin.kind === 'package', isWanted: isWanted() })
      }
      return { perSession: all.some(({ origin }) => origin.kind === 'package' && origin.sighting.place.scope === 'session') }
    },
    keys: (directory) => known.get(directory) ?? new Set(),
    broken: (directory) => brokenIn.get(directory) ?? [],
    release(directory, sessionId) {
      const suffix = sessionId === undefined ? `@${directory}` : `@${directory}#${sessionId}`
      const left = new Set(known.get(directory))
      for (const key of left) {
        if (!key.endsWith(suffix) && !(sessionId === undefined && key.includes(`${suffix}#`))) continue
        const origin = records.get(key)?.origin
        if (sessionId !== undefined && origin?.kind === 'package' && origin.sighting.assessment.verdict === 'trusted') {
          supervisor.tell(key, { type: 'unwanted' }) // approved, and so at rest
          continue
        }
        left.delete(key)
        forget(key)
      }
      if (sessionId !== undefined) known.set(directory, left)
      else {
        known.delete(directory)
        brokenIn.delete(directory)
        registry.hide(directory, undefined)
      }
    },
  }
}

/** Shown, and not run. */
function offFound(key: string, origin: Origin, entries: PluginEntries, id: string): Found {
  const reason = offReason(entries, id) ?? OFF_FOR_ALL
  const diagnostics = [{ code: 'inactive', message: reason }]
  const assessment: Assessment = { verdict: 'disabled', revision: '', signature: reason, diagnostics, approved: [], retained: undefined }
  return { key, origin, assessment, isWanted: () => false }
}

/** Entries that the installation itself wrote need no approval. */
function drivenFound(key: string, origin: Origin, revision: string, signature: string): Found {
  const assessment: Assessment = { verdict: 'trusted', revision, signature, diagnostics: [], approved: [revision], retained: undefined }
  return { key, origin, assessment, isWanted: () => true }
}
