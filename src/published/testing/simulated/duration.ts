/** Times as stories write them. */
import type { Instant } from '../runtime-types.js'
import type { Duration } from './simulate-types.js'

const PARTS = { days: 86_400_000, hours: 3_600_000, minutes: 60_000, seconds: 1000, milliseconds: 1 }

export function msOf(duration: Duration): number {
  const ms =
    typeof duration === 'number'
      ? duration
      : Object.entries(PARTS).reduce((sum, [part, each]) => sum + each * (duration[part as keyof typeof PARTS] ?? 0), 0)
  if (!Number.isFinite(ms)) throw new Error(`${JSON.stringify(duration)} is no duration; write milliseconds, or parts such as { hours: 2 }`)
  return ms
}

export function instantOf(instant: Instant): number {
  const ms = typeof instant === 'string' ? Date.parse(instant) : Number(instant)
  if (Number.isNaN(ms)) throw new Error(`"${String(instant)}" is no instant; write one such as 2026-10-25T00:30:00Z`)
  return ms
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** What a clock on the wall shows: `2026-03-29 03:00`. */
export function wallTime(ms: number, zone: string): string {
  let format = formats.get(zone)
  if (format === undefined) {
    const digits = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const
    format = new Intl.DateTimeFormat('sv-SE', { ...digits, hourCycle: 'h23', timeZone: zone })
    formats.set(zone, format)
  }
  return format.format(ms)
}
