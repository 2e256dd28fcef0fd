/**
 * When a workflow is due (subsystems a.5; threat-model §6.3). Pure: instants are Unix milliseconds, schedules are normalised.
 *
 * I1 Every question costs a handful of steps, however long the span and whatever the interval.
 * I2 Local times later in the calendar are never earlier instants: so one look around the local time of an instant is enough.
 * I3 Local times of one schedule that are the same instant are one occurrence.
 */
import type { WorkflowSchedule, WorkflowUpcoming } from '../../../protocol/workflow/workflow.js'
import { parseInstant } from './civil.js'
import { slotsOf } from './slots.js'
import { formatLocal, formatUtc, localOf, type Resolved, resolveLocal } from './zone.js'

/** The first occurrence strictly after an instant; undefined when there is none up to the year 9999. */
export function nextOccurrence(schedule: WorkflowSchedule, afterMs: number): number | undefined {
  return nextResolved(schedule, afterMs)?.at
}

/** The last occurrence in [fromMs, toMs]. */
export function latestOccurrence(schedule: WorkflowSchedule, fromMs: number, toMs: number): number | undefined {
  const latest = schedule.at === undefined ? latestUpTo(schedule, toMs) : parseInstant(schedule.at)
  return latest !== undefined && latest >= fromMs && latest <= toMs ? latest : undefined
}

/** The next occurrences strictly after an instant, at most `count`, with their texts and whether the clock was changed there. */
export function upcoming(schedule: WorkflowSchedule, afterMs: number, count: number): WorkflowUpcoming[] {
  const found: WorkflowUpcoming[] = []
  let next = nextResolved(schedule, afterMs)
  while (next !== undefined && found.length < count) {
    const { at, shift } = next
    const texts = { utc: formatUtc(at), local: formatLocal(schedule.timezone, at) }
    found.push({ scheduledAt: at, ...texts, ...(shift === undefined ? {} : { shift }) })
    next = nextResolved(schedule, at)
  }
  return found
}

function nextResolved(schedule: WorkflowSchedule, after: number): Resolved | undefined {
  const { timezone } = schedule
  if (schedule.at !== undefined) {
    const at = parseInstant(schedule.at)
    return at !== undefined && at > after ? { at } : undefined
  }
  const slots = slotsOf(schedule)
  const here = localOf(timezone, after)
  let local = slots.after(here)
  // Local times up to this one are over (I2), but for those that a gap moved to seconds that are still to come.
  for (let moved = slots.upTo(here); moved !== undefined && resolveLocal(timezone, moved).at > after; moved = slots.upTo(moved - 1)) {
    local = moved
  }
  // In the second half of an overlap some of those that come after it are over too.
  while (local !== undefined) {
    const found = resolveLocal(timezone, local)
    if (found.at > after) return found.shift === 'gap' ? natural(schedule, local, found) : found
    local = slots.after(local)
  }
  return undefined
}

/** What a gap moves onto a time that the schedule names anyway is not moved (I3). */
function natural(schedule: WorkflowSchedule, local: number, moved: Resolved): Resolved {
  const slots = slotsOf(schedule)
  for (let later = slots.after(local); later !== undefined; later = slots.after(later)) {
    const found = resolveLocal(schedule.timezone, later)
    if (found.at > moved.at) return moved
    if (found.shift !== 'gap') return found
  }
  return moved
}

function latestUpTo(schedule: WorkflowSchedule, to: number): number | undefined {
  const { timezone } = schedule
  const slots = slotsOf(schedule)
  const here = localOf(timezone, to)
  let local = slots.upTo(here)
  let latest = local === undefined ? undefined : resolveLocal(timezone, local).at
  while (local !== undefined && latest !== undefined && latest > to) {
    local = slots.upTo(local - 1)
    latest = local === undefined ? undefined : resolveLocal(timezone, local).at
  }
  for (let later = slots.after(here); later !== undefined; later = slots.after(later)) {
    const { at } = resolveLocal(timezone, later)
    if (at > to) break
    latest = at
  }
  return latest
}
