/** Looks at a server from outside while others misbehave in it: how fast it answers, how much memory it takes. */
import { readFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { descendants, type Process, untilNone } from './processes.js'
import type { Server } from './server.js'

export interface Probe {
  /** Ends it; the times of all answers, sorted, ms. A request that was not answered 200 counts as endless. */
  stop(): Promise<readonly number[]>
}

/** Asks for a path every `everyMs`, whether earlier answers have come or not. */
export function startProbe({ url }: Pick<Server, 'url'>, path: string, everyMs: number): Probe {
  const agent = new Agent({ keepAlive: true })
  const asked: Promise<number>[] = []
  const timer = setInterval(() => asked.push(timeOf(`${url}${path}`, agent)), everyMs)
  return {
    async stop() {
      clearInterval(timer)
      const times = await Promise.all(asked)
      agent.destroy()
      return times.toSorted((a, b) => a - b)
    },
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

/** The smallest size seen within a time: memory is given back late, and nobody says when. */
export async function settledMiB(server: Pick<Server, 'pid'>, atMost: number, withinMs: number): Promise<number> {
  let least = residentMiB(server)
  for (const deadline = performance.now() + withinMs; least > atMost && performance.now() < deadline; await delay(100))
    least = Math.min(least, residentMiB(server))
  return least
}

/** Children of the server that are not `kept` and do not end in time. */
export function strangers({ pid }: Pick<Server, 'pid'>, kept: readonly number[], withinMs: number): Promise<Process[]> {
  return untilNone(() => descendants(pid).filter((process) => !kept.includes(process.pid)), withinMs)
}
