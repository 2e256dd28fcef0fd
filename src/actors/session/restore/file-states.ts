/**
 * Files of the machine and their recorded states (sessions-events §7; threat-model F1, F3).
 *
 * I1 A link is never followed: a path whose directory is reached through one is refused.
 * I2 Nothing is written over something that is neither the old nor the new state.
 * I3 What is looked at, made or removed is in the directory that was meant, opened before and held meanwhile: programs of the session
 *    may put links in its way at any time.
 */
import { isTemporaryName } from '../../../kernel/temporary-name.js'
import { posix } from 'node:path'
import { type FileStep, isKept, isSameState } from '../../../machines/session/undo/plan.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { FileState } from '../../../protocol/session/snapshot.js'
import { isWithin } from '../../../protocol/caller.js'
import type { Effects } from '../../../ports/effects.js'
import type { KeptContents } from './kept-contents.js'

export interface FileStates {
  /** What is there now, without its content; a state nothing equals for what is no file and no link. */
  look(path: string): Promise<FileState>
  /** Whether the content of a state can be brought back. */
  isKept(state: FileState): Promise<boolean>
  /** Whether no link leads to a path. */
  isPlain(path: string): Promise<boolean>
  /** Removes what a kill has left beside these files. */
  tidy(paths: readonly string[]): Promise<void>
  /** Brings files into their states `to`, removals first. Those that have them already stay; rejects at anything that is neither `from` nor `to`. */
  bring(files: readonly FileStep[], root: string): Promise<void>
}

interface Deps {
  readonly effects: Pick<Effects, 'files' | 'sha256'>
  readonly kept: Pick<KeptContents, 'read' | 'has'>
}

/** I3 */
const MEANT = { canonical: true }
/** Neither a file nor a link, or too large to be one of ours. */
const SOMETHING: FileState = { exists: true }

export function createFileStates({ effects: { files, sha256 }, kept }: Deps): FileStates {
  async function look(path: string): Promise<FileState> {
    try {
      return await stateOf(path)
    } catch (error) {
      if (error instanceof SvcError && error.code === 'request.unprocessable') return SOMETHING // A link leads to it by now.
      throw error
    }
  }

  async function stateOf(path: string): Promise<FileState> {
    const entry = await files.entry(path, MEANT)
    if (entry === undefined || entry.kind === 'directory') return { exists: false }
    if (entry.kind === 'link') {
      const link = await files.readLink(path, MEANT)
      return link === undefined ? SOMETHING : { exists: true, link }
    }
    if (entry.kind !== 'file' || entry.size > LIMITS.undo.stateBytes) return SOMETHING
    const content = await files.read(path, LIMITS.undo.stateBytes, MEANT)
    return { exists: true, sha256: sha256(content), mode: entry.mode }
  }

  async function isPlain(path: string): Promise<boolean> {
    for (let at = posix.dirname(path); ; at = posix.dirname(at)) {
      const entry = await files.entry(at)
      if (entry !== undefined) return entry.kind !== 'link' && (await files.realPath(at)) === at
      if (at === '/') return false
    }
  }

  async function contentOf(path: string, { contentBase64, sha256: digest = '' }: FileState): Promise<Uint8Array> {
    const content = contentBase64 === undefined ? await kept.read(digest) : Buffer.from(contentBase64, 'base64')
    if (content === undefined || sha256(content) !== digest)
      throw new SvcError('resource.conflict', `What ${path} contained is not kept any more.`, { paths: [path] })
    return content
  }

  /** False when the file is in its state already. */
  async function isDue({ path, from, to }: FileStep): Promise<boolean> {
    if (!(await isPlain(path))) throw linked([path]) // I1
    const now = await look(path)
    if (isSameState(now, to)) return false
    // Between a link and a file there may be nothing.
    const isBetween = !now.exists && from.exists && to.exists && (from.link === undefined) !== (to.link === undefined)
    if (!isBetween && !isSameState(now, from)) throw changed([path]) // I2
    return true
  }

  async function write({ path, to }: FileStep): Promise<void> {
    if (to.link !== undefined) return files.makeLink(path, to.link, MEANT)
    const content = await contentOf(path, to)
    if ((await files.entry(path, MEANT))?.kind === 'link') await files.remove(path, MEANT)
    await files.writeAtomic(path, content, { ...MEANT, ...(to.mode !== undefined && { mode: to.mode }) })
  }

  /** Directories that a removal has left empty go with it, below the directory of the session. */
  async function prune(path: string, root: string): Promise<void> {
    for (let at = posix.dirname(path); at !== root && isWithin(root, at); at = posix.dirname(at)) {
      const kind = (await files.entry(at))?.kind
      if (kind !== undefined && (kind !== 'directory' || (await files.readDirectory(at)).length > 0)) return
      await files.remove(at, MEANT)
    }
  }

  return {
    look,
    isKept: async (state) => isKept(state) && (state.stored !== true || (await kept.has(state.sha256 ?? ''))),
    isPlain,
    async tidy(paths) {
      for (const folder of new Set(paths.map((path) => posix.dirname(path)))) {
        if (!(await isPlain(`${folder}/x`)) || (await files.stat(folder))?.kind !== 'directory') continue
        for (const { name } of await files.readDirectory(folder)) if (isTemporaryName(name)) await files.remove(`${folder}/${name}`, MEANT)
      }
    },
    async bring(steps, root) {
      const removals = steps.filter(({ to }) => !to.exists).toSorted((a, b) => b.path.length - a.path.length)
      for (const step of removals) {
        if (await isDue(step)) await files.remove(step.path, MEANT)
        await prune(step.path, root)
      }
      const writes = steps.filter(({ to }) => to.exists)
      await inTurns(writes, async (step) => {
        if (await isDue(step)) await write(step)
      })
    },
  }
}

export function changed(paths: readonly string[]): SvcError {
  return new SvcError(
    'resource.conflict',
    `Nothing was changed: ${told(paths)} changed since. Save or undo that change, or go on from here with a new prompt.`,
    { paths },
  )
}

export function linked(paths: readonly string[]): SvcError {
  return new SvcError('resource.conflict', `Nothing was changed: ${told(paths)} is reached through a link, which is not followed.`, {
    paths,
  })
}

const TOLD = 5

export function told(paths: readonly string[]): string {
  const more = paths.length - TOLD
  return paths.slice(0, TOLD).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

/** A few at a time; rejects with the first failure once all that were begun have ended. */
export async function inTurns<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values()
  const failures: unknown[] = []
  const turn = async () => {
    for (const item of rest) {
      if (failures.length > 0) return
      try {
        await work(item)
      } catch (error) {
        failures.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: LIMITS.undo.atOnce }, turn))
  if (failures.length > 0) throw failures[0]
}
