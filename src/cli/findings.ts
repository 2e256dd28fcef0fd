/** What a check found, and how it is shown. */
import { printable } from '../protocol/text/visible-text.js'
import { messageOf } from '../protocol/message-of.js'

export interface Finding {
  readonly level: 'ok' | 'warning' | 'error'
  /** What was looked at, a word or two. */
  readonly check: string
  readonly detail: string
}

const MARKS = { ok: 'ok  ', warning: 'warn', error: 'FAIL' } as const

/** One line per finding, in columns. */
export function renderFindings(findings: readonly Finding[]): string {
  const checks = findings.map(({ check }) => printable(check))
  const width = Math.max(...checks.map((check) => check.length))
  return findings.map(({ level, detail }, at) => `${MARKS[level]}  ${(checks[at] ?? '').padEnd(width)}  ${printable(detail)}\n`).join('')
}

/** Runs one check: what it answers is the detail, what it throws is a finding of the given level. */
export async function finding(
  check: string,
  inspect: () => Promise<string> | string,
  level: 'warning' | 'error' = 'error',
): Promise<Finding> {
  try {
    return { level: 'ok', check, detail: await inspect() }
  } catch (error) {
    return { level, check, detail: messageOf(error).split('\n')[0] ?? '' }
  }
}
