/** Where contributions are seen (laws §10). */
import type { Reach } from '../../../ports/view.js'

/** Unique per place. */
export function reachKey(reach: Reach): string {
  switch (reach.type) {
    case 'everywhere':
      return 'everywhere'
    case 'workspace':
      return `workspace ${reach.directory}`
    case 'session':
      return `session ${reach.sessionId}`
  }
}

/** Whether somebody can see both. */
export function overlap(a: Reach, b: Reach): boolean {
  if (a.type === 'everywhere' || b.type === 'everywhere') return true
  if (a.directory !== b.directory) return false
  return a.type === 'workspace' || b.type === 'workspace' || a.sessionId === b.sessionId
}

/** Whether a session of a directory sees it, whose `line` is itself and those above it; without one, what every session of the directory sees. */
export function reaches(reach: Reach, directory: string, line: readonly string[]): boolean {
  if (reach.type === 'everywhere') return true
  if (reach.directory !== directory) return false
  return reach.type === 'workspace' || line.includes(reach.sessionId)
}
