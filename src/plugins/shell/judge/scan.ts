/**
 * Finds what a shell command line would do, without running anything: every program it would start, the
 * files it writes, the directories outside the session it touches, and why it may need an explicit answer
 * (sessions-events §8.8; threat-model G1, G2). What is not understood is a reason, never ignored.
 */
import { addReason, createFindings, type Findings, type Flow, type ScanPlace, type Segment, TOP } from '../words/findings.js'
import { checkUnpacked } from '../programs/git-places.js'
import { checkDescriptors } from '../words/descriptors.js'
import { findDisagreement, refuseCharacters } from '../parse/integrity.js'
import { collectSettings } from '../words/settings.js'
import { createShellParser, LONG, type ShellGrammar } from '../parse/syntax.js'
import { createPause } from '../../../kernel/pause.js'
import { walk } from './walk.js'

export interface ShellScan {
  /** Programs in order of appearance, each text once. Empty when the line only changes directories or sets variables. */
  readonly segments: readonly Segment[]
  /** Canonical absolute paths the line writes by redirection or by a known file command. */
  readonly writes: readonly string[]
  /** Canonical absolute paths it reads by redirection or by a program known to read what it is given. */
  readonly reads: readonly string[]
  /** Operands of such programs that are only known when they run, as written. */
  readonly unknownReads: readonly string[]
  /** What repositories name for the git commands of the line to start. */
  readonly named: readonly string[]
  /** Patterns `<directory>/*` of places outside the session directory. */
  readonly outside: readonly string[]
  /** Why an explicit answer is needed; empty when the line is understood. */
  readonly reasons: readonly string[]
}

interface ScanContext extends Omit<ScanPlace, 'parser' | 'session' | 'isLate' | 'pause'> {
  /** Canonical directory of the session. */
  readonly session: string
  /** Canonical directory the command starts in. */
  readonly directory: string
}

export interface ShellScanner {
  scan(command: string, context: ScanContext): Promise<ShellScan>
}

const MAX_DEPTH = 8
/** Time for one line in all, files looked at included. */
const MAX_MS = 2000
/** What counts of the time between two looks at the clock: more of it is the grammar that loads, or a machine that is busy elsewhere. */
const MOST_AT_ONCE = 100

/** Makes a scanner; the grammar is loaded at the first scan. `monotonic` is a clock in ms. */
export function createShellScanner(grammar: ShellGrammar, monotonic: () => number): ShellScanner {
  const pause = createPause()
  const parser = createShellParser(grammar, monotonic, pause)
  return {
    async scan(command, { directory, ...place }) {
      const findings = createFindings({ ...place, parser, isLate: createAllowance(monotonic), pause }, directory)
      await scanText(findings, command, TOP)
      if (findings.evaluates && findings.evaluable) addReason(findings, 'quoted text may be evaluated as a command')
      if (findings.dropsWords && findings.mayLoseWords)
        addReason(findings, 'a wildcard that fits nothing changes what the words after it mean')
      checkDescriptors(findings)
      checkUnpacked(findings)
      if (findings.defers && findings.changesDirectory) addReason(findings, 'commands that run later, perhaps in another directory')
      return {
        segments: [...findings.segments.values()],
        writes: [...findings.writes],
        reads: [...findings.reads],
        unknownReads: [...findings.unknownReads],
        named: [...findings.named].toSorted(),
        outside: [...findings.outside].map((path) => (path === '/' ? '/*' : `${path}/*`)),
        reasons: [...findings.reasons],
      }
    },
  }
}

/** Whether the time of a line is used up. */
function createAllowance(monotonic: () => number): () => boolean {
  let left = MAX_MS
  let before = monotonic()
  return () => {
    const now = monotonic()
    left -= Math.min(now - before, MOST_AT_ONCE)
    before = now
    return left < 0
  }
}

async function scanText(findings: Findings, text: string, flow: Flow): Promise<void> {
  const refused = refuseCharacters(text)
  if (refused !== undefined) addReason(findings, refused)
  if (findings.depth >= MAX_DEPTH) return addReason(findings, 'commands inside commands, too deep to analyse')
  const parsed = await findings.parser.parse(text)
  if ('refused' in parsed) return addReason(findings, parsed.refused)
  await pauseAfter(findings, text)
  const disagreement = findDisagreement(parsed.root, text)
  if (disagreement !== undefined) addReason(findings, disagreement)
  await pauseAfter(findings, text)
  collectSettings(findings.settings, parsed.root, { home: findings.home, directory: undefined })
  await pauseAfter(findings, text)
  findings.depth += 1
  await walk({ findings, scanText: (inner, how) => scanText(findings, inner, how) }, parsed.root, flow)
  findings.depth -= 1
}

/** After a part of the work that takes time when the text is long. */
async function pauseAfter(findings: Findings, text: string): Promise<void> {
  if (text.length > LONG) await findings.pause()
}
