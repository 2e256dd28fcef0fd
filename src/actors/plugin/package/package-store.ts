/**
 * Our own copies of approved package content, by revision: `<directory>/<hex>/content`.
 *
 * I1 Bytes that run are bytes that were hashed (threat-model W2): a copy is hashed while it is written, and once more
 *    from disk before its first use in this process.
 * I2 A copy appears whole, by one rename; whatever a crash leaves behind is not taken for a copy and is swept.
 * I3 Work on one revision is done one after the other, and the sweep touches no revision that is worked on.
 * I4 Names in here are our own: hexadecimal digits (threat-model F2), and the plain names of files that were walked.
 */
import { join } from 'node:path'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Effects } from '../../effects.js'
import { createTreeCopy } from './package-copy.js'
import { hashPackage } from './revision.js'

export interface PackageStore {
  /** Copies the package at a canonical directory, unless there is a copy; answers the directory of the copy. Rejects with `plugin.invalid` when the content is not `revision`. */
  keep(root: string, revision: string): Promise<string>
  /** Directory of the copy, its content checked; undefined when there is none (a damaged one is removed). Rejects when it cannot be read right now. */
  path(revision: string): Promise<string | undefined>
  /** Removes copies that are not in `keep` and older than `copyRetention`, and what interrupted copies left behind. */
  sweep(keep: ReadonlySet<string>): Promise<void>
}

interface StoreDeps {
  readonly effects: Pick<Effects, 'files' | 'hasher' | 'clock' | 'random'>
  /** Made when it is needed, with mode 0700. */
  readonly directory: string
}

const REVISION = /^sha256:([0-9a-f]{64})$/
const COPY = /^[0-9a-f]{64}$/
const UNFINISHED = /^\.new-[0-9a-f]{16}$/
const PRIVATE = 0o700

export function createPackageStore({ effects, directory }: StoreDeps): PackageStore {
  const { files, clock } = effects
  /** Copies whose content has been checked. */
  const checked = new Map<string, string>()
  /** The last piece of work of each revision (I3). */
  const working = new Map<string, Promise<unknown>>()
  const unfinished = new Set<string>()

  const inTurn = async <Result>(hex: string, work: () => Promise<Result>): Promise<Result> => {
    const before = working.get(hex) ?? Promise.resolve()
    const result = before.then(work, work)
    working.set(hex, result)
    try {
      return await result
    } finally {
      if (working.get(hex) === result) working.delete(hex)
    }
  }

  const find = async (hex: string): Promise<string | undefined> => {
    const known = checked.get(hex)
    if (known !== undefined) return known
    const place = join(directory, hex)
    const stat = await files.stat(join(place, 'content'))
    if (stat?.kind === 'directory' && (await holds(place, hex))) {
      const content = await files.realPath(join(place, 'content'))
      checked.set(hex, content)
      return content
    }
    await files.removeTree(place)
    return undefined
  }

  const holds = async (place: string, hex: string): Promise<boolean> => {
    try {
      const { revision } = await hashPackage(effects, await files.realPath(join(place, 'content')))
      return revision === `sha256:${hex}`
    } catch (error) {
      const damaged = error instanceof SvcError && error.code === 'plugin.invalid' && !isSystemError(error.cause)
      if (damaged) return false
      throw error // nothing is said about the copy
    }
  }

  const copy = async (root: string, hex: string): Promise<void> => {
    const name = `.new-${Buffer.from(effects.random.bytes(8)).toString('hex')}`
    const temporary = join(directory, name)
    unfinished.add(name)
    try {
      await files.removeTree(temporary)
      await files.makeDirectory(directory, { mode: PRIVATE })
      await files.makeDirectory(join(temporary, 'content'), { mode: PRIVATE })
      const target = createTreeCopy(files, join(temporary, 'content'))
      try {
        const { revision } = await hashPackage(effects, root, target.open) // I1
        if (revision !== `sha256:${hex}`) throw changed(root, `sha256:${hex}`, revision)
        await target.finish()
      } catch (error) {
        await target.discard()
        throw error
      }
      await files.rename(temporary, join(directory, hex)) // I2
    } finally {
      await files.removeTree(temporary)
      unfinished.delete(name)
    }
  }

  return {
    async keep(root, revision) {
      const hex = hexOf(revision)
      if (hex === undefined) throw new SvcError('plugin.invalid', `"${revision}" is no content revision.`)
      return inTurn(hex, async () => {
        const present = await find(hex)
        if (present !== undefined) return present
        await copy(root, hex)
        const content = await find(hex)
        if (content !== undefined) return content
        throw new SvcError('plugin.failed', `The copy of "${root}" was damaged as soon as it was written.`, { root, revision })
      })
    },
    async path(revision) {
      const hex = hexOf(revision)
      return hex === undefined ? undefined : inTurn(hex, async () => find(hex))
    },
    async sweep(keep) {
      const kept = new Set<string | undefined>([...keep].map(hexOf))
      const entries = await files.readDirectory(directory).catch(() => [])
      for (const { name } of entries) {
        const place = join(directory, name)
        if (UNFINISHED.test(name) && !unfinished.has(name)) await files.removeTree(place)
        if (!COPY.test(name) || kept.has(name) || working.has(name)) continue
        await inTurn(name, async () => {
          const stat = await files.stat(place)
          if (stat === undefined || clock.now() - stat.modifiedMs <= LIMITS.plugins.copyRetention) return
          checked.delete(name)
          await files.removeTree(place)
        })
      }
    },
  }
}

/** Undefined for what is no revision: `sha256:` and 64 hexadecimal digits. */
function hexOf(revision: string): string | undefined {
  return REVISION.exec(revision)?.[1]
}

/** The system could not do what was asked; it may later. */
function isSystemError(cause: unknown): boolean {
  return cause instanceof Error && 'errno' in cause
}

function changed(root: string, expected: string, actual: string): SvcError {
  const message = `The content of "${root}" is not what was approved: it is ${actual} instead of ${expected}.`
  return new SvcError('plugin.invalid', message, { root, expected, actual })
}
