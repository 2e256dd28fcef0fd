/**
 * Walking a directory tree that strangers may write to, at the same time (threat-model F1, F4).
 *
 * I1 No link is followed: what is opened is the regular file at exactly the path that was found.
 * I2 Special files are never opened for long enough to block; opening is non-blocking and checked at once.
 * I3 The event loop gets its turn between small batches of entries, and names kept at a time are bounded.
 */
import { constants, lstatSync, readlinkSync, realpathSync } from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { open, opendir } from 'node:fs/promises'
import { sep } from 'node:path'
import { nextTurn } from '../../../kernel/pause.js'
import { SvcError } from '../../../protocol/errors.js'
import type { TreeEntry } from '../../../ports/effects.js'

const CHUNK = 256 * 1024
const BATCH = 32
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY | constants.O_NOFOLLOW
const SEPARATOR = Buffer.from(sep)
/** Names as they are on disk, which the type of the options does not know. */
const AS_BYTES: object = { encoding: 'buffer', bufferSize: 256 }

interface Place {
  readonly bytes: Buffer
  readonly relative: string
  readonly kind: 'file' | 'link' | 'directory'
}

/** See `Files.walk`. */
export async function* walkTree(directory: string, maxEntries: number): AsyncGenerator<TreeEntry> {
  if (realpathSync.native(directory) !== directory) throw moved(directory)
  let left = maxEntries
  const list = async (place: Place) => {
    const found = await listPlaces(place, left)
    if (found === undefined) {
      throw new SvcError('request.unprocessable', `"${directory}" holds more than ${maxEntries} names.`, { path: directory, maxEntries })
    }
    left -= found.names
    return found.places
  }
  const waiting = await list({ bytes: Buffer.from(directory), relative: '', kind: 'directory' })
  for (let seen = 1; ; seen++) {
    const place = waiting.pop()
    if (place === undefined) return
    if (seen % BATCH === 0) await nextTurn() // I3
    if (place.kind === 'directory') {
      for (const inner of await list(place)) waiting.push(inner)
    } else {
      const entry = entryAt(place)
      if (entry !== undefined) yield entry
    }
  }
}

/** The names of a directory, last first; undefined when there are more than `most`. */
async function listPlaces({ bytes, relative }: Place, most: number): Promise<{ names: number; places: Place[] } | undefined> {
  const places: { readonly name: Buffer; readonly kind: Place['kind'] }[] = []
  let names = 0
  for await (const entry of await opendir(bytes, AS_BYTES)) {
    if (++names > most) return undefined
    const name: unknown = entry.name
    const kind = entry.isFile() ? 'file' : entry.isDirectory() ? 'directory' : entry.isSymbolicLink() ? 'link' : undefined
    if (kind !== undefined && Buffer.isBuffer(name)) places.push({ name, kind })
  }
  places.sort((a, b) => Buffer.compare(b.name, a.name))
  return {
    names,
    places: places.map(({ name, kind }) => ({
      bytes: Buffer.concat([bytes, SEPARATOR, name]),
      relative: relative === '' ? name.toString() : `${relative}/${name.toString()}`,
      kind,
    })),
  }
}

/** Undefined when it has gone, or has become something that is not reported. */
function entryAt({ bytes, relative }: Place): TreeEntry | undefined {
  const stat = lstatSync(bytes, { bigint: true, throwIfNoEntry: false })
  if (stat === undefined || !(stat.isFile() || stat.isSymbolicLink())) return undefined
  return {
    path: relative,
    kind: stat.isFile() ? 'file' : 'link',
    size: Number(stat.size),
    identity: `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}`,
    changedMs: Math.max(Number(stat.mtimeMs), Number(stat.ctimeMs)),
    executable: (stat.mode & 0o111n) !== 0n,
    chunks: () => readFound(bytes, stat),
  }
}

async function* readFound(path: Buffer, found: BigIntStats): AsyncGenerator<Uint8Array> {
  const handle = await open(path, FLAGS)
  try {
    const stat = await handle.stat({ bigint: true })
    if (!stat.isFile() || stat.ino !== found.ino || stat.dev !== found.dev || !isAt(handle.fd, path)) throw moved(path.toString()) // I1, I2
    const room = Math.min(Number(stat.size) + 1, CHUNK)
    for (;;) {
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafeSlow(room), 0, room, null)
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await handle.close()
  }
}

/** On Linux alone the path of what was opened can be asked for; elsewhere only its last part is sure to be no link. */
function isAt(fd: number, path: Buffer): boolean {
  if (process.platform !== 'linux') return true
  return readlinkSync(`/proc/self/fd/${fd}`, 'buffer').equals(path)
}

function moved(path: string): SvcError {
  return new SvcError('request.unprocessable', `"${path}" is, or has become while it was read, a link or another file.`, { path })
}
