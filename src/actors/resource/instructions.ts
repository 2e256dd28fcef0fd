/**
 * Instruction files: what a project and its owner want every agent to know (sessions-events §12.3, 12.4; subsystems b.11).
 *
 * I1 A file found inside a worktree really lies in it, whatever links say (threat-model W4). I2 What only a workspace
 * asks for is looked for in its worktree only. I3 A nested file is given at most once per session.
 */
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { expandHome } from '../../machines/permission.js'
import { isWithin } from '../../protocol/caller.js'
import { LIMITS } from '../../protocol/limits.js'
import type { Effects } from '../effects.js'
import type { InstructionFile } from '../facades.js'
import type { Instructions } from '../plugin/native.js'
import { ancestors } from './config-files.js'
import { stringsAt } from './config-merge.js'
import { createFileProbe, type FileProbe } from './file-probe.js'
import { createLru } from './lru.js'
import type { ConfigSnapshot } from './snapshot.js'

type InstructionEffects = Pick<Effects, 'files' | 'clock' | 'paths' | 'log'>

interface Candidate {
  readonly path: string
  readonly within: string | undefined
}

const NAMES = ['AGENTS.md', 'CLAUDE.md', 'CONTEXT.md']
const SESSIONS = 1024
const DIRECTORIES_PER_SESSION = 4096

/** Instruction files of a directory in order: global, project (outermost first), configured. Read anew each time. */
export async function readInstructions(effects: InstructionEffects, snapshot: ConfigSnapshot): Promise<readonly InstructionFile[]> {
  const probe = createFileProbe(effects)
  const candidates = [
    ...(await globalFile(probe, effects)),
    ...(await projectFiles(probe, snapshot)),
    ...(await configuredFiles(probe, effects, snapshot)),
  ]
  const byCanonicalPath = new Map<string, InstructionFile>()
  for (const candidate of candidates) {
    const file = await readInstruction(effects, probe, candidate)
    if (file !== undefined && !byCanonicalPath.has(file.canonical))
      byCanonicalPath.set(file.canonical, { path: file.path, text: file.text })
  }
  return [...byCanonicalPath.values()]
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

async function globalFile(probe: FileProbe, { paths }: InstructionEffects): Promise<Candidate[]> {
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

async function configuredFiles(probe: FileProbe, { paths }: InstructionEffects, snapshot: ConfigSnapshot): Promise<Candidate[]> {
  const trusted = new Set(stringsAt(snapshot.trusted, 'instructions'))
  const found: Candidate[] = []
  for (const entry of stringsAt(snapshot.document, 'instructions') ?? []) {
    if (/^[a-z][a-z0-9+.-]*:\/\//i.test(entry)) continue
    const expanded = expandHome(entry, paths.home)
    if (isAbsolute(expanded)) {
      const path = resolve(expanded)
      found.push({ path, within: isWithin(snapshot.worktree, path) ? snapshot.worktree : undefined })
      continue
    }
    const top = trusted.has(entry) ? '/' : snapshot.worktree // I2
    for (const ancestor of ancestors(snapshot.directory, top).toReversed()) {
      const path = join(ancestor, expanded)
      if ((await probe.kind(path)) !== 'file') continue
      found.push({ path, within: boundary(snapshot, ancestor) })
      break
    }
  }
  return found
}

async function firstIn(effects: InstructionEffects, probe: FileProbe, folder: string, within: string) {
  for (const name of NAMES) {
    const path = join(folder, name)
    if ((await probe.kind(path)) === 'file') return readInstruction(effects, probe, { path, within })
  }
  return undefined
}

async function readInstruction(effects: InstructionEffects, probe: FileProbe, candidate: Candidate) {
  const outcome = await probe.readText(candidate.path, { maxBytes: LIMITS.config.markdownBytes, within: candidate.within })
  if (outcome.type === 'refused' || outcome.type === 'failed') {
    effects.log.warn('instruction file not read', { path: candidate.path, reason: outcome.reason })
  }
  if (outcome.type !== 'text' || outcome.text.trim() === '') return undefined
  return { path: candidate.path, text: outcome.text, canonical: outcome.canonical }
}

/** Where a file found in `ancestor` must really lie (I1). */
function boundary({ worktree }: ConfigSnapshot, ancestor: string): string {
  return isWithin(worktree, ancestor) ? worktree : ancestor
}
