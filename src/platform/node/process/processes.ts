/**
 * Programs on this machine, each in a process group of its own (threat-model §4.12). POSIX only; on Windows nothing is run.
 *
 * I1 No program runs before the reaper knows its group: it starts behind a gate that only this server opens, and a
 *    gate whose server has died ends without running anything.
 * I2 A group, and what left it, is gone when its `run` or its `gone` settles; it is listed with the reaper for at least as long.
 * I3 `run` waits neither for pipes held by strangers nor, after SIGKILL, for ever for a process that does not die.
 * I4 Standard descriptors only: the gate reads from standard input and leaves nothing open.
 * I5 Names are held from before a program starts until it and its family are gone (`files/placeholders.ts`).
 * I6 Starting a process blocks the event loop for milliseconds: of those that `open` starts each has a turn of its own, of those that `run` does a few.
 */
import { nextTurn } from '../../../kernel/pause.js'
import type { PipeOptions, ProcessResult, Processes, SpawnOptions } from '../../../ports/effects.js'
import { createFamilies, type Families } from './program-families.js'
import { createAgentPrograms } from './agent-programs.js'
import { createPlaceholders } from '../files/placeholders.js'
import { resolveCommand, spawnGated } from './start-gate.js'
import { superviseChildPipe } from './pipes.js'
import { findProgram } from './programs-on-path.js'
import { superviseChild } from './process-group.js'
import { createReaper, type Reaper } from './reaper.js'

/**
 * Real processes; `searchPath` finds programs for `find`, and for runs whose own environment has no `PATH`. The gate is
 * a shell, so variables whose names no shell can hold do not reach the program, and it may add `PWD`.
 */
export function createNodeProcesses(
  searchPath: string,
  reaper: Reaper = createReaper(),
  families: Families = createFamilies(reaper.mark),
): Processes {
  const placeholders = createPlaceholders(reaper)
  const agentPrograms = createAgentPrograms(reaper.mark)
  const live = new Map<number, { kill(): void; readonly gone: Promise<unknown> }>()
  let lastTurn: Promise<unknown> = Promise.resolve()
  let begun = 0
  const turn = (atOnce: number): Promise<unknown> => {
    const mine = lastTurn
    begun += 1
    if (begun < atOnce) return mine
    begun = 0
    lastTurn = mine.then(nextTurn)
    return mine
  }
  /** Its variable comes last: what a program is given cannot hide it. */
  const start = async (command: string, program: SpawnOptions | PipeOptions, input: boolean) => {
    await turn('captureBytes' in program ? RUN_AT_ONCE : 1) // I6
    const { variable, begin } = families.expect()
    const started = await spawnGated(command, { ...program, env: { ...program.env, ...variable } }, input)
    return { ...started, family: begin(started.pid) }
  }
  return {
    async run(options) {
      const command = resolveCommand(options, searchPath)
      if (options.signal.aborted) return ABORTED
      const startedAt = performance.now()
      const letGo = await placeholders.hold(options.holds ?? []) // I5
      const { subprocess, pid, family } = await start(command, options, options.stdin !== undefined).catch(after(letGo))
      const child = superviseChild(subprocess, pid, { ...options, family })
      live.set(pid, { kill: child.kill, gone: child.settled.catch(ignore) })
      void Promise.allSettled([child.exited, child.settled]).then(() => reaper.release(pid)) // I2
      try {
        await reaper.adopt(pid) // I1
        options.onStart?.(pid)
        subprocess.stdin.end(`\n${options.stdin ?? ''}`)
        return { ...(await child.settled), durationMs: performance.now() - startedAt }
      } finally {
        child.kill()
        live.delete(pid)
        await letGo()
      }
    },
    async open(options) {
      const command = resolveCommand(options, searchPath)
      const letGo = await placeholders.hold(options.holds ?? []) // I5
      const { subprocess, pid, family } = await start(command, options, true).catch(after(letGo))
      const { exited, pipe } = superviseChildPipe(subprocess, pid, { ...options, family })
      live.set(pid, pipe)
      void pipe.gone.then(() => live.delete(pid))
      void pipe.gone.then(letGo).catch(ignore)
      void Promise.all([exited, pipe.gone]).then(() => reaper.release(pid)) // I2
      try {
        await reaper.adopt(pid) // I1
      } catch (error) {
        pipe.kill()
        throw error
      }
      subprocess.stdin.write('\n')
      return pipe
    },
    hasStarted: (pid) => agentPrograms.has(pid),
    holdsConnection: (peer) => agentPrograms.holds(peer),
    find: async (program) => findProgram(program, searchPath),
    get alive() {
      return live.size
    },
    async killAll() {
      const children = [...live.values()]
      for (const child of children) child.kill()
      await Promise.all(children.map(async ({ gone }) => gone))
    },
  }
}

/** Programs that run to their end and begin in one turn. */
const RUN_AT_ONCE = 4

const ABORTED: ProcessResult = {
  exitCode: null,
  signal: null,
  timedOut: false,
  aborted: true,
  stdout: '',
  stderr: '',
  captureTruncated: false,
  left: [],
  durationMs: 0,
}

/** Lets go before the error goes on. */
function after(letGo: () => Promise<void>) {
  return async (error: unknown): Promise<never> => {
    await letGo()
    throw error
  }
}

function ignore(): void {}
