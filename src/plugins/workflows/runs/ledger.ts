/**
 * What is known durably of workflows: activations, runs, claimed occurrences, accepted contents, tracked workspaces.
 *
 * I1 Activations, and runs that are queued, running or waiting for a retry, are in memory, which follows the rows.
 * I2 An occurrence has one claim row for ever; the row and its run are one commit (threat-model §6.3.1).
 */
import * as z from 'zod'
import { collection } from '../../../kernel/collection.js'
import { LIMITS } from '../../../protocol/limits.js'
import { WorkflowProjection, WorkflowRun } from '../../../protocol/workflow/workflow.js'
import type { PluginRows, RowsChange } from '../../../ports/doors.js'

/** An activation: what clients see, and what only the plugin needs. */
const Activation = z.object({
  projection: WorkflowProjection,
  /** Occurrences of the schedule before this are none: it was another schedule then. */
  notBefore: z.number(),
  /** The file was deleted or broken when it was looked at last; whatever comes in its place is a change. */
  isLost: z.boolean(),
  /** Runs so far. */
  runs: z.number(),
})
export type Activation = Readonly<z.infer<typeof Activation>>

/** A policy may put an attempt off beyond any whole number that is exact. */
const Run = WorkflowRun.extend({ nextAttemptAt: z.number().nullish() })

export type Tx = RowsChange

/** Somebody accepted the content, or it was active as it was saved, which nobody can be held to. */
type Known = 'accepted' | 'saved'

export interface Ledger {
  activation(id: string): Activation | undefined
  activations(): readonly Activation[]
  /** Keeps it without telling anybody. */
  noteActivation(tx: Tx, activation: Activation): void
  /** Keeps it and tells of it; with `error` it is told as lost (http-contract, workflow.updated). */
  putActivation(tx: Tx, activation: Activation, error?: string): void
  run(id: string): WorkflowRun | undefined
  /** Newest occurrence first. */
  runs(activationId: string, limit: number): readonly WorkflowRun[]
  /** Runs that are queued, running or waiting for a retry. */
  open(activationId?: string): readonly WorkflowRun[]
  isClaimed(activationId: string, scheduledAt: number): boolean
  /** Adds the run and its claim, and forgets an old run where that makes `count` of them too many; false when the occurrence is taken. */
  insertRun(tx: Tx, run: WorkflowRun, count: number): boolean
  /** Keeps it and tells of it. */
  putRun(tx: Tx, run: WorkflowRun): void
  /** Keeps it without telling anybody. */
  renewLease(tx: Tx, run: WorkflowRun): void
  /** What is known of a content; undefined = nothing. */
  known(activationId: string, hash: string): Known | undefined
  /** Never less than is known already. Of many contents of one workflow the one that was noted longest ago makes room. */
  note(tx: Tx, activationId: string, content: { readonly hash: string; readonly known: Known; readonly now: number }): void
  /** Tracked workspaces; the one that was used longest ago first. */
  workspaces(): readonly string[]
  track(tx: Tx, directory: string, now: number): void
  untrack(tx: Tx, directory: string): void
  /** Calls `listener` after each commit in which something of the activation or of its runs was told or noted; answers the function that ends it. */
  watch(activationId: string, listener: () => void): () => void
  readonly commit: PluginRows['commit']
}

/** Of so many old runs one has ended, or all are kept. */
const OLDEST = 8

/** `shown` is a projection as events carry it. */
export function createLedger(rows: PluginRows, shown: (projection: WorkflowProjection) => WorkflowProjection): Ledger {
  const activations = collection<Activation>(rows, {
    kind: 'activation',
    parse: (data) => Activation.parse(data),
    row: ({ projection: { activationId, workspaceRoot, updated } }) => ({ id: activationId, group: workspaceRoot, sort: updated }),
  })
  const runs = collection<WorkflowRun>(rows, {
    kind: 'run',
    parse: (data) => Run.parse(data),
    row: ({ id, activationId, scheduledAt }) => ({ id, group: activationId, sort: scheduledAt }),
    open: { kind: 'open', is: isOpen, sort: ({ created }) => created },
  })
  const noted = new Map(rows.list('acceptance').map(({ id, data }) => [id, knownOf(data)]))

  const watched = new Map<string, Set<() => void>>()

  function tellAfter(tx: Tx, activationId: string): void {
    tx.after(() => {
      for (const listener of watched.get(activationId) ?? []) listener()
    })
  }

  /** One old run makes room for each new one; claims below the newest are not needed, because the schedule only goes on. */
  function makeRoom(tx: Tx, activationId: string, count: number): void {
    if (count <= LIMITS.workflows.runsKept) return
    const over = runs.of(activationId, { limit: OLDEST }).find((run) => !isOpen(run))
    if (over === undefined) return
    runs.delete(tx, over.id)
    tx.delete('claim', claimId(activationId, over.scheduledAt))
  }

  return {
    commit: rows.commit,
    activation: activations.get,
    activations: activations.all,
    noteActivation(tx, activation) {
      activations.put(tx, activation)
      tellAfter(tx, activation.projection.activationId)
    },
    putActivation(tx, activation, error) {
      activations.put(tx, activation)
      tellAfter(tx, activation.projection.activationId)
      const { activationId, workflowId, active } = activation.projection
      const about = error === undefined ? { workflow: shown(activation.projection) } : { workflowID: workflowId, active, error }
      tx.emit('workflow.updated', { aggregateID: activationId, ...about })
    },
    run: runs.get,
    runs: (activationId, limit) => runs.of(activationId, { order: 'desc', limit }),
    open: (activationId) => runs.open().filter((run) => activationId === undefined || run.activationId === activationId),
    isClaimed: (activationId, scheduledAt) => rows.get('claim', claimId(activationId, scheduledAt)) !== undefined,
    insertRun(tx, run, count) {
      const { id, activationId, scheduledAt } = run
      const claim = { id: claimId(activationId, scheduledAt), group: activationId, sort: scheduledAt, data: { run: id } }
      if (!tx.insert('claim', claim)) return false // I2
      runs.put(tx, run)
      makeRoom(tx, activationId, count)
      tx.emit('workflow.run.updated', { aggregateID: activationId, run })
      return true
    },
    putRun(tx, run) {
      runs.put(tx, run)
      tellAfter(tx, run.activationId)
      tx.emit('workflow.run.updated', { aggregateID: run.activationId, run })
    },
    renewLease: runs.put,
    known: (activationId, hash) => noted.get(acceptanceId(activationId, hash)),
    note(tx, activationId, { hash, known, now }) {
      const id = acceptanceId(activationId, hash)
      if (known === 'saved' && noted.has(id)) return
      const others = rows.list('acceptance', { group: activationId }).filter((row) => row.id !== id)
      const over = others.slice(0, Math.max(0, others.length + 1 - LIMITS.workflows.acceptedContents))
      for (const old of over) tx.delete('acceptance', old.id)
      tx.put('acceptance', { id, group: activationId, sort: now, data: { known } })
      tx.after(() => {
        for (const old of over) noted.delete(old.id)
        noted.set(id, known)
      })
    },
    workspaces: () => rows.list('workspace').map(({ id }) => id),
    track: (tx, directory, now) => tx.put('workspace', { id: directory, group: '', sort: now, data: null }),
    untrack: (tx, directory) => tx.delete('workspace', directory),
    watch(activationId, listener) {
      const listeners = watched.get(activationId) ?? new Set()
      watched.set(activationId, listeners.add(listener))
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) watched.delete(activationId)
      }
    },
  }
}

export function isOpen({ status }: WorkflowRun): boolean {
  return status === 'queued' || status === 'running' || status === 'retry_waiting'
}

/** A row that does not say it is of a version that did not tell the two apart. */
function knownOf(data: unknown): Known {
  return typeof data === 'object' && data !== null && 'known' in data && data.known === 'accepted' ? 'accepted' : 'saved'
}

function acceptanceId(activationId: string, hash: string): string {
  return `${activationId}:${hash}`
}

function claimId(activationId: string, scheduledAt: number): string {
  return `${activationId}:${scheduledAt}`
}
