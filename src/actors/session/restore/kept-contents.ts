/**
 * Contents of files that are too large for the parts that tell of them (sessions-events §7.2): compressed files below one
 * directory, named by the digest of what they contain.
 *
 * I1 A content is kept while a session refers to it: its row comes first, so that no sweep takes it.
 * I2 All of them together stay below `undoMiB`; beyond it nothing is kept any more, and the part says so.
 */
import { promisify } from 'node:util'
import { LIMITS } from '../../../protocol/limits.js'
import type { Store } from '../../../store/store.js'
import { type FollowedBounds, followBounds } from '../../artifact/storage-bounds.js'
import type { Effects } from '../../../ports/effects.js'

export interface KeptContents {
  /** False when it is not kept: too large, no room, or a fault of the disk. */
  keep(sessionId: string, sha256: string, content: Uint8Array): Promise<boolean>
  has(sha256: string): Promise<boolean>
  read(sha256: string): Promise<Uint8Array | undefined>
  /** Removes what no session refers to. */
  sweep(): Promise<void>
}

/** Loaded with the first content that is kept: a server at rest has none. */
const ofZlib = () => process.getBuiltinModule('node:zlib')
const DIGEST = /^[0-9a-f]{64}$/

export function createKeptContents(deps: {
  readonly effects: Pick<Effects, 'files' | 'log'>
  readonly store: Pick<Store, 'transact' | 'keptContents'>
  readonly directory: string
  readonly bounds?: FollowedBounds
}): KeptContents {
  const { effects, store, directory, bounds = followBounds() } = deps
  const { files, log } = effects
  const pathOf = (sha256: string) => `${directory}/${sha256}`
  /** Digests asked for since the last sweep: the next one leaves them. */
  const recent = new Set<string>()
  /** Bytes on disk, once they were counted; what is being written counts already. */
  let total = 0
  let counted: Promise<void> | undefined

  async function names(): Promise<readonly string[]> {
    if ((await files.stat(directory)) === undefined) return []
    return (await files.readDirectory(directory)).flatMap(({ name, kind }) => (kind === 'file' ? [name] : []))
  }

  async function count(): Promise<void> {
    let bytes = 0
    for (const name of await names()) bytes += (await files.stat(`${directory}/${name}`))?.size ?? 0
    total = bytes
  }

  async function write(sha256: string, content: Uint8Array): Promise<boolean> {
    const packed = await promisify(ofZlib().deflateRaw)(content, { level: ofZlib().constants.Z_BEST_SPEED })
    counted ??= count()
    await counted
    if (total + packed.length > bounds.now().undo.bytes) return false // I2
    total += packed.length
    await files.makeDirectory(directory, { mode: 0o700 })
    await files.writeAtomic(pathOf(sha256), packed, { mode: 0o600 })
    return true
  }

  const has = async (sha256: string) => DIGEST.test(sha256) && (await files.stat(pathOf(sha256))) !== undefined

  return {
    has,
    async keep(sessionId, sha256, content) {
      if (content.length > LIMITS.undo.stateBytes) return false
      recent.add(sha256)
      try {
        store.transact('process', () => store.keptContents.add(sha256, sessionId)) // I1
        return (await has(sha256)) || (await write(sha256, content))
      } catch (error) {
        log.warn('a state of a file could not be kept for undo', { sessionId, cause: String(error) })
        return false
      }
    },
    async read(sha256) {
      if (!(await has(sha256))) return undefined
      const packed = await files.read(pathOf(sha256), 2 * LIMITS.undo.stateBytes)
      return promisify(ofZlib().inflateRaw)(packed, { maxOutputLength: LIMITS.undo.stateBytes })
    },
    async sweep() {
      const listed = await names()
      const known = new Set(store.keptContents.all())
      for (const name of listed) if (!known.has(name) && !recent.has(name)) await files.remove(`${directory}/${name}`)
      recent.clear()
      counted = undefined
    },
  }
}
