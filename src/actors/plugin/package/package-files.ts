/** Finding plugin packages on disk: metadata only, nothing of a package is executed or resolved (plugin-protocol §1.1–1.4). */
import { join } from 'node:path'
import { nextTurn } from '../../../kernel/pause.js'
import { reachedThrough } from '../../../protocol/text/exposure.js'
import { LIMITS } from '../../../protocol/limits.js'
import { MANIFEST_FILE, type PackageDiagnostic, type PackageLifecycleInfo, type PackageManifest } from '../../../protocol/plugin/plugin.js'
import { isToolsId } from '../../../protocol/plugin/tool-files.js'
import { sortInTurns } from '../../../kernel/sort.js'
import type { Effects } from '../../../ports/effects.js'
import { parseManifest } from './package-manifest.js'
import { packageProblems } from './package-problems.js'
import { messageOf } from '../../../protocol/message-of.js'

export type PackageSource = PackageLifecycleInfo['source']

export interface FoundPackage {
  /** Of the manifest; the name of the directory when that cannot be read or another package has the id already. */
  readonly id: string
  /** Canonical directory of the package. */
  readonly root: string
  readonly source: PackageSource
  /** Absent when the file is not valid. */
  readonly manifest?: PackageManifest
  /** Why the package cannot run; empty for a good one. Codes: `invalid-manifest`, `incompatible`. */
  readonly problems: readonly PackageDiagnostic[]
  /** For whoever hashes the package; discovery leaves it out. */
  readonly revision?: string
}

interface Place {
  readonly name: string
  readonly root: string
  readonly source: PackageSource
}

/**
 * Packages in a plugin directory, by directory name. Valid packages for editors only are left out; invalid ones are in
 * the list, with their problems. A directory that is missing or cannot be read holds none. Never rejects.
 */
export async function discoverPackages(
  effects: Pick<Effects, 'files' | 'platform'>,
  root: string,
  source: PackageSource,
): Promise<FoundPackage[]> {
  const found: FoundPackage[] = []
  const ids = new Map<string, string>()
  for (const name of await childNames(effects, root)) {
    if (found.length === LIMITS.plugins.packagesPerRoot) break
    await nextTurn() // manifests are read and parsed at once
    const child = join(root, name)
    const directory = await packageDirectory(effects, child)
    if (directory === undefined) continue
    const place = { name, root: directory, source }
    const exposed = await whyNotRead(effects, child, directory)
    const each = exposed === undefined ? await readPackage(effects, place) : refused(place, exposed)
    if (each.manifest === undefined) {
      found.push(each)
      continue
    }
    const twin = ids.get(each.id)
    if (twin === undefined) ids.set(each.id, name)
    if (each.manifest.agent !== null) found.push(twin === undefined ? each : duplicate(each, name, twin))
  }
  return found
}

async function childNames({ files }: Pick<Effects, 'files'>, root: string): Promise<string[]> {
  try {
    const entries = await files.readDirectory(root)
    const names = entries.flatMap(({ name, kind }) => (kind === 'directory' || kind === 'link' ? [{ name, bytes: Buffer.from(name) }] : []))
    const sorted = await sortInTurns(names, (a, b) => Buffer.compare(a.bytes, b.bytes), nextTurn)
    return sorted.slice(0, LIMITS.directories.entries).map(({ name }) => name)
  } catch {
    return []
  }
}

/** Canonical path of a child that holds a manifest file. */
async function packageDirectory({ files }: Pick<Effects, 'files'>, child: string): Promise<string | undefined> {
  try {
    const directory = await files.realPath(child)
    const manifest = await files.stat(join(directory, MANIFEST_FILE))
    return manifest?.kind === 'file' ? directory : undefined
  } catch {
    return undefined
  }
}

/** A manifest that others could change is not read (threat-model W3). */
async function whyNotRead({ files }: Pick<Effects, 'files'>, child: string, directory: string): Promise<string | undefined> {
  try {
    const exposed = (await files.exposure(child)) ?? (await files.exposure(join(directory, MANIFEST_FILE)))
    if (exposed === undefined) return undefined
    return exposed.path === join(directory, MANIFEST_FILE) ? exposed.how : reachedThrough(exposed)
  } catch (error) {
    return `is reached in a way that cannot be checked: ${messageOf(error)}`
  }
}

function refused({ name, root, source }: Place, reason: string): FoundPackage {
  const message = `${join(root, MANIFEST_FILE)} is not read: it ${reason}.`
  const action = 'Take write access away from others, or install the package where only you can write.'
  return { id: name, root, source, problems: [{ code: 'exposed', message, action }] }
}

async function readPackage(effects: Pick<Effects, 'files' | 'platform'>, { name, root, source }: Place): Promise<FoundPackage> {
  try {
    const bytes = await effects.files.read(join(root, MANIFEST_FILE), LIMITS.plugins.manifestBytes, { canonical: true })
    const manifest = parseManifest(bytes)
    if (isToolsId(manifest.id)) throw new Error(`the id "${manifest.id}" is that of a directory of tools`)
    return { id: manifest.id, root, source, manifest, problems: await packageProblems(effects, { root, source, manifest }) }
  } catch (error) {
    const reason = messageOf(error).replace(/\.$/, '')
    return { id: name, root, source, problems: [{ code: 'invalid-manifest', message: `${MANIFEST_FILE} cannot be used: ${reason}.` }] }
  }
}

function duplicate(each: FoundPackage, name: string, twin: string): FoundPackage {
  const message = `The id "${each.id}" belongs to the package in "${twin}" already.`
  return { ...each, id: name, problems: [{ code: 'invalid-manifest', message, action: 'Give one of them another id.' }, ...each.problems] }
}
