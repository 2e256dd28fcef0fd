/** Processes of this machine, by what cannot be mistaken for another: the number, and when it was started. */
import { readFileSync } from 'node:fs'

export interface ProcessId {
  readonly pid: number
  readonly startedAt: string
}

/** Undefined when it is gone, or is only waited for. */
export function identify(pid: number): ProcessId | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : { pid, startedAt: fields[19] ?? '' }
  } catch {
    return undefined
  }
}

export const isAlive = ({ pid, startedAt }: ProcessId): boolean => identify(pid)?.startedAt === startedAt

export function childrenOf(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim().split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It is gone.
  }
}
