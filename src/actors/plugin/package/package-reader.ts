/**
 * Revisions of packages, read again only when the file system says that something changed.
 *
 * I1 A revision is remembered only for content that did not change while it was read, and whose last change is long
 *    enough ago that a later one would have another time.
 * I2 A directory is read once at a time. Who asks meanwhile shares the next reading, never one that has begun: it could
 *    have missed the change that made them ask.
 */
import { createLru } from '../../../kernel/lru.js'
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

export interface PackageReader {
  /** Content of the package at a canonical directory, now. Rejects with `plugin.invalid` as `hashPackage` does. */
  read(root: string): Promise<PackageContent>
}

/** The coarsest time stamps in use are two seconds apart. */
const SETTLED = 2500
const REMEMBERED = 2048

export function createPackageReader(effects: Pick<Effects, 'files' | 'hasher' | 'clock'>): PackageReader {
  const known = createLru<string, { readonly fingerprint: string; readonly content: PackageContent }>(REMEMBERED)
  const running = new Map<string, Promise<PackageContent>>()
  const next = new Map<string, Promise<PackageContent>>()

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
    const settled = before.value === after.value && effects.clock.now() - after.changedMs > SETTLED
    if (settled) known.set(root, { fingerprint: after.value, content }) // I1
    return content
  }

  const begin = (root: string): Promise<PackageContent> => {
    next.delete(root)
    const content = readNow(root)
    running.set(root, content)
    const end = () => {
      if (running.get(root) === content) running.delete(root)
    }
    content.then(end, end)
    return content
  }

  return {
    async read(root) {
      const current = running.get(root)
      if (current === undefined) return begin(root)
      const shared =
        next.get(root) ??
        current.then(
          () => begin(root),
          () => begin(root),
        )
      next.set(root, shared)
      return shared // I2
    },
  }
}
