/** The audit log of a state directory, of all tenants, read beside a server that writes: nothing here changes the file. */
import type { AuditEntry } from '../../protocol/system/system.js'
import { Database } from './driver.js'
import { storeFault } from './faults.js'
import { valueOf } from './stored-json.js'

export interface AuditFilter {
  /** undefined = of all. */
  readonly tenant: string | undefined
  /** Unix ms; undefined = all that are kept. */
  readonly since: number | undefined
  readonly limit: number
}

interface Row {
  readonly json: string
  readonly subject: string
}

/** Newest first. Throws `store.unavailable` when the file cannot be read. */
export function readAudit(path: string, { tenant, since, limit }: AuditFilter): (AuditEntry & { readonly subject: string })[] {
  const of = tenant === undefined ? '' : 'tenant_id = @tenant and'
  try {
    const database = new Database(path, { readonly: true, timeout: 5000 })
    try {
      return database
        .prepare<[object], Row>(`select json, subject from audit where ${of} created >= @since order by key desc limit @limit`)
        .all({ since: since ?? 0, limit, ...(tenant !== undefined && { tenant }) })
        .map(({ json, subject }) => ({ ...valueOf<AuditEntry>(json), subject }))
    } finally {
      database.close()
    }
  } catch (error) {
    throw storeFault(error)
  }
}
