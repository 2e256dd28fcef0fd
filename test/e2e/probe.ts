/** Looks at a server from outside while others misbehave in it: how fast it answers, how much memory it takes. */
import { readFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { Place } from './place.js'
import { descendants, mentioning, type Process, untilNone } from './processes.js'
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

/** What a server runs, and what once belonged to the place it serves. */
export function household({ pid }: Pick<Server, 'pid'>, { root }: Pick<Place, 'root'>): Process[] {
  return [...descendants(pid), ...mentioning(root)]
}

/** Processes that were not there `before` and do not end in time. */
export function strangers(look: () => Process[], before: readonly Process[], withinMs: number): Promise<Process[]> {
  const known = new Set(before.map(({ pid }) => pid))
  return untilNone(() => look().filter(({ pid }) => !known.has(pid)), withinMs)
}
