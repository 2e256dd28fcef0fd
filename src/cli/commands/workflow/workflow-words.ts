/** Schedules in the words of people. */
import type { WorkflowSchedule } from '../../../protocol/workflow/workflow.js'

/** `every 2 weeks on mon, thu at 09:00, Europe/Berlin`. */
export function scheduleWords({ frequency, interval, timezone, minute, time, weekdays, monthDay, date, at }: WorkflowSchedule): string {
  const every = (one: string, many: string) => (interval === 1 ? `every ${one}` : `every ${interval} ${many}`)
  const clock = `at ${time ?? '00:00'}, ${timezone}`
  switch (frequency) {
    case 'once':
      return at === undefined ? `once, on ${date ?? ''} ${clock}` : `once, at ${at}`
    case 'hourly':
      return `${every('hour', 'hours')} at minute ${minute ?? 0}, ${timezone}`
    case 'daily':
      return `${every('day', 'days')} ${clock}`
    case 'weekly':
      return `${every('week', 'weeks')} on ${(weekdays ?? []).join(', ')} ${clock}`
    case 'monthly':
      return `${every('month', 'months')} on day ${monthDay ?? 1} ${clock}`
  }
}
