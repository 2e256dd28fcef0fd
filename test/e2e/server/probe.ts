/** Looks at a server from outside while others misbehave in it: how fast it answers, how much memory it takes. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Place } from './place.js'
import { descendants, mentioning, type Process, untilNone } from './processes.js'
import type { Server } from './server.js'
import { PATIENCE } from '../../fakes/patience.js'

export interface Probe {
  /** Ends it; the times of all answers, sorted, ms. A request that was not answered 200 counts as endless. */
  stop(): Promise<readonly number[]>
}

/**
 * Asks for a path every `everyMs` from a process of its own, whether earlier answers have come or not; resolves with the first answer. A time is what the answer took
 * without what that process or the server, and the process `behind` it that answers, had to wait for a processor: others on the machine may be
 * busy, and nobody here can help it.
 */
export async function startProbe(
  { url, pid }: Pick<Server, 'url' | 'pid'>,
  path: string,
  everyMs: number,
  behind?: number,
): Promise<Probe> {
  const asker = idle.pop() ?? startAsker()
  asker.say(JSON.stringify({ url: `${url}${path}`, pid, behind, everyMs }))
  if ((await asker.next()) !== 'asking') throw new Error('the probe did not start')
  return {
    async stop() {
      asker.say('stop')
      const times = (await asker.next()).split(' ').map(Number)
      idle.push(asker)
      return times.toSorted((a, b) => a - b)
    },
  }
}

interface Asker {
  say(line: string): void
  next(): Promise<string>
}

/** Wait to be asked again; they end with the process of the tests, which does not wait for them. */
const idle: Asker[] = []

function startAsker(): Asker {
  const child = spawn(process.execPath, [fileURLToPath(new URL('../../fixtures/health-probe.mjs', import.meta.url))], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.unref()
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return { say: (line) => void child.stdin.write(`${line}\n`), next: async () => String((await lines.next()).value) }
}

/** The value below which `share` of the sorted values lie. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export function residentMiB({ pid }: Pick<Server, 'pid'>): number {
  const line = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))
  return Number(line?.[1]) / 1024
}

export interface Memory {
  /** MiB of objects and buffers that are reachable. */
  readonly live: number
  /** MiB of the process. */
  readonly resident: number
}

/** Environment of a server that `memoryOf` may ask. */
export const ASKABLE = preloaded('memory-on-request.cjs')
/** Environment of a server that `longestStall` may ask. */
export const TIMED = preloaded('stalls-on-request.cjs')
/** Environment of a server that `loadedBy` may ask. */
export const LISTED = preloaded('loaded-on-request.cjs')

function preloaded(fixture: string): { readonly NODE_OPTIONS: string } {
  return { NODE_OPTIONS: `--require ${fileURLToPath(new URL(`../../fixtures/${fixture}`, import.meta.url))}` }
}

/** What a server holds after it has freed what it can. */
export async function memoryOf(server: Pick<Server, 'pid' | 'stderr'>): Promise<Memory> {
  const { live, resident } = JSON.parse(await answerOf(server, 'memory')) as Memory
  return { live: live / MiB, resident: resident / MiB }
}

/** Processor time, ms, that the main thread of a server took at most in one turn of its event loop since it was last asked. */
export async function longestStall(server: Pick<Server, 'pid' | 'stderr'>): Promise<number> {
  return Number(await answerOf(server, 'stall'))
}

/** Modules of Node that a server has loaded. */
export async function loadedBy(server: Pick<Server, 'pid' | 'stderr'>): Promise<readonly string[]> {
  const entries = JSON.parse(await answerOf(server, 'loaded')) as string[]
  return entries.flatMap((entry) => (entry.startsWith('NativeModule ') ? [entry.slice('NativeModule '.length)] : []))
}

/** What a preloaded server says on standard error when it is asked. */
async function answerOf({ pid, stderr }: Pick<Server, 'pid' | 'stderr'>, what: string): Promise<string> {
  const known = stderr().length
  process.kill(pid, 'SIGUSR2')
  for (const deadline = performance.now() + PATIENCE; performance.now() < deadline; await delay(20)) {
    const [, text] = new RegExp(`^${what} (.+)\\n`, 'm').exec(stderr().slice(known)) ?? []
    if (text !== undefined) return text
  }
  throw new Error(`the server does not answer what is asked of it: ${what}`)
}

const MiB = 1024 * 1024

/** What a server runs, and what once belonged to the place it serves. */
export function household({ pid }: Pick<Server, 'pid'>, { root }: Pick<Place, 'root'>): Process[] {
  return [...descendants(pid), ...mentioning(root)]
}

/** Processes that were not there `before` and do not end in time. */
export function strangers(look: () => Process[], before: readonly Process[]): Promise<Process[]> {
  const known = new Set(before.map(({ pid }) => pid))
  return untilNone(() => look().filter(({ pid }) => !known.has(pid)))
}
