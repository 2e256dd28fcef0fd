import { readFileSync, readdirSync } from 'node:fs'

/**
 * Whether a group that can still be signalled has a member that runs. Orphans that their new parent has not reaped yet
 * (in containers often never) keep a group visible; on Linux the process table tells them apart, elsewhere they count.
 */
export function groupRuns(group: number): boolean {
  if (process.platform !== 'linux') return true
  return readdirSync('/proc').some((name) => /^\d+$/.test(name) && runsIn(name, group))
}

function runsIn(pid: string, group: number): boolean {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    return false // ended meanwhile
  }
  const [state, , processGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 3)
  return Number(processGroup) === group && state !== 'Z' && state !== 'X'
}
