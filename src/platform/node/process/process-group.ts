/**
 * One child and its process group, from spawn until the group is gone.
 *
 * I1 Its output is read until the end even when nobody keeps it, so the child never blocks on a full pipe.
 * I2 After the child's exit, pipes held by what it left behind are waited for `pipeGrace` at most, then its family ends.
 * I3 Every wait is bounded: TERM, `killGrace`, KILL, `lastWait`; then it settles whatever the kernel says.
 */
import type { Readable, Writable } from 'node:stream'
import { nextTurn } from '../../../kernel/pause.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { ProcessResult, SpawnOptions } from '../../../ports/effects.js'
import type { Family } from './program-families.js'
import { type Capture, createCapture } from './capture.js'
import { endGroup, LAST_WAIT, settlesWithin, signalGroup } from './group-signals.js'

export interface ChildHandle {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  once(event: 'exit', listener: (code: number | null, signal: string | null) => void): unknown
}

export interface Child {
  /** The child itself has ended. */
  readonly exited: Promise<unknown>
  /** The family is gone. Rejects only with what a listener of the output threw. */
  readonly settled: Promise<Omit<ProcessResult, 'durationMs'>>
  /** SIGKILL to the whole group, now; nothing once it has settled. */
  kill(): void
}

const { killGrace, pipeGrace } = LIMITS.tools
const LONGEST_TIMER = 2 ** 31 - 1

interface Exit {
  readonly code: number | null
  readonly signal: string | null
}

export function superviseChild(child: ChildHandle, pid: number, { family, ...options }: SpawnOptions & { readonly family: Family }): Child {
  const { signal } = options
  let stopped: 'aborted' | 'timedOut' | 'failed' | undefined
  let failure: Error | undefined
  let gone = false
  let giveUp = ignore
  const timers = new Set<NodeJS.Timeout>()

  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, name) => resolve({ code, signal: name }))
  })
  const abandoned = new Promise<Exit>((resolve) => {
    giveUp = () => resolve({ code: null, signal: 'SIGKILL' })
  })
  const after = (ms: number, run: () => void) => timers.add(setTimeout(run, Math.min(ms, LONGEST_TIMER)))

  const stop = (reason: NonNullable<typeof stopped>) => {
    if (stopped !== undefined) return
    stopped = reason
    family.look()
    signalGroup(pid, 'SIGTERM')
    after(killGrace, () => signalGroup(pid, 'SIGKILL'))
    after(killGrace + LAST_WAIT, giveUp) // I3
  }
  const guarded = (listener?: (text: string) => void) =>
    listener &&
    ((text: string) => {
      if (failure !== undefined) return
      try {
        listener(text)
      } catch (error) {
        failure = error instanceof Error ? error : new Error(String(error))
        stop('failed')
      }
    })
  const onAbort = () => stop('aborted')

  const stdout = createCapture(options.captureBytes, guarded(options.onStdout))
  const stderr = createCapture(options.captureBytes, guarded(options.onStderr))
  const drained = Promise.all([drain(child.stdout, stdout), drain(child.stderr, stderr)])
  child.stdin.on('error', ignore) // a child may end without reading its input
  signal.addEventListener('abort', onAbort, { once: true })
  after(options.timeoutMs, () => stop('timedOut'))
  if (signal.aborted) onAbort()

  const settle = async () => {
    const exit = await Promise.race([exited, abandoned])
    signal.removeEventListener('abort', onAbort)
    for (const timer of timers) clearTimeout(timer)
    if (!(await settlesWithin(drained, pipeGrace))) await nextTurn() // a busy event loop may not have read what is there
    const left = await family.end('group', () => endGroup(pid)) // I2
    gone = true
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
    for (const capture of [stdout, stderr]) capture.end()
    if (failure !== undefined) throw failure
    return {
      exitCode: exit.code,
      signal: exit.signal,
      timedOut: stopped === 'timedOut',
      aborted: stopped === 'aborted',
      stdout: stdout.text(),
      stderr: stderr.text(),
      captureTruncated: stdout.truncated || stderr.truncated,
      left,
    }
  }

  return {
    exited,
    settled: settle(),
    kill: () => {
      if (gone) return
      family.look()
      signalGroup(pid, 'SIGKILL')
    },
  }
}

async function drain(stream: Readable, capture: Capture): Promise<void> {
  stream.on('data', (chunk: Buffer) => capture.push(chunk)) // I1
  stream.on('error', ignore)
  await new Promise((resolve) => stream.once('close', resolve))
}

function ignore(): void {}
