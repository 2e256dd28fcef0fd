/** Finding workflow files below a configuration directory (subsystems a.1; threat-model F1, W3). */
import { reachedThrough } from '../../../protocol/text/exposure.js'
import { absentUnlessPassing, isPassing } from '../../../protocol/text/file-faults.js'
import { isWithin } from '../../../protocol/caller.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Effects, FileStat } from '../../../ports/effects.js'
import { dirname, joinPath } from '../../../protocol/text/paths.js'
import { PROJECT_DIRECTORY, type Root } from './places.js'
import { takeTurns } from '../turns.js'

export interface FoundFile {
  /** Canonical. */
  readonly path: string
  /** Where among the files of its root: the later of two files of one id wins. */
  readonly order: string
  readonly stat: Seen
}

/** What is known of a file before it is read. */
export interface Seen extends FileStat {
  /** Why others could change it, as the rest of a sentence; undefined = they cannot. Part of the identity. */
  readonly exposed: string | undefined
}

export interface Problem {
  readonly sourcePath: string
  readonly message: string
}

export interface Scan {
  /** In order. */
  readonly files: readonly FoundFile[]
  readonly problems: readonly Problem[]
  /** Canonical directories that were listed, `workflow` and `workflows` first. */
  readonly folders: readonly string[]
}

type ScanEffects = Pick<Effects, 'files'>

const FOLDERS = ['workflow', 'workflows'] as const
const SKIPPED = new Set(['.git', 'node_modules'])
const SUFFIX = '.md'

/**
 * Every file once, however many links lead to it; a link that leaves `root.within` is a problem, not a file. Rejects when a
 * directory cannot be listed at the moment: its files are not gone.
 */
export async function scanRoot({ files }: ScanEffects, root: Root): Promise<Scan> {
  const found = new Map<string, FoundFile>()
  const problems: Problem[] = []
  const folders = new Set<string>()
  const turn = takeTurns()
  const look = lookFrom(files)
  let isFull = false

  async function visit(path: string, order: string, depth: number): Promise<void> {
    if (folders.has(path)) return
    if (depth > LIMITS.workflows.depth || folders.size >= LIMITS.workflows.folders) return void (isFull = true)
    folders.add(path)
    for (const { name, kind } of (await files.readDirectory(path).catch(absentUnlessPassing)) ?? []) {
      await turn()
      const at = joinPath(path, name)
      if (kind === 'directory') {
        if (!SKIPPED.has(name)) await visit(at, `${order}${name}/`, depth + 1)
      } else if (kind === 'file') {
        if (name.endsWith(SUFFIX)) await add(at, `${order}${name}`)
      } else if (kind === 'link') {
        await follow(at, name, `${order}${name}`, depth)
      }
    }
  }

  async function follow(at: string, name: string, order: string, depth: number): Promise<void> {
    const target = await files.realPath(at).catch(absentUnlessPassing)
    const stat = target === undefined ? undefined : await statOf(files, target)
    if (target === undefined || stat === undefined) return
    const isFolder = stat.kind === 'directory' && !SKIPPED.has(name)
    if (!isFolder && !name.endsWith(SUFFIX)) return
    const astray = whyAstray(root, target)
    if (astray !== undefined) problems.push({ sourcePath: at, message: astray })
    else if (isFolder) await visit(target, `${order}/`, depth + 1)
    else await add(target, order)
  }

  async function add(path: string, order: string): Promise<void> {
    const stat = await look(path)
    if (stat === undefined || stat.kind !== 'file') return
    if (found.size >= LIMITS.workflows.filesPerRoot) return void (isFull = true)
    found.set(path, { path, order, stat })
  }

  for (const folder of FOLDERS) {
    const at = joinPath(root.path, folder)
    const path = await files.realPath(at).catch(absentUnlessPassing)
    if (path === undefined || (await statOf(files, path))?.kind !== 'directory') continue
    const astray = whyAstray(root, path)
    if (astray === undefined) await visit(path, `${folder}/`, 0)
    else problems.push({ sourcePath: at, message: astray })
  }
  if (isFull) {
    const { filesPerRoot, folders: most, depth } = LIMITS.workflows
    const message = `holds more than ${filesPerRoot} workflow files, ${most} directories or ${depth} levels; the rest is not read`
    problems.push({ sourcePath: root.path, message })
  }
  return { files: [...found.values()].toSorted((a, b) => compareBytes(a.order, b.order)), problems, folders: [...folders] }
}

/** Files of a workspace lie where agents may not write without an explicit answer, whatever links say (threat-model G3, W5). */
function whyAstray({ within }: Root, path: string): string | undefined {
  if (within === undefined) return undefined
  if (!isWithin(within, path)) return `is not read: it leads outside ${within}`
  return path.split('/').includes(PROJECT_DIRECTORY)
    ? undefined
    : `is not read: it leads to ${path}, which is in no ${PROJECT_DIRECTORY} directory`
}

/** Whose files may be read: our own or the administrator's, and nobody else may write them (threat-model W3). */
export function whyNotRead(stat: Seen): string | undefined {
  if (stat.kind !== 'file') return 'is not a regular file'
  if (stat.exposed !== undefined) return stat.exposed
  if (stat.size > LIMITS.workflows.fileBytes) return `is larger than ${LIMITS.workflows.fileBytes} bytes`
  return undefined
}

/** Looks at files by canonical path; at what leads to them once for each folder. */
export function lookFrom(files: Effects['files']): (path: string) => Promise<Seen | undefined> {
  const folders = new Map<string, Promise<string | undefined>>()
  return async (path) => {
    const stat = await statOf(files, path)
    if (stat === undefined) return undefined
    const folder = dirname(path)
    const through = folders.get(folder) ?? exposureOf(files, folder)
    folders.set(folder, through)
    const exposed = stat.exposure ?? (await through)
    return exposed === undefined ? { ...stat, exposed } : { ...stat, exposed, identity: `${stat.identity} ${exposed}` }
  }
}

async function exposureOf(files: Effects['files'], folder: string): Promise<string | undefined> {
  try {
    const exposed = await files.exposure(folder)
    return exposed === undefined ? undefined : reachedThrough(exposed)
  } catch (error) {
    if (isPassing(error)) throw error
    return `is reached through ${folder}, which cannot be checked`
  }
}

export async function statOf(files: Effects['files'], path: string): Promise<FileStat | undefined> {
  return files.stat(path).catch(absentUnlessPassing)
}

/** As the bytes of the texts in UTF-8 compare, which is as their code points do. */
export function compareBytes(a: string, b: string): number {
  for (let at = 0; at < a.length && at < b.length; at++) {
    const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)]
    if (left !== right) return rank(left) - rank(right)
  }
  return a.length - b.length
}

/** Halves of surrogate pairs stand for code points above every other unit. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit
}
