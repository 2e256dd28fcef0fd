/** `svc usage`: what conversations took, read from the database of this state directory, with or without a server. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { nodePaths } from '../../../platform/node/paths.js'
import { printable } from '../../../protocol/text/visible-text.js'
import type { Spent } from '../../../store/disk/spending.js'
import { jsonText, writeOut } from '../../terminal/output.js'
import { columns } from '../plugin/plugin-words.js'
import type { UsageOptions } from './usage-page.js'

type Sum = Omit<Spent, 'day' | 'providerId' | 'modelId' | 'directory'>

const KEYS = {
  day: ({ day }: Spent) => day,
  model: ({ providerId, modelId }: Spent) => `${providerId}/${modelId}`,
  project: ({ directory }: Spent) => directory,
} as const
const NOTHING: Sum = { answers: 0, input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, cost: 0 }

/** Prints a table for each way to look at it; answers 0. */
export async function usage({ by, days, disk, json }: UsageOptions): Promise<number> {
  if (disk) return (await import('./disk-usage.js')).diskUsage(json)
  const path = join(nodePaths(process.env).state, 'agent.sqlite3')
  const spent = existsSync(path) ? (await import('../../../store/disk/spending.js')).readSpending(path, firstMoment(days)) : []
  if (json) writeOut(`${jsonText(spent, 2)}\n`)
  else if (spent.length === 0) writeOut(`nothing was used in the last ${days === 1 ? 'day' : `${days} days`}\n`)
  else {
    const ways = by === undefined ? (['day', 'model', 'project'] as const) : [by]
    writeOut(ways.map((way) => tableOf(way, spent)).join('\n'))
  }
  return 0
}

/** Of the first of so many days that end with today, in the zone of this machine. */
function firstMoment(days: number): number {
  const now = new Date()
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() - days + 1).getTime()
}

function tableOf(way: keyof typeof KEYS, spent: readonly Spent[]): string {
  const sums = new Map<string, Sum>()
  for (const each of spent) sums.set(KEYS[way](each), plus(sums.get(KEYS[way](each)) ?? NOTHING, each))
  const rows = [...sums].map(([key, sum]) => rowOf(key, sum))
  const total = sums.size > 1 ? [rowOf('all', spent.reduce<Sum>(plus, NOTHING))] : []
  return columns([['INPUT', 'CACHED', 'OUTPUT', 'COST', 'ANSWERS', way.toUpperCase()], ...rows, ...total])
}

function plus(a: Sum, b: Sum): Sum {
  return {
    answers: a.answers + b.answers,
    input: a.input + b.input,
    output: a.output + b.output,
    reasoning: a.reasoning + b.reasoning,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    cost: a.cost + b.cost,
  }
}

function rowOf(key: string, { input, output, reasoning, cacheRead, cost, answers }: Sum): string[] {
  const money = cost === 0 ? '-' : `$${cost.toFixed(cost < 1 ? 4 : 2)}`
  return [input, cacheRead, output + reasoning, money, answers, printable(key)].map(String)
}
