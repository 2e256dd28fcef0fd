/** What the arguments of a git command name besides its history. */
import type { Word } from '../../words/word.js'

export interface GitFiles {
  readonly reads: readonly Word[]
  readonly writes: readonly Word[]
  /** Written with everything below. */
  readonly wholes: readonly Word[]
  /** Read when they exist; else names of commits. */
  readonly perhaps: readonly Word[]
  /** Written when they exist, or are named like files; else names of commits. */
  readonly changes: readonly Word[]
  readonly reason?: string | undefined
}
