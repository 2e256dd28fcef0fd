/**
 * What a program has started, wherever it went: each program gets a variable of its own, a mark, which all it starts inherits.
 *
 * I1 A process is of a program's family when it carries the mark, when its session or its parent is of the family, or when one
 *    of these was so at an earlier look. It stays so when it clears its environment or its parent ends.
 * I2 A process is known by its id and its start; nothing else is ever signalled.
 *    What our user started under another's rights hides its mark: where it leads a session begun meanwhile, or one whose leader
 *    is gone, it is reported and not signalled.
 * I3 Nobody looks by the clock, only when a program ends or is stopped; one reading of the process table serves a whole turn
 *    of the event loop, and who was there before the program is read once. Where there is no process table, families are empty.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { LIMITS } from '../../../protocol/limits.js'
import type { LeftProcess } from '../../../ports/process-facts.js'
import { LAST_WAIT } from './group-signals.js'
import { commandOf, createProcessLook, type ProcessEntry, readProcess, variableOf } from './process-table.js'

/** It grants nothing: whoever knows its value can only be counted among the family. */
export const MARK = 'SVC_PROCESS_MARK'

/** Begins the own part of a mark of a terminal: it is for people. */
export const OF_TERMINAL = 't-'

export interface Family {
  /** Remembers who is of the family now: parents that end later leave no trace. */
  look(): void
  /** As `look`, for one process that is known to be of the family. */
  remember(pid: number): void
  /**
   * Ends what left the group or session of the program, TERM and then KILL, while `endOwn` ends that. Answers what still
   * runs then, because the system does not let this server end it. Bounded.
   */
  end(own: 'group' | 'session', endOwn: () => Promise<void>): Promise<readonly LeftProcess[]>
}

export interface Families {
  /** The variable a program is started with, and its family once it has an id. */
  expect(kind?: 'terminal'): { readonly variable: Readonly<Record<string, string>>; begin(pid: number): Family }
}

export interface FamiliesOptions {
  /** Gets what could not be ended. */
  readonly onLeft?: (left: LeftProcess) => void
  /** Instead of the system's. */
  readonly send?: (pid: number, signal: NodeJS.Signals) => void
  /** Marks of a process, instead of what the system shows; undefined when it hides them. */
  readonly marksOf?: (pid: number) => readonly string[] | undefined
  /** Instead of reading one from the process table. */
  readonly read?: typeof readProcess
}

const { killGrace } = LIMITS.tools
const FIRST_LOOK = 5
const COMMAND_LENGTH = 200
/** Remembered processes, before those that have ended are looked for. */
const MOST_KNOWN = 256

/** `mark` begins the marks of all families, for whoever survives this server. */
export function createFamilies(
  mark: string,
  { onLeft = ignore, send = process.kill, marksOf = visibleMarks, read = readProcess }: FamiliesOptions = {},
): Families {
  const processes = createView(marksOf, createProcessLook(read))
  return {
    expect(kind) {
      const own = `${mark}.${kind === 'terminal' ? OF_TERMINAL : ''}${randomBytes(8).toString('hex')}`
      return { variable: { [MARK]: own }, begin: (pid) => createFamily({ pid, mark: own, processes, onLeft, send }) }
    },
  }
}

interface FamilyParts extends Required<Pick<FamiliesOptions, 'onLeft' | 'send'>> {
  readonly pid: number
  readonly mark: string
  readonly processes: View
}

function createFamily({ pid, mark, processes, onLeft, send }: FamilyParts): Family {
  const started = readProcess(pid)?.started
  const known = new Map<number, number>()

  /** I1 */
  function members(): ProcessEntry[] {
    if (started === undefined) return []
    const table = processes.all(started)
    const isMember = ({ pid: id, session, parent, started: at }: ProcessEntry): boolean =>
      known.get(id) === at ||
      (id === pid && at === started) ||
      (session === pid && (table.get(pid)?.started ?? started) === started) ||
      isKnown(table.get(session)) ||
      isKnown(table.get(parent)) ||
      processes.marks(id)?.includes(mark) === true
    const isKnown = (entry: ProcessEntry | undefined) => entry !== undefined && known.get(entry.pid) === entry.started
    const entries = [...table.values()].filter((entry) => entry.started >= started && entry.pid !== process.pid)
    for (let size = -1; size < known.size; ) {
      size = known.size
      for (const entry of entries) if (isMember(entry)) known.set(entry.pid, entry.started)
    }
    for (const [id, at] of known) if (table.get(id)?.started !== at) known.delete(id)
    return entries.filter((entry) => entry.runs && known.get(entry.pid) === entry.started)
  }

  /** I2 */
  function hidden(): ProcessEntry[] {
    if (started === undefined) return []
    const table = processes.all(started)
    return [...table.values()].filter((entry) => {
      const leads = entry.session === entry.pid || !table.has(entry.session)
      const isKnown = known.get(entry.pid) === entry.started
      return entry.runs && !entry.ends && entry.started >= started && leads && !isKnown && processes.marks(entry.pid) === undefined
    })
  }

  /** False when the system does not allow it. */
  function signal({ pid: id, started: at }: ProcessEntry, name: NodeJS.Signals): boolean {
    if (readProcess(id)?.started !== at) return true // I2
    try {
      send(id, name)
      return true
    } catch (error) {
      return (error as NodeJS.ErrnoException).code !== 'EPERM'
    }
  }

  /** Looks until `isOver` says so of who is left, `withinMs` at most. */
  async function until(withinMs: number, isOver: (left: readonly ProcessEntry[]) => boolean): Promise<readonly ProcessEntry[]> {
    const deadline = performance.now() + withinMs
    for (let pause = FIRST_LOOK; ; pause *= 2) {
      const left = members()
      if (isOver(left) || performance.now() >= deadline) return left
      await delay(Math.min(pause, Math.max(1, deadline - performance.now())))
    }
  }

  return {
    look: () => void members(),
    remember(id) {
      if (known.size >= MOST_KNOWN) members()
      const entry = readProcess(id)
      if (entry !== undefined) known.set(id, entry.started)
    },
    async end(own, endOwn) {
      const hasEscaped = (entry: ProcessEntry) => entry[own] !== pid
      const escaped = members().filter(hasEscaped)
      // The last one wakes what is stopped, so that it can end.
      for (const name of ['SIGTERM', 'SIGCONT'] as const) for (const entry of escaped) signal(entry, name)
      const gone = escaped.length === 0 ? undefined : until(killGrace, (all) => !all.some(hasEscaped))
      await Promise.all([gone, endOwn()])
      // Each of them, also when another one is refused.
      const left = await until(LAST_WAIT, (all) => all.filter((entry) => signal(entry, 'SIGKILL')).length === 0)
      const stay = [...left, ...hidden().filter(({ pid: id }) => readProcess(id)?.ends === false)].filter(runsStill)
      return stay.map(({ pid: id }) => {
        const each = { pid: id, command: commandOf(id, COMMAND_LENGTH) }
        onLeft(each)
        return each
      })
    },
  }
}

/** A table is as old as its reading: much may have ended since. */
function runsStill({ pid, started }: ProcessEntry): boolean {
  const now = readProcess(pid)
  return now?.started === started && now.runs
}

interface View {
  /** Those that began at `since` or later are as they are in this turn of the event loop. */
  all(since: number): ReadonlyMap<number, ProcessEntry>
  /** Marks the process was started with; undefined when they are hidden. */
  marks(pid: number): readonly string[] | undefined
}

/** I3 */
function createView(marksOf: (pid: number) => readonly string[] | undefined, look: ReturnType<typeof createProcessLook>): View {
  let table: { readonly since: number; readonly entries: ReadonlyMap<number, ProcessEntry> } | undefined
  const marks = new Map<number, readonly string[] | undefined>()
  const forget = () => {
    table = undefined
    marks.clear()
  }
  return {
    all(since) {
      if (table !== undefined && table.since <= since) return table.entries
      if (table === undefined) setImmediate(forget)
      const entries = look(since) ?? new Map<number, ProcessEntry>()
      table = { since, entries }
      return entries
    },
    marks(pid) {
      if (!marks.has(pid)) marks.set(pid, marksOf(pid))
      return marks.get(pid)
    },
  }
}

function visibleMarks(pid: number): readonly string[] | undefined {
  return variableOf(pid, MARK)
}

function ignore(): void {}
