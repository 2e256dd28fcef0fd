/**
 * The session directory in the sandbox: writable, but for what decides what runs later, there or not yet.
 *
 * I1 Protected names are asked for by name, so that one that is absent is held (`Placeholder`) and read-only like one that is there.
 * I2 What cannot be held closes its directory: nothing new can be made there, and what is not protected in it stays writable.
 *    A link cannot be mounted over, and start-up files in the home directory would change what programs outside do.
 *    Where a link leads inside the workspace, what it leads to is read-only too, unless it was allowed by its own name; it is held where it is
 *    not there yet, and directories with links on the way are closed.
 * I3 What is there may be held for another program alone, and go with it: what may be so is held for this one, too.
 * I4 Where too many names would have to be looked at, nothing runs.
 */
import { dirname, join } from 'node:path'
import { isWithin } from '../../protocol/caller.js'
import type { Effects } from '../../ports/effects.js'
import type { Placeholder } from '../../ports/process-facts.js'
import type { ProtectedFiles } from '../../ports/plugin.js'
import { wayOf } from '../protection/protected-links.js'
import { mayBeProtected, PROTECTED_NAMES } from '../protection/protected-names.js'
import { type Mount, readOnly, writable } from './bubblewrap.js'

/** Names in the session directory and in its dot directories. */
const MOST_ENTRIES = 32_768
/** Git and other tools look for these directories to know where a worktree begins. */
const MARKS_WORKTREE: ReadonlySet<string> = new Set(['.git', '.hg', '.jj'])
/** They make a directory a repository, and without one mean nothing. Where there is one, `HEAD` is the name of a commit, too. */
const IN_REPOSITORY: ReadonlySet<string> = new Set(['.git', 'HEAD', 'commondir'])

export interface WorkspaceView {
  readonly workspace: string
  /** Canonical files that may be written for this command. */
  readonly allowed: readonly string[]
  readonly home: string
  /** Whether the workspace lies in a repository, as git would find it. */
  readonly isInRepository: boolean
}

export type WorkspaceMounts =
  | { readonly mounts: readonly Mount[]; readonly holds: readonly Placeholder[] }
  | { readonly unavailable: string }

type Files = Pick<Effects['files'], 'readDirectory' | 'entry' | 'stat' | 'readLink'>

export async function workspaceMounts(files: Files, protectedFiles: ProtectedFiles, view: WorkspaceView): Promise<WorkspaceMounts> {
  const { workspace, allowed, home } = view
  const isAllowed = (path: string) => allowed.some((file) => isWithin(path, file))
  const top = await files.readDirectory(workspace).catch(() => [])
  const dotted = top.filter(({ name, kind }) => kind === 'directory' && name.startsWith('.') && name !== '.git')
  const inside = await Promise.all(
    dotted.map(async ({ name }) => {
      const directory = join(workspace, name)
      return (await files.readDirectory(directory).catch(() => [])).map((entry) => ({ ...entry, path: join(directory, entry.name) }))
    }),
  )
  const count = top.length + inside.reduce((sum, each) => sum + each.length, 0)
  if (count > MOST_ENTRIES) return { unavailable: tooMany(workspace, count) } // I4
  const entries = [...top.map((entry) => ({ ...entry, path: join(workspace, entry.name) })), ...inside.flat()]
  const isKept = await keeper(protectedFiles, workspace)
  const kept = (await isKept(entries.filter(({ path }) => path !== join(workspace, '.git')))).filter(({ path }) => !isAllowed(path))
  const names = PROTECTED_NAMES.filter((name) => !view.isInRepository || !IN_REPOSITORY.has(name))
  const links = kept.filter(({ kind }) => kind === 'link').map(({ path }) => path)
  const led = await ledFrom(files, workspace, links)
  const shut = new Set([...[...links, ...led.links].map(dirname), ...(isWithin(workspace, home) ? [workspace] : [])]) // I2
  const isClosed = shut.has(workspace)
  const mayBeMade = (path: string) => !isAllowed(path) && !shut.has(dirname(path))
  const named = isClosed
    ? []
    : await placeholders(
        files,
        workspace,
        names.filter((name) => mayBeMade(join(workspace, name))),
      )
  const taken = new Set(named.map(({ path }) => path))
  const holds = [
    ...named,
    ...led.absent.filter((path) => mayBeMade(path) && !taken.has(path)).map((path): Placeholder => ({ path, kind: 'directory' })),
  ]
  const targets = led.targets.filter((path) => !isAllowed(path))
  const closed = [...kept.filter(({ kind }) => kind === 'file' || kind === 'directory').map(({ path }) => path), ...targets]
  const above = [...closed, ...shut, ...holds.map(({ path }) => path)].flatMap((path) => directoriesBetween(workspace, path))
  const open = [...new Set(above)].filter((path) => !closed.some((each) => isWithin(each, path)))
  const own = [workspace, ...shut].flatMap((directory) => {
    if (!shut.has(directory)) return [writable(directory)]
    const inIt = entries.filter(({ path, kind }) => dirname(path) === directory && (kind === 'file' || kind === 'directory'))
    return [readOnly(directory), ...inIt.map(({ path }) => writable(path))]
  })
  const held = holds.filter(({ isOpen }) => isOpen !== true).map(({ path }) => path)
  const readable = [...[...shut].filter((path) => path !== workspace), ...closed, ...held].map((path) => readOnly(path))
  return { mounts: last([...own, ...open.map(writable), ...readable]), holds }
}

interface Led {
  /** Other links on the way. */
  readonly links: readonly string[]
  readonly targets: readonly string[]
  /** What would have to be made first for a target to be there. */
  readonly absent: readonly string[]
}

/** What links lead to inside the workspace. */
async function ledFrom(files: Files, workspace: string, from: readonly string[]): Promise<Led> {
  const isInside = (path: string) => path !== workspace && isWithin(workspace, path)
  const ways = (await Promise.all(from.map((path) => wayOf(files, path)))).flatMap((way) => way ?? [])
  const ends = [...new Set(ways.map(({ end }) => end).filter(isInside))]
  const missing = await Promise.all(ends.map((end) => firstAbsent(files, workspace, end)))
  return {
    links: [...new Set(ways.flatMap(({ links }) => links))].filter((path) => isInside(path) && !from.includes(path)),
    targets: ends.filter((_, at) => missing[at] === undefined),
    absent: [...new Set(missing.flatMap((path) => path ?? []))],
  }
}

async function firstAbsent(files: Files, workspace: string, path: string): Promise<string | undefined> {
  const above = directoriesBetween(workspace, path).toReversed()
  for (const each of [...above, path]) if ((await files.entry(each)) === undefined) return each
  return undefined
}

/** Below the workspace, above a path of it: each is a mount, so that it cannot be moved away. */
function directoriesBetween(workspace: string, path: string): readonly string[] {
  const directories: string[] = []
  for (let at = dirname(path); at !== workspace && isWithin(workspace, at); at = dirname(at)) directories.push(at)
  return directories
}

/** Names that are absent or may be held (I3), with their directories before them; none below what is there and is no directory. */
async function placeholders(files: Files, workspace: string, names: readonly string[]): Promise<readonly Placeholder[]> {
  const holds = new Map<string, Placeholder>()
  for (const name of names) {
    const path = join(workspace, name)
    if (!mayBeHeld((await files.entry(path))?.kind)) continue
    const [directory, child] = name.split('/')
    if (child !== undefined && directory !== undefined) {
      const parent = join(workspace, directory)
      const kind = holds.has(parent) ? 'directory' : (await files.entry(parent))?.kind
      if (kind !== undefined && kind !== 'directory') continue
      if (!holds.has(parent)) holds.set(parent, { path: parent, kind: 'directory', isOpen: true })
    }
    holds.set(path, { path, kind: MARKS_WORKTREE.has(name) ? 'socket' : 'directory' })
  }
  return [...holds.values()]
}

/** A placeholder is a directory or a socket. */
function mayBeHeld(kind: string | undefined): boolean {
  return kind === undefined || kind === 'directory' || kind === 'other'
}

interface Entry {
  readonly name: string
  readonly path: string
  readonly kind: string
}

/** Names that plainly are none are not judged one by one, unless the directory as a whole is of a repository or of svc. */
async function keeper(protectedFiles: ProtectedFiles, workspace: string) {
  const [whole] = await protectedFiles.reasons([join(workspace, 'some-file')])
  return async (entries: readonly Entry[]): Promise<readonly Entry[]> => {
    const asked = whole === undefined ? entries.filter(({ name, path }) => mayBeProtected(name) || !isWithin(workspace, path)) : entries
    const reasons = await protectedFiles.reasons(asked.map(({ path }) => path))
    return asked.filter((_, at) => reasons[at] !== undefined)
  }
}

/** One mount for each place: what comes later is the more careful. */
function last(mounts: readonly Mount[]): readonly Mount[] {
  return [...new Map(mounts.map((mount) => [mount.at, mount])).values()]
}

function tooMany(workspace: string, count: number): string {
  return `${workspace} and its dot directories have ${count} names, and at most ${MOST_ENTRIES} are looked at for files that must stay as they are`
}
