/** The schedule of a definition: which kind it is, and its fields in their normal form (service.md, Schedule object; subsystems a.4). */
import { parseDate, parseInstant, parseTime, timeText } from '../../../machines/workflows/schedule/civil.js'
import { canonicalZone } from '../../../machines/workflows/schedule/zone.js'
import { FREQUENCIES, WEEKDAYS, type Weekday, type WorkflowSchedule } from '../../../protocol/workflow/workflow.js'
import { type Fields, orList, readInteger, readMapping, readText } from './fields.js'
import { type Mistakes, type Path, shown } from './problems.js'

/** Stands for the zone of the operating system, whatever it is at the moment. */
export const LOCAL_ZONE = 'local'

const FIELDS = ['at', 'date', 'time', 'frequency', 'interval', 'minute', 'weekdays', 'monthDay', 'timezone'] as const
type Field = (typeof FIELDS)[number]
type Kind = 'timestamp' | 'date' | 'hourly' | 'daily' | 'weekly' | 'monthly'

const TAKEN: Readonly<Record<Kind, readonly Field[]>> = {
  timestamp: ['at', 'timezone'],
  date: ['date', 'time', 'timezone', 'frequency'],
  hourly: ['frequency', 'interval', 'minute', 'timezone'],
  daily: ['frequency', 'interval', 'time', 'timezone'],
  weekly: ['frequency', 'interval', 'weekdays', 'time', 'timezone'],
  monthly: ['frequency', 'interval', 'monthDay', 'time', 'timezone'],
}
const WORDS: Readonly<Record<Kind, string>> = {
  timestamp: 'a schedule with "at"',
  date: 'a schedule with "date"',
  hourly: 'an hourly schedule',
  daily: 'a daily schedule',
  weekly: 'a weekly schedule',
  monthly: 'a monthly schedule',
}
const RECURRING = ['hourly', 'daily', 'weekly', 'monthly'] as const
const MOST = Number.MAX_SAFE_INTEGER
const TIMES = 'HH:MM, HH:MM:SS, h:MM AM/PM or h:MM:SS AM/PM'
const DAY_NAMES = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const

/**
 * The normal form, or undefined when there are mistakes. A schedule in its normal form is taken as it is; its zone stays
 * `local` when it was written so.
 */
export function readSchedule(value: unknown, path: Path, mistakes: Mistakes): WorkflowSchedule | undefined {
  const before = mistakes.found.length
  const fields = readMapping(value, path, FIELDS, mistakes)
  const kind = fields && kindOf(fields, path, mistakes)
  if (fields === undefined || kind === undefined) return undefined
  refuseOthers(fields, kind, path, mistakes)
  const schedule = kind === 'timestamp' ? readTimestamp(fields, path, mistakes) : readCalendar(fields, kind, path, mistakes)
  return mistakes.found.length === before ? schedule : undefined
}

/** A schedule with the zone of the operating system in place of `local`. */
export function inZone(schedule: WorkflowSchedule, localZone: string): WorkflowSchedule {
  return schedule.timezone === LOCAL_ZONE ? { ...schedule, timezone: localZone } : schedule
}

function kindOf(fields: Fields, path: Path, mistakes: Mistakes): Kind | undefined {
  if (fields['at'] !== undefined) return 'timestamp'
  if (fields['date'] !== undefined) return 'date'
  const { frequency } = fields
  const kind = RECURRING.find((each) => each === frequency)
  if (kind !== undefined) return kind
  if (frequency === undefined) return mistakes.add(path, `needs "at", "date", or a frequency: ${orList(RECURRING)}`)
  if (frequency === 'once') return mistakes.add(path, 'runs once and needs "date" or "at"')
  return mistakes.add([...path, 'frequency'], `must be ${orList(FREQUENCIES)}, not ${shown(frequency)}`)
}

function refuseOthers(fields: Fields, kind: Kind, path: Path, mistakes: Mistakes): void {
  const isOnce = kind === 'timestamp' || kind === 'date'
  for (const field of FIELDS) {
    const value = fields[field]
    if (value === undefined || TAKEN[kind].includes(field)) continue
    // The normal form of one that runs once says so.
    if (isOnce && field === 'interval' && value === 1 && fields['frequency'] === 'once') continue
    if (isOnce && field === 'frequency' && value === 'once' && fields['interval'] === 1) continue
    mistakes.add([...path, field], `cannot be part of ${WORDS[kind]}, which takes ${TAKEN[kind].join(', ')}`)
  }
  if (kind === 'date' && fields['frequency'] !== undefined && fields['frequency'] !== 'once') {
    mistakes.add([...path, 'frequency'], `cannot be ${shown(fields['frequency'])} in a schedule with "date", which runs once`)
  }
}

function readTimestamp(fields: Fields, path: Path, mistakes: Mistakes): WorkflowSchedule | undefined {
  const { at, timezone } = fields
  const zone = timezone === undefined ? 'UTC' : readZone(timezone, [...path, 'timezone'], mistakes)
  if (zone !== undefined && zone !== 'UTC') {
    mistakes.add([...path, 'timezone'], `cannot be ${shown(timezone)} together with "at", which has its own offset`)
  }
  if (typeof at === 'string' && parseInstant(at.trim()) !== undefined)
    return { frequency: 'once', interval: 1, timezone: 'UTC', at: at.trim() }
  return mistakes.add([...path, 'at'], `must be a timestamp with its offset, such as 2026-05-04T09:00:00+02:00, not ${shown(at)}`)
}

function readCalendar(fields: Fields, kind: Exclude<Kind, 'timestamp'>, path: Path, mistakes: Mistakes): WorkflowSchedule {
  const at = (field: Field): Path => [...path, field]
  const given = <T>(field: Field, fallback: T, read: (value: unknown, path: Path) => T | undefined): T => {
    const value = fields[field]
    return (value === undefined ? fallback : read(value, at(field))) ?? fallback
  }
  const integer = (range: readonly [number, number]) => (value: unknown, where: Path) => readInteger(value, where, mistakes, range)
  const schedule = {
    frequency: kind === 'date' ? 'once' : kind,
    interval: kind === 'date' ? 1 : given('interval', 1, integer([1, MOST])),
    timezone: given('timezone', 'UTC', (value, where) => readZone(value, where, mistakes)),
  } as const
  if (kind === 'hourly') return { ...schedule, minute: given('minute', 0, integer([0, 59])) }
  const time = given('time', '00:00', (value, where) => readTime(value, where, mistakes))
  switch (kind) {
    case 'date':
      return { ...schedule, date: readDate(fields['date'], at('date'), mistakes) ?? '', time }
    case 'daily':
      return { ...schedule, time }
    case 'weekly':
      return { ...schedule, weekdays: readWeekdays(fields['weekdays'], at('weekdays'), mistakes), time }
    case 'monthly':
      return { ...schedule, monthDay: given('monthDay', 1, integer([1, 31])), time }
  }
}

function readZone(value: unknown, path: Path, mistakes: Mistakes): string | undefined {
  const name = readText(value, path, mistakes)?.trim()
  if (name === undefined) return undefined
  if (name.toLowerCase() === LOCAL_ZONE) return LOCAL_ZONE
  return canonicalZone(name) ?? mistakes.add(path, `must be the IANA name of a zone, such as Europe/Berlin, or local, not ${shown(value)}`)
}

function readTime(value: unknown, path: Path, mistakes: Mistakes): string | undefined {
  const time = typeof value === 'string' ? parseTime(value) : undefined
  return time === undefined ? mistakes.add(path, `must be ${TIMES}, not ${shown(value)}`) : timeText(time)
}

function readDate(value: unknown, path: Path, mistakes: Mistakes): string | undefined {
  if (typeof value === 'string' && parseDate(value) !== undefined) return value
  return mistakes.add(path, `must be a day that exists, as YYYY-MM-DD, not ${shown(value)}`)
}

function readWeekdays(value: unknown, path: Path, mistakes: Mistakes): Weekday[] {
  if (!Array.isArray(value) || value.length === 0) {
    mistakes.add(
      path,
      `must be a list of at least one day, such as [mon, thu], not ${Array.isArray(value) ? 'an empty list' : shown(value)}`,
    )
    return []
  }
  const days: Weekday[] = []
  for (const [index, each] of value.slice(0, MOST_DAYS).entries()) {
    const name = typeof each === 'string' ? each.trim().toLowerCase() : ''
    const day = WEEKDAYS.find((short, number) => name === short || name === DAY_NAMES[number])
    if (day === undefined) mistakes.add([...path, index], `must be a weekday, such as monday or mon, not ${shown(each)}`)
    else if (days.includes(day)) mistakes.add([...path, index], `names ${DAY_NAMES[WEEKDAYS.indexOf(day)]} a second time`)
    else days.push(day)
  }
  return days
}

const MOST_DAYS = 16
