/** `svc audit`: the audit log of this state directory, of all tenants, with or without a server. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { nodePaths } from '../../../platform/node/paths.js'
import { printable } from '../../../protocol/text/visible-text.js'
import { jsonText, writeError, writeOut } from '../../terminal/output.js'
import { columns } from '../plugin/plugin-words.js'
import type { AuditOptions } from './audit-page.js'

/** Prints the entries, newest first; answers 0. */
export async function audit({ json, ...wanted }: AuditOptions): Promise<number> {
  const path = join(nodePaths(process.env).state, 'agent.sqlite3')
  const entries = existsSync(path) ? (await import('../../../store/disk/audit-trail.js')).readAudit(path, wanted) : []
  if (json) writeOut(`${jsonText(entries, 2)}\n`)
  else if (entries.length === 0) writeError('there is no such entry\n')
  else {
    const rows = entries.map(({ created, tenantId, subject, status, method, path: asked }) => [
      new Date(created).toISOString(),
      printable(tenantId),
      printable(subject),
      String(status),
      `${method} ${printable(asked)}`,
    ])
    writeOut(columns([['WHEN', 'TENANT', 'WHO', 'STATUS', 'REQUEST'], ...rows]))
  }
  return 0
}
