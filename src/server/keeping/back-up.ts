/**
 * `svc backup`: the state and the configuration in one file, also while a server uses them.
 *
 * I1 The database is of one moment. What it names is copied after it; an upload that was deleted between is in neither.
 * I2 Credentials are in it only when they are asked for.
 * I3 The server takes no part: it is another process that reads, in small steps.
 */
import { existsSync, realpathSync, rmSync, statfsSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { SvcError } from '../../protocol/errors.js'
import { messageOf } from '../../protocol/message-of.js'
import { copyDatabase, openCopy, type Copy } from '../../store/opening/database-copy.js'
import { type ArchiveWriter, type Member, writeArchive } from './archive.js'
import { filesBelow, isCredential, isLeftOut } from './kept-files.js'
import { CONFIGURATION, DATABASE, MANIFEST, type Manifest, STATE } from './manifest.js'
import { makeDirectoriesSync } from '../../store/disk/make-directories.js'

export interface BackupOptions {
  readonly file: string
  readonly state: string
  readonly config: string
  readonly credentials: boolean
  /** A file of that name is written over. */
  readonly replace: boolean
  readonly version: string
  /** Unix ms. */
  readonly now: number
}

export interface BackedUp {
  readonly manifest: Manifest
  readonly bytes: number
  /** What is not in it, because it is a link. */
  readonly leftOut: readonly string[]
}

/** Throws a sentence; what was begun is removed then. */
export async function backUp(options: BackupOptions): Promise<BackedUp> {
  const file = resolve(options.file)
  const database = join(options.state, 'agent.sqlite3')
  refuse(file, database, options)
  const partial = `${file}.database-partial`
  try {
    discardDatabase(partial)
    await copyDatabase(database, partial)
    const copy = openCopy(partial)
    try {
      return archive(file, copy, partial, options)
    } finally {
      copy.close()
    }
  } catch (error) {
    throw diskFull(error, file) ?? error
  } finally {
    discardDatabase(partial)
  }
}

function refuse(file: string, database: string, { state, config, replace }: BackupOptions): void {
  const found = statSync(database, { throwIfNoEntry: false })
  if (found === undefined) throw new SvcError('resource.not_found', `There is nothing to back up: no server has used ${state} yet.`)
  if (existsSync(file) && !replace)
    throw new SvcError('resource.conflict', `${file} is there already: name another file, or say --replace.`)
  makeDirectoriesSync(dirname(file), 0o700)
  const folder = realpathSync(dirname(file))
  for (const kept of [state, config]) {
    if (existsSync(kept) && `${folder}${sep}`.startsWith(`${realpathSync(kept)}${sep}`))
      throw new SvcError('request.invalid', `A backup cannot lie in ${kept}, which it is of: name a file elsewhere.`)
  }
  const { bavail, bsize } = statfsSync(folder)
  const needed = 2 * found.size
  if (bavail * bsize < needed)
    throw new SvcError(
      'store.unavailable',
      `There is too little room for a backup in ${folder}: ${bavail * bsize} bytes are free, and the database alone needs ${needed} while it is copied.`,
      { path: folder, free: bavail * bsize, needed },
    )
}

function archive(file: string, copy: Copy, database: string, options: BackupOptions): BackedUp {
  const { state, config, credentials, version, now } = options
  const writer = writeArchive(file)
  try {
    const members: Member[] = []
    const leftOut: string[] = []
    const add = (folder: string, directory: string, path: string) => {
      const member = writer.addFile(`${folder}${path}`, join(directory, path))
      if (member !== undefined) members.push(member)
    }
    const addBelow = (folder: string, directory: string, wanted: (name: string) => boolean) => {
      for (const { path, isLink } of filesBelow(directory, wanted)) {
        if (isLink) leftOut.push(join(directory, path))
        else add(folder, directory, path)
      }
    }
    const isWanted = (name: string) => credentials || !isCredential(name) // I2
    addUploads(copy, writer, members, state)
    addBelow(STATE, state, (name) => name !== 'artifacts' && !isLeftOut(name) && isWanted(name))
    addBelow(CONFIGURATION, config, (name) => name !== '.restoring' && !name.startsWith('before-') && isWanted(name))
    const counts = copy.counts()
    copy.close()
    const stored = writer.addFile(DATABASE, database)
    if (stored === undefined) throw new SvcError('store.unavailable', `The copy of the database ${database} is gone.`)
    members.push(stored)
    const manifest: Manifest = { format: 1, version, made: new Date(now).toISOString(), credentials, counts, members }
    writer.addText(MANIFEST, `${JSON.stringify(manifest)}\n`)
    writer.finish()
    return { manifest, bytes: statSync(file).size, leftOut }
  } catch (error) {
    writer.discard()
    throw error
  }
}

/** Exactly those the copy names; I1 */
function addUploads(copy: Copy, writer: ArchiveWriter, members: Member[], state: string): void {
  const known = new Map(copy.artifacts().map(({ id, sha256 }) => [id, sha256]))
  for (const { path, isLink } of filesBelow(join(state, 'artifacts'), () => true)) {
    const digest = known.get(basename(path))
    const member = digest === undefined || isLink ? undefined : writer.addFile(`${STATE}artifacts/${path}`, join(state, 'artifacts', path))
    if (member === undefined) continue
    if (member.sha256 !== digest)
      throw new SvcError('store.unavailable', `The upload ${join(state, 'artifacts', path)} is damaged: it is not what was uploaded.`)
    members.push(member)
    known.delete(basename(path))
  }
  copy.forgetArtifacts([...known.keys()])
}

/** With the files SQLite keeps beside it while it is written. */
function discardDatabase(path: string): void {
  for (const each of [path, `${path}-journal`, `${path}-wal`, `${path}-shm`]) rmSync(each, { force: true })
}

function diskFull(error: unknown, file: string): SvcError | undefined {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const told = error instanceof SvcError ? error.details['reason'] : code
  const reason = typeof told === 'string' ? told : ''
  if (!/^(?:ENOSPC|EDQUOT|EROFS|EACCES|SQLITE_FULL|SQLITE_READONLY|SQLITE_CANTOPEN)/.test(reason)) return undefined
  return new SvcError(
    'store.unavailable',
    `The backup ${file} could not be written (${reason}): ${messageOf(error)}`,
    { path: file, reason },
    { cause: error },
  )
}
