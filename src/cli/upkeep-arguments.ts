/** The command lines of `svc logs`, `svc usage` and `svc cleanup` as data. Pure; throws a sentence when one cannot be understood. */
import { CLEANUP, type CleanupOptions } from './commands/cleanup/cleanup-page.js'
import { LOGS, type LogsOptions } from './commands/logs/logs-page.js'
import { readLine } from './line/read-line.js'
import { USAGE, type UsageOptions } from './commands/usage/usage-page.js'

export function readLogs(args: string[]): LogsOptions {
  const { lines, level, plugin, follow, json } = readLine(LOGS, args).values
  return { lines: lines ?? 50, level, plugin, follows: follow, json }
}

export function readUsage(args: string[]): UsageOptions {
  const { by, days, json } = readLine(USAGE, args).values
  return { by, days: days ?? 30, json }
}

export function readCleanup(args: string[]): CleanupOptions {
  const { 'unused-for': unusedFor, yes, json } = readLine(CLEANUP, args).values
  return { unusedFor, yes, json }
}
