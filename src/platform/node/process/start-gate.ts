/** How a program starts: a shell in a process group of its own waits for one line of input, then becomes the program. */
import { statSync } from 'node:fs'
import { SvcError } from '../../../protocol/errors.js'
import { findProgram } from './programs-on-path.js'
import { messageOf } from '../../../protocol/message-of.js'

/** Waits for a line of input, then becomes the program given by its arguments. */
export const GATE = 'IFS= read -r _ || exit 126; exec "$@"'
const GATE_WITHOUT_INPUT = `${GATE} </dev/null`

interface Program {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/** Absolute path of the program, which exists and may be executed; rejects for a working directory that is none. */
export function resolveCommand({ command, cwd, env }: Program, searchPath: string): string {
  if (process.platform === 'win32') throw new SvcError('feature.not_implemented', 'Programs are not run on Windows.')
  const program = findProgram(command, env['PATH'] ?? searchPath)
  if (program === undefined) {
    throw new SvcError('request.unprocessable', `The program "${command}" was not found or is not executable.`, { program: command })
  }
  if (!isDirectory(cwd)) throw new SvcError('request.unprocessable', `The working directory "${cwd}" does not exist.`, { cwd })
  return program
}

/**
 * A shell in a new group that waits for a line before it becomes `command`. With `input`, what follows the line is the
 * program's: the shell takes no byte beyond it. (In a record, because a subprocess is also a promise of its end.)
 */
export async function spawnGated(command: string, program: Program, input: boolean) {
  const { execa } = await import('execa')
  const gate = input ? GATE : GATE_WITHOUT_INPUT
  try {
    const subprocess = execa('/bin/sh', ['-c', gate, 'svc-gate', command, ...program.args], {
      detached: true,
      cleanup: false,
      reject: false,
      buffer: false,
      cwd: program.cwd,
      extendEnv: false,
      env: program.env,
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const { pid } = subprocess
    if (pid === undefined) throw (await subprocess).cause
    return { subprocess, pid }
  } catch (cause) {
    const reason = messageOf(cause)
    throw new SvcError('request.unprocessable', `The program "${command}" could not be started: ${reason}`, { program: command }, { cause })
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
