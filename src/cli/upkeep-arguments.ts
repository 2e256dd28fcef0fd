/** The command lines of what keeps svc for years as data: `svc audit`, `backup`, `cleanup`, `logs`, `restore`, `upgrade`, `usage`. Pure; throws a sentence when one cannot be understood. */
import { AUDIT, type AuditOptions } from './commands/audit/audit-page.js'
import { BACKUP, type BackupCommand, RESTORE, type RestoreCommand } from './commands/backup/backup-pages.js'
import { CLEANUP, type CleanupOptions } from './commands/cleanup/cleanup-page.js'
import { LOGS, type LogsOptions } from './commands/logs/logs-page.js'
import { readLine } from './line/read-line.js'
import { USAGE, type UsageOptions } from './commands/usage/usage-page.js'
import { UPGRADE, type UpgradeOptions } from './commands/upgrade/upgrade-page.js'
import { LIMITS } from '../protocol/limits.js'

export function readLogs(args: string[]): LogsOptions {
  const { lines, level, plugin, follow, json } = readLine(LOGS, args).values
  return { lines: lines ?? 50, level, plugin, follows: follow, json }
}

export function readUsage(args: string[]): UsageOptions {
  const { by, days, disk, json } = readLine(USAGE, args).values
  if (disk && (by !== undefined || days !== undefined)) throw new Error('--disk needs no --by and no --days')
  return { by, days: days ?? 30, disk, json }
}

export function readCleanup(args: string[]): CleanupOptions {
  const { 'unused-for': unusedFor, yes, json } = readLine(CLEANUP, args).values
  return { unusedFor, yes, json }
}

export function readBackup(args: string[]): BackupCommand {
  const { values, first: file } = readLine(BACKUP, args)
  return { file, credentials: values['with-credentials'], replace: values.replace, json: values.json }
}

export function readRestore(args: string[]): RestoreCommand {
  const { values, first: file } = readLine(RESTORE, args)
  return { file, state: values.state, replace: values.replace, configuration: !values['without-configuration'], json: values.json }
}

export function readUpgrade(args: string[]): UpgradeOptions {
  return { json: readLine(UPGRADE, args).values.json }
}

/** `now`: Unix ms. */
export function readAudit(args: string[], now: number): AuditOptions {
  const { tenant, since, limit, json } = readLine(AUDIT, args).values
  return { tenant, since: since === undefined ? undefined : momentOf(since, now), limit: limit ?? LIMITS.audit.pageDefault, json }
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

function momentOf(text: string, now: number): number {
  const [, count, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  const moment = count === undefined ? (/^\d{4}-\d\d/.test(text) ? Date.parse(text) : Number.NaN) : now - Number(count) * (UNITS[unit] ?? 0)
  if (Number.isNaN(moment)) throw new Error('--since takes 30m, 12h, 7d, or a time such as 2026-05-04 or 2026-05-04T10:00')
  return moment
}
