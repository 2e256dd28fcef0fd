/**
 * Instruction files: what a project and its owner want every agent to know (sessions-events §12.3, 12.4; subsystems b.11).
 *
 * I1 A file found by way of a worktree really lies in it, whatever links say (threat-model W4). I2 What only a workspace
 * asks for is looked for in its worktree only, as it is written. I3 A nested file is given at most once per session.
 */
import { dirname, join } from 'node:path'
import { isWithin } from '../../../protocol/caller.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Effects } from '../../../ports/effects.js'
import type { InstructionFile } from '../../../ports/facades.js'
import type { Instructions } from '../../../ports/plugin.js'
import { ancestors } from '../config/config-files.js'
import { stringsAt } from '../config/config-merge.js'
import { createFileProbe } from '../../../platform/watched/file-probe.js'
import type { FileProbe } from '../../../ports/watched.js'
import { createLru } from '../../../kernel/lru.js'
import { boundaryOf, isAddress, readNamedPath } from '../config/named-paths.js'
import type { ConfigSnapshot } from '../snapshot/snapshot.js'

type InstructionEffects = Pick<Effects, 'files' | 'clock' | 'paths' | 'log'>

interface Candidate {
  readonly path: string
  readonly within: string | undefined
}

const NAMES = ['AGENTS.md', 'CLAUDE.md', 'CONTEXT.md']
const SESSIONS = 1024
const DIRECTORIES_PER_SESSION = 4096

/** A file or entry that is not given, and why: the rest of a sentence that starts with it. */
export interface RefusedInstruction {
  readonly path: string
  readonly reason: string
}

export interface InstructionsRead {
  readonly files: readonly InstructionFile[]
  readonly refused: readonly RefusedInstruction[]
}

/** Instruction files of a directory in order: global, project (outermost first), configured. */
export async function readInstructions(
  effects: Pick<InstructionEffects, 'files' | 'clock' | 'paths'>,
  snapshot: ConfigSnapshot,
  probe: FileProbe = createFileProbe(effects),
): Promise<InstructionsRead> {
  const configured = await configuredFiles(probe, effects, snapshot)
  const candidates = [...(await globalFile(probe, effects)), ...(await projectFiles(probe, snapshot)), ...configured.candidates]
  const byCanonicalPath = new Map<string, InstructionFile>()
  const refused = [...configured.refused]
  for (const candidate of candidates) {
    const file = await readInstruction(probe, candidate, (reason) => refused.push({ path: candidate.path, reason }))
    if (file !== undefined && !byCanonicalPath.has(file.canonical))
      byCanonicalPath.set(file.canonical, { path: file.path, text: file.text })
  }
  return { files: [...byCanonicalPath.values()], refused }
}

/** The same, with a line in the log for each that is not given. */
export async function giveInstructions(
  effects: InstructionEffects,
  snapshot: ConfigSnapshot,
  probe: FileProbe,
): Promise<readonly InstructionFile[]> {
  const { files, refused } = await readInstructions(effects, snapshot, probe)
  for (const { path, reason } of refused) effects.log.warn('instruction file not read', { path, reason })
  return files
}

/** Nested instruction files, remembered per session for as long as it is among the last used. */
export function createInstructions({ effects }: { readonly effects: InstructionEffects }): Instructions {
  const sessions = createLru<string, Set<string>>(SESSIONS)
  return {
    async nested(sessionId, directory, file) {
      if (!isWithin(directory, file)) return []
      const given = sessions.get(sessionId) ?? new Set<string>()
      sessions.set(sessionId, given)
      const probe = createFileProbe(effects)
      const found: InstructionFile[] = []
      for (const folder of ancestors(dirname(file), directory).slice(1)) {
        if (given.has(folder) || given.size >= DIRECTORIES_PER_SESSION) continue
        given.add(folder) // I3, before the first wait
        const instruction = await firstIn(effects, probe, folder, directory)
        if (instruction === undefined) given.delete(folder)
        else if (instruction.path !== file) found.push({ path: instruction.path, text: instruction.text })
      }
      return found
    },
  }
}

async function globalFile(probe: FileProbe, { paths }: Pick<InstructionEffects, 'paths'>): Promise<Candidate[]> {
  for (const path of [join(paths.config, 'AGENTS.md'), join(paths.home, '.claude', 'CLAUDE.md')]) {
    if ((await probe.kind(path)) === 'file') return [{ path, within: undefined }]
  }
  return []
}

async function projectFiles(probe: FileProbe, snapshot: ConfigSnapshot): Promise<Candidate[]> {
  const lineage = ancestors(snapshot.directory, '/')
  for (const name of NAMES) {
    const found: Candidate[] = []
    for (const ancestor of lineage) {
      const path = join(ancestor, name)
      if ((await probe.kind(path)) === 'file') found.push({ path, within: boundary(snapshot, ancestor) })
    }
    if (found.length > 0) return found
  }
  return []
}

async function configuredFiles(probe: FileProbe, { paths }: Pick<InstructionEffects, 'paths'>, snapshot: ConfigSnapshot) {
  const { worktree } = snapshot
  const trusted = new Set(stringsAt(snapshot.trusted, 'instructions'))
  const candidates: Candidate[] = []
  const refused: RefusedInstruction[] = []
  for (const entry of stringsAt(snapshot.document, 'instructions') ?? []) {
    const trust = trusted.has(entry) ? 'installation' : 'workspace'
    const named = readNamedPath(entry, { trust, home: paths.home, worktree })
    if (isAddress(entry)) continue // told as unsupported, with its place
    if (!named.ok) refused.push({ path: entry, reason: named.reason })
    else {
      const found = named.isAbsolute
        ? await whereItIs(probe, named.path, worktree)
        : await findUpwards(probe, snapshot, named.path, trust === 'installation' ? '/' : worktree) // I2
      if (found === undefined) refused.push({ path: entry, reason: 'is not there' })
      else candidates.push(found)
    }
  }
  return { candidates, refused }
}

async function whereItIs(probe: FileProbe, path: string, worktree: string): Promise<Candidate | undefined> {
  return (await probe.kind(path)) === 'file' ? { path, within: await boundaryOf(probe, path, worktree) } : undefined
}

async function findUpwards(probe: FileProbe, snapshot: ConfigSnapshot, name: string, top: string): Promise<Candidate | undefined> {
  for (const ancestor of ancestors(snapshot.directory, top).toReversed()) {
    const path = join(ancestor, name)
    if ((await probe.kind(path)) === 'file') return { path, within: boundary(snapshot, ancestor) }
  }
  return undefined
}

async function firstIn(effects: InstructionEffects, probe: FileProbe, folder: string, within: string) {
  for (const name of NAMES) {
    const path = join(folder, name)
    if ((await probe.kind(path)) !== 'file') continue
    return readInstruction(probe, { path, within }, (reason) => effects.log.warn('instruction file not read', { path, reason }))
  }
  return undefined
}

async function readInstruction(probe: FileProbe, { path, within }: Candidate, refuse: (reason: string) => void) {
  const outcome = await probe.readText(path, { maxBytes: LIMITS.config.markdownBytes, within })
  if (outcome.type === 'refused' || outcome.type === 'failed') refuse(outcome.reason)
  if (outcome.type !== 'text' || outcome.text.trim() === '') return undefined
  return { path, text: outcome.text, canonical: outcome.canonical }
}

/** Where a file found in `ancestor` must really lie (I1). */
function boundary({ worktree }: ConfigSnapshot, ancestor: string): string {
  return isWithin(worktree, ancestor) ? worktree : ancestor
}
