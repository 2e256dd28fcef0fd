/**
 * `svc restore`: a backup becomes the state, and the configuration, of this machine.
 *
 * I1 No server uses the state meanwhile: its lock is held. I2 The backup is unpacked beside, synced, and held against what it says of itself,
 * before the first name of what is there moves. I3 What is there goes aside and stays.
 */
import { createHash } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { SvcError } from '../../protocol/errors.js'
import { messageOf } from '../../protocol/message-of.js'
import { prepareDirectory } from '../../store/disk/state-directory.js'
import { openCopy } from '../../store/opening/database-copy.js'
import { exchange, finishExchange, INCOMING, type Place } from '../../store/opening/exchange.js'
import { acquireLock } from '../../store/opening/lock.js'
import { type ArchivedMember, type Member, readArchive, syncFolder } from './archive.js'
import { isCredential } from './kept-files.js'
import { CONFIGURATION, DATABASE, MANIFEST, type Manifest, readManifest, STATE } from './manifest.js'
import { makeDirectoriesSync } from '../../store/disk/make-directories.js'

export interface RestoreOptions {
  readonly file: string
  readonly state: string
  /** undefined = the configuration is left as it is. */
  readonly config: string | undefined
  /** What is there may be set aside. */
  readonly replace: boolean
  /** Unix ms. */
  readonly now: number
}

export interface Restored {
  readonly manifest: Manifest
  /** Folders with what was there before. */
  readonly aside: readonly string[]
}

/** Names of the lock, of the log, and of what an earlier restore set aside: they stay. */
const STAYS = /^(?:agent\.lock\.|\.restoring$|restore\.json|before-|log$)/

/** Throws a sentence, and has changed nothing then. */
export function restore(options: RestoreOptions): Restored {
  const state = prepareDirectory(resolve(options.state))
  const lock = acquireLock(state) // I1
  try {
    finishExchange(state)
    const config = options.config === undefined ? undefined : prepareDirectory(resolve(options.config))
    if (!options.replace) refuseStateThere(state)
    const directories = { [STATE]: state, ...(config !== undefined && { [CONFIGURATION]: config }) }
    try {
      const manifest = unpack(resolve(options.file), directories)
      checkDatabase(join(state, INCOMING), manifest)
      const aside = `before-restore-${new Date(options.now).toISOString().replaceAll(/[:.]/g, '-')}`
      const places = Object.values(directories).map((directory) => placeOf(directory, aside, directory === state))
      if (!options.replace) refuseConfigurationThere(places[1])
      exchange(state, places) // I3
      return { manifest, aside: places.filter(({ old }) => old.length > 0).map(({ directory }) => join(directory, aside)) }
    } finally {
      for (const directory of Object.values(directories)) rmSync(join(directory, INCOMING), { recursive: true, force: true })
    }
  } finally {
    lock.release()
  }
}

function refuseStateThere(state: string): void {
  const there = readdirSync(state).filter((name) => !STAYS.test(name))
  if (there.length === 0) return
  throw new SvcError(
    'resource.conflict',
    `${state} is not empty (${there.slice(0, 3).join(', ')}): with --replace what is there goes aside, into a folder beside it; --state names another directory.`,
    { directory: state },
  )
}

function refuseConfigurationThere(place: Place | undefined): void {
  if (place === undefined || place.old.length === 0) return
  throw new SvcError(
    'resource.conflict',
    `${place.directory} has ${place.old.slice(0, 3).join(', ')} already: with --replace that goes aside; --without-configuration leaves it as it is.`,
    { directory: place.directory },
  )
}

/** All of a state goes aside but credentials that the backup has not; of a configuration, what the backup has. */
function placeOf(directory: string, aside: string, isState: boolean): Place {
  const incoming = join(directory, INCOMING)
  const fresh = existsSync(incoming) ? readdirSync(incoming) : []
  const isReplaced = (name: string) => fresh.includes(name) || (isState && !isCredential(name))
  const old = readdirSync(directory).filter((name) => !STAYS.test(name) && isReplaced(name))
  return { directory, aside, old, fresh }
}

/** I2 */
function unpack(file: string, directories: Readonly<Record<string, string>>): Manifest {
  for (const directory of Object.values(directories)) rmSync(join(directory, INCOMING), { recursive: true, force: true })
  const found = new Map<string, Member>()
  const folders = new Set<string>()
  let manifest: Manifest | undefined
  try {
    for (const member of readArchive(file)) {
      if (manifest !== undefined) throw new Error('something follows its list of members')
      if (member.path === MANIFEST) {
        manifest = readManifest(Buffer.concat([...member.chunks()].map((chunk) => Buffer.from(chunk))).toString('utf8'))
        continue
      }
      if (found.has(member.path)) throw new Error(`"${member.path}" is in it twice`)
      const folder = [STATE, CONFIGURATION].find((each) => member.path.startsWith(each))
      const path = safePath(folder === undefined ? '' : member.path.slice(folder.length), member.path)
      const directory = directories[folder ?? '']
      found.set(member.path, laidOut(member, directory === undefined ? undefined : join(directory, INCOMING, path), folders))
    }
    if (manifest === undefined) throw new Error('its list of members is missing')
    compare(found, manifest)
    for (const folder of withParents(folders)) syncFolder(folder)
    return manifest
  } catch (error) {
    if (isTrouble(error))
      throw new SvcError('store.unavailable', `The backup could not be unpacked: ${messageOf(error)}`, {}, { cause: error })
    throw new SvcError(
      'request.invalid',
      `${file} is no whole backup of svc, and nothing was changed: ${messageOf(error)}`,
      { path: file },
      { cause: error },
    )
  }
}

/** Folders between them and the place they are laid out in have names of their own to keep. */
function withParents(folders: ReadonlySet<string>): ReadonlySet<string> {
  const all = new Set<string>()
  for (let folder of folders)
    for (; !all.has(folder); folder = dirname(folder)) {
      all.add(folder)
      if (basename(folder) === INCOMING) break
    }
  return all
}

/** What the system refuses is no fault of the archive. */
function isTrouble(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error
}

/** Written and synced; `target` undefined = read only. */
function laidOut(member: ArchivedMember, target: string | undefined, folders: Set<string>): Member {
  const hash = createHash('sha256')
  if (target === undefined) {
    for (const chunk of member.chunks()) hash.update(chunk)
    return { path: member.path, size: member.size, sha256: hash.digest('hex') }
  }
  const folder = dirname(target)
  if (!folders.has(folder)) makeDirectoriesSync(folder, 0o700)
  folders.add(folder)
  const out = openSync(target, 'wx', (member.mode & 0o700) | 0o600)
  try {
    for (const chunk of member.chunks()) {
      hash.update(chunk)
      for (let at = 0; at < chunk.length; ) at += writeSync(out, chunk, at)
    }
    fsyncSync(out)
  } finally {
    closeSync(out)
  }
  return { path: member.path, size: member.size, sha256: hash.digest('hex') }
}

/** A name leads below the place it is unpacked to. */
function safePath(path: string, whole: string): string {
  const isBad = (part: string) => part === '' || part === '.' || part === '..' || /[\\\p{Cc}]/u.test(part)
  if (path.split('/').some(isBad) || STAYS.test(path.split('/')[0] ?? ''))
    throw new Error(`${JSON.stringify(whole)} is no name of a file of a backup`)
  return path
}

function compare(found: ReadonlyMap<string, Member>, { members }: Manifest): void {
  for (const { path, size, sha256 } of members) {
    const there = found.get(path)
    if (there === undefined) throw new Error(`"${path}" is missing`)
    if (there.size !== size || there.sha256 !== sha256) throw new Error(`"${path}" is damaged`)
  }
  if (found.size !== members.length) throw new Error('it holds more than its list of members says')
}

/** The database opens here, is sound, has as many rows as it had, and all of its uploads are there. */
function checkDatabase(incoming: string, { counts, members }: Manifest): void {
  const copy = openCopy(join(incoming, DATABASE.slice(STATE.length)))
  try {
    const there = copy.counts()
    const different = Object.entries(counts).find(([name, value]) => there[name as keyof typeof there] !== value)
    if (different !== undefined)
      throw new SvcError('request.invalid', `The backup is damaged: it has not the ${different[0]} it says. Nothing was changed.`)
    const digests = new Map(members.map(({ path, sha256 }) => [path.slice(path.lastIndexOf('/') + 1), sha256]))
    const lost = copy.artifacts().find(({ id, sha256 }) => digests.get(id) !== sha256)
    if (lost !== undefined)
      throw new SvcError('request.invalid', `The backup is damaged: the upload ${lost.id} is missing. Nothing was changed.`)
  } finally {
    copy.close()
  }
  syncFile(join(incoming, DATABASE.slice(STATE.length)))
}

function syncFile(path: string): void {
  const file = openSync(path, 'r+')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
