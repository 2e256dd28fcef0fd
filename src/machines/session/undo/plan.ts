/** What the steps of a history mean for the files on disk: of each, what it must be and what it becomes (sessions-events §7.4). */
import type { FileState } from '../../../protocol/session/snapshot.js'

/** One recorded change in the direction it is gone: back or forward. */
export interface FileStep {
  /** Absolute. */
  readonly path: string
  readonly from: FileState
  readonly to: FileState
}

export interface FilePlan {
  /** One for each file, in the order of the first step. */
  readonly files: readonly FileStep[]
  /** Files that somebody changed between two recorded changes. */
  readonly conflicts: readonly string[]
}

export function planFiles(steps: readonly FileStep[]): FilePlan {
  const files = new Map<string, FileStep>()
  const conflicts = new Set<string>()
  for (const step of steps) {
    const known = files.get(step.path)
    // Two calls at once both tell of what either has done.
    if (known !== undefined && isSameState(known.from, step.from) && isSameState(known.to, step.to)) continue
    if (known !== undefined && !follows(known.to, step.from)) conflicts.add(step.path)
    files.set(step.path, known === undefined ? step : { ...known, to: step.to })
  }
  return { files: [...files.values()].filter(({ from, to }) => !isSameState(from, to)), conflicts: [...conflicts] }
}

/** The same content at the same place, with the same permissions where both are known. */
export function isSameState(a: FileState, b: FileState): boolean {
  return isSameContent(a, b) && (a.mode === undefined || b.mode === undefined || a.mode === b.mode)
}

/** Of what a repository tells only whether it is executable, so no more is asked of the states between two calls. */
function follows(a: FileState, b: FileState): boolean {
  return isSameContent(a, b) && (a.mode === undefined || b.mode === undefined || isExecutable(a.mode) === isExecutable(b.mode))
}

function isExecutable(mode: number): boolean {
  return (mode & 0o100) !== 0
}

function isSameContent(a: FileState, b: FileState): boolean {
  if (!a.exists || !b.exists) return a.exists === b.exists
  return a.link === b.link && (a.link !== undefined || (a.sha256 !== undefined && a.sha256 === b.sha256))
}

/** Whether the content of a state is kept, so that it can be brought back. */
export function isKept({ exists, link, contentBase64, stored, sha256 }: FileState): boolean {
  return !exists || link !== undefined || contentBase64 !== undefined || (stored === true && sha256 !== undefined)
}
