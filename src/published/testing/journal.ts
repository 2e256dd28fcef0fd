/** What a runtime published, for tests that assert on it. */
import { TRANSIENT_EVENTS } from '../../protocol/event/event.js'
import type { SvcEvent } from '../client/operation-types.js'
import type { Heard, SeenEvent } from './heard.js'
import type { EventMatch, JournalEvent, JournalWaitOptions, TestJournal } from './journal-types.js'
import { errorAt, stackAbove, type Waits } from './waits.js'

/** Types that a message shows of what was published. */
const SHOWN = 30
const TRANSIENT: ReadonlySet<string> = TRANSIENT_EVENTS

export function createTestJournal(heard: Heard, waits: Waits): TestJournal {
  const events = () => heard.events.map(journalEvent)
  const after = (from: JournalEvent | number | undefined) => (typeof from === 'object' ? from.sequence : (from ?? 0))

  function until(match: EventMatch, { withinMs, after: from }: JournalWaitOptions = {}): Promise<JournalEvent> {
    const least = after(from)
    return waits.until<JournalEvent>(
      {
        what: `an event ${wordsOf(match)}`,
        withinMs,
        listen(resolve) {
          const look = (event: SeenEvent) => {
            const each = journalEvent(event)
            if (each.sequence > least && fits(match, each)) resolve(each)
            return each
          }
          const past = heard.events.find((event) => event.sequence > least && fits(match, journalEvent(event)))
          if (past !== undefined) resolve(journalEvent(past))
          return heard.listen(look)
        },
        found: () => `Published were ${typesOf(heard.events.filter(({ sequence }) => sequence > least))}.`,
      },
      until,
    )
  }

  // The contracts say what an event of a type holds.
  function of<T extends SvcEvent['type']>(type: T): readonly (Extract<SvcEvent, { readonly type: T }> & { readonly committed: boolean })[]
  function of(type: string): readonly JournalEvent[]
  function of(type: string): unknown {
    return events().filter((event) => event.type === type)
  }

  function expectOrder(matches: readonly EventMatch[]): readonly JournalEvent[] {
    const all = events()
    const found: JournalEvent[] = []
    let next = 0
    for (const [index, match] of matches.entries()) {
      const at = all.findIndex((event, position) => position >= next && fits(match, event))
      if (at < 0) {
        const before = all[next - 1]
        const since = before === undefined ? '' : ` after ${before.type} (sequence ${before.sequence})`
        const earlier = all.findLast((event, position) => position < next && fits(match, event))
        const instead = earlier === undefined ? '' : ` It came before that, with sequence ${earlier.sequence}.`
        const message = `event ${index + 1} of ${matches.length}, ${wordsOf(match)}, was not published${since}.${instead} Published were ${typesOf(all.slice(next))}.`
        throw errorAt(message, stackAbove(expectOrder))
      }
      const event = all[at]
      if (event !== undefined) found.push(event)
      next = at + 1
    }
    return found
  }

  function expectNone(match: EventMatch, { after: from }: { readonly after?: JournalEvent | number } = {}): void {
    const least = after(from)
    const found = events().find((event) => event.sequence > least && fits(match, event))
    if (found === undefined) return
    const message = `an event ${wordsOf(match)} was published: ${found.type} with sequence ${found.sequence}, ${JSON.stringify(found.data)}`
    throw errorAt(message, stackAbove(expectNone))
  }

  return {
    get events() {
      return events()
    },
    get committed() {
      return events().filter(({ committed }) => committed)
    },
    of,
    filter: (match) => events().filter((event) => fits(match, event)),
    until,
    expectOrder,
    expectNone,
  }
}

export function journalEvent(event: SeenEvent): JournalEvent {
  return { ...event, committed: !TRANSIENT.has(event.type) }
}

export function fits(match: EventMatch, event: JournalEvent): boolean {
  if (typeof match === 'function') return match(event)
  if (typeof match === 'string') return event.type === match
  return event.type === match.type && contains(event.data, match.data ?? {})
}

/** Whether everything in `part` is in `whole`; lists have the same length. */
function contains(whole: unknown, part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return Object.is(whole, part)
  if (typeof whole !== 'object' || whole === null || Array.isArray(whole) !== Array.isArray(part)) return false
  if (Array.isArray(whole) && Array.isArray(part) && whole.length !== part.length) return false
  const fields = new Map<string, unknown>(Object.entries(whole))
  return Object.entries(part).every(([key, value]) => contains(fields.get(key), value))
}

function wordsOf(match: EventMatch): string {
  if (typeof match === 'function') return `that fits ${String(match)}`
  return typeof match === 'string' ? `"${match}"` : `"${match.type}" with ${JSON.stringify(match.data ?? {})}`
}

/** In order, equal neighbours counted; the newest when there are many. */
function typesOf(events: readonly { readonly type: string }[]): string {
  const runs: { readonly type: string; count: number }[] = []
  for (const { type } of events) {
    const last = runs.at(-1)
    if (last?.type === type) last.count++
    else runs.push({ type, count: 1 })
  }
  if (runs.length === 0) return 'no events'
  const shown = runs.slice(-SHOWN).map(({ type, count }) => (count === 1 ? type : `${type} × ${count}`))
  return `${runs.length > SHOWN ? '… ' : ''}${shown.join(', ')}`
}
