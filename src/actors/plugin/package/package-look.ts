/**
 * One look at the packages of a workspace: what lies in the directories of plugins and tools, hashed, against what the
 * configuration says (plugin-protocol §1.4, §3.2). Executes nothing (threat-model W1).
 */
import type { Assessment } from '../../../machines/plugin/assessment.js'
import type { PackagePlace } from '../../../machines/plugin/capability.js'
import { SvcError } from '../../../protocol/errors.js'
import type { HostCapability, PackageManifest } from '../../../protocol/plugin/plugin.js'
import type { Effects } from '../../../ports/effects.js'
import type { Lru } from '../../../kernel/lru.js'
import { type AssessDeps, assess, grantedOf, isNativeApproved, type ReadPackage } from './assess.js'
import type { PluginEntries } from '../../resource/config/entries.js'
import type { PackageEntry } from '../../resource/config/entry-options.js'
import { OFF_FOR_ALL, offReason } from './switches.js'
import type { FoundPackage } from './package-files.js'
import type { PackageReader } from './package-reader.js'
import { findPackages } from './tool-directory.js'
import type { TrustPins } from './trust-pins.js'

export interface LookDeps {
  readonly effects: Pick<Effects, 'files' | 'platform' | 'paths'>
  readonly reader: PackageReader
  readonly assessing: AssessDeps
  readonly pins: TrustPins
  /** Whether there is such a session in a workspace. */
  isSession(sessionId: string, directory: string): boolean
  /** What the manifest of a directory said when it could be read last. */
  readonly lastManifests: Lru<string, PackageManifest>
}

/** One package in one place. */
export interface Sighting {
  readonly found: ReadPackage
  readonly entry: PackageEntry
  readonly place: PackagePlace
  readonly assessment: Assessment
  readonly granted: readonly HostCapability[]
  /** What was found is approved to run inside of the server. */
  readonly isNative: boolean
}

export async function lookAtPackages(
  deps: LookDeps,
  directory: string,
  entries: PluginEntries,
  sessions: ReadonlySet<string>,
): Promise<Sighting[]> {
  const { effects, isSession } = deps
  const found = await findPackages(effects, effects.paths.config, directory)
  const read: ReadPackage[] = []
  for (const each of found) read.push(await withRevision(deps, each))
  const sightings = await Promise.all(
    read.flatMap((each) => {
      const approved = entries.package(each.id).trust.flatMap(({ scopeId }) => scopeId ?? [])
      const resting = approved.filter((id) => !sessions.has(id) && isSession(id, directory))
      const places = placesOf(each, { directory, user: effects.platform.user, sessions: new Set([...sessions, ...resting]) })
      return places.map((place) => see(deps, each, place, entries))
    }),
  )
  return preferApproved(sightings)
}

async function see({ assessing, pins }: LookDeps, found: ReadPackage, place: PackagePlace, entries: PluginEntries): Promise<Sighting> {
  const written = entries.package(found.id)
  const entry = { ...written, trust: await pins.complete(found, written.trust) }
  const isOfWorkspace = place.workspaceId !== undefined && found.source === 'workspace'
  const reason = offReason(entries, found.id)
  const off = !isOfWorkspace && reason !== OFF_FOR_ALL ? undefined : reason // what is of the installation keeps its hooks
  const granted = grantedOf(assessing, found, place, entry.trust)
  const isNative = isNativeApproved(found, place, entry.trust)
  return { found, entry, place, granted, isNative, assessment: await assess(assessing, { found, entry, place, off }) }
}

/** A package whose manifest cannot be read just now is still the package it was. */
async function withRevision({ reader, lastManifests }: LookDeps, found: FoundPackage): Promise<ReadPackage> {
  const last = lastManifests.get(found.root)
  if (found.manifest !== undefined) lastManifests.set(found.root, found.manifest)
  const known = found.manifest === undefined && last !== undefined ? { ...found, id: last.id, manifest: last } : found
  try {
    const { revision, digest, isPlain } = await reader.read(found.root)
    return { ...known, revision, digest, isPlain }
  } catch (error) {
    const message = error instanceof SvcError ? error.message : 'the content of the package cannot be read'
    return { ...known, revision: '', digest: '', isPlain: false, problems: [...found.problems, { code: 'invalid-package', message }] }
  }
}

/** A session package is in one place per session that is awake or approved, and in one to be shown while there is none. */
function placesOf(
  { manifest }: ReadPackage,
  { directory, user, sessions }: { directory: string; user: string; sessions: Iterable<string> },
): PackagePlace[] {
  const scope = manifest?.agent?.scope ?? 'workspace'
  switch (scope) {
    case 'global':
      return [{ scope, workspaceId: undefined, scopeId: undefined }]
    case 'user':
      return [{ scope, workspaceId: undefined, scopeId: user }]
    case 'workspace':
      return [{ scope, workspaceId: directory, scopeId: undefined }]
    case 'session':
      return [undefined, ...sessions].map((scopeId) => ({ scope, workspaceId: directory, scopeId }))
  }
}

/** Of packages with the same id in the same place, the one that is approved, else the first (plugin-protocol §13-18). */
function preferApproved(sightings: readonly Sighting[]): Sighting[] {
  const chosen = new Map<string, Sighting>()
  for (const sighting of sightings) {
    const key = placeKey(sighting.found.id, sighting.place)
    const rival = chosen.get(key)
    if (rival === undefined || (rival.assessment.verdict !== 'trusted' && sighting.assessment.verdict === 'trusted'))
      chosen.set(key, sighting)
  }
  return [...chosen.values()]
}

/** Names the actor of a package in a place. */
export function placeKey(packageId: string, { scope, workspaceId, scopeId }: PackagePlace): string {
  switch (scope) {
    case 'workspace':
      return `${packageId}@${workspaceId ?? ''}`
    case 'session':
      return `${packageId}@${workspaceId ?? ''}#${scopeId ?? ''}`
    default:
      return `${packageId}@${scope}`
  }
}
