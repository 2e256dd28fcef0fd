/** Which processes run on this machine, read from /proc. */
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { PATIENCE, patience } from '../../fakes/patience.js'

export interface Process {
  readonly pid: number
  readonly parent: number
  readonly group: number
  /** Clock ticks since boot: with the id, names one process for ever. */
  readonly started: string
  readonly command: string
}

/** Every process that has not ended (zombies have). */
export function processes(): Process[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    const known = readProcess(Number(name))
    return known === undefined ? [] : [known]
  })
}

function readProcess(pid: number): Process | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const [state, parent, group, ...rest] = line.slice(line.lastIndexOf(')') + 2).split(' ')
    if (state === 'Z' || state === 'X') return undefined
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
    return { pid, parent: Number(parent), group: Number(group), started: rest[16] ?? '', command }
  } catch {
    return undefined
  }
}

/** Children, grandchildren and so on. */
export function descendants(pid: number): Process[] {
  const all = processes()
  const found = all.filter(({ parent }) => parent === pid)
  for (const process of found) found.push(...all.filter(({ parent }) => parent === process.pid))
  return found
}

export function isRunning({ pid, started }: Process): boolean {
  return readProcess(pid)?.started === started
}

/** Processes whose command line or environment mentions `text`, which only this test knows. */
export function mentioning(text: string): Process[] {
  return processes().filter(({ pid, command }) => {
    if (command.includes(text)) return true
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(text)
    } catch {
      return false
    }
  })
}

/** Looks (the kernel tells nobody) until nothing is left, and most of the time does not look; answers what is left at the deadline. */
export async function untilNone(look: () => Process[], withinMs = PATIENCE): Promise<Process[]> {
  const waiting = patience(withinMs)
  for (;;) {
    const begun = performance.now()
    const left = look()
    if (left.length === 0 || waiting.isOver()) return left
    await delay(Math.max(5, 4 * (performance.now() - begun)))
  }
}
