/**
 * A long-lived child that talks over its standard streams, and its family, until that is gone.
 *
 * I1 Input that the child does not read is bounded by `inputBacklog`; output is read only while nobody paused it.
 * I2 `ended` comes after every byte that was delivered. Pipes held by what the child left behind are waited for
 *    `pipeGrace` at most, and from the child's end on a pause holds nothing back but what exceeds `LAST_OUTPUT`.
 * I3 Then the rest of the family ends. Every wait after the child's end or a `kill` is bounded.
 * I4 A listener that throws ends the child; nothing reaches the caller of the stream.
 */
import { readFileSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { nextTurn } from '../../../kernel/pause.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { ChildPipe, PipeOptions } from '../../../ports/effects.js'
import type { Family } from './program-families.js'
import { endGroup, LAST_WAIT, settlesWithin, signalGroup } from './group-signals.js'
import { createSandboxSignals } from './sandbox-signals.js'
import type { ChildHandle } from './process-group.js'

/** Processes below a child whose memory is looked at. */
const FOLLOWED = 64
const { pipeGrace } = LIMITS.tools
/** More than the pipes of a child hold when it ends. */
const LAST_OUTPUT = 1024 * 1024

type Ending = Awaited<ChildPipe['ended']>

/** `exited` is the end of the child itself, which may come after `gone` when the kernel takes its time. */
export function superviseChildPipe(
  child: ChildHandle,
  pid: number,
  { family, ...options }: PipeOptions & { readonly family: Family },
): { readonly exited: Promise<unknown>; readonly pipe: ChildPipe } {
  const { stdin, stdout, stderr } = child
  const outputs = [stdout, stderr]
  let paused = false
  let delivering = true
  let lastOutput: number | undefined
  let gone = false
  let giveUp = ignore
  let lastWait: NodeJS.Timeout | undefined

  const sandbox = options.isSandbox === true ? createSandboxSignals(pid) : undefined
  const exited = new Promise<Ending>((resolve) => {
    child.once('exit', (exitCode, signal) => resolve(sandbox?.ending({ exitCode, signal }) ?? { exitCode, signal }))
  })
  const abandoned = new Promise<Ending>((resolve) => {
    giveUp = () => resolve({ exitCode: null, signal: 'SIGKILL' })
  })
  const kill = () => {
    if (gone) return
    family.look()
    signalGroup(pid, 'SIGKILL')
    lastWait ??= setTimeout(giveUp, LAST_WAIT) // I3
  }
  const deliverTo = (listener: (chunk: Uint8Array) => void) => (chunk: Uint8Array) => {
    if (!delivering) return
    if (lastOutput !== undefined && paused) {
      lastOutput += chunk.length
      if (lastOutput > LAST_OUTPUT) return
    }
    try {
      listener(chunk)
    } catch {
      delivering = false // I4
      kill()
    }
  }

  stdin.on('error', ignore) // a child may end without reading its input
  const closed = closing(stdout, deliverTo(options.onStdout))
  const drained = Promise.all([closed, closing(stderr, deliverTo(options.onStderr))])

  const silent = async (): Promise<Ending> => {
    await closed
    return (await settlesWithin(exited, pipeGrace)) ? exited : { exitCode: null, signal: null }
  }
  const end = async (): Promise<Ending> => {
    const ending = await Promise.race([exited, silent(), abandoned])
    lastOutput = 0
    for (const output of outputs) output.resume()
    if (!(await settlesWithin(drained, pipeGrace))) await nextTurn() // a busy event loop may not have read what is there
    delivering = false
    return ending
  }
  const ended = end()
  const finish = async () => {
    await ended
    clearTimeout(lastWait)
    await family.end('group', () => endGroup(pid))
    gone = true
    for (const stream of [stdin, ...outputs]) stream.destroy()
  }

  const pipe: ChildPipe = {
    pid,
    write(data) {
      const bytes = typeof data === 'string' ? Buffer.from(data) : data
      if (!stdin.writable || stdin.writableLength + bytes.length > options.inputBacklog) return false // I1
      stdin.write(bytes)
      return true
    },
    get waiting() {
      return stdin.writableLength
    },
    closeInput: () => void stdin.end(),
    pause() {
      paused = true
      if (lastOutput === undefined) for (const output of outputs) output.pause()
    },
    resume() {
      paused = false
      for (const output of outputs) output.resume()
    },
    ended,
    gone: finish(),
    signal: (name) => !gone && (sandbox?.signal(name) ?? signalGroup(pid, name)),
    kill,
    residentBytes: () => (gone ? undefined : residentBytes(pid, family)),
  }
  return { exited, pipe }
}

async function closing(stream: Readable, deliver: (chunk: Uint8Array) => void): Promise<void> {
  stream.on('data', deliver)
  stream.on('error', ignore)
  await new Promise((resolve) => stream.once('close', resolve))
}

/** A sandbox is a process around the program, so the tree counts. From the process table, which Linux alone offers as files. */
function residentBytes(pid: number, family: Family): number | undefined {
  if (process.platform !== 'linux') return undefined
  const own = ownResidentBytes(pid)
  if (own === undefined) return undefined
  let total = own
  const open = childrenOf(pid)
  for (let seen = 0; open.length > 0 && seen < FOLLOWED; seen++) {
    const child = open.shift() ?? 0
    family.remember(child)
    total += ownResidentBytes(child) ?? 0
    open.push(...childrenOf(child))
  }
  return total
}

function ownResidentBytes(pid: number): number | undefined {
  try {
    const [, kilobytes] = /(?<=\n)VmRSS:\s*(\d+) kB\n/.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? []
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024
  } catch {
    return undefined // ended meanwhile
  }
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}

function ignore(): void {}
