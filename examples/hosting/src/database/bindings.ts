/**
 * Bindings in the database: what is wanted of a workspace, and what there is.
 *
 * I1 Anybody may say what is wanted (`intend`). Only the owner says what there is (`amend`), under its fence and for its generation, and the
 *    database looks at both in the transaction that writes.
 * I2 Each write makes the revision larger by one. A row that was not changed is not written.
 */
import type { Intent, WorkerLaunchDescriptor, WorkspaceKey, WorkspaceSpec } from '../records/machines.js'
import { StepError } from '../machines/worker.machine.js'
import type { Hold } from './leases.js'
import { boundFrom, type BoundWorkspace } from './rows.js'
import type { Sql } from './sql.js'

export interface Change {
  readonly generation?: number
  readonly launch?: WorkerLaunchDescriptor
  readonly retired?: boolean
  readonly pending?: Intent | null
  readonly status?: BoundWorkspace['binding']['status']
  readonly last_error?: BoundWorkspace['binding']['last_error']
  readonly verification?: BoundWorkspace['verification']
}

export interface Bindings {
  /** An operator lets a workspace in; its spec may be changed until it has a machine. */
  admit(key: WorkspaceKey, spec: WorkspaceSpec): Promise<void>
  isAdmitted(key: WorkspaceKey): Promise<boolean>
  find(key: WorkspaceKey): Promise<BoundWorkspace | undefined>
  /** The binding of an admitted workspace, made when there is none. */
  open(key: WorkspaceKey, provider: string, launch: WorkerLaunchDescriptor): Promise<BoundWorkspace>
  /** Says what is wanted; `judge` sees the row as it is then, and refuses by throwing, or answers what to write. */
  intend(key: WorkspaceKey, judge: (bound: BoundWorkspace) => Intent | undefined): Promise<BoundWorkspace>
  /** Writes what there is. Rejects with the fault `fenced` when the workspace is another's or has another generation. */
  amend(key: WorkspaceKey, hold: Hold, generation: number, change: (bound: BoundWorkspace) => Change | undefined): Promise<BoundWorkspace>
}

export function createBindings(sql: Sql): Bindings {
  async function find({ tenant, workspace }: WorkspaceKey, within: Sql = sql): Promise<BoundWorkspace | undefined> {
    const [row] = await within`select * from binding where tenant = ${tenant} and workspace = ${workspace}`
    return row === undefined ? undefined : boundFrom(row)
  }

  async function locked({ tenant, workspace }: WorkspaceKey, within: Sql): Promise<BoundWorkspace> {
    const [row] = await within`select * from binding where tenant = ${tenant} and workspace = ${workspace} for update`
    if (row === undefined) throw new Error(`${tenant}/${workspace} has no binding`)
    return boundFrom(row)
  }

  return {
    async admit({ tenant, workspace }, spec) {
      await sql`
        insert into workspace (tenant, workspace, spec) values (${tenant}, ${workspace}, ${sql.json(spec)})
        on conflict (tenant, workspace) do update set spec = excluded.spec`
    },
    async isAdmitted({ tenant, workspace }) {
      return (await sql`select from workspace where tenant = ${tenant} and workspace = ${workspace}`).length === 1
    },
    find: (key) => find(key),
    open: (key, provider, launch) =>
      sql.begin(async (sql) => {
        const { tenant, workspace } = key
        await sql`
          insert into binding (tenant, workspace, provider, generation, spec, launch)
          select tenant, workspace, ${provider}, 1, spec, ${sql.json(launch)} from workspace where tenant = ${tenant} and workspace = ${workspace}
          on conflict do nothing`
        await sql`insert into lease (tenant, workspace) values (${tenant}, ${workspace}) on conflict do nothing`
        return locked(key, sql)
      }),
    intend: (key, judge) =>
      sql.begin(async (sql) => {
        const bound = await locked(key, sql)
        const pending = judge(bound)
        return pending === undefined || pending === bound.binding.pending ? bound : write(sql, bound, { pending })
      }),
    amend: (key, { holder, fence }, generation, change) =>
      sql.begin(async (sql) => {
        const { tenant, workspace } = key
        // Shared: whoever wants to take the workspace waits until this is written, or has taken it before.
        const held = await sql`
          select from lease where tenant = ${tenant} and workspace = ${workspace} and holder = ${holder} and fence = ${fence} for share`
        if (held.length !== 1) throw new StepError('fenced', 'another controller has the workspace')
        const bound = await locked(key, sql)
        if (bound.binding.allocation.generation !== generation) throw new StepError('fenced', 'the workspace has another generation')
        const wanted = change(bound)
        return wanted === undefined ? bound : write(sql, bound, wanted)
      }),
  }
}

async function write(sql: Sql, { binding, verification }: BoundWorkspace, change: Change): Promise<BoundWorkspace> {
  const { allocation, retired, pending, status, last_error } = binding
  const { owner, generation, launch } = allocation
  const next = { generation, launch, retired, pending, status, last_error, verification, ...change }
  const json = (value: unknown) => (value == null ? null : sql.json(value))
  const [row] = await sql`
    update binding set generation = ${next.generation}, launch = ${json(next.launch)}, retired = ${next.retired},
      pending = ${next.pending ?? null}, status = ${json(next.status)}, last_error = ${json(next.last_error)},
      verification = ${json(next.verification)}, revision = revision + 1
    where tenant = ${owner.tenant} and workspace = ${owner.workspace} and revision = ${binding.revision}
    returning *`
  return boundFrom(row)
}
