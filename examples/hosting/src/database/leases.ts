/**
 * Leases in the database: rows say who owns what, by the time of the database.
 *
 * I1 A controller owns a workspace while the lease names it. Another may take it once the row of the controller has ended.
 * I2 Each taking has a larger fence, and what is written under a smaller one is refused (bindings.ts): a controller that slept through the
 *    end of its lease changes nothing when it wakes.
 */
import type { WorkspaceKey } from '../records/machines.js'
import { FenceRow, KeyRow } from './rows.js'
import type { Sql } from './sql.js'

/** Of an owner of a workspace. */
export interface Hold {
  readonly holder: string
  readonly fence: number
}

export interface Leases {
  join(holder: string, url: string, seconds: number): Promise<void>
  /** False when it has ended. */
  renew(holder: string, seconds: number): Promise<boolean>
  leave(holder: string): Promise<void>
  /** Undefined while another lives that has it. */
  claim(holder: string, key: WorkspaceKey): Promise<Hold | undefined>
  release(key: WorkspaceKey, hold: Hold): Promise<void>
  /** Workspaces that need an owner and have none that lives. */
  orphans(limit: number): Promise<readonly WorkspaceKey[]>
}

export function createLeases(sql: Sql): Leases {
  return {
    async join(holder, url, seconds) {
      await sql`insert into controller (id, url, expires_at) values (${holder}, ${url}, now() + make_interval(secs => ${seconds}))`
      await sql`delete from controller where expires_at < now() - interval '1 hour'`
    },
    async renew(holder, seconds) {
      const rows = await sql`
        update controller set expires_at = now() + make_interval(secs => ${seconds})
        where id = ${holder} and expires_at > now() returning id`
      return rows.length === 1
    },
    async leave(holder) {
      await sql`delete from controller where id = ${holder}`
    },
    async claim(holder, { tenant, workspace }) {
      // In two statements: who has waited for the row judges by what is there when it has it, not by what was there when it began to wait.
      const rows = await sql.begin(async (sql) => {
        await sql`select from lease where tenant = ${tenant} and workspace = ${workspace} for update`
        return sql`
          update lease set holder = ${holder}, fence = fence + 1
          where tenant = ${tenant} and workspace = ${workspace}
            and not exists (select from controller where id = lease.holder and id <> ${holder} and expires_at > clock_timestamp())
            and exists (select from controller where id = ${holder} and expires_at > clock_timestamp())
          returning fence`
      })
      const [row] = rows.map((each) => FenceRow.parse(each))
      return row && { holder, fence: row.fence }
    },
    async release({ tenant, workspace }, { holder, fence }) {
      await sql`
        update lease set holder = null
        where tenant = ${tenant} and workspace = ${workspace} and holder = ${holder} and fence = ${fence}`
    },
    async orphans(limit) {
      const rows = await sql`
        select tenant, workspace from lease join binding using (tenant, workspace)
        where not exists (select from controller where id = lease.holder and expires_at > now())
          and (pending is not null or status->>'state' not in ('stopped', 'destroyed'))
        limit ${limit}`
      return rows.map((each) => KeyRow.parse(each))
    },
  }
}
