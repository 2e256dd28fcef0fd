/**
 * Which local times a schedule names, by arithmetic alone (subsystems a.5): intervals are counted on the absolute calendar,
 * never from an activation. Local times are milliseconds as if they were in UTC.
 */
import type { WorkflowSchedule } from '../../../protocol/workflow/workflow.js'
import { DAY, dateOf, daysInMonth, daysOf, EPOCH_DAY_NUMBER, HOUR, MINUTE, parseDate, parseTime } from './civil.js'
import { WEEKDAYS } from '../../../protocol/workflow/workflow.js'

/** The local times of a schedule in order. */
export interface Slots {
  /** The first one later than a local time. */
  after(local: number): number | undefined
  /** The last one not later than a local time. */
  upTo(local: number): number | undefined
}

const LAST = daysOf({ year: 9999, month: 12, day: 31 }) * DAY
const FIRST = daysOf({ year: 1, month: 1, day: 1 }) * DAY

/** A schedule is asked several times in a row. */
const MADE = new WeakMap<WorkflowSchedule, Slots>()

/** `schedule` is normalised; one with `at` has no local times. */
export function slotsOf(schedule: WorkflowSchedule): Slots {
  const known = MADE.get(schedule)
  if (known !== undefined) return known
  const made = makeSlots(schedule)
  MADE.set(schedule, made)
  return made
}

function makeSlots(schedule: WorkflowSchedule): Slots {
  const { interval } = schedule
  const time = parseTime(schedule.time ?? '00:00') ?? 0
  switch (schedule.frequency) {
    case 'once':
      return single(schedule.date, time)
    case 'hourly':
      return stepped(HOUR, (schedule.minute ?? 0) * MINUTE, interval, EPOCH_DAY_NUMBER * 24)
    case 'daily':
      return stepped(DAY, time, interval, EPOCH_DAY_NUMBER)
    case 'weekly':
      return weekly(
        (schedule.weekdays ?? []).map((name) => WEEKDAYS.findIndex((day) => day === name)),
        time,
        interval,
      )
    case 'monthly':
      return monthly(schedule.monthDay ?? 1, time, interval)
  }
}

function single(date: string | undefined, time: number): Slots {
  const day = parseDate(date ?? '')
  if (day === undefined) return { after: () => undefined, upTo: () => undefined }
  const slot = daysOf(day) * DAY + time
  return { after: (local) => (slot > local ? slot : undefined), upTo: (local) => (slot <= local ? slot : undefined) }
}

/** One in every `interval` units, where unit 0 of the local time is number `anchor` of the calendar. */
function stepped(unit: number, within: number, interval: number, anchor: number): Slots {
  const slot = (index: number) => bounded((index * interval - anchor) * unit + within)
  const lastIndex = (local: number) => Math.floor((Math.floor((local - within) / unit) + anchor) / interval)
  return { after: (local) => slot(lastIndex(local) + 1), upTo: (local) => slot(lastIndex(local)) }
}

function weekly(weekdays: readonly number[], time: number, interval: number): Slots {
  const days = weekdays.toSorted((a, b) => a - b)
  const slot = (week: number, weekday: number | undefined) =>
    weekday === undefined ? undefined : bounded((week * 7 + weekday - EPOCH_DAY_NUMBER) * DAY + time)

  /** The last day of the calendar whose slot is not later. */
  const lastDay = (local: number) => Math.floor((local - time) / DAY) + EPOCH_DAY_NUMBER
  return {
    after(local) {
      const number = lastDay(local) + 1
      const week = Math.ceil(Math.floor(number / 7) / interval) * interval
      const later = days.find((day) => week * 7 + day >= number)
      return slot(later === undefined ? week + interval : week, later ?? days[0])
    },
    upTo(local) {
      const number = lastDay(local)
      const week = Math.floor(Math.floor(number / 7) / interval) * interval
      const earlier = days.findLast((day) => week * 7 + day <= number)
      return slot(earlier === undefined ? week - interval : week, earlier ?? days.at(-1))
    },
  }
}

function monthly(monthDay: number, time: number, interval: number): Slots {
  const slot = (index: number) => {
    const count = index * interval
    const [year, month] = [Math.floor(count / 12), (count % 12) + 1]
    if (year < 1 || year > 9999) return undefined
    return daysOf({ year, month, day: Math.min(monthDay, daysInMonth(year, month)) }) * DAY + time
  }
  const indexOf = (local: number) => {
    const { year, month } = dateOf(Math.floor(local / DAY))
    return Math.floor((year * 12 + month - 1) / interval)
  }
  return {
    after(local) {
      const index = indexOf(local)
      const found = slot(index)
      return found !== undefined && found > local ? found : slot(index + 1)
    },
    upTo(local) {
      const index = indexOf(local)
      const found = slot(index)
      return found !== undefined && found <= local ? found : slot(index - 1)
    },
  }
}

function bounded(local: number): number | undefined {
  return local >= FIRST && local <= LAST ? local : undefined
}
