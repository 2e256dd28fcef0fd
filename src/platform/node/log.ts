/** Structured log: one line of JSON per fact, on standard error, with nothing in it that moves a terminal's cursor (threat-model S4, K2). */
import { cut } from '../../kernel/cut.js'
import { isSecretName, publicText } from '../../protocol/text/secrets.js'
import { escapedJson } from '../../protocol/text/visible-text.js'
import type { Log } from '../../ports/effects.js'

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LEVELS)[number]

const TEXT_LIMIT = 4096
const LINE_LIMIT = 32 * 1024

/** The level named by `SVC_LOG`; unknown names mean `info`. */
export function parseLogLevel(name: string | undefined): LogLevel {
  return LEVELS.find((level) => level === name?.trim().toLowerCase()) ?? 'info'
}

export type WriteLine = (line: string, level: Exclude<LogLevel, 'silent'>) => void

/** Whether something of a level is told where the threshold is this. */
export function isTold(level: Exclude<LogLevel, 'silent'>, threshold: LogLevel): boolean {
  return LEVELS.indexOf(level) >= LEVELS.indexOf(threshold)
}

/** `write` gets whole lines, each with its line feed. */
export function createNodeLog(options: { readonly level: LogLevel; readonly now: () => number; readonly write: WriteLine }): Log {
  const at = (level: Exclude<LogLevel, 'silent'>) => {
    if (!isTold(level, options.level)) return () => undefined
    return (message: string, fields?: Record<string, unknown>) => {
      options.write(formatLine({ time: new Date(options.now()).toISOString(), level, message }, fields), level)
    }
  }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

function formatLine(head: Record<string, unknown>, fields: Record<string, unknown> = {}): string {
  const line = stringify({ ...head, ...fields, ...head }) ?? stringify({ ...head, fields: 'not serialisable' }) ?? ''
  const bounded = line.length > LINE_LIMIT ? (stringify({ ...head, fields: `omitted: ${line.length} characters` }) ?? '') : line
  return `${escapedJson(bounded)}\n`
}

function stringify(record: Record<string, unknown>): string | undefined {
  try {
    return JSON.stringify(record, plain)
  } catch {
    return undefined // a cycle, or a getter that throws
  }
}

function plain(this: unknown, key: string, value: unknown): unknown {
  if (typeof value === 'string') return isSecretName(key) ? '[redacted]' : publicText(bounded(value))
  if (typeof value === 'bigint') return value.toString()
  if (value instanceof Error) {
    const { name, message, stack, cause } = value
    return { name, message, ...('code' in value && { code: value.code }), ...(cause !== undefined && { cause }), stack }
  }
  return value
}

function bounded(text: string): string {
  return cut(text, TEXT_LIMIT, `… (${text.length} characters)`)
}
