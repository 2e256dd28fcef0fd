import type { PipeOptions, ProcessResult, Processes, SpawnOptions } from '../ports/effects.js'
import { createPlayedChild, type PlayedChild } from './child.js'

type Answer = Partial<ProcessResult>
type Script = (options: SpawnOptions) => Answer | Promise<Answer> | undefined
type PipeScript = (options: PipeOptions) => ((child: PlayedChild) => void) | undefined

export interface FakeProcesses extends Processes {
  /** Every `run` so far. */
  readonly calls: readonly SpawnOptions[]
  /** What `find` knows: program name to absolute path. */
  readonly programs: Map<string, string>
  /** Adds a script; the newest one that does not answer undefined plays the process. Unset fields are those of a silent success. */
  script(play: Script): void
  /** Every child `open` has started so far. */
  readonly children: readonly PlayedChild[]
  /** Adds a script for `open`; the newest one that does not answer undefined gets the child. A throw is a program that cannot be started. */
  pipe(play: PipeScript): void
}

const SUCCESS: ProcessResult = {
  exitCode: 0,
  signal: null,
  timedOut: false,
  aborted: false,
  stdout: '',
  stderr: '',
  captureTruncated: false,
  left: [],
  durationMs: 1,
}

const FIRST_PID = 1000

function ignore(): void {}

/** Processes that are played by scripts; a run without a script rejects. Aborting a run settles it as aborted. */
export function createFakeProcesses(): FakeProcesses {
  const calls: SpawnOptions[] = []
  const programs = new Map<string, string>()
  const scripts: Script[] = []
  const pipeScripts: PipeScript[] = []
  const children: PlayedChild[] = []
  const killers = new Set<() => void>()

  const play = (options: SpawnOptions): Answer | Promise<Answer> => {
    for (const script of scripts.toReversed()) {
      const answer = script(options)
      if (answer !== undefined) return answer
    }
    throw new Error(`no script for: ${[options.command, ...options.args].join(' ')}`)
  }

  const playChild = (options: PipeOptions): ((child: PlayedChild) => void) => {
    for (const script of pipeScripts.toReversed()) {
      const start = script(options)
      if (start !== undefined) return start
    }
    throw new Error(`no pipe script for: ${[options.command, ...options.args].join(' ')}`)
  }

  return {
    calls,
    children,
    programs,
    script: (script) => {
      scripts.push(script)
    },
    pipe: (script) => {
      pipeScripts.push(script)
    },
    async open(options) {
      const start = playChild(options)
      const { child, pipe } = createPlayedChild(FIRST_PID + children.length, options)
      children.push(child)
      killers.add(pipe.kill)
      void pipe.gone.then(() => killers.delete(pipe.kill))
      queueMicrotask(() => start(child))
      return pipe
    },
    hasStarted: () => false,
    holdsConnection: async () => false,
    find: async (program) => programs.get(program),
    get alive() {
      return killers.size
    },
    killAll: async () => {
      for (const kill of killers) kill()
    },
    async run(options) {
      calls.push(options)
      let end: (answer: Answer) => void = ignore
      const ended = new Promise<Answer>((resolve) => {
        end = resolve
      })
      const onAbort = () => end({ exitCode: null, signal: 'SIGTERM', aborted: true })
      const kill = () => end({ exitCode: null, signal: 'SIGKILL' })
      if (options.signal.aborted) return { ...SUCCESS, exitCode: null, aborted: true, durationMs: 0 }
      options.signal.addEventListener('abort', onAbort, { once: true })
      killers.add(kill)
      try {
        const result = { ...SUCCESS, ...(await Promise.race([play(options), ended])) }
        if (result.stdout !== '') options.onStdout?.(result.stdout)
        if (result.stderr !== '') options.onStderr?.(result.stderr)
        return result
      } finally {
        killers.delete(kill)
        options.signal.removeEventListener('abort', onAbort)
      }
    },
  }
}
