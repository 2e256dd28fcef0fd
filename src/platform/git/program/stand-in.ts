/**
 * A directory that stands in for a repository when git runs. Git reads its settings there, so a repository can name no
 * program, hook or other configuration file (threat-model V1): not one known today, and none that a later git learns.
 *
 * I1 Of the repository it has what is data: where HEAD stands, which paths are ignored, attributes, the sparse patterns. Objects and the index
 *    stay where they are and are only read.
 * I2 Of the settings it has those that say how content is compared, by a list, and with values that are plain words.
 * I3 A repository whose parts lie elsewhere is refused, links in its objects and a linked index included (`unlinked.ts`): whoever wrote the
 *    worktree could name anybody's. So is one with a pipe or a device there, at which git would wait.
 */
import { createHash } from 'node:crypto'
import { join, resolve } from 'node:path'
import { LIMITS } from '../../../protocol/limits.js'
import { readAtOnce } from '../../../kernel/work.js'
import type { DirectoryEntry, Effects } from '../../../ports/effects.js'
import { readGitSettings } from '../config-text.js'
import { type Head, readHead } from '../refs.js'
import { refusePipes } from '../pipes.js'
import { createCheckLinks, kindOf, unlinked } from '../unlinked.js'
import { configOf, isGenuine, type Repository, type RepositoryConfig, textOf } from '../repository.js'

export interface StandIn {
  /** What git is started with besides the environment of every call. */
  readonly env: Readonly<Record<'GIT_DIR' | 'GIT_WORK_TREE' | 'GIT_OBJECT_DIRECTORY' | 'GIT_INDEX_FILE', string>>
  readonly head: Head
  readonly format: RepositoryConfig['format']
  /** Before git is started: rejects with a sentence when it would follow a link (I3). */
  checkLinks(): Promise<void>
}

const KEPT =
  /^(?:core\.(?:autocrlf|eol|filemode|symlinks|ignorecase|precomposeunicode|protecthfs|protectntfs|sparsecheckout|sparsecheckoutcone|checkstat|trustctime)|index\.sparse|diff\.(?:algorithm|indentheuristic))$/
const UNBORN = 'ref: refs/heads/none\n'
const PLAIN = /^[\w.-]{0,32}$/
const SHARED_INDEX = /^sharedindex\.[0-9a-f]{40,64}$/

interface StandIns {
  /** Rejects with a sentence when the repository cannot be read or trusted. */
  of(repository: Repository): Promise<StandIn>
  /** Of no repository: without commits, objects and index. */
  apart(worktree: string): Promise<StandIn>
}

/** Forgets what an earlier process left, cut short calls included: a stand-in is made again when it is wanted. */
export function forgetStandIns({ files, paths }: Pick<Effects, 'files' | 'paths'>): Promise<void> {
  return files.removeTree(standInsOf(paths))
}

const standInsOf = (paths: Effects['paths']) => join(paths.state, 'git')

export function createStandIns({ files, paths, clock }: Pick<Effects, 'files' | 'paths' | 'clock'>): StandIns {
  const own = unlinked(files)
  const checkLinks = createCheckLinks({ files, clock })
  const read = (path: string) => textOf(files, path, LIMITS.git.configBytes).catch(() => undefined)

  /** What the person at this machine ignores everywhere. */
  async function ownIgnores(): Promise<string | undefined> {
    const own = (await read(join(paths.home, '.gitconfig'))) ?? ''
    const named = new Map(readable(own)).get('core.excludesfile')?.replace(/^~(?=\/)/, paths.home)
    return read(named?.startsWith('/') === true ? named : join(paths.home, '.config/git/ignore'))
  }

  /** Writes what is not there already; most calls find everything as it was. */
  async function put(path: string, text: string): Promise<void> {
    if ((await textOf(files, path, LIMITS.git.configBytes * 2).catch(() => undefined)) !== text)
      await files.writeAtomic(path, text, { mode: 0o600 })
  }

  /** The shared parts of a split index are looked for beside it: links of ours lead to them. Those it no longer has go. */
  async function shareIndex({ gitDirectory }: Repository, directory: string): Promise<void> {
    const theirs = await sharedIn(gitDirectory)
    if (theirs.length > LIMITS.git.sharedIndexes) throw new Error(`it has more than ${LIMITS.git.sharedIndexes} shared indexes`)
    const odd = theirs.find(({ kind }) => kind !== 'file')
    if (odd !== undefined) throw new Error(`${join(gitDirectory, odd.name)} is ${kindOf(odd)}`)
    const wanted = new Set(theirs.map(({ name }) => name))
    const ours = new Set((await sharedIn(directory)).map(({ name }) => name))
    for (const name of ours) if (!wanted.has(name)) await files.remove(join(directory, name))
    for (const name of wanted) if (!ours.has(name)) await files.makeLink(join(directory, name), join(gitDirectory, name))
  }

  async function sharedIn(directory: string): Promise<readonly DirectoryEntry[]> {
    return (await files.readDirectory(directory)).filter(({ name }) => SHARED_INDEX.test(name))
  }

  async function refuseLinks({ worktree, gitDirectory, commonDirectory }: Repository): Promise<void> {
    await refusePipes(files, worktree)
    const index = join(gitDirectory, 'index')
    const entry = await files.entry(index)
    if (entry !== undefined && entry.kind !== 'file') throw new Error(`${index} is ${kindOf(entry)}`)
    await checkLinks(join(commonDirectory, 'objects'))
  }

  /** A directory of our own, complete enough for git. */
  async function begin(key: string, config: string): Promise<string> {
    const directory = join(standInsOf(paths), createHash('sha256').update(key).digest('hex').slice(0, 32))
    await Promise.all(['info', 'objects', 'refs'].map((name) => files.makeDirectory(join(directory, name), { mode: 0o700 })))
    await put(join(directory, 'config'), config)
    return directory
  }

  return {
    async of(repository) {
      const { worktree, gitDirectory, commonDirectory } = repository
      await checkPlace(files, repository)
      const { settings, format } = await configOf(files, repository)
      const head = await readHead(own, repository)
      const inInfo = (name: string) => read(join(commonDirectory, 'info', name))
      const ignores = [await ownIgnores(), await inInfo('exclude')].map((text) => text ?? '').join('\n')
      const directory = await begin(`${gitDirectory}\0${worktree}`, configText(settings, format))
      await put(join(directory, 'info/exclude'), ignores)
      await put(join(directory, 'info/attributes'), (await inInfo('attributes')) ?? '')
      await put(join(directory, 'info/sparse-checkout'), (await read(join(gitDirectory, 'info/sparse-checkout'))) ?? '')
      await shareIndex(repository, directory)
      await put(join(directory, 'HEAD'), head.commit === undefined ? UNBORN : `${head.commit}\n`)
      return {
        head,
        format,
        checkLinks: () => refuseLinks(repository),
        env: {
          GIT_DIR: directory,
          GIT_WORK_TREE: worktree,
          GIT_OBJECT_DIRECTORY: join(commonDirectory, 'objects'),
          GIT_INDEX_FILE: join(gitDirectory, 'index'),
        },
      }
    },
    async apart(worktree) {
      const directory = await begin(`\0${worktree}`, configText([], 'sha1'))
      await put(join(directory, 'HEAD'), UNBORN)
      const env = {
        GIT_DIR: directory,
        GIT_WORK_TREE: worktree,
        GIT_OBJECT_DIRECTORY: join(directory, 'objects'),
        GIT_INDEX_FILE: join(directory, 'index'),
      }
      return { head: { branch: undefined, commit: undefined }, format: 'sha1', env, checkLinks: async () => undefined }
    },
  }
}

function readable(text: string): RepositoryConfig['settings'] {
  try {
    return readAtOnce(readGitSettings(text)) // the person's own
  } catch {
    return []
  }
}

/** I2. */
function configText(settings: RepositoryConfig['settings'], format: RepositoryConfig['format']): string {
  const kept = settings.filter(([key, value]) => KEPT.test(key) && PLAIN.test(value))
  const lines = kept.map(([key, value]) => `[${key.slice(0, key.indexOf('.'))}]\n\t${key.slice(key.indexOf('.') + 1)} = ${value}\n`)
  const version = format === 'sha1' ? '0' : '1'
  const extension = format === 'sha1' ? '' : `[extensions]\n\tobjectformat = ${format}\n`
  return `[core]\n\trepositoryformatversion = ${version}\n\tbare = false\n${extension}${lines.join('')}`
}

/** I3. */
async function checkPlace(files: Effects['files'], repository: Repository): Promise<void> {
  const { gitDirectory, commonDirectory } = repository
  if (!(await isGenuine(files, repository)) && !(await isSubmodule(files, repository)))
    throw new Error(`its .git leads to ${gitDirectory}, which is not the repository of this directory`)
  const objects = await files.realPath(join(commonDirectory, 'objects'))
  if (objects !== join(commonDirectory, 'objects')) throw new Error(`its objects are in ${objects}`)
  const alternates = await textOf(files, join(objects, 'info/alternates'), LIMITS.git.configBytes)
  if ((alternates ?? '').trim() !== '') throw new Error('its objects are in part those of another repository (objects/info/alternates)')
}

/** A submodule whose own settings name this worktree: whoever wrote the worktree alone could not say so. */
async function isSubmodule(files: Effects['files'], { worktree, gitDirectory, commonDirectory }: Repository): Promise<boolean> {
  if (gitDirectory !== commonDirectory || !gitDirectory.includes('/.git/modules/')) return false
  const { values } = await configOf(files, { worktree, gitDirectory, commonDirectory, isBare: false })
  const named = values.get('core.worktree')
  return named !== undefined && resolve(gitDirectory, named) === worktree
}
