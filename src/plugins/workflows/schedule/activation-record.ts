/** Between the row of an activation and its machine. */
import type { SnapshotFrom } from 'xstate'
import type { ActivationInput, activationMachine, FileReport } from '../../../machines/workflows/activation.machine.js'
import { nextOccurrence } from '../../../machines/workflows/schedule/occurrence.js'
import type { WorkflowProjection, WorkflowSchedule } from '../../../protocol/workflow/workflow.js'
import type { Found } from '../files/catalog.js'
import type { Activation } from '../runs/ledger.js'

export interface Identity {
  readonly activationId: string
  readonly workflowId: string
  /** Workspace it belongs to. */
  readonly root: string
}

/** What a file says, as the machine takes it: a file of the same content elsewhere is another file. */
export function savedReport(
  { definition, sourcePath, sourceHash }: Pick<Found, 'definition' | 'sourcePath' | 'sourceHash'>,
  at: number,
  zoned: Zoned,
): Extract<FileReport, { type: 'file.saved' }> {
  return { type: 'file.saved', at, hash: `${sourceHash} ${sourcePath}`, active: definition.active, schedule: zoned(definition.schedule) }
}

/** Puts the zone of the operating system in place of `local`. */
export type Zoned = (schedule: WorkflowSchedule) => WorkflowSchedule

/** A projection as clients see it. */
export function zonedProjection(projection: WorkflowProjection, zoned: Zoned): WorkflowProjection {
  const { definition } = projection
  return { ...projection, definition: { ...definition, schedule: zoned(definition.schedule) } }
}

export function storedInput({ projection, isLost, notBefore }: Activation, zoned: Zoned): NonNullable<ActivationInput['stored']> {
  const { active, activatedAt, lastScheduledAt } = projection
  const { hash, active: wanted, schedule } = savedReport(projection, 0, zoned)
  return {
    file: isLost ? undefined : { hash, active: wanted, schedule },
    active,
    activatedAt,
    notBefore,
    lastScheduledAt: lastScheduledAt ?? undefined,
  }
}

/** The record of what a machine has decided, or undefined when it is as before. `found` is the file it was told of last. */
export function nextRecord(
  { activationId, workflowId, root }: Identity,
  before: Activation | undefined,
  found: Found | undefined,
  { context }: SnapshotFrom<typeof activationMachine>,
): Activation | undefined {
  const told = found !== undefined && context.file !== undefined
  const source = told ? found : before?.projection
  if (source === undefined) return undefined
  const { sourcePath, sourceHash, definition } = source
  const projection: WorkflowProjection = {
    activationId,
    workflowId,
    workspaceRoot: root,
    sourcePath,
    sourceHash,
    definition,
    active: context.active,
    activatedAt: context.activatedAt,
    lastScheduledAt: context.lastScheduledAt ?? null,
    updated: context.at,
  }
  const next: Activation = { projection, isLost: context.lost !== undefined, notBefore: context.notBefore, runs: before?.runs ?? 0 }
  return before !== undefined && isSame(before, next) ? undefined : next
}

/** The first occurrence of an active workflow after `after` that was neither claimed nor refused. */
export function expectedAt({ projection, isLost, notBefore }: Activation, zoned: Zoned, after: number): number | undefined {
  if (!projection.active || isLost) return undefined
  const passed = Math.max(after, notBefore - 1, projection.lastScheduledAt ?? Number.MIN_SAFE_INTEGER)
  return nextOccurrence(zoned(projection.definition.schedule), passed)
}

/** Whether two records say the same to clients and to the schedule; when they were written does not matter. */
function isSame(a: Activation, b: Activation): boolean {
  const [left, right] = [a.projection, b.projection]
  return (
    a.isLost === b.isLost &&
    a.notBefore === b.notBefore &&
    left.active === right.active &&
    left.activatedAt === right.activatedAt &&
    (left.lastScheduledAt ?? null) === (right.lastScheduledAt ?? null) &&
    left.sourceHash === right.sourceHash &&
    left.sourcePath === right.sourcePath
  )
}
