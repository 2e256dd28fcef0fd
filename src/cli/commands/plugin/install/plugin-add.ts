/**
 * `svc plugin add` and `update`: a package gets into the root of the installation, and waits there until it is approved.
 *
 * I1 Adding approves nothing and starts nothing; what served before goes on until the new content is approved.
 * I2 Where it came from is written down only when it is in its place.
 * I3 Whoever was killed between the two tries again: the same content is no conflict, and is written down.
 * I4 Where nothing is under the id, nothing of before comes back: an approval of other content under it is taken back first.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { hashPackage } from '../../../../actors/plugin/package/revision.js'
import type { Effects } from '../../../../ports/effects.js'
import { SvcError } from '../../../../protocol/errors.js'
import { capabilityWords } from '../../../../protocol/plugin/capability-words.js'
import type { PackageManifest } from '../../../../protocol/plugin/plugin.js'
import { printable } from '../../../../protocol/text/visible-text.js'
import { watchInterrupts } from '../../../terminal/interruption.js'
import { jsonText, writeError, writeOut } from '../../../terminal/output.js'
import type { AddOptions, UpdateOptions } from '../plugin-arguments.js'
import { openPluginPlace, type PluginPlace } from '../plugin-place.js'
import { trustPlugin } from '../plugin-trust.js'
import { withdrawEarlier } from '../plugin-approvals.js'
import { columns, insideWords, runtimeWords, scopeName, shortRevision, titleOf } from '../plugin-words.js'
import { changeText, fileChanges, patchText, targetChanges } from './content-diff.js'
import { type Fetched, absolute, fetchSource, packageFolder } from './fetch-source.js'
import { openRoom, settle, stage, type Staged, type Room } from './installation-root.js'
import { readInstalled, recordInstalled } from './installed.js'
import { missingParts } from './missing-parts.js'
import { filesOfDirectory } from './package-content.js'
import { readSource, type SourceSpec, sourceText } from './source-spec.js'
import type { ArchivedFile } from './tar-read.js'

/** Adds a package that is not there yet; answers 0, or what approving it answers. */
export async function addPlugin(options: AddOptions): Promise<number> {
  const source = rooted(readSource(options.source, options.path))
  const place = await openPluginPlace(options.directory)
  return inRoom(place.effects, async (room, signal) => {
    const fetched = await fetchSource(source, { effects: place.effects, room: room.fetched, signal, tell })
    const staged = await stage(place.effects, room, fetched.files)
    if (await isThereAlready(place, staged)) return sayThere(place, staged, source, options)
    await refuseTaken(place, staged, source)
    await forgetEarlier(place, staged)
    const root = take(place, room, { staged, fetched, source })
    const { found, content, target } = staged
    if (options.json) writeOut(`${jsonText(report(staged, root, source), 2)}\n`)
    else {
      writeOut(`added ${found.id} ${content.revision}\n`)
      writeError(columns(description(staged, root, source, fetched).map((row) => row.map(printable))))
    }
    for (const warning of missingParts(fetched.files, target)) writeError(`svc: ${printable(warning)}\n`)
    return afterwards(found.id, 'nothing of it runs before you approve it', options)
  })
}

/** Fetches a package anew from where it came from, or from another source, from where it comes from then on; answers 0, or what approving it answers. */
export async function updatePlugin(options: UpdateOptions): Promise<number> {
  const { id, json } = options
  const place = await openPluginPlace(options.directory)
  const { effects } = place
  const installed = readInstalled(effects.paths.config)[id]
  if (installed === undefined) throw new SvcError('resource.not_found', unrecorded(place, id))
  const source = sourceOf(installed.source, options)
  const from = sourceText(source)
  const present = await presentOf(place, id, from)
  return inRoom(effects, async (room, signal) => {
    const fetched = await fetchSource(source, { effects, room: room.fetched, signal, tell })
    const staged = await stage(effects, room, fetched.files)
    if (staged.found.id !== id) throw new SvcError('plugin.invalid', `${from} holds ${staged.found.id}; svc plugin add takes that`)
    const { revision, digest } = staged.content
    if (digest === present.digest) {
      if (digest !== installed.digest || source !== installed.source) record(place, { staged, fetched, source }) // I3
      const elsewhere = source === installed.source ? `; svc plugin update ${id} <source> takes it from elsewhere` : ''
      const said = `${id} is up to date: ${printable(from)} holds ${revision}${elsewhere}`
      writeOut(json ? `${jsonText({ id, updated: false, revision }, 2)}\n` : `${said}\n`)
      return 0
    }
    if (present.digest !== installed.digest && !options.force) {
      throw new SvcError(
        'resource.conflict',
        `${present.root} is not what was added (${shortRevision(installed.revision)}): it was changed here; --force takes what is new in its place`,
      )
    }
    const files = fileChanges(present.files, fetched.files)
    const grants = targetChanges(present.manifest?.agent ?? undefined, staged.target)
    if (!json) {
      tellVersions(present, staged)
      for (const line of options.diff ? patchText(present.files, fetched.files).trimEnd().split('\n') : files.map(changeText))
        writeError(`  ${printable(line)}\n`)
      writeError(grants.length === 0 ? 'it asks for what it asked for before\n' : 'what it asks for changes:\n')
      for (const line of grants) writeError(`  ${printable(line)}\n`, line.startsWith('+') ? 'red' : undefined)
    }
    const root = take(place, room, { staged, fetched, source })
    if (json) writeOut(`${jsonText({ ...report(staged, root, source), updated: true, files, grants }, 2)}\n`)
    else writeOut(`updated ${id} ${revision}\n`)
    for (const warning of missingParts(fetched.files, staged.target)) writeError(`svc: ${printable(warning)}\n`)
    return afterwards(id, 'what was approved goes on serving until you approve this', options)
  })
}

/** From where a package comes from now on: `path` alone is another folder of the same source. */
function sourceOf(before: SourceSpec, { source, path }: Pick<UpdateOptions, 'source' | 'path'>): SourceSpec {
  if (source !== undefined) return rooted(readSource(source, path))
  return path === undefined ? before : rooted(readSource(sourceText(before).replace(/ --path .*$/, ''), path))
}

interface Present {
  readonly root: string
  readonly files: readonly ArchivedFile[]
  readonly revision: string
  readonly digest: string
  /** Absent where it cannot be read any more. */
  readonly manifest: PackageManifest | undefined
}

async function presentOf({ effects, packages }: PluginPlace, id: string, from: string): Promise<Present> {
  const root = join(effects.paths.config, 'plugins', id)
  if (!existsSync(root)) throw new SvcError('resource.not_found', `${root} is not there any more; svc plugin add ${from} adds it anew`)
  const { revision, digest } = await hashPackage(effects, await effects.files.realPath(root))
  const manifest = packages.find((found) => found.id === id && found.source === 'user')?.manifest
  return { root, files: await filesOfDirectory(effects, await effects.files.realPath(root)), revision, digest, manifest }
}

function tellVersions({ revision, manifest }: Present, { found, manifest: now, content }: Staged): void {
  const before = manifest?.version ?? ''
  const versions = before === now.version ? '' : `  ${before || '-'} -> ${now.version || '-'}`
  writeError(`${printable(`${found.id}${versions}  ${shortRevision(revision)} -> ${shortRevision(content.revision)}`)}\n`)
}

/**
 * Puts what a folder holds by now into the root of the installation, in the place of what came from there before; does nothing where that is the
 * same. Throws `resource.conflict` for what came from elsewhere, and for what was changed where it is installed.
 */
export async function installFolder(root: string): Promise<void> {
  const place = await openPluginPlace(undefined)
  const { effects } = place
  await inRoom(effects, async (room) => {
    const files = await filesOfDirectory(effects, root)
    const staged = await stage(effects, room, files)
    const { id } = staged.found
    const before = readInstalled(effects.paths.config)[id]
    const there = join(effects.paths.config, 'plugins', id)
    const present = existsSync(there) ? await digestAt(effects, there) : undefined
    if (present === staged.content.digest) return 0
    const source: SourceSpec = { type: 'directory', path: root }
    if (existsSync(there)) {
      if (before === undefined || !isFolderOf(before.source, root)) await refuseTaken(place, staged, source)
      else if (present !== before.digest)
        throw new SvcError(
          'resource.conflict',
          `${there} was changed there, and its source is ${root}: take the change over into the source, then svc plugin update ${id} --force puts the source in its place`,
        )
    }
    await forgetEarlier(place, staged)
    take(place, room, { staged, fetched: { files }, source })
    return 0
  })
}

/** Whether a source is the package at `root`: its folder, or the one around that. */
function isFolderOf(source: SourceSpec, root: string): boolean {
  if (source.type !== 'directory') return false
  try {
    return packageFolder(source.path) === root
  } catch {
    return false // it is not there any more
  }
}

/** With a room for it, which is gone afterwards; Ctrl-C ends what is fetched. */
async function inRoom(effects: Effects, work: (room: Room, signal: AbortSignal) => Promise<number>): Promise<number> {
  const room = openRoom(effects)
  const { signal, forget } = watchInterrupts(() => undefined)
  try {
    return await work(room, signal)
  } finally {
    forget()
    room.close()
  }
}

function tell(what: string): void {
  writeError(`${printable(what)}\n`, 'dim')
}

/** Paths are found again from wherever `update` is called. */
function rooted(source: SourceSpec): SourceSpec {
  return source.type === 'directory' || source.type === 'tarball' ? { ...source, path: absolute(source.path) } : source
}

/** The same content is in its place, wherever from. */
async function isThereAlready({ effects }: PluginPlace, { found: { id }, content }: Staged): Promise<boolean> {
  const there = join(effects.paths.config, 'plugins', id)
  const isRecorded = readInstalled(effects.paths.config)[id] !== undefined // else it is written down (I3)
  return isRecorded && existsSync(there) && (await digestAt(effects, there)) === content.digest
}

/** Where it came from stays what it is. */
function sayThere(place: PluginPlace, staged: Staged, source: SourceSpec, options: AddOptions): Promise<number> {
  const { id } = staged.found
  const { config } = place.effects.paths
  const there = join(config, 'plugins', id)
  const from = readInstalled(config)[id]?.source ?? source
  if (options.json) writeOut(`${jsonText({ ...report(staged, there, from), added: false }, 2)}\n`)
  else writeOut(`${id} is there already, with the same content, from ${printable(sourceText(from))}\n`)
  return afterwards(id, 'nothing of it runs before it is approved', options)
}

async function refuseTaken({ packages, effects }: PluginPlace, { found: { id }, content }: Staged, source: SourceSpec): Promise<void> {
  const there = packages.find((found) => found.id === id && found.source === 'user')?.root ?? join(effects.paths.config, 'plugins', id)
  if (!existsSync(there)) return
  const isRecorded = readInstalled(effects.paths.config)[id] !== undefined
  if (!isRecorded && (await digestAt(effects, there)) === content.digest) return // I3
  const instead = isRecorded
    ? `svc plugin update ${id} ${printable(sourceText(source))} takes this in its place`
    : `svc plugin remove ${id} --source user makes room`
  throw new SvcError('resource.conflict', `${id} is there already, in ${there}; ${instead}`)
}

/** What was approved of a package whose folder is gone is approved no more (I4). */
async function forgetEarlier(place: PluginPlace, { found: { id }, content }: Staged): Promise<void> {
  if (existsSync(join(place.effects.paths.config, 'plugins', id))) return
  const count = await withdrawEarlier(place, id, content)
  if (count > 0) writeError(`svc: what was approved under ${id} before was other content, and is approved no more\n`)
}

/** Undefined for what cannot be read. */
async function digestAt(effects: Effects, root: string): Promise<string | undefined> {
  const content = await hashPackage(effects, await effects.files.realPath(root)).catch(() => undefined)
  return content?.digest
}

interface Taken {
  readonly staged: Staged
  readonly fetched: Fetched
  readonly source: SourceSpec
}

function take(place: PluginPlace, room: Room, taken: Taken): string {
  const root = settle(place.effects, room, taken.staged)
  record(place, taken) // I2
  return root
}

function record({ effects }: PluginPlace, { staged, fetched, source }: Taken): void {
  const { revision, digest } = staged.content
  const at = new Date(effects.clock.now()).toISOString()
  recordInstalled(effects.paths.config, staged.found.id, {
    source,
    ...(fetched.resolved !== undefined && { resolved: fetched.resolved }),
    revision,
    digest,
    at,
  })
}

/** What to type next, or that itself. */
async function afterwards(
  id: string,
  until: string,
  { trust, yes, json, directory }: Pick<AddOptions, 'trust' | 'yes' | 'json' | 'directory'>,
): Promise<number> {
  if (trust) return trustPlugin({ id, directory, capabilities: undefined, source: 'user', scopeId: undefined, native: false, yes, json })
  if (!json) writeOut(`${until}: svc plugin trust ${id}\n`)
  return 0
}

function description({ found, manifest, target, content }: Staged, root: string, source: SourceSpec, { resolved }: Fetched): string[][] {
  const [first = 'nothing of the host', ...rest] = target.capabilities.map((name) => `${name}: ${capabilityWords(name, target)}`)
  return [
    ['package', titleOf(found.id, manifest)],
    ['from', sourceText(source)],
    ...(resolved === undefined ? [] : [['', resolved]]),
    ['in', root],
    ['content', `${content.files.length === 1 ? '1 file' : `${content.files.length} files`}, ${content.bytes} bytes`],
    ['runs', runtimeWords(target, 'when it is approved')],
    ...(target.native === undefined ? [] : [['or', `${insideWords(target)}, where that is approved (svc plugin trust --native)`]]),
    ['scope', scopeName(target.scope)],
    ['asks for', first],
    ...rest.map((line) => ['', line]),
  ]
}

function report({ found, manifest, target, content }: Staged, root: string, source: SourceSpec) {
  const { revision, digest, files, bytes } = content
  const { capabilities, scope, runtime } = target
  return {
    id: found.id,
    version: manifest.version,
    root,
    source,
    revision,
    digest,
    files: files.length,
    bytes,
    capabilities,
    ...(capabilities.includes('network') && { hosts: target.network?.hosts.join(', ') ?? 'any public host' }),
    scope,
    runtime,
  }
}

function unrecorded({ packages, effects }: PluginPlace, id: string): string {
  const isThere = packages.some((found) => found.id === id)
  const known = Object.keys(readInstalled(effects.paths.config))
  const what = isThere ? `${id} was not added by "svc plugin add", so nobody knows where it came from` : `there is no package ${id}`
  return `${what}; ${known.length === 0 ? 'none was added' : `those that were added are ${known.join(', ')}`}`
}
