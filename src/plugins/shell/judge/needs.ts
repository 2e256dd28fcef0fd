/** What a command line must be allowed to do, from what its analysis found (sessions-events §8.7; threat-model G1–G3, G5). */
import type { PermissionNeed, ProtectedFiles } from '../../../ports/plugin.js'
import { widerDirectory } from '../../../machines/permission/wider-directory.js'
import { type Confinement, confinedPlaces, confinedReasons } from './confined.js'
import { displayText } from '../parse/display.js'
import { displayPath } from '../words/place.js'
import type { ShellScan } from './scan.js'
import { widerCommand } from '../programs/wider-commands.js'

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
  /** Present: the line runs in the sandbox. */
  readonly confinement?: Confinement | undefined
  /** The line asks for the network of the sandbox. */
  readonly asksNetwork?: boolean
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
export async function commandNeeds({
  command,
  session,
  scan,
  protectedFiles,
  confinement,
  asksNetwork,
}: Judged): Promise<PermissionNeed[]> {
  const shown = displayText(command, TITLE_LENGTH)
  const patterns = commandPatterns(scan, command)
  const needs: PermissionNeed[] = []
  if (patterns.length > 0) {
    const reasons = confinedReasons(scan, confinement)
    const metadata = { command, ...(reasons.length > 0 && { reasons }) }
    const explicit = reasons.length > 0 ? { explicit: reasons.join('; ') } : {}
    needs.push({ permission: 'bash', patterns, widen: widerCommand, title: `Run: ${shown}`, metadata, ...explicit })
  }
  if (scan.named.length > 0) {
    const title = `Let git start what its repository names (${scan.named.map((text) => displayText(text, 200)).join('; ')}): ${shown}`
    needs.push({ permission: 'git', patterns: scan.named, title, metadata: { command } })
  }
  const { real, harmless } = confinedPlaces(scan, confinement)
  const touching = { permission: 'external_directory', widen: widerDirectory, metadata: { command } }
  const title = `Touch files outside the session directory: ${shown}`
  if (real.length > 0) needs.push({ ...touching, patterns: real, title })
  if (harmless.length > 0) needs.push({ ...touching, patterns: harmless, title, harmless: true })
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
  if (confinement !== undefined && asksNetwork === true) {
    needs.push({ permission: 'network', patterns, widen: widerCommand, title: `Use the network: ${shown}`, metadata: { command } })
  }
  return [...needs, ...readNeeds({ shown, command, session, scan, confinement })]
}

type Reading = Pick<Judged, 'command' | 'session' | 'scan' | 'confinement'> & { readonly shown: string }

/** Files read are judged like those of the tool `read`; what nobody can know yet stands for the strictest of both rules. */
function readNeeds({ shown, command, session, scan, confinement }: Reading): PermissionNeed[] {
  const needs: PermissionNeed[] = []
  if (scan.unknownReads.length > 0) {
    const title = `Read what is only known when it runs (${scan.unknownReads.map((text) => displayText(text, 100)).join(', ')}): ${shown}`
    const metadata = { command, operands: scan.unknownReads }
    const harmless = confinement === undefined ? {} : { harmless: true }
    needs.push({ permission: 'external_directory', patterns: [ANYWHERE], title, metadata, ...harmless })
    needs.push({ permission: 'read', patterns: [ANY_SECRET], title, metadata })
  }
  if (scan.reads.length > 0) {
    const paths = scan.reads.map((path) => displayPath(session, path))
    needs.push({ permission: 'read', patterns: paths, title: `Read by: ${shown}`, metadata: { command, paths } })
  }
  return needs
}
