/** What one client hears of all lives: it comes back after each start, behind the last it has heard. */
import { createHash } from 'node:crypto'
import { TRUSTED_CALLER } from '../../../protocol/caller.js'
import type { Runtime } from '../../../ports/facades.js'
import { type SeenEvent, sinkOf } from '../heard.js'
import { journalEvent } from '../journal.js'
import type { JournalEvent } from '../journal-types.js'

/** Events of a page of replay. */
const PAGE = 1000

export interface HeardAcross {
  readonly events: readonly JournalEvent[]
  /** Of all events, hex. */
  digest(): string
  /** `isHeard`: false when the life has died. */
  come(runtime: Runtime, isHeard: () => boolean): void
}

export function hearAcross(): HeardAcross {
  const events: JournalEvent[] = []
  const hash = createHash('sha256')
  let cursor = 0
  let comes = 0

  function see(event: SeenEvent, hasCursor: boolean): void {
    events.push(journalEvent(event))
    hash.update(`${JSON.stringify([event.sequence, event.type, event.data])}\n`)
    if (hasCursor) cursor = Math.max(cursor, event.sequence)
  }

  return {
    events,
    digest: () => hash.copy().digest('hex'),
    come(runtime, isHeard) {
      const sink = sinkOf((event, hasCursor) => {
        if (isHeard()) see(event, hasCursor)
      })
      const isFirst = ++comes === 1
      const query = { after: isFirst ? undefined : cursor, tail: isFirst, limit: PAGE, sessionId: undefined }
      runtime.events.subscribe(TRUSTED_CALLER, query, sink)
    },
  }
}
