import { readFileSync, readdirSync } from 'node:fs'

/**
 * Whether a group that can still be signalled has a member that runs. Orphans that their new parent has not reaped yet
 * (in containers often never) keep a group visible; on Linux the process table tells them apart, elsewhere they count.
 */
export function groupRuns(group: number): boolean {
  if (process.platform !== 'linux') return true
  return readdirSync('/proc').some((name) => /^\d+$/.test(name) && runsIn(name, group))
}

/** Process groups that have a member that runs, by their session; undefined where no process table can be read. */
export function groupsBySession(): ReadonlyMap<number, readonly number[]> | undefined {
  if (process.platform !== 'linux') return undefined
  const sessions = new Map<number, number[]>()
  for (const name of readdirSync('/proc')) {
    const fields = /^\d+$/.test(name) ? fieldsOf(name) : undefined
    if (fields === undefined || !fields.runs) continue
    const groups = sessions.get(fields.session) ?? []
    if (!groups.includes(fields.group)) sessions.set(fields.session, [...groups, fields.group])
  }
  return sessions
}

function runsIn(pid: string, group: number): boolean {
  const fields = fieldsOf(pid)
  return fields !== undefined && fields.group === group && fields.runs
}

interface Fields {
  readonly group: number
  readonly session: number
  /** Neither waiting to be reaped nor dead. */
  readonly runs: boolean
}

/** Undefined when it has ended meanwhile. */
function fieldsOf(pid: string): Fields | undefined {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    return undefined
  }
  const [state, , group, session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 4)
  return { group: Number(group), session: Number(session), runs: state !== 'Z' && state !== 'X' }
}
