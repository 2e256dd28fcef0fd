/**
 * When schedules are due, worked out by brute force from what `Intl` prints: every local time of the calendar is tried, and
 * every instant that could be it. Shares no code with the program and knows nothing of luxon.
 */
export interface OracleSchedule {
  readonly frequency: 'once' | 'hourly' | 'daily' | 'weekly' | 'monthly'
  readonly interval: number
  readonly timezone: string
  readonly minute?: number | undefined
  readonly time?: string | undefined
  readonly weekdays?: readonly string[] | undefined
  readonly monthDay?: number | undefined
  readonly date?: string | undefined
  readonly at?: string | undefined
}

const DAY = 86_400_000
const FIRST_DAY = new Date('0001-01-01T00:00:00Z').getTime()
const NAMES = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const FIRST_SAMPLE = Date.UTC(2019, 10, 1)
const LAST_SAMPLE = Date.UTC(2040, 0, 1)

interface Zone {
  /** What a clock on the wall shows, as milliseconds of a calendar without zones. */
  shows(instant: number): number
  /** Every offset that was in force for two days or more. */
  readonly offsets: readonly number[]
  /** Days on which the offset is another one than two days before. */
  readonly changes: readonly number[]
}

const zones = new Map<string, Zone>()

export function zoneOf(name: string): Zone {
  const known = zones.get(name)
  if (known !== undefined) return known
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: name,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  })
  const shows = (instant: number) => {
    const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] = format.format(instant).match(/\d+/g)?.map(Number) ?? []
    return Date.UTC(year, month - 1, day, hour, minute, second)
  }
  const offsets = new Set<number>()
  const changes: number[] = []
  let last: number | undefined
  for (let at = FIRST_SAMPLE; at < LAST_SAMPLE; at += 2 * DAY) {
    const offset = shows(at) - at
    if (last !== undefined && offset !== last) changes.push(at)
    offsets.add(offset)
    last = offset
  }
  const zone = { shows, offsets: [...offsets], changes }
  zones.set(name, zone)
  return zone
}

/** The first `count` occurrences strictly after an instant. */
export function expected(schedule: OracleSchedule, after: number, count: number): number[] {
  if (schedule.at !== undefined) return [Date.parse(schedule.at)].filter((at) => at > after)
  const zone = zoneOf(schedule.timezone)
  const found = new Set<number>()
  if (schedule.date !== undefined) {
    const at = instantOf(zone, Date.parse(`${schedule.date}T00:00:00Z`) + timeOf(schedule.time ?? '00:00'))
    return at > after ? [at] : []
  }
  const begin = Math.floor(zone.shows(after) / DAY) * DAY - 2 * DAY
  for (let day = begin; day < begin + 16_000 * DAY; day += DAY) {
    for (const local of timesOn(schedule, day)) {
      const at = instantOf(zone, local)
      if (at > after) found.add(at)
    }
    if (found.size < count) continue
    // Two more days, so that nothing of a later day could still come first.
    const sorted = [...found].toSorted((a, b) => a - b)
    const last = sorted[count - 1]
    if (last !== undefined && day > zone.shows(last) + 2 * DAY) return sorted.slice(0, count)
  }
  return [...found].toSorted((a, b) => a - b).slice(0, count)
}

/** Local times that a schedule names on a calendar day. */
function timesOn(schedule: OracleSchedule, day: number): number[] {
  const { frequency, interval } = schedule
  const date = new Date(day)
  const number = Math.round((day - FIRST_DAY) / DAY) + 1
  if (frequency === 'hourly') {
    const hours = Array.from({ length: 24 }, (_, hour) => hour).filter((hour) => (number * 24 + hour) % interval === 0)
    return hours.map((hour) => day + hour * 3_600_000 + (schedule.minute ?? 0) * 60_000)
  }
  return isNamed() ? [day + timeOf(schedule.time ?? '00:00')] : []

  function isNamed(): boolean {
    if (frequency === 'daily') return number % interval === 0
    if (frequency === 'weekly') {
      return Math.floor(number / 7) % interval === 0 && (schedule.weekdays ?? []).includes(NAMES[date.getUTCDay()] ?? '')
    }
    const months = date.getUTCFullYear() * 12 + date.getUTCMonth()
    const length = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
    return months % interval === 0 && date.getUTCDate() === Math.min(schedule.monthDay ?? 1, length)
  }
}

function timeOf(time: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = time.split(':').map(Number)
  return hours * 3_600_000 + minutes * 60_000 + seconds * 1000
}

/** The earliest instant at which the wall shows a local time; if there is none, that of the next minute, and so on. */
function instantOf(zone: Zone, local: number): number {
  for (let minutes = 0; minutes <= 24 * 60; minutes++) {
    const wanted = local + minutes * 60_000
    const instants = zone.offsets.map((offset) => wanted - offset).filter((at) => zone.shows(at) === wanted)
    if (instants.length > 0) return Math.min(...instants)
  }
  throw new Error('a day without minutes')
}
