/**
 * Programs on this machine, each in a process group of its own (threat-model §4.12). POSIX only; on Windows nothing is run.
 *
 * I1 No program runs before the reaper knows its group: it starts behind a gate that only this server opens, and a
 *    gate whose server has died ends without running anything.
 * I2 A group is gone when its `run` settles; it is listed with the reaper for at least as long.
 * I3 `run` waits neither for pipes held by strangers nor, after SIGKILL, for ever for a process that does not die.
 * I4 Standard descriptors only: the gate reads from standard input and leaves nothing open.
 */
import { statSync } from 'node:fs'
import { SvcError } from '../protocol/errors.js'
import type { ProcessResult, Processes, SpawnOptions } from './effects.js'
import { findProgram } from './node-programs.js'
import { type Child, superviseChild } from './node-process-group.js'
import { createReaper, type Reaper } from './node-reaper.js'

const GATE = 'IFS= read -r _ || exit 126; exec "$@"'
const GATE_WITHOUT_INPUT = `${GATE} </dev/null`

/**
 * Real processes; `searchPath` finds programs for `find`, and for runs whose own environment has no `PATH`. The gate is
 * a shell, so variables whose names no shell can hold do not reach the program, and it may add `PWD`.
 */
export function createNodeProcesses(searchPath: string, reaper: Reaper = createReaper()): Processes {
  const live = new Map<number, Child>()
  return {
    async run(options) {
      const command = resolveCommand(options, searchPath)
      if (options.signal.aborted) return ABORTED
      const startedAt = performance.now()
      const { subprocess, pid } = await spawnGated(command, options)
      const child = superviseChild(subprocess, pid, options)
      live.set(pid, child)
      void Promise.allSettled([child.exited, child.settled]).then(() => reaper.release(pid)) // I2
      try {
        await reaper.adopt(pid) // I1
        subprocess.stdin.end(`\n${options.stdin ?? ''}`)
        return { ...(await child.settled), durationMs: performance.now() - startedAt }
      } finally {
        child.kill()
        live.delete(pid)
      }
    },
    find: async (program) => findProgram(program, searchPath),
    get alive() {
      return live.size
    },
    killAll() {
      for (const child of live.values()) child.kill()
    },
  }
}

const ABORTED: ProcessResult = {
  exitCode: null,
  signal: null,
  timedOut: false,
  aborted: true,
  stdout: '',
  stderr: '',
  captureTruncated: false,
  durationMs: 0,
}

/** A shell in a new group that waits for a line before it becomes `command`. (In a record, because a subprocess is also a promise of its end.) */
async function spawnGated(command: string, options: SpawnOptions) {
  const { execa } = await import('execa')
  const gate = options.stdin === undefined ? GATE_WITHOUT_INPUT : GATE
  try {
    const subprocess = execa('/bin/sh', ['-c', gate, 'svc-gate', command, ...options.args], {
      detached: true,
      cleanup: false,
      reject: false,
      buffer: false,
      cwd: options.cwd,
      extendEnv: false,
      env: options.env,
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const { pid } = subprocess
    if (pid === undefined) throw (await subprocess).cause
    return { subprocess, pid }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new SvcError('request.unprocessable', `The program "${command}" could not be started: ${reason}`, { program: command }, { cause })
  }
}

function resolveCommand(options: SpawnOptions, searchPath: string): string {
  if (process.platform === 'win32') throw new SvcError('feature.not_implemented', 'Programs are not run on Windows.')
  const { command, cwd } = options
  const program = findProgram(command, options.env['PATH'] ?? searchPath)
  if (program === undefined) {
    throw new SvcError('request.unprocessable', `The program "${command}" was not found or is not executable.`, { program: command })
  }
  if (!isDirectory(cwd)) throw new SvcError('request.unprocessable', `The working directory "${cwd}" does not exist.`, { cwd })
  return program
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
