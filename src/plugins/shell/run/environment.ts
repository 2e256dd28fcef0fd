/**
 * Which shell runs commands, and the environment it gets (sessions-events §10.5).
 *
 * I1 Neither comes from a workspace (threat-model W3): the shell is the installation's, and what its login
 *    files set passes the same allow-list as the environment of every child (K1).
 * I2 Commands are judged by the grammar of bash, so bash runs them where it exists.
 * I3 Capturing is bounded and never fails a command: without a result in time the plain environment serves.
 */
import { waitAtMost } from '../../../kernel/patience.js'
import type { NativeHost } from '../../../ports/plugin.js'
import { LIMITS } from '../../../protocol/limits.js'

export type Variables = Readonly<Record<string, string>>

export interface ShellEnvironment {
  /** Absolute path of the shell that runs commands with `-c`. */
  shell(): Promise<string>
  /** Variables for a command, terminal settings included. */
  variables(): Promise<Variables>
}

export interface ShellEnvironmentOptions {
  readonly effects: Pick<NativeHost['effects'], 'clock' | 'processes' | 'childEnv' | 'paths' | 'log'>
  /** Reduces variables to those a child may have. */
  readonly allow: (variables: Variables) => Variables
}

/** Time a login shell may take altogether, and time a command waits for it. */
const CAPTURE_MS = 5000
const WAIT_MS = 1000
const CAPTURE_BYTES = 256 * 1024
const MARK = 'svc-login-environment'
const LOGIN_SHELL = /^\/.*\/(?:bash|zsh|sh|dash|ash|ksh|mksh|fish)$/
const PLAIN_SHELL = /^\/.*\/(?:sh|dash|ash|ksh|mksh)$/
const TERMINAL = { TERM: 'xterm-256color', SVC_TERMINAL: '1' }

export function createShellEnvironment({ effects, allow }: ShellEnvironmentOptions): ShellEnvironment {
  const { clock, processes, childEnv, paths, log } = effects
  const userShell = childEnv['SHELL'] ?? ''
  let known: { readonly variables: Variables; readonly at: number } | undefined
  let capturing: Promise<void> | undefined

  const shell = async (): Promise<string> => (await processes.find('bash')) ?? (PLAIN_SHELL.test(userShell) ? userShell : '/bin/sh')

  const capture = async (): Promise<void> => {
    const command = LOGIN_SHELL.test(userShell) ? userShell : await shell()
    const result = await processes.run({
      command,
      args: ['-l', '-c', `printf '%s\\0' ${MARK}; env -0`],
      cwd: paths.home,
      env: childEnv,
      signal: new AbortController().signal,
      timeoutMs: CAPTURE_MS,
      captureBytes: CAPTURE_BYTES,
    })
    const captured = result.captureTruncated ? undefined : parseVariables(result.stdout)
    if (captured === undefined) log.debug('the login environment could not be captured', { shell: command, exitCode: result.exitCode })
    known = { variables: captured === undefined ? childEnv : { ...childEnv, ...allow(captured) }, at: clock.monotonic() }
  }

  const refresh = (): Promise<void> => {
    capturing ??= capture()
      .catch((error: unknown) => {
        log.debug('the login shell could not be started', { cause: String(error) })
        known = { variables: childEnv, at: clock.monotonic() }
      })
      .finally(() => {
        capturing = undefined
      })
    return capturing
  }

  return {
    shell,
    async variables() {
      if (known === undefined) await waitAtMost(clock, refresh(), WAIT_MS)
      else if (clock.monotonic() - known.at >= LIMITS.tools.shellEnvironmentAge) void refresh()
      return { ...(known?.variables ?? childEnv), ...TERMINAL }
    },
  }
}

/** Variables after the mark; what login files print stands before it. */
function parseVariables(output: string): Variables | undefined {
  const start = output.lastIndexOf(`${MARK}\0`)
  if (start < 0) return undefined
  const variables: Record<string, string> = {}
  for (const entry of output.slice(start + MARK.length + 1).split('\0')) {
    const equals = entry.indexOf('=')
    if (equals > 0) variables[entry.slice(0, equals)] = entry.slice(equals + 1)
  }
  return variables['PATH'] === undefined ? undefined : variables
}
