/** Schedules in the words of people: those of the command line, for which a test stands. */
import type { WorkflowSchedule } from '../../../protocol/workflow/workflow.js'

/** `every 2 weeks on mon, thu at 09:00`, and the zone. */
export function scheduleWords({ frequency, interval, timezone, minute, time, weekdays, monthDay, date, at }: WorkflowSchedule): {
  readonly when: string
  /** None of a moment that has its own offset. */
  readonly zone: string | undefined
} {
  const every = (one: string) => (interval === 1 ? `every ${one}` : `every ${interval} ${one}s`)
  const clock = `at ${time ?? '00:00'}`
  switch (frequency) {
    case 'once':
      return at === undefined ? { when: `once, on ${date ?? ''} ${clock}`, zone: timezone } : { when: `once, at ${at}`, zone: undefined }
    case 'hourly':
      return { when: `${every('hour')} at minute ${minute ?? 0}`, zone: timezone }
    case 'daily':
      return { when: `${every('day')} ${clock}`, zone: timezone }
    case 'weekly':
      return { when: `${every('week')} on ${(weekdays ?? []).join(', ')} ${clock}`, zone: timezone }
    case 'monthly':
      return { when: `${every('month')} on day ${monthDay ?? 1} ${clock}`, zone: timezone }
  }
}
