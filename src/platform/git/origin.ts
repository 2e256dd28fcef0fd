/**
 * Whether a file came with a checkout: its path stands in the index of a repository around it with this very content (choice 16).
 *
 * I1 Every repository around the file is asked, not only the nearest: one inside another hides nothing.
 * I2 What cannot be read or told counts as the checkout's, and says why.
 * I3 The content was read before the index is: what a checkout writes is listed by the time its lock has gone.
 * I4 Line ends, and everything else git converts on the way out, make no difference.
 * I5 For one answer each repository is read once, and all of it is paid for (`work.ts`); what is not paid for cannot be told (I2).
 */
import { createHash } from 'node:crypto'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { isWithin } from '../../protocol/caller.js'
import { LIMITS } from '../../protocol/limits.js'
import { createLru, type Lru } from '../../kernel/lru.js'
import { beginWork, ENTRY, LOOK, type Work } from '../../kernel/work.js'
import type { Effects } from '../../ports/effects.js'
import type { Checkouts, Origin, ReadFile } from '../../ports/git.js'
import { type Converted, mayConvert, readConverted } from './attributes.js'
import type { IndexEntry, ObjectFormat } from './index-file.js'
import { configOf, directoriesAbove, type Repository, type RepositoryConfig, repositoryAt, textOf } from './repository.js'
import { createTrackedFiles, type Tracked } from './tracked.js'
import { messageOf } from '../../protocol/message-of.js'

interface Asked {
  readonly repository: Repository
  readonly config: RepositoryConfig
  readonly tracked: Tracked
}

/** What is looked up for one answer. */
interface Answer {
  readonly work: Work
  readonly repositories: Map<string, Asked | Origin | undefined>
  /** By path; undefined where there is no such file. */
  readonly attributes: Lru<string, Promise<Converted | 'unreadable' | undefined>>
}

/** Attributes files that are remembered meanwhile: those of some folders and of all around them. */
const ATTRIBUTES = 32
/** Each content is decoded, and hashed in several forms. */
const FORMS = 8
const ELSEWHERE: Origin = { from: 'elsewhere' }

export function createCheckouts({ files, paths }: Pick<Effects, 'files' | 'paths'>): Checkouts {
  const trackedFiles = createTrackedFiles(files)
  const common = ['/etc/gitattributes', join(dirname(paths.config), 'git', 'attributes'), join(paths.home, '.config', 'git', 'attributes')]

  /** Everything known of the repository of a directory; an origin when it cannot be read (I2); undefined when there is none. */
  async function ask(directory: string, paths: readonly string[], { work }: Answer): Promise<Asked | Origin | undefined> {
    try {
      await work.pay(LOOK)
      const repository = await repositoryAt(files, directory)
      if (repository === undefined) return undefined
      const config = await configOf(files, repository)
      await work.pay(paths.length * ENTRY)
      const names = paths.flatMap((path) => (isWithin(directory, path) ? namesOf(repository, config, path) : []))
      return { repository, config, tracked: await trackedFiles.read(repository, config.format, names) }
    } catch (error) {
      return unknown(`the repository at ${directory} cannot be read: ${messageOf(error)}`)
    }
  }

  async function judge(file: ReadFile, { repository, config, tracked }: Asked, answer: Answer): Promise<Origin> {
    for (const name of namesOf(repository, config, file.path)) {
      if (tracked.isHidden(name)) return unknown(`the sparse index of ${repository.worktree} does not list the files of its directory`)
      const entries = tracked.entries(name)
      if (entries.length === 0) continue
      await answer.work.pay(file.bytes.length * FORMS + entries.length * ENTRY + LOOK)
      const isListed = isContentOf(entries, file.bytes, config.format) || (await isUntouched(files, entries, file.path))
      if (isListed) return { from: 'checkout', reason: `it came with the checkout of ${repository.worktree}`, isCertain: true }
      const converter = await converterOf(file, repository, config, answer)
      if (converter !== undefined) return unknown(`${converter} may have changed it at the checkout of ${repository.worktree}`)
    }
    return ELSEWHERE
  }

  /** The attributes file that may have the content converted (I4); undefined when none does. */
  async function converterOf(
    { path, bytes }: ReadFile,
    repository: Repository,
    { values }: RepositoryConfig,
    answer: Answer,
  ): Promise<string | undefined> {
    const configured = values.get('core.attributesfile')
    if (configured !== undefined) return `the attributes file ${configured}`
    const own = [...directoriesAbove(path)].filter((directory) => isWithin(repository.worktree, directory))
    const places = [...own.map((directory) => join(directory, '.gitattributes')), join(repository.commonDirectory, 'info', 'attributes')]
    const name = path.slice(path.lastIndexOf(sep) + 1)
    const hasReturns = bytes.includes(0x0d)
    for (const place of [...places, ...common]) {
      await answer.work.pay(ENTRY)
      const converted = await attributesAt(files, place, answer)
      if (converted === 'unreadable' || (converted !== undefined && mayConvert(converted, name, hasReturns))) return place
    }
    return undefined
  }

  async function originOf(file: ReadFile, paths: readonly string[], answer: Answer): Promise<Origin> {
    let origin: Origin = file.path.split(sep).some((part) => part.toLowerCase() === '.git') ? INSIDE : ELSEWHERE
    for (const directory of directoriesAbove(file.path)) {
      if (origin.from === 'checkout' && origin.isCertain) break
      const { repositories } = answer
      if (!repositories.has(directory)) repositories.set(directory, await ask(directory, paths, answer))
      const known = repositories.get(directory)
      if (known === undefined) continue
      const found = 'from' in known ? known : await judge(file, known, answer).catch((error: unknown) => unknown(String(error)))
      if (found.from === 'checkout') origin = found // I1
    }
    return origin
  }

  return {
    async origins(asked) {
      const answer: Answer = { work: beginWork(LIMITS.git.originWork), repositories: new Map(), attributes: createLru(ATTRIBUTES) }
      const paths = asked.map(({ path }) => path)
      const result: Origin[] = []
      for (const file of asked) result.push(await originOf(file, paths, answer))
      return result
    },
  }
}

/** As git tells that it need not look into a file: nobody wrote to it since git did. */
async function isUntouched(files: Pick<Effects['files'], 'stat'>, entries: readonly IndexEntry[], path: string): Promise<boolean> {
  const stat = await files.stat(path)
  if (stat === undefined) return true
  return entries.some(({ size, modifiedSeconds, modifiedNanoseconds }) => {
    const isSameSize = size === 0 || size === stat.size % 2 ** 32
    const seconds = Math.floor(stat.modifiedMs / 1000) % 2 ** 32
    const isSameMoment = modifiedNanoseconds === 0 || Math.abs(modifiedNanoseconds / 1e6 - (stat.modifiedMs % 1000)) < 1
    return isSameSize && seconds === modifiedSeconds && isSameMoment
  })
}

function attributesAt(files: Effects['files'], place: string, { work, attributes }: Answer): Promise<Converted | 'unreadable' | undefined> {
  const known = attributes.get(place)
  if (known !== undefined) return known
  const read = async () => {
    await work.pay(LOOK)
    const text = await textOf(files, place, LIMITS.git.attributesBytes)
    return text === undefined ? undefined : work.read(readConverted(text))
  }
  const reading = read().catch(() => 'unreadable' as const)
  attributes.set(place, reading)
  return reading
}

const INSIDE: Origin = { from: 'checkout', reason: 'it lies inside of a repository, among what git keeps', isCertain: true }

function unknown(reason: string): Origin {
  return { from: 'checkout', reason, isCertain: false }
}

/** The names a path may have in the index: below the directory of `.git`, and below another worktree that is configured. */
function namesOf({ worktree, gitDirectory }: Repository, { values }: RepositoryConfig, path: string): string[] {
  const configured = values.get('core.worktree')
  const roots = new Set([worktree, ...(configured === undefined ? [] : [resolve(gitDirectory, configured)])])
  return [...roots].filter((root) => isWithin(root, path)).map((root) => relative(root, path).split(sep).join('/'))
}

/** I4. */
function isContentOf(entries: readonly IndexEntry[], bytes: Uint8Array, format: ObjectFormat): boolean {
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const text = content.toString('latin1')
  const lines = text.replaceAll('\r\n', '\n')
  const forms = new Set([text, lines, lines.replaceAll('\n', '\r\n')])
  const ids = new Set([...forms].map((form) => blobId(Buffer.from(form, 'latin1'), format)))
  return entries.some(({ id }) => ids.has(id))
}

function blobId(content: Uint8Array, format: ObjectFormat): string {
  return createHash(format).update(`blob ${content.length}\0`).update(content).digest('hex')
}
