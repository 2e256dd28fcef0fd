/** The command lines of `svc logs`, `svc usage` and `svc cleanup` as data. Pure; throws a sentence when one cannot be understood. */
import type { LogLevel } from '../actors/node/log.js'
import { CLEANUP } from './cleanup/cleanup-page.js'
import { LOGS } from './logs/logs-page.js'
import { readLine } from './table/read-line.js'
import { USAGE } from './usage/usage-page.js'

export interface LogsOptions {
  readonly lines: number
  readonly level: Exclude<LogLevel, 'silent'> | undefined
  readonly plugin: string | undefined
  readonly follows: boolean
  readonly json: boolean
}

export interface UsageOptions {
  /** undefined = by each of them. */
  readonly by: 'day' | 'model' | 'project' | undefined
  readonly days: number
  readonly json: boolean
}

export interface CleanupOptions {
  /** Days; undefined = no conversation goes. */
  readonly unusedFor: number | undefined
  readonly yes: boolean
  readonly json: boolean
}

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
