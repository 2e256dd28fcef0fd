/**
 * The one place that starts git for svc (threat-model V1, V2).
 *
 * I1 It reads no settings of the person or of the system; those of a repository its caller keeps away.
 * I2 It is bounded in time, asks nobody anything, takes no locks for reading and reaches no network, unless its caller allows a transport.
 * I3 What it holds of one file or answer is bounded, whatever a repository says of large files.
 * I4 It finds no program, itself included: so it looks into no repository inside another one, whose settings nobody keeps away. Only a clone
 *    is given some, by name (`clone-programs.ts`).
 */
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import { timeLimit } from '../../../kernel/patience.js'
import type { Effects } from '../../../ports/effects.js'

/** Where no program can be. An empty search path would be the current directory, and an empty path of its own the one git was built with. */
const NOWHERE = '/dev/null'
/** I2-I4. */
const ENVIRONMENT = {
  PATH: NOWHERE,
  GIT_EXEC_PATH: NOWHERE,
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
  GIT_ALLOC_LIMIT: LIMITS.vcs.gitAllocation,
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
  '-c',
  `core.bigFileThreshold=${LIMITS.vcs.comparedBytes}`,
]

interface GitCommand {
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

interface Supervised {
  readonly signal: AbortSignal
  readonly stdin?: string | undefined
  /** Milliseconds; `LIMITS.vcs.gitTimeout` without it. */
  readonly timeout?: number
  /** May throw, which ends git. */
  readonly onStdout?: (chunk: Uint8Array) => void
  /** What stands in place of the last of standard error; may throw as well. */
  readonly onStderr?: (chunk: Uint8Array) => void
}

export type GitProcess = (command: GitCommand, call: Supervised) => Promise<{ readonly exitCode: number | null; readonly stderr: string }>

/**
 * Runs git until it has ended; rejects when `signal` is aborted, and with what a reader threw. Throws `feature.not_implemented` when there
 * is no git, and `request.unprocessable` when it takes too long.
 */
export function createGitProcess({ processes, clock }: Pick<Effects, 'processes' | 'clock'>): GitProcess {
  return async ({ args, cwd, env }, { signal, stdin, timeout = LIMITS.vcs.gitTimeout, onStdout, onStderr }) => {
    const command = await processes.find('git')
    if (command === undefined) throw new SvcError('feature.not_implemented', 'Git is not installed on this machine.')
    signal.throwIfAborted()
    let stderr = ''
    let fault: Error | undefined
    const guarded = (read: ((chunk: Uint8Array) => void) | undefined) => (chunk: Uint8Array) => {
      try {
        if (fault === undefined) read?.(chunk)
      } catch (error) {
        fault = error instanceof Error ? error : new Error(String(error))
        child.kill()
      }
    }
    const keep = (chunk: Uint8Array) => void (stderr = (stderr + Buffer.from(chunk).toString('utf8')).slice(-LIMITS.vcs.errorText))
    const child = await processes.open({
      command,
      args: [...SETTINGS, ...args],
      cwd,
      env: { ...ENVIRONMENT, ...env },
      inputBacklog: Math.max(1, Buffer.byteLength(stdin ?? '')),
      onStdout: guarded(onStdout),
      onStderr: guarded(onStderr ?? keep),
    })
    const limit = timeLimit(clock, timeout, 'it took too long')
    const kill = () => child.kill()
    limit.signal.addEventListener('abort', kill, { once: true })
    signal.addEventListener('abort', kill, { once: true })
    try {
      if (stdin !== undefined) child.write(stdin)
      child.closeInput()
      const { exitCode } = await child.ended
      await child.gone
      signal.throwIfAborted()
      if (limit.signal.aborted) throw new SvcError('request.unprocessable', `Git took longer than ${timeout / 1000} s.`)
      if (fault !== undefined) throw fault
      return { exitCode, stderr: stderr.trim() }
    } finally {
      limit.clear()
      signal.removeEventListener('abort', kill)
    }
  }
}
