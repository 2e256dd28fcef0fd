/**
 * Revisions of packages, read again only when the file system says that something changed.
 *
 * I1 A revision is remembered only for content that did not change while it was read, and whose last change is long
 *    enough ago that a later one would have another time.
 * I2 A directory is read once at a time. Who asks meanwhile shares the next reading, never one that has begun: it could
 *    have missed the change that made them ask.
 */
import { laidOut } from '../../../kernel/machine/laid-out.js'
import { chartOf } from '../../../kernel/machine/chart.js'
import { type Actor, createActor, fromPromise } from 'xstate'
import { createLru } from '../../../kernel/lru.js'
import { leave, lookedAnew } from '../../../kernel/looked.js'
import { type LookInput, lookMachine } from '../../../machines/look/look.machine.js'
import { LIMITS } from '../../../protocol/limits.js'
import { messageOf } from '../../../protocol/message-of.js'
import type { Effects } from '../../../ports/effects.js'
import { fingerprintPackage, hashPackage } from './revision.js'

interface PackageContent {
  /** `sha256:<hex>` */
  readonly revision: string
  /** `sha256:<hex>` */
  readonly digest: string
  /** As `HashedPackage` has it. */
  readonly isPlain: boolean
  /** Content of all files. */
  readonly bytes: number
  readonly fileCount: number
}

interface Reader {
  readonly looks: Actor<typeof lookMachine>
  /** How many wait for it. */
  users: number
  /** As it was read last. */
  content: PackageContent | undefined
}

export interface PackageReader {
  /** Content of the package at a canonical directory, now. Rejects with `plugin.invalid` as `hashPackage` does. */
  read(root: string): Promise<PackageContent>
}

const REMEMBERED = 2048

export function createPackageReader(effects: Pick<Effects, 'files' | 'hasher' | 'clock'>): PackageReader {
  const known = createLru<string, { readonly fingerprint: string; readonly content: PackageContent }>(REMEMBERED)
  const readers = new Map<string, Reader>()

  const hash = async (root: string): Promise<PackageContent> => {
    const { revision, digest, isPlain, bytes, files } = await hashPackage(effects, root)
    return { revision, digest, isPlain, bytes, fileCount: files.length }
  }
  const readNow = async (root: string): Promise<PackageContent> => {
    const before = await fingerprintPackage(effects, root)
    const entry = known.get(root)
    if (entry?.fingerprint === before.value) return entry.content
    known.delete(root)
    const content = await hash(root)
    const after = await fingerprintPackage(effects, root)
    const settled = before.value === after.value && effects.clock.now() - after.changedMs > LIMITS.files.grain
    if (settled) known.set(root, { fingerprint: after.value, content }) // I1
    return content
  }

  const logic = laidOut(
    chartOf(lookMachine).provide({
      actors: {
        look: fromPromise<void, LookInput>(async ({ input: { what: root } }) => {
          const reader = readers.get(root)
          if (reader !== undefined) reader.content = await readNow(root)
        }),
      },
    }),
  )

  const begin = (root: string): Reader => {
    const looks = createActor(logic, { id: `look:${root}`, input: { what: root }, clock: effects.clock })
    const reader: Reader = { looks, users: 0, content: undefined }
    readers.set(root, reader)
    looks.start()
    return reader
  }

  return {
    async read(root) {
      const reader = readers.get(root) ?? begin(root)
      reader.users++
      await lookedAnew(reader.looks) // I2
      reader.users--
      if (reader.users === 0 && readers.get(root) === reader) {
        readers.delete(root)
        leave(reader.looks)
      }
      const { content, looks } = reader
      const { fault } = looks.getSnapshot().context
      if (content === undefined || fault !== undefined) throw fault instanceof Error ? fault : new Error(messageOf(fault))
      return content
    },
  }
}
