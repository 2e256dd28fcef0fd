import { readFileSync, readdirSync, statSync } from 'node:fs'

/** Set by the kernel among the flags of a process when it ends (PF_EXITING). */
const EXITING = 4
/** A thread of the kernel (PF_KTHREAD): nobody's program. */
const KERNEL = 0x20_0000

export interface ProcessEntry {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly session: number
  /** Clock ticks since the system started: with the id, names one process for ever. */
  readonly started: number
  /** Neither waiting to be reaped nor dead. */
  readonly runs: boolean
  /** It is on its way to its end: it may still run, and what it was started with is gone. */
  readonly ends: boolean
  /** A thread of the kernel itself, which any program may seem to have left behind. */
  readonly isKernel: boolean
}

/** Every process of somebody, by its id; undefined where no process table can be read. */
export function readProcesses(): ReadonlyMap<number, ProcessEntry> | undefined {
  if (process.platform !== 'linux') return undefined
  const entries = new Map<number, ProcessEntry>()
  for (const name of readdirSync('/proc')) {
    const entry = /^\d+$/.test(name) ? readProcess(Number(name)) : undefined
    if (entry !== undefined && !entry.isKernel) entries.set(entry.pid, entry)
  }
  return entries
}

interface Seen {
  readonly inode: string
  readonly entry: ProcessEntry
}

/**
 * As `readProcesses`, for somebody who looks again and again for what began at `since` or later: reading a process costs ten times what it costs to see
 * that it is one that was read before. What of older ones may have changed since (`parent`, `session`, whether it runs) is as it was then.
 */
export function createProcessLook(read = readProcess): (since: number) => ReadonlyMap<number, ProcessEntry> | undefined {
  let seen = new Map<number, Seen>()
  return (since) => {
    if (process.platform !== 'linux') return undefined
    const now = new Map<number, Seen>()
    for (const name of readdirSync('/proc')) {
      const pid = Number(name)
      const inode = Number.isInteger(pid) ? inodeOf(pid) : undefined
      if (inode === undefined) continue
      const before = seen.get(pid)
      const entry = before?.inode === inode && before.entry.started < since ? before.entry : read(pid)
      if (entry !== undefined) now.set(pid, { inode, entry })
    }
    seen = now
    return new Map([...now].flatMap(([pid, { entry }]) => (entry.isKernel ? [] : [[pid, entry] as const])))
  }
}

/** Of its directory: made when somebody first looks there, and gone with the process. */
function inodeOf(pid: number): string | undefined {
  try {
    const { ino, ctimeMs } = statSync(`/proc/${pid}`)
    return `${ino} ${ctimeMs}`
  } catch {
    return undefined // ended meanwhile
  }
}

/** Undefined when it has ended meanwhile, and where no process table can be read. */
export function readProcess(pid: number): ProcessEntry | undefined {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    return undefined
  }
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 20)
  const [state, parent, group, session, , , flags] = fields
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    started: Number(fields[19]),
    runs: state !== 'Z' && state !== 'X',
    ends: (Number(flags) & EXITING) !== 0,
    isKernel: (Number(flags) & KERNEL) !== 0,
  }
}

/**
 * Whether a group that can still be signalled has a member that runs. Orphans that their new parent has not reaped yet
 * (in containers often never) keep a group visible; on Linux the process table tells them apart, elsewhere they count.
 */
export function groupRuns(group: number): boolean {
  const entries = readProcesses()
  return entries === undefined || [...entries.values()].some((entry) => entry.group === group && entry.runs)
}

/** Process groups that have a member that runs, by their session; undefined where no process table can be read. */
export function groupsBySession(): ReadonlyMap<number, readonly number[]> | undefined {
  const entries = readProcesses()
  if (entries === undefined) return undefined
  const sessions = new Map<number, number[]>()
  for (const { runs, session, group } of entries.values()) {
    if (!runs) continue
    const groups = sessions.get(session) ?? []
    if (!groups.includes(group)) sessions.set(session, [...groups, group])
  }
  return sessions
}

/**
 * What the process was started with, blanks between its words, at most `length` characters; the name of its program in parentheses
 * when it shows nothing of that, '' when it has ended.
 */
export function commandOf(pid: number, length: number): string {
  try {
    const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim().slice(0, length)
    return line === '' ? `(${readFileSync(`/proc/${pid}/comm`, 'utf8').trim()})` : line
  } catch {
    return ''
  }
}

/**
 * Values of a variable in the environment the process was started with. Undefined when the system hides that of a process
 * which our user has started: its program has rights of another user (set-user-id).
 */
export function variableOf(pid: number, name: string): readonly string[] | undefined {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0')
    return environment.filter((each) => each.startsWith(`${name}=`)).map((each) => each.slice(name.length + 1))
  } catch {
    return realUserOf(pid) === process.getuid?.() ? undefined : []
  }
}

function realUserOf(pid: number): number | undefined {
  try {
    return Number(/(?<=\n)Uid:\t(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1])
  } catch {
    return undefined // ended meanwhile
  }
}
