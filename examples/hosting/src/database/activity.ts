/** When workspaces were last used, by the time of the database; written now and then, never for each request. */
import type { WorkspaceKey } from '../records/machines.js'
import { nameOf } from '../records/machines.js'
import type { Sql } from './sql.js'

export interface Activity {
  used(controller: string, keys: readonly WorkspaceKey[]): Promise<void>
  /** Whether nobody has used it for so long. */
  isQuiet(key: WorkspaceKey, seconds: number): Promise<boolean>
}

export function createActivity(sql: Sql): Activity {
  return {
    async used(controller, keys) {
      if (keys.length === 0) return
      const names = keys.map(nameOf)
      await sql`
        insert into activity (tenant, workspace, controller, last_used)
        select split_part(name, '/', 1), split_part(name, '/', 2), ${controller}, now() from unnest(${names}::text[]) as name
        on conflict (tenant, workspace, controller) do update set last_used = excluded.last_used`
    },
    async isQuiet({ tenant, workspace }, seconds) {
      const rows = await sql`
        select from activity where tenant = ${tenant} and workspace = ${workspace} and last_used > now() - make_interval(secs => ${seconds}) limit 1`
      return rows.length === 0
    },
  }
}
