/**
 * The one place that starts git for svc (threat-model V1, V2).
 *
 * I1 It reads no settings of a repository, of the person or of the system: see `stand-in.ts`.
 * I2 It is bounded in time and output, asks nobody anything, takes no locks for reading and reaches no network, a clone aside.
 */
import { timeLimit } from '../../protocol/patience.js'
import { join } from 'node:path'
import { LIMITS } from '../../protocol/limits.js'
import { SvcError } from '../../protocol/errors.js'
import type { Effects } from '../effects.js'
import type { Checkout, Git, GitCall, GitResult } from '../plugin/native/native-doors.js'
import { readRemoteHead } from './refs.js'
import { type Repository, repositoryAround } from './repository.js'
import { createTurns } from '../../protocol/turns.js'
import { createStandIns, type StandIn } from './stand-in.js'

const EMPTY_TREE = {
  sha1: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
  sha256: '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321',
} as const
/** I2. */
const ENVIRONMENT = {
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_LAZY_FETCH: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_ALLOW_PROTOCOL: '',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: '/bin/false',
  SSH_ASKPASS: '/bin/false',
  GIT_SSH_COMMAND: '/bin/false',
  GIT_EDITOR: '/bin/false',
  GIT_PAGER: 'cat',
  GIT_LITERAL_PATHSPECS: '1',
  HOME: '/nonexistent',
} as const
const SETTINGS = [
  '--no-pager',
  '-c',
  'core.quotepath=false',
  '-c',
  'core.fsmonitor=false',
  '-c',
  'core.hooksPath=/dev/null',
  '-c',
  'gc.auto=0',
]

interface CloneSource {
  readonly url: string
  readonly ref: string | undefined
  readonly depth: number | undefined
  /** The new directory, and the one it is in. */
  readonly target: string
  readonly parent: string
  readonly signal: AbortSignal
}

export interface Cloner {
  /** `git clone` over file, http and https, without checkout, templates, hooks, submodules or questions (threat-model V1–V3). */
  fetchNew(source: CloneSource): Promise<GitResult>
  /** Writes the files of what was fetched, without filters and hooks. */
  checkOutNew(source: CloneSource): Promise<GitResult>
}

export function createGit(effects: Pick<Effects, 'files' | 'paths' | 'processes' | 'childEnv' | 'clock' | 'random' | 'log'>): Git & Cloner {
  const { files, processes, childEnv, clock, random, log } = effects
  const standIns = createStandIns(effects)
  const turns = createTurns(LIMITS.vcs.git)

  async function run(
    repository: Repository,
    env: Readonly<Record<string, string>>,
    args: readonly string[],
    call: GitCall,
  ): Promise<GitResult> {
    const command = await processes.find('git')
    if (command === undefined) throw new SvcError('feature.not_implemented', 'Git is not installed on this machine.')
    const giveBack = await turnOf(call.signal)
    try {
      return await start(command, repository, env, args, call)
    } finally {
      giveBack()
    }
  }

  async function turnOf(signal: AbortSignal): Promise<() => void> {
    try {
      return await turns.take(signal)
    } catch {
      signal.throwIfAborted()
      throw new SvcError('quota.exceeded', 'Too many calls of git wait already; try again in a moment.')
    }
  }

  async function start(
    command: string,
    repository: Repository,
    env: Readonly<Record<string, string>>,
    args: readonly string[],
    call: GitCall,
    timeout: number = LIMITS.vcs.gitTimeout,
  ): Promise<GitResult> {
    const output = collector()
    let stderr = ''
    const child = await processes.open({
      command,
      args: [...SETTINGS, ...args],
      cwd: call.cwd ?? repository.worktree,
      env: { PATH: childEnv['PATH'] ?? '', ...ENVIRONMENT, ...env, ...call.env },
      inputBacklog: Math.max(1, Buffer.byteLength(call.stdin ?? '')),
      onStdout(chunk) {
        if (!output.push(chunk)) child.kill()
      },
      onStderr(chunk) {
        stderr = (stderr + Buffer.from(chunk).toString('utf8')).slice(-LIMITS.vcs.errorText)
      },
    })
    const limit = timeLimit(clock, timeout, 'it took too long')
    limit.signal.addEventListener('abort', () => child.kill(), { once: true })
    const kill = () => child.kill()
    call.signal.addEventListener('abort', kill, { once: true })
    try {
      if (call.stdin !== undefined) child.write(call.stdin)
      child.closeInput()
      const { exitCode } = await child.ended
      await child.gone
      call.signal.throwIfAborted()
      if (limit.signal.aborted) throw new SvcError('request.unprocessable', `Git took longer than ${timeout / 1000} s.`)
      if (output.isFull()) throw new SvcError('request.unprocessable', `Git answered more than ${LIMITS.vcs.outputBytes} bytes.`)
      return { exitCode, stdout: output.bytes(), stderr: stderr.trim() }
    } finally {
      limit.clear()
      call.signal.removeEventListener('abort', kill)
    }
  }

  async function makeNew(
    { parent, target, signal }: Pick<CloneSource, 'parent' | 'target' | 'signal'>,
    env: Readonly<Record<string, string>>,
    args: readonly string[],
  ): Promise<GitResult> {
    const command = await processes.find('git')
    if (command === undefined) throw new SvcError('feature.not_implemented', 'Git is not installed on this machine.')
    const repository = { worktree: parent, gitDirectory: target, commonDirectory: target, isBare: false }
    signal.throwIfAborted()
    return start(command, repository, env, args, { signal }, LIMITS.vcs.cloneTimeout)
  }

  /** Git writes an index and objects of its own, in the directory that stands in for the repository. */
  async function withUntracked<T>(
    repository: Repository,
    env: StandIn['env'],
    signal: AbortSignal,
    use: (env: Readonly<Record<string, string>>) => Promise<T>,
  ): Promise<T> {
    const index = join(env.GIT_DIR, `index-${Buffer.from(random.bytes(8)).toString('hex')}`)
    const own = {
      GIT_INDEX_FILE: index,
      GIT_OBJECT_DIRECTORY: join(env.GIT_DIR, 'objects'),
      GIT_ALTERNATE_OBJECT_DIRECTORIES: env.GIT_OBJECT_DIRECTORY,
    }
    try {
      if ((await files.stat(env.GIT_INDEX_FILE)) !== undefined)
        await files.writeAtomic(index, await files.read(env.GIT_INDEX_FILE, LIMITS.git.indexBytes), { mode: 0o600 })
      const { exitCode, stderr } = await run(repository, env, ['add', '--intent-to-add', '--ignore-errors', '--', '.'], {
        signal,
        env: own,
      })
      if (exitCode !== 0) log.debug('git could not list all untracked files', { cause: stderr })
      return await use(own)
    } finally {
      await files.remove(index)
    }
  }

  const checkoutOf = (repository: Repository, { env, head, format }: StandIn): Omit<Checkout, 'defaultBranch'> => ({
    worktree: repository.worktree,
    gitDirectory: repository.gitDirectory,
    branch: head.branch,
    base: head.commit ?? EMPTY_TREE[format],
    run: (args, call) => run(repository, env, args, call),
    withUntracked: (signal, use) => withUntracked(repository, env, signal, use),
  })

  return {
    fetchNew({ url, ref, depth, ...source }) {
      const options = [...(ref === undefined ? [] : [`--branch=${ref}`]), ...(depth === undefined ? [] : [`--depth=${depth}`])]
      const args = ['clone', '--quiet', '--no-checkout', '--template=', '--no-recurse-submodules', ...options, '--', url, source.target]
      return makeNew(source, { GIT_ALLOW_PROTOCOL: 'file:http:https' }, args)
    },
    checkOutNew: (source) =>
      makeNew(source, { GIT_DIR: join(source.target, '.git'), GIT_WORK_TREE: source.target }, [
        'reset',
        '--hard',
        '--quiet',
        '--no-recurse-submodules',
      ]),
    async apart(directory) {
      const standIn = await standIns.apart(directory)
      const repository = { worktree: directory, gitDirectory: standIn.env.GIT_DIR, commonDirectory: standIn.env.GIT_DIR, isBare: false }
      return { ...checkoutOf(repository, standIn), defaultBranch: undefined }
    },
    async open(directory) {
      try {
        const repository = await repositoryAround(files, directory)
        if (repository === undefined || repository.isBare) return undefined
        return { ...checkoutOf(repository, await standIns.of(repository)), defaultBranch: await readRemoteHead(files, repository) }
      } catch (error) {
        if (error instanceof SvcError) throw error
        throw new SvcError(
          'request.unprocessable',
          `The repository cannot be used: ${error instanceof Error ? error.message : String(error)}.`,
        )
      }
    },
  }
}

function collector() {
  const chunks: Uint8Array[] = []
  let size = 0
  return {
    /** False once there is too much. */
    push(chunk: Uint8Array): boolean {
      size += chunk.byteLength
      if (size > LIMITS.vcs.outputBytes) return false
      chunks.push(chunk.slice())
      return true
    },
    isFull: () => size > LIMITS.vcs.outputBytes,
    bytes: (): Uint8Array => Buffer.concat(chunks),
  }
}
