/** Looks at a server from outside while others misbehave in it: how fast it answers, how much memory it takes. */
import { readFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Place } from './place.js'
import { descendants, mentioning, type Process, untilNone } from './processes.js'
import type { Server } from './server.js'

export interface Probe {
  /** Ends it; the times of all answers, sorted, ms. A request that was not answered 200 counts as endless. */
  stop(): Promise<readonly number[]>
}

/**
 * Asks for a path every `everyMs`, whether earlier answers have come or not. A time is what the answer took without what
 * this process or the server had to wait for a processor: others on the machine may be busy, and nobody here can help it.
 */
export function startProbe({ url, pid }: Pick<Server, 'url' | 'pid'>, path: string, everyMs: number): Probe {
  const agent = new Agent({ keepAlive: true })
  const asked: Promise<number>[] = []
  const waited = (): readonly number[] => [pid, process.pid].map(waitedForProcessor)
  const ask = async (): Promise<number> => {
    const before = waited()
    const took = await timeOf(`${url}${path}`, agent)
    const excuses = waited().map((ms, index) => ms - (before[index] ?? ms))
    return Math.max(0, took - Math.max(...excuses))
  }
  const timer = setInterval(() => asked.push(ask()), everyMs)
  return {
    async stop() {
      clearInterval(timer)
      const times = await Promise.all(asked)
      agent.destroy()
      return times.toSorted((a, b) => a - b)
    },
  }
}

/** How long the main thread of a process was ready to run and did not, in all, ms; 0 where the kernel does not tell. */
function waitedForProcessor(pid: number): number {
  try {
    const [, waited] = readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ')
    return Number(waited) / 1e6
  } catch {
    return 0
  }
}

function timeOf(url: string, agent: Agent): Promise<number> {
  const start = performance.now()
  return new Promise((resolve) => {
    get(url, { agent }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode === 200 ? performance.now() - start : Number.POSITIVE_INFINITY))
    }).on('error', () => resolve(Number.POSITIVE_INFINITY))
  })
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
export const ASKABLE = { NODE_OPTIONS: `--require ${fileURLToPath(new URL('../fixtures/memory-on-request.cjs', import.meta.url))}` }

/** What a server holds after it has freed what it can. */
export async function memoryOf({ pid, stderr }: Pick<Server, 'pid' | 'stderr'>): Promise<Memory> {
  const known = stderr().length
  process.kill(pid, 'SIGUSR2')
  for (const deadline = performance.now() + 10_000; performance.now() < deadline; await delay(20)) {
    const [, text] = /^memory (.+)$/m.exec(stderr().slice(known)) ?? []
    if (text === undefined) continue
    const { live, resident } = JSON.parse(text) as Memory
    return { live: live / MiB, resident: resident / MiB }
  }
  throw new Error('the server does not say how much memory it holds')
}

const MiB = 1024 * 1024

/** What a server runs, and what once belonged to the place it serves. */
export function household({ pid }: Pick<Server, 'pid'>, { root }: Pick<Place, 'root'>): Process[] {
  return [...descendants(pid), ...mentioning(root)]
}

/** Processes that were not there `before` and do not end in time. */
export function strangers(look: () => Process[], before: readonly Process[], withinMs: number): Promise<Process[]> {
  const known = new Set(before.map(({ pid }) => pid))
  return untilNone(() => look().filter(({ pid }) => !known.has(pid)), withinMs)
}
