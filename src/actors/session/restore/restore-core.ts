/** What restores need of the session system, which itself needs them. */
import type { Session } from '../../../protocol/session/session.js'
import type { HistoryMark, Store } from '../../../store/store.js'
import type { Effects } from '../../../ports/effects.js'
import type { Journal } from '../../events/journal.js'
import type { Transcripts } from '../state/transcripts.js'
import type { RestoreBounds } from './bounds.js'
import type { FileStates } from './file-states.js'

export interface RestoreCore {
  readonly effects: Effects
  readonly store: Store
  readonly journal: Journal
  readonly transcripts: Transcripts
  readonly fileStates: FileStates
  readonly bounds: RestoreBounds
  /** Throws `resource.not_found`. */
  sessionOf(sessionId: string): Session
  /** Where the undone part of a session begins. */
  markOf(sessionId: string): HistoryMark | undefined
}
