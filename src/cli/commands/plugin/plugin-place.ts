/** What the files of an installation and a workspace say about plugins, without a server. */
import { realpath } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Effects } from '../../../ports/effects.js'
import { createNodeEffects } from '../../../platform/node/node-effects.js'
import { type PluginEntries, readPluginEntries } from '../../../actors/resource/config/entries.js'
import type { FoundPackage } from '../../../actors/plugin/package/package-files.js'
import { hashPackage } from '../../../actors/plugin/package/revision.js'
import { findPackages } from '../../../actors/plugin/package/tool-directory.js'
import { createConfigs } from '../../../actors/resource/facade/config.js'
import { type Applicant, type Authorization, authorize } from '../../../machines/plugin/capability.js'
import { SvcError } from '../../../protocol/errors.js'
import type { AgentTarget, TrustRecord } from '../../../protocol/plugin/plugin.js'
import { recoverRooms } from './abandoned-rooms.js'

export interface PluginPlace {
  readonly effects: Effects
  /** Canonical. */
  readonly workspace: string
  readonly entries: PluginEntries
  /** Of the installation first, then of the workspace; by directory name. */
  readonly packages: readonly FoundPackage[]
  /** A merge patch on the configuration of the installation; answers the entries after it. */
  configure(patch: Readonly<Record<string, unknown>>): Promise<PluginEntries>
}

/** Where plugins of the installation and of a workspace live. */
export function pluginRoots(config: string, workspace: string): { readonly user: string; readonly workspace: string } {
  return { user: join(config, 'plugins'), workspace: join(workspace, '.svc', 'plugins') }
}

/** Reads everything once, when what killed commands left is put right. Throws `request.invalid_directory` when there is no such directory. */
export async function openPluginPlace(directory: string | undefined): Promise<PluginPlace> {
  const effects = createNodeEffects(process.env['SVC_LOG'] === undefined ? { logLevel: 'error' } : {})
  const workspace = await canonicalDirectory(directory ?? '.')
  const configs = createConfigs({ effects })
  const readEntries = async () => {
    const { trusted, workspace: narrowing } = await configs.snapshots.get(workspace, { fresh: true })
    return readPluginEntries(trusted, narrowing)
  }
  recoverRooms(effects.paths.config)
  const found = await findPackages(effects, effects.paths.config, workspace)
  return {
    effects,
    workspace,
    entries: await readEntries(),
    packages: found,
    async configure(patch) {
      await effects.files.makeDirectory(effects.paths.config, { mode: 0o700 })
      await configs.update(await effects.files.realPath(effects.paths.config), patch)
      return readEntries()
    },
  }
}

async function canonicalDirectory(directory: string): Promise<string> {
  try {
    return await realpath(resolve(directory))
  } catch (cause) {
    throw new SvcError('request.invalid_directory', `${resolve(directory)} does not exist`, {}, { cause })
  }
}

/** A package that can be judged: its manifest is understood and its content was hashed. */
export interface ReadPackage {
  readonly found: FoundPackage
  readonly name: string
  readonly version: string
  readonly target: AgentTarget
  readonly revision: string
  readonly digest: string
  /** As `HashedPackage` has it. */
  readonly isPlain: boolean
  readonly files: number
  readonly bytes: number
}

/** Content and target of a package; throws a sentence that says why it cannot run. */
export async function readPackage({ effects }: Pick<PluginPlace, 'effects'>, found: FoundPackage): Promise<ReadPackage> {
  const agent = found.manifest?.agent
  const [problem] = found.problems
  if (found.manifest === undefined || agent === null || agent === undefined || problem !== undefined) {
    throw new SvcError('plugin.invalid', `${found.root}: ${problem?.message ?? 'the package has no agent target'}`)
  }
  const { revision, digest, isPlain, files, bytes } = await hashPackage(effects, found.root)
  const { name, version } = found.manifest
  return { found, name: name || found.id, version, target: agent, revision, digest, isPlain, files: files.length, bytes }
}

/** Who a package would run for: the scope id of `user` packages is the name of this user. */
export function applicantOf({ effects, workspace }: PluginPlace, read: ReadPackage, scopeId?: string): Applicant {
  const { scope } = read.target
  const isInWorkspace = scope === 'workspace' || scope === 'session'
  return {
    packageId: read.found.id,
    revision: read.revision,
    digest: read.digest,
    source: read.found.source,
    target: read.target,
    place: {
      scope,
      workspaceId: isInWorkspace ? workspace : undefined,
      scopeId: scope === 'user' ? (scopeId ?? effects.platform.user) : scope === 'session' ? scopeId : undefined,
    },
  }
}

/**
 * Whether the installation approves a package; without `scopeId`, for any session or user at all. An approval without a
 * digest counts where a server that never saw the package would take it.
 */
export function approvalOf(place: PluginPlace, read: ReadPackage, scopeId?: string): Authorization {
  const { trust } = place.entries.package(read.found.id)
  return pinnedApprovalOf(
    place,
    read,
    scopeId,
    read.isPlain
      ? trust.map((record) => (record.digest === undefined ? { ...record, digest: read.digest, nativeApproved: false } : record))
      : trust,
  )
}

/** The same for approvals that name the digest. */
export function pinnedApprovalOf(
  place: PluginPlace,
  read: ReadPackage,
  scopeId?: string,
  trust: readonly TrustRecord[] = place.entries.package(read.found.id).trust,
): Authorization {
  const scopeIds = scopeId === undefined ? [undefined, ...trust.map((record) => record.scopeId)] : [scopeId]
  const answers = scopeIds.map((each) => authorize(applicantOf(place, read, each), trust))
  return answers.find(({ ok }) => ok) ?? authorize(applicantOf(place, read, scopeId), trust)
}
