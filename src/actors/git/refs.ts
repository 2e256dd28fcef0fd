/** What the refs of a repository say: where HEAD stands, and what replaces what. Files and packed refs; starts nothing. */
import { join } from 'node:path'
import { LIMITS } from '../../protocol/limits.js'
import type { Effects } from '../effects.js'
import { type Repository, textOf } from './repository.js'

type Files = Pick<Effects['files'], 'read' | 'readDirectory' | 'realPath' | 'stat'>

export interface Head {
  /** Short name of the branch; undefined when HEAD is detached. */
  readonly branch: string | undefined
  /** Undefined when the branch has no commit yet. */
  readonly commit: string | undefined
}

const ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/
const SYMBOLIC = /^ref:\s*(\S+)\s*$/
/** What each worktree has of its own. */
const OWN = /^(?!refs\/)|^refs\/(?:worktree|bisect|rewritten)\//
const MAX_STEPS = 5

/** Rejects with a sentence when HEAD cannot be read, reftables included. */
export async function readHead(files: Files, repository: Repository): Promise<Head> {
  const packed = await readPackedRefs(files, repository)
  let name = 'HEAD'
  for (let step = 0; step <= MAX_STEPS; step++) {
    const text = await readRef(files, repository, name)
    const [, next] = SYMBOLIC.exec(text ?? '') ?? []
    if (next === undefined) {
      const id = text?.trim() ?? packedId(packed, name)
      if (id === undefined && name === 'HEAD') throw new Error('it has no HEAD')
      if (id !== undefined && !ID.test(id)) throw new Error(`its ref ${name} cannot be read`)
      return { branch: name === 'HEAD' ? undefined : name.replace(/^refs\/heads\//, ''), commit: id }
    }
    if (!isName(next)) throw new Error('its HEAD names no ref')
    if (next === 'refs/heads/.invalid') throw new Error('its refs are kept in reftables')
    name = next
  }
  throw new Error('its HEAD leads round in circles')
}

/** Short name of the branch that `origin` begins with; undefined when nothing tells it. */
export async function readRemoteHead(files: Files, repository: Repository): Promise<string | undefined> {
  const text = await readRef(files, repository, 'refs/remotes/origin/HEAD').catch(() => undefined)
  return /^ref:\s*refs\/remotes\/origin\/(\S+)\s*$/.exec(text ?? '')?.[1]
}

/** Objects that others stand for (`git replace`), by id. */
export async function readReplacements(files: Files, repository: Repository): Promise<ReadonlyMap<string, string>> {
  const prefix = 'refs/replace/'
  const replacements = new Map<string, string>()
  const packed = await readPackedRefs(files, repository)
  for (let at = packed.indexOf(` ${prefix}`); at !== -1; at = packed.indexOf(` ${prefix}`, at + 1)) {
    const end = packed.indexOf('\n', at)
    const name = packed.slice(at + 1, end === -1 ? undefined : end)
    const id = packedId(packed, name)
    if (id !== undefined) replacements.set(name.slice(prefix.length), id)
    checkCount(replacements.size)
  }
  const directory = join(repository.commonDirectory, prefix)
  if ((await files.stat(directory))?.kind !== 'directory') return replacements
  const entries = await files.readDirectory(directory)
  checkCount(entries.length)
  for (const { name } of entries) {
    const id = (await textOf(files, join(directory, name), LIMITS.git.pointerBytes))?.trim()
    if (ID.test(name) && id !== undefined && ID.test(id)) replacements.set(name, id)
  }
  return replacements
}

async function readRef(files: Files, { gitDirectory, commonDirectory }: Repository, name: string): Promise<string | undefined> {
  const path = join(OWN.test(name) ? gitDirectory : commonDirectory, name)
  const stat = await files.stat(path)
  return stat?.kind === 'file' ? textOf(files, path, LIMITS.git.pointerBytes) : undefined
}

/** Searched, not split: there may be very many. */
async function readPackedRefs(files: Files, { commonDirectory }: Repository): Promise<string> {
  return `\n${(await textOf(files, join(commonDirectory, 'packed-refs'), LIMITS.git.packedRefsBytes)) ?? ''}\n`
}

function packedId(packed: string, name: string): string | undefined {
  const at = packed.indexOf(` ${name}\n`)
  const id = packed.slice(packed.lastIndexOf('\n', at) + 1, at)
  return at !== -1 && ID.test(id) ? id : undefined
}

function checkCount(count: number): void {
  if (count > LIMITS.git.replacements) throw new Error('it has too many replaced objects')
}

/** A name whose file lies where refs lie. */
function isName(name: string): boolean {
  return (
    name.length < 1024 &&
    !name.startsWith('/') &&
    !name.split('/').some((part) => part === '' || (part.startsWith('.') && part !== '.invalid'))
  )
}
