/** What a command line must be allowed to do, from what its analysis found (sessions-events §8.7; threat-model G1–G3, G5). */
import type { PermissionNeed, ProtectedFiles } from '../../actors/plugin/native.js'
import { widerDirectory } from '../../machines/wider-directory.js'
import { displayText } from './display.js'
import { displayPath } from './place.js'
import type { ShellScan } from './scan.js'
import { widerCommand } from './wider-commands.js'

const TITLE_LENGTH = 4000
/** What a path that is not known may be. */
const ANYWHERE = '/*'
const ANY_SECRET = '.env'

export interface Judged {
  readonly command: string
  /** Canonical directory of the session. */
  readonly session: string
  readonly scan: ShellScan
  readonly protectedFiles: ProtectedFiles
}

/** Patterns that stand for every program of the line, for metadata and requests. */
export function commandPatterns(scan: ShellScan, command: string): string[] {
  const patterns = scan.segments.map(({ text }) => text)
  return patterns.length === 0 && scan.reasons.length > 0 ? [command] : patterns
}

/** What could be remembered for the programs of the line beyond what it says. */
export function alwaysPatterns(scan: ShellScan): string[] {
  return [...new Set(scan.segments.flatMap(({ text }) => widerCommand(text) ?? []))]
}

/** One need per permission: the programs, places outside the session directory, files written. */
export async function commandNeeds({ command, session, scan, protectedFiles }: Judged): Promise<PermissionNeed[]> {
  const shown = displayText(command, TITLE_LENGTH)
  const patterns = commandPatterns(scan, command)
  const needs: PermissionNeed[] = []
  if (patterns.length > 0) {
    const metadata = { command, ...(scan.reasons.length > 0 && { reasons: scan.reasons }) }
    const explicit = scan.reasons.length > 0 ? { explicit: scan.reasons.join('; ') } : {}
    needs.push({ permission: 'bash', patterns, widen: widerCommand, title: `Run: ${shown}`, metadata, ...explicit })
  }
  if (scan.outside.length > 0) {
    const title = `Touch files outside the session directory: ${shown}`
    needs.push({ permission: 'external_directory', patterns: scan.outside, widen: widerDirectory, title, metadata: { command } })
  }
  if (scan.writes.length > 0) {
    const paths = scan.writes.map((path) => displayPath(session, path))
    const found = await protectedFiles.reasons(scan.writes)
    const reasons = scan.writes.flatMap((path, index) => {
      const reason = found[index]
      return reason === undefined ? [] : [`${displayPath(session, path)} is ${reason}`]
    })
    const explicit = reasons.length > 0 ? { explicit: reasons.join('; ') } : {}
    needs.push({
      permission: 'edit',
      patterns: paths,
      title: `Write by: ${shown}`,
      metadata: { command, paths },
      ...explicit,
    })
  }
  return [...needs, ...readNeeds({ shown, command, session, scan })]
}

type Reading = Pick<Judged, 'command' | 'session' | 'scan'> & { readonly shown: string }

/** Files read are judged like those of the tool `read`; what nobody can know yet stands for the strictest of both rules. */
function readNeeds({ shown, command, session, scan }: Reading): PermissionNeed[] {
  const needs: PermissionNeed[] = []
  if (scan.unknownReads.length > 0) {
    const title = `Read what is only known when it runs (${scan.unknownReads.map((text) => displayText(text, 100)).join(', ')}): ${shown}`
    const metadata = { command, operands: scan.unknownReads }
    needs.push({ permission: 'external_directory', patterns: [ANYWHERE], title, metadata })
    needs.push({ permission: 'read', patterns: [ANY_SECRET], title, metadata })
  }
  if (scan.reads.length > 0) {
    const paths = scan.reads.map((path) => displayPath(session, path))
    needs.push({ permission: 'read', patterns: paths, title: `Read by: ${shown}`, metadata: { command, paths } })
  }
  return needs
}
