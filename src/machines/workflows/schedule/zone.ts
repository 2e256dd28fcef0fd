/**
 * Time zones: which instant a local time is (service.md, Scheduled workflows; subsystems a.5). A local time that does not
 * exist moves forward to the first valid minute; one that exists twice is the earlier instant.
 *
 * I1 Answers depend on the time-zone data alone: not on the present time, not on the zone of the machine. Only the offset of
 *    an instant is asked for; what luxon itself makes of gaps and overlaps is never used.
 * I2 What is remembered is bounded, and would be answered the same again.
 * Local times are milliseconds as if they were in UTC.
 */
import { IANAZone } from 'luxon'
import { createLru, type Lru } from '../../../kernel/lru.js'
import { civilText, DAY, HOUR, MINUTE } from './civil.js'

/** More than any offset from UTC, less than the time between two changes of one. */
const REACH = 16 * HOUR

export interface Resolved {
  /** Unix milliseconds. */
  readonly at: number
  /** `gap`: the local time does not exist and was moved. `fold`: it exists twice and this is the first. */
  readonly shift?: 'gap' | 'fold'
}

/** The name of a zone as it is written, whatever the case it came in; undefined when there is none of that name. */
export function canonicalZone(name: string): string | undefined {
  if (!NAME.test(name)) return undefined
  const known = NAMES.get(name)
  if (known !== undefined) return known.canonical
  const canonical = askedName(name)
  NAMES.set(name, { canonical })
  return canonical
}

const NAME = /^[A-Za-z][\w+/-]{0,99}$/
/** Asking takes some hundred microseconds. */
const NAMES = createLru<string, { readonly canonical: string | undefined }>(1024)

function askedName(name: string): string | undefined {
  if (!IANAZone.isValidZone(name)) return undefined
  const resolved = new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone
  if (resolved.toLowerCase() === name.toLowerCase()) return resolved
  return name === name.toLowerCase() ? resolved : name
}

/** Milliseconds that local time is ahead of UTC at an instant. */
function offsetAt(zone: string, at: number): number {
  if (zone === 'UTC') return 0
  const days = rememberedOf(zone)
  const day = Math.floor(at / DAY)
  return constantOn(zone, day, days) ? startOf(zone, day, days) : askedAt(zone, at)
}

export function localOf(zone: string, at: number): number {
  return at + offsetAt(zone, at)
}

/** The instant of a local time. */
export function resolveLocal(zone: string, local: number): Resolved {
  if (zone === 'UTC') return { at: local }
  const before = offsetAt(zone, local - REACH)
  const after = offsetAt(zone, local + REACH)
  if (before === after && offsetAt(zone, local - before) === before) return { at: local - before }
  const offsets = new Set([before, after, offsetAt(zone, local - before), offsetAt(zone, local - after)])
  const instants = [...offsets].map((offset) => local - offset).filter((at) => localOf(zone, at) === local)
  const at = Math.min(...instants)
  if (instants.length > 0) return instants.length > 1 ? { at, shift: 'fold' } : { at }
  return { at: afterGap(zone, local), shift: 'gap' }
}

/** RFC 3339 text of an instant, with the offset of the zone. */
export function formatLocal(zone: string, at: number): string {
  const offset = Math.round(offsetAt(zone, at) / MINUTE)
  const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60]
  const text = [hours, minutes].map((value) => String(value).padStart(2, '0')).join(':')
  return `${civilText(at + offset * MINUTE)}${offset < 0 ? '-' : '+'}${text}`
}

/** RFC 3339 text of an instant in UTC. */
export function formatUtc(at: number): string {
  return `${civilText(at)}Z`
}

/** Offsets at the start of UTC days, by zone. Asking for one takes some ten microseconds, and few days are asked for. */
const REMEMBERED = createLru<string, Lru<number, number>>(128)
const DAYS = 512

function rememberedOf(zone: string): Lru<number, number> {
  const known = REMEMBERED.get(zone)
  if (known !== undefined) return known
  const days = createLru<number, number>(DAYS)
  REMEMBERED.set(zone, days)
  return days
}

/** No zone changes its offset and takes it back within one day. */
function constantOn(zone: string, day: number, days: Lru<number, number>): boolean {
  return startOf(zone, day, days) === startOf(zone, day + 1, days)
}

function startOf(zone: string, day: number, days: Lru<number, number>): number {
  const known = days.get(day)
  if (known !== undefined) return known
  const offset = askedAt(zone, day * DAY)
  days.set(day, offset)
  return offset
}

function askedAt(zone: string, at: number): number {
  return Math.round(IANAZone.create(zone).offset(at) * MINUTE)
}

/** The first instant whose local time is a whole number of minutes after one that does not exist. */
function afterGap(zone: string, local: number): number {
  let low = local - REACH
  let high = local + REACH
  // Before `low` local times are smaller than `local`, from `high` on they are greater; it is never reached.
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (localOf(zone, middle) < local) low = middle
    else high = middle
  }
  const first = localOf(zone, high)
  const minutes = Math.ceil((first - local) / MINUTE)
  return high + (local + minutes * MINUTE - first)
}
