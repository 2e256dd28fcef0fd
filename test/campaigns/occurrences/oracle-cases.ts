/** Random schedules, and where the program and the oracle disagree about them. */
import { latestOccurrence, upcoming } from '../../../src/machines/workflows/schedule/occurrence.js'
import type { WorkflowSchedule } from '../../../src/protocol/workflow/workflow.js'
import { expected, zoneOf } from './oracle.js'

export const ZONES = [
  'UTC',
  'Africa/Cairo',
  'Africa/Casablanca',
  'Africa/Juba',
  'America/Asuncion',
  'America/Havana',
  'America/Los_Angeles',
  'America/New_York',
  'America/Nuuk',
  'America/Santiago',
  'America/Scoresbysund',
  'America/St_Johns',
  'Antarctica/Casey',
  'Antarctica/Troll',
  'Asia/Amman',
  'Asia/Beirut',
  'Asia/Gaza',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Asia/Tehran',
  'Australia/Lord_Howe',
  'Europe/Berlin',
  'Europe/Dublin',
  'Europe/London',
  'Europe/Volgograd',
  'Pacific/Apia',
  'Pacific/Chatham',
  'Pacific/Easter',
  'Pacific/Fiji',
  'Pacific/Norfolk',
] as const

const COUNT = 5
const FROM = Date.UTC(2020, 0, 1)
const TO = Date.UTC(2035, 11, 31)
const DAY = 86_400_000

/** A schedule, and the moment it is asked at. */
export interface Case {
  readonly schedule: WorkflowSchedule
  readonly after: number
}

/** The same cases for the same seed. */
export function* cases(seed: number, count: number): Generator<Case> {
  const random = mulberry(seed)
  const below = (most: number) => Math.floor(random() * most)
  const pick = <T>(choices: readonly [T, ...T[]]): T => choices[below(choices.length)] ?? choices[0]
  const two = (value: number) => String(value).padStart(2, '0')

  for (let n = 0; n < count; n++) {
    const timezone = pick(ZONES)
    const { changes } = zoneOf(timezone)
    const near = changes[below(Math.max(changes.length, 1))] ?? FROM
    const isNear = random() < 0.5 && near > FROM && near < TO
    const after = Math.floor(isNear ? near + (random() - 0.7) * 5 * DAY : FROM + random() * (TO - FROM))
    const hour = random() < 0.5 ? below(4) : below(24)
    const time = `${two(hour)}:${two(below(60))}${random() < 0.2 ? `:${two(below(60))}` : ''}`
    const date = new Date(after + below(10) * DAY).toISOString().slice(0, 10)
    const weekdays = (['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const).filter(() => random() < 0.35)
    const schedule = pick<() => WorkflowSchedule>([
      () => ({ frequency: 'hourly', interval: pick([1, 1, 1 + below(50)]), timezone, minute: below(60) }),
      () => ({ frequency: 'daily', interval: pick([1, 1, 1 + below(40)]), timezone, time }),
      () => ({
        frequency: 'weekly',
        interval: pick([1, 1 + below(6)]),
        timezone,
        weekdays: weekdays.length > 0 ? weekdays : ['sun'],
        time,
      }),
      () => ({ frequency: 'monthly', interval: pick([1, 1 + below(14)]), timezone, monthDay: pick([31, 1 + below(31)]), time }),
      () => ({ frequency: 'once', interval: 1, timezone, date, time }),
      () => ({ frequency: 'once', interval: 1, timezone: 'UTC', at: `${date}T${time.slice(0, 5)}:00${pick(['Z', '+05:45', '-03:30'])}` }),
    ])()
    yield { schedule, after }
  }
}

export type Upcoming = typeof upcoming

/** What is wrong with the answers for one case; undefined when nothing is. */
export function disagreement({ schedule, after }: Case, answer: Upcoming = upcoming): string | undefined {
  const right = expected(schedule, after, COUNT)
  const given = answer(schedule, after, COUNT)
  const where = `${JSON.stringify(schedule)} after ${new Date(after).toISOString()}`
  const list = (instants: readonly number[]) => instants.map((at) => new Date(at).toISOString()).join(' ')
  if (list(given.map(({ scheduledAt }) => scheduledAt)) !== list(right)) {
    return `${where}: ${list(given.map(({ scheduledAt }) => scheduledAt))}, not ${list(right)}`
  }
  for (const { scheduledAt, local, utc } of given) {
    const shown = new Date(zoneOf(schedule.timezone).shows(scheduledAt)).toISOString().slice(0, 19)
    if (!local.startsWith(shown) || Date.parse(local) !== scheduledAt || Date.parse(utc) !== scheduledAt)
      return `${where}: ${local}, ${utc}`
  }
  for (const [index, at] of right.entries()) {
    const next = right[index + 1] ?? at + 1
    const between = at + Math.floor((next - at) / 2)
    for (const to of [at, between, next - 1]) {
      const latest = latestOccurrence(schedule, after + 1, to)
      if (latest !== at) return `${where}: the latest up to ${new Date(to).toISOString()} is ${latest}, not ${at}`
    }
  }
  const [first] = right
  const none = first === undefined ? undefined : latestOccurrence(schedule, after + 1, first - 1)
  return none === undefined ? undefined : `${where}: ${none} before the first`
}

function mulberry(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let value = Math.imul(state ^ (state >>> 15), 1 | state)
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296
  }
}
