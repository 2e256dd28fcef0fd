/** The calendar without clocks or zones: days since 1970-01-01 and local times as if they were in UTC. */

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** Day number of 1970-01-01, counting 0001-01-01 as 1 (subsystems a.5); day numbers that divide by 7 are Sundays. */
export const EPOCH_DAY_NUMBER = 719_163

export interface CivilDate {
  readonly year: number
  /** 1 to 12. */
  readonly month: number
  readonly day: number
}

/** Days since 1970-01-01 in the proleptic Gregorian calendar. */
export function daysOf({ year, month, day }: CivilDate): number {
  const shifted = month > 2 ? year : year - 1
  const era = Math.floor(shifted / 400)
  const yearOfEra = shifted - era * 400
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1
  return era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719_468
}

/** The date of a number of days since 1970-01-01. */
export function dateOf(days: number): CivilDate {
  const shifted = days + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  return { year, month, day: dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1 }
}

export function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/** `YYYY-MM-DD` of a day that exists, in the years 1 to 9999. */
export function parseDate(text: string): CivilDate | undefined {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text)
  if (match === null) return undefined
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])]
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined
  return { year, month, day }
}

/** Milliseconds since midnight of a time of day: `HH:MM`, `HH:MM:SS`, `h:MM AM/PM` or `h:MM:SS AM/PM` (subsystems a.3). */
export function parseTime(text: string): number | undefined {
  const match = /^(\d{1,2}):([0-5]\d)(?::([0-5]\d))?(?:\s*([AP])M)?$/.exec(text.trim().toUpperCase())
  if (match === null) return undefined
  const [, hourText = '', minute, second = '0', half] = match
  const hour = Number(hourText)
  if (half === undefined && (hourText.length !== 2 || hour > 23)) return undefined
  if (half !== undefined && (hour < 1 || hour > 12)) return undefined
  const hours = half === undefined ? hour : (hour % 12) + (half === 'P' ? 12 : 0)
  return hours * HOUR + Number(minute) * MINUTE + Number(second) * 1000
}

/** `HH:MM`, or `HH:MM:SS` when there are seconds, of milliseconds since midnight. */
export function timeText(time: number): string {
  const [hours, minutes, seconds] = [Math.floor(time / HOUR), Math.floor(time / MINUTE) % 60, Math.floor(time / 1000) % 60]
  return [hours, minutes, ...(seconds === 0 ? [] : [seconds])].map(twoDigits).join(':')
}

/** `YYYY-MM-DDTHH:MM:SS` of a local time, with milliseconds when there are any. */
export function civilText(local: number): string {
  const days = Math.floor(local / DAY)
  const { year, month, day } = dateOf(days)
  const time = local - days * DAY
  const rest = time % 1000
  const seconds = `${timeText(time - rest)}${Math.floor(time / 1000) % 60 === 0 ? ':00' : ''}`
  const fraction = rest === 0 ? '' : `.${String(rest).padStart(3, '0')}`
  return `${String(year).padStart(4, '0')}-${twoDigits(month)}-${twoDigits(day)}T${seconds}${fraction}`
}

/**
 * Unix milliseconds of an RFC 3339 timestamp with an offset; undefined for every other text. A leap second counts as the
 * second after it.
 */
export function parseInstant(text: string): number | undefined {
  const match = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}):([0-5]\d):([0-5]\d|60)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d{2}):([0-5]\d))$/.exec(text)
  const date = parseDate(match?.[1] ?? '')
  if (match === null || date === undefined) return undefined
  const [, , hour, minute, second, fraction = '', sign, offsetHour = '0', offsetMinute = '0'] = match
  if (Number(hour) > 23 || Number(offsetHour) > 23) return undefined
  const offset = (Number(offsetHour) * HOUR + Number(offsetMinute) * MINUTE) * (sign === '-' ? -1 : 1)
  const milliseconds = Number(fraction.padEnd(3, '0').slice(0, 3))
  return daysOf(date) * DAY + Number(hour) * HOUR + Number(minute) * MINUTE + Number(second) * 1000 + milliseconds - offset
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0')
}
