/** What one scan has found so far, and where in the file system it stands. */
import { cut } from '../../../kernel/cut.js'
import type { Pause } from '../../../kernel/pause.js'
import type { FileView } from './place.js'
import type { Settings } from './settings.js'
import type { ShellParser } from '../parse/syntax.js'

export interface ScanPlace {
  /** True once the time for this line is spent. */
  readonly isLate: () => boolean
  /** Lets others have their turn. */
  readonly pause: Pause
  /** Canonical directory of the session: paths below it are inside. */
  readonly session: string
  readonly home: string
  /** Names of the variables that programs of the line find in their environment. */
  readonly environment: ReadonlySet<string>
  readonly files: FileView
  readonly parser: ShellParser
}

/** One program the line would start, as its rules are matched against. */
export interface Segment {
  /** Program and arguments, quoting removed, joined by single blanks. */
  readonly text: string
  /** First word: the program. */
  readonly program: string
}

export interface Findings extends ScanPlace {
  readonly segments: Map<string, Segment>
  /** Why an explicit answer is needed. */
  readonly reasons: Set<string>
  /** Canonical paths written. */
  readonly writes: Set<string>
  /** Canonical paths read by programs known to read what they are given. */
  readonly reads: Set<string>
  /** Operands of such programs that are only known when they run, as written. */
  readonly unknownReads: Set<string>
  /** Canonical directories outside the session directory that are touched. */
  readonly outside: Set<string>
  /** What repositories name for the git commands of the line to start. */
  readonly named: Set<string>
  /** A command of git runs in a directory that is not there yet. */
  gitAhead: boolean
  /** Directories the next command may run in; usually one. */
  places: readonly string[]
  /** Directories left so far, to which the line may return. */
  visited: readonly string[]
  /** A directory change was assumed to succeed. */
  assumed: boolean
  changesDirectory: boolean
  /** Commands that run later than where they stand: functions, traps. */
  defers: boolean
  /** Something evaluates text as arithmetic, which may run substitutions in it. */
  evaluates: boolean
  /** Quoted text contains a substitution. */
  evaluable: boolean
  /** A wildcard that fits nothing leaves no word. */
  dropsWords: boolean
  /** A program whose operands mean different things is given a wildcard. */
  mayLoseWords: boolean
  /** It writes to standard output or error by the name of a file. */
  namesOutput: boolean
  /** It makes standard output or error something that was not opened for writing. */
  turnsOutput: boolean
  /** What its variables may hold. */
  readonly settings: Settings
  /** Names of those that certainly hold it here. */
  assigned: ReadonlySet<string>
  /** File system look-ups left. */
  lookups: number
  /** Nodes of the syntax tree walked so far. */
  walked: number
  /** Shell texts inside shell texts. */
  depth: number
}

/** Paths a program prints for the next one. */
export interface Found {
  readonly paths: readonly string[]
  /** Separated by NUL, so that each arrives as it is. */
  readonly whole: boolean
}

/** How the node being walked runs. */
export interface Flow {
  /** It runs exactly once, in the shell itself: a directory change before it holds after it. */
  readonly certain: boolean
  /** It may run again. */
  readonly repeats: boolean
  /** What follows runs only if it succeeds. */
  readonly gates: boolean
  /** Its standard input carries data of the line: a pipe or a here-document. */
  readonly fed: boolean
  /** It is in a function. */
  readonly called?: boolean
  /** The paths its input consists of, when a `find` before it prints them. */
  readonly found?: Found | undefined
}

export const TOP: Flow = { certain: true, repeats: false, gates: false, fed: false }

const MAX_PLACES = 16
const MAX_LOOKUPS = 1000
const MAX_VISITED = 32
const MAX_REASON = 200
const MAX_REASONS = 20

export function createFindings(place: ScanPlace, directory: string): Findings {
  return {
    ...place,
    segments: new Map(),
    reasons: new Set(),
    writes: new Set(),
    reads: new Set(),
    unknownReads: new Set(),
    outside: new Set(),
    named: new Set(),
    gitAhead: false,
    places: [directory],
    visited: [],
    assumed: false,
    changesDirectory: false,
    defers: false,
    evaluates: false,
    evaluable: false,
    dropsWords: false,
    mayLoseWords: false,
    namesOutput: false,
    turnsOutput: false,
    settings: new Map(),
    assigned: new Set(),
    lookups: MAX_LOOKUPS,
    walked: 0,
    depth: 0,
  }
}

export function addReason(findings: Findings, reason: string): void {
  if (findings.reasons.size >= MAX_REASONS) return
  findings.reasons.add(cut(reason, MAX_REASON))
}

export function addSegment(findings: Findings, words: readonly string[]): void {
  const text = words.join(' ')
  if (text !== '') findings.segments.set(text, { text, program: words[0] ?? '' })
}

/** Remembers the directories the line is about to leave. */
export function addVisited(findings: Findings): void {
  const visited = [...new Set([...findings.visited, ...findings.places])]
  if (visited.length > MAX_VISITED) addReason(findings, 'the working directory of later commands is not certain')
  findings.visited = visited.slice(0, MAX_VISITED)
}

/** Asks the file system, within the number of look-ups and the time one line may take. */
export async function lookUp<T>(findings: Findings, ask: () => Promise<T>): Promise<T | undefined> {
  findings.lookups -= 1
  if (findings.lookups >= 0 && !findings.isLate()) return ask()
  addReason(findings, 'it names too many paths')
  findings.lookups = -1
  return undefined
}

/** Adds directories the line may be in. */
export function addPlaces(findings: Findings, more: readonly string[]): void {
  const places = [...new Set([...findings.places, ...more])]
  if (places.length > MAX_PLACES) addReason(findings, 'the working directory of later commands is not certain')
  findings.places = places.slice(0, MAX_PLACES)
}
