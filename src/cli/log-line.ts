/** Lines of the log as people read them. Pure. */
import * as z from 'zod'
import { printable } from '../protocol/text/visible-text.js'

const LogRecord = z.looseObject({ time: z.string(), level: z.enum(['debug', 'info', 'warn', 'error']), message: z.string() })
export type LogRecord = z.infer<typeof LogRecord>

/** Undefined for a line that is none: the file may have been cut anywhere. */
export function readLogLine(line: string): LogRecord | undefined {
  try {
    return LogRecord.safeParse(JSON.parse(line)).data
  } catch {
    return undefined
  }
}

/** `10:20:30 warn  what happened  pluginId=dev.example.hello`, in the zone of this machine. */
export function shownLine({ time, level, message, ...fields }: LogRecord): string {
  const at = new Date(time)
  const clock = [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':')
  const rest = Object.entries(fields).map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
  return printable(`${clock} ${level.padEnd(5)} ${[message, ...rest].join('  ')}`)
}
