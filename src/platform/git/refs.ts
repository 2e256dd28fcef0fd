/** What the refs of a repository say: where HEAD stands, and what replaces what. Files and packed refs; starts nothing. */
import { join } from 'node:path'
import { LIMITS } from '../../protocol/limits.js'
import { beginWork, ENTRY, LOOK, type Reading, type Work } from '../../kernel/work.js'
import type { Effects } from '../../ports/effects.js'
import { bytesOf, type Repository, textOf } from './repository.js'

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
export async function readHead(files: Files, repository: Repository, work: Work = beginWork(LIMITS.git.indexWork)): Promise<Head> {
  let name = 'HEAD'
  for (let step = 0; step <= MAX_STEPS; step++) {
    const text = await readRef(files, repository, name)
    const [, next] = SYMBOLIC.exec(text ?? '') ?? []
    if (next === undefined) {
      const id = text?.trim() ?? (await findPacked(files, repository, { name }, work)).get(name)
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
export async function readReplacements(files: Files, repository: Repository, work: Work): Promise<ReadonlyMap<string, string>> {
  const prefix = 'refs/replace/'
  const replacements = new Map<string, string>()
  const packed = await findPacked(files, repository, { prefix }, work)
  for (const [name, id] of packed) replacements.set(name.slice(prefix.length), id)
  const directory = join(repository.commonDirectory, prefix)
  if ((await files.stat(directory))?.kind !== 'directory') return replacements
  const entries = await files.readDirectory(directory)
  checkCount(entries.length)
  for (const { name } of entries) {
    await work.pay(LOOK)
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

type Wanted = { readonly name: string } | { readonly prefix: string }

async function findPacked(files: Files, { commonDirectory }: Repository, wanted: Wanted, work: Work): Promise<ReadonlyMap<string, string>> {
  const bytes = await bytesOf(files, join(commonDirectory, 'packed-refs'), LIMITS.git.packedRefsBytes)
  return bytes === undefined ? new Map() : work.read(packedIn(bytes, wanted))
}

const NEWLINE = 0x0a
const SPACE = 0x20
const ID_LENGTHS = [40, 64]

/** Lines `<id> <name>` in order, as bytes: there may be very many. What stands first counts; comments and peeled ids are passed by. */
function* packedIn(data: Buffer, wanted: Wanted): Reading<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  const isWhole = 'name' in wanted
  const begin = Buffer.from(isWhole ? wanted.name : wanted.prefix)
  let lines = 0
  for (let at = 0; at < data.length; ) {
    if (++lines > LIMITS.git.packedRefs) throw new Error(`it has more than ${LIMITS.git.packedRefs} packed refs`)
    const next = data.indexOf(NEWLINE, at)
    const end = next === -1 ? data.length : next
    yield end - at + ENTRY
    const length = ID_LENGTHS.find((each) => data[at + each] === SPACE)
    const start = at + (length ?? 0) + 1
    const until = start + begin.length
    const isWanted =
      length !== undefined && (isWhole ? until === end : until <= end) && data.compare(begin, 0, begin.length, start, until) === 0
    if (isWanted) {
      const id = data.toString('latin1', at, start - 1)
      const name = data.toString('utf8', start, Math.min(end, start + LIMITS.git.nameLength))
      if (ID.test(id) && !found.has(name)) found.set(name, id)
      checkCount(found.size)
    }
    at = end + 1
  }
  return found
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
