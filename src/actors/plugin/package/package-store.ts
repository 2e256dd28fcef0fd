/**
 * Our own copies of approved package content: `<directory>/<hex>/content`, by revision. Of packages that share a revision
 * the first has its name, each other one that of its digest.
 *
 * I1 Bytes that run are bytes that were hashed (threat-model W2): a copy is hashed while it is written, and once more
 *    from disk before its first use in this process.
 * I2 A copy appears whole, by one rename; whatever a crash leaves behind is not taken for a copy and is swept.
 * I3 Work on one revision is done one after the other, and the sweep touches no revision that is worked on.
 * I4 Names in here are our own: hexadecimal digits (threat-model F2), and the plain names of files that were walked.
 */
import { join } from 'node:path'
import { createLanes, type Lanes } from '../../../kernel/lane.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Effects } from '../../../ports/effects.js'
import { createTreeCopy } from './package-copy.js'
import { hashPackage } from './revision.js'

export interface PinnedContent {
  readonly revision: string
  readonly digest: string
}

export interface PackageStore {
  /** Copies the package at a canonical directory, unless there is a copy; answers the directory of the copy. Rejects with `plugin.invalid` when the content is another. */
  keep(root: string, content: PinnedContent): Promise<string>
  /** Directory of the copy, its content checked; undefined when there is none (a damaged one is removed). Rejects when it cannot be read right now. */
  path(content: PinnedContent): Promise<string | undefined>
  /** Digest of the content that was kept first for a revision; undefined when there is none. */
  digestOf(revision: string): Promise<string | undefined>
  /** Removes copies whose revision or digest is not in `keep` and older than `copyRetention`, and what interrupted copies left behind. */
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

/** What is known of the copies in a directory. */
interface Copies extends StoreDeps {
  /** Those whose content has been checked. */
  readonly checked: Map<string, Copy>
  /** By revision (I3). */
  readonly work: Lanes<string>
  readonly unfinished: Set<string>
}

export function createPackageStore(deps: StoreDeps): PackageStore {
  const copies: Copies = { ...deps, checked: new Map(), work: createLanes({ most: LIMITS.plugins.copiesWaiting }), unfinished: new Set() }
  const { work } = copies
  return {
    async keep(root, content) {
      const hexes = hexesOf(content)
      if (hexes === undefined) throw new SvcError('plugin.invalid', `"${content.revision}" is no content revision.`)
      return work.run(hexes.revision, async () => {
        const present = await find(copies, content, hexes)
        if ('path' in present) return present.path
        await copy(copies, root, content, present.name)
        const kept = await find(copies, content, hexes)
        if ('path' in kept) return kept.path
        throw new SvcError('plugin.failed', `The copy of "${root}" was damaged as soon as it was written.`, { root, ...content })
      })
    },
    async path(content) {
      const hexes = hexesOf(content)
      if (hexes === undefined) return undefined
      const found = await work.run(hexes.revision, async () => find(copies, content, hexes))
      return 'path' in found ? found.path : undefined
    },
    async digestOf(revision) {
      const hex = hexOf(revision)
      return hex === undefined ? undefined : (await work.run(hex, async () => look(copies, hex, revision)))?.digest
    },
    sweep: (keep) => sweep(copies, keep),
  }
}

/** The copy of a revision under a name of ours; a damaged one is removed. */
async function look({ effects, directory, checked }: Copies, name: string, revision: string): Promise<Copy | undefined> {
  const { files } = effects
  const known = checked.get(name)
  if (known !== undefined) return known
  const place = join(directory, name)
  const stat = await files.stat(join(place, 'content'))
  const digest = stat?.kind === 'directory' ? await digestIn(effects, place, revision) : undefined
  if (digest === undefined) {
    await files.removeTree(place)
    return undefined
  }
  const found = { path: await files.realPath(join(place, 'content')), digest }
  checked.set(name, found)
  return found
}

/** The copy, or the name that one would get. */
async function find(
  copies: Copies,
  { revision, digest }: PinnedContent,
  hexes: Hexes,
): Promise<{ readonly path: string } | { readonly name: string }> {
  const first = await look(copies, hexes.revision, revision)
  if (first === undefined) return { name: hexes.revision }
  if (first.digest === digest) return first
  const own = await look(copies, hexes.digest, revision)
  return own?.digest === digest ? own : { name: hexes.digest }
}

async function copy({ effects, directory, unfinished }: Copies, root: string, content: PinnedContent, hex: string): Promise<void> {
  const { files } = effects
  const name = `.new-${Buffer.from(effects.random.bytes(8)).toString('hex')}`
  const temporary = join(directory, name)
  unfinished.add(name)
  try {
    await files.removeTree(temporary)
    await files.makeDirectory(directory, { mode: PRIVATE })
    await files.makeDirectory(join(temporary, 'content'), { mode: PRIVATE })
    const target = createTreeCopy(files, join(temporary, 'content'))
    try {
      const { revision, digest } = await hashPackage(effects, root, target.open) // I1
      if (revision !== content.revision) throw changed(root, content.revision, revision)
      if (digest !== content.digest) throw changed(root, content.digest, digest)
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

async function sweep({ effects, directory, checked, work, unfinished }: Copies, keep: ReadonlySet<string>): Promise<void> {
  const { files, clock } = effects
  const kept = new Set<string | undefined>([...keep].map(hexOf))
  const entries = await files.readDirectory(directory).catch(() => [])
  for (const { name } of entries) {
    const place = join(directory, name)
    if (UNFINISHED.test(name) && !unfinished.has(name)) await files.removeTree(place)
    if (!COPY.test(name) || kept.has(name) || work.has(name)) continue
    await work.run(name, async () => {
      const stat = await files.stat(place)
      if (stat === undefined || clock.now() - stat.modifiedMs <= LIMITS.plugins.copyRetention) return
      checked.delete(name)
      await files.removeTree(place)
    })
  }
}

interface Copy {
  readonly path: string
  readonly digest: string
}

interface Hexes {
  readonly revision: string
  readonly digest: string
}

function hexesOf(content: PinnedContent): Hexes | undefined {
  const revision = hexOf(content.revision)
  const digest = hexOf(content.digest)
  return revision === undefined || digest === undefined ? undefined : { revision, digest }
}

/** Undefined for what is no revision: `sha256:` and 64 hexadecimal digits. */
function hexOf(revision: string): string | undefined {
  return REVISION.exec(revision)?.[1]
}

/** Of the content of a copy; undefined when it is damaged. */
async function digestIn(effects: StoreDeps['effects'], place: string, expected: string): Promise<string | undefined> {
  try {
    const { revision, digest } = await hashPackage(effects, await effects.files.realPath(join(place, 'content')))
    return revision === expected ? digest : undefined
  } catch (error) {
    const damaged = error instanceof SvcError && error.code === 'plugin.invalid' && !isSystemError(error.cause)
    if (damaged) return undefined
    throw error // nothing is said about the copy
  }
}

/** The system could not do what was asked; it may later. */
function isSystemError(cause: unknown): boolean {
  return cause instanceof Error && 'errno' in cause
}

function changed(root: string, expected: string, actual: string): SvcError {
  const message = `The content of "${root}" is not what was approved: it is ${actual} instead of ${expected}.`
  return new SvcError('plugin.invalid', message, { root, expected, actual })
}
