/**
 * Git in a repository, for svc itself: it reads no settings of the repository, of the person or of the system, see `stand-in.ts` (threat-model V1, V2).
 *
 * I1 Git at work in one repository, which may keep it waiting, leaves turns to others.
 */
import { join } from 'node:path'
import { LIMITS } from '../../../protocol/limits.js'
import { SvcError } from '../../../protocol/errors.js'
import type { Effects } from '../../../ports/effects.js'
import type { Checkout, Git, GitArguments, GitCall, GitResult } from '../../../ports/git.js'
import { addedIndex } from '../added-index.js'
import { createGitProcess } from './git-process.js'
import { readRemoteHead } from '../refs.js'
import { type Repository, repositoryAround } from '../repository.js'
import { createLru } from '../../../kernel/lru.js'
import { createTurns, type Turns } from '../../../kernel/turns.js'
import { createStandIns, type StandIn } from './stand-in.js'
import { lookLate } from '../pipes.js'
import { unlinked } from '../unlinked.js'
import { messageOf } from '../../../protocol/message-of.js'

const EMPTY_TREE = {
  sha1: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
  sha256: '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321',
} as const
export function createGit(effects: Pick<Effects, 'files' | 'paths' | 'processes' | 'clock' | 'random'>): Git {
  const { files, random, clock } = effects
  const own = unlinked(files)
  const start = createGitProcess(effects)
  const standIns = createStandIns(effects)
  const turns = createTurns(LIMITS.vcs.git)
  const inRepository = createLru<string, Turns>(LIMITS.vcs.git.waiting)

  async function run(repository: Repository, env: Readonly<Record<string, string>>, args: GitArguments, call: GitCall): Promise<GitResult> {
    const giveBack = await turnOf(repository, call.signal)
    const late = lookLate({ files, clock }, repository.worktree)
    try {
      const output = collector()
      const ended = await start(
        { args, cwd: call.cwd ?? repository.worktree, env: { ...env, ...call.env } },
        { ...call, signal: AbortSignal.any([call.signal, late.signal]), onStdout: output.push },
      )
      return { ...ended, stdout: output.bytes() }
    } finally {
      late.end()
      giveBack()
    }
  }

  async function turnOf({ worktree }: Repository, signal: AbortSignal): Promise<() => void> {
    const turnsOfIt = inRepository.get(worktree) ?? createTurns(LIMITS.vcs.gitOfOne)
    inRepository.set(worktree, turnsOfIt)
    const given: (() => void)[] = []
    const giveBack = () => given.forEach((each) => each())
    try {
      given.push(await turnsOfIt.take(signal)) // I1
      given.push(await turns.take(signal))
      return giveBack
    } catch {
      giveBack()
      signal.throwIfAborted()
      throw new SvcError('quota.exceeded', 'Too many calls of git wait already; try again in a moment.')
    }
  }

  /** The index lies in the directory that stands in for the repository. */
  async function withAdded<T>(
    { env, format }: StandIn,
    paths: readonly Uint8Array[],
    use: (env: Readonly<Record<string, string>>) => Promise<T>,
  ): Promise<T> {
    const index = join(env.GIT_DIR, `index-${Buffer.from(random.bytes(8)).toString('hex')}`)
    try {
      await files.writeAtomic(index, await addedIndex(paths, format), { mode: 0o600 })
      return await use({ GIT_INDEX_FILE: index })
    } finally {
      await files.remove(index)
    }
  }

  /** Links are looked for once: a checkout is used for one question. */
  function checkoutOf(repository: Repository, standIn: StandIn): Omit<Checkout, 'defaultBranch'> {
    let checked: Promise<void> | undefined
    return {
      worktree: repository.worktree,
      gitDirectory: repository.gitDirectory,
      branch: standIn.head.branch,
      base: standIn.head.commit ?? EMPTY_TREE[standIn.format],
      async run(args, call) {
        checked ??= standIn.checkLinks()
        await checked.catch(refuse)
        return run(repository, standIn.env, args, call)
      },
      withAdded: (paths, use) => withAdded(standIn, paths, use),
    }
  }

  return {
    async apart(directory) {
      const standIn = await standIns.apart(directory)
      const repository = { worktree: directory, gitDirectory: standIn.env.GIT_DIR, commonDirectory: standIn.env.GIT_DIR, isBare: false }
      return { ...checkoutOf(repository, standIn), defaultBranch: undefined }
    },
    async open(directory) {
      try {
        const repository = await repositoryAround(files, directory)
        if (repository === undefined || repository.isBare) return undefined
        return { ...checkoutOf(repository, await standIns.of(repository)), defaultBranch: await readRemoteHead(own, repository) }
      } catch (error) {
        return refuse(error)
      }
    },
  }
}

function refuse(error: unknown): never {
  if (error instanceof SvcError) throw error
  throw new SvcError('request.unprocessable', `The repository cannot be used: ${messageOf(error)}.`)
}

/** What git answers, up to a limit. */
function collector() {
  const chunks: Uint8Array[] = []
  let size = 0
  return {
    push(chunk: Uint8Array): void {
      size += chunk.byteLength
      if (size > LIMITS.vcs.outputBytes)
        throw new SvcError('request.unprocessable', `Git answered more than ${LIMITS.vcs.outputBytes} bytes.`)
      chunks.push(chunk.slice())
    },
    bytes: (): Uint8Array => Buffer.concat(chunks),
  }
}
