/**
 * The supervisor of runs: one actor for each that has not ended, rebuilt from its row (subsystems a.10, a.11; laws §8).
 *
 * I1 At most one actor for each run. It is the root of a system of its own, so that a crash ends that run alone; its row is
 *    ended by the next start.
 * I2 A run has an actor as long as it has something to do or to wait for; history has none.
 */
import { type ActorRefFrom, createActor } from 'xstate'
import type { WorkflowRunEvent, WorkflowRunInput } from '../../../machines/workflows/workflow-run.machine.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { NativeHost } from '../../../ports/plugin.js'
import { baseOf, type Executable } from './fitness.js'
import { takeTurns } from '../turns.js'
import { type Claim, leaseOf } from './claim.js'
import { type Activation, isOpen, type Ledger } from './ledger.js'
import { createMoments } from './moments.js'
import { type Material, workflowRunLogic } from './run.actor.js'

export interface Runner {
  /** Runs under way; those that wait for an attempt are none. */
  readonly running: number
  /** Executes what was claimed; runs that were replaced end. */
  begin(claim: Claim, executable: Executable): void
  /** Ends what an earlier process left unfinished; rejects when that cannot be recorded. */
  recover(): Promise<void>
  /** Waits for every attempt that is noted. */
  resume(): Promise<void>
  /** Renews the leases that are half over. */
  renew(): void
  /** The service begins to stop. */
  refuse(): void
  /** Ends every run; resolves when all of them have ended. */
  drain(): Promise<void>
  nextRunId(): string
  /** This process. */
  readonly owner: string
}

export interface RunnerDeps {
  readonly host: Pick<NativeHost, 'effects' | 'sessions' | 'skills' | 'stopping' | 'actors'>
  readonly ledger: Ledger
  /** Nothing is claimed now. */
  isOver(): boolean
  /** The file that may be executed for an activation now; rejects with the reason why there is none. */
  current(activation: Activation): Promise<Executable>
  /** A run is not under way any more. */
  onEnded(): void
}

type Actor = ActorRefFrom<ReturnType<typeof workflowRunLogic>>

export function createRunner({ host, ledger, isOver, current, onEnded }: RunnerDeps): Runner {
  const { effects, stopping, actors } = host
  const { clock, ids, sha256, log } = effects
  const owner = `svc_${sha256(ids.next('ent')).slice(0, 20)}`
  const alive = new Map<string, Actor>()
  /** Of `alive`, those whose machine says so. */
  const underWay = new Set<string>()
  const materials = new Map<string, Material>()
  const moments = createMoments(effects)
  const nextRunId = () => `wfr_${clock.now()}_${sha256(ids.next('ent')).slice(0, 10)}`

  const logic = workflowRunLogic({
    host,
    ledger,
    moments,
    owner,
    nextRunId,
    material: (runId) => materials.get(runId),
    isFull: () => isOver() || underWay.size >= LIMITS.workflows.running,
    current,
    onReclaimed: prepare,
    onWaiting({ id }) {
      if (!isOver()) start(id, 'waiting')
    },
  })

  function start(runId: string, from: WorkflowRunInput['from']): Actor {
    const known = alive.get(runId)
    if (known !== undefined) return known // I1
    const input = { runId, from, isStopping: stopping.aborted }
    const ref = createActor(logic, { id: `workflow-run:${runId}`, input, clock })
    alive.set(runId, ref)
    ref.subscribe({
      next(snapshot) {
        if (snapshot.hasTag('underWay')) underWay.add(runId)
      },
      complete: () => forget(runId),
      error(error) {
        log.error('the actor of a workflow run crashed', { runId, cause: String(error) })
        forget(runId)
      },
    })
    actors.add(ref, 'workflow-run')
    ref.start()
    return ref
  }

  function forget(runId: string): void {
    alive.delete(runId)
    materials.delete(runId)
    if (underWay.delete(runId)) onEnded()
  }

  /** A claimed run is ready to be executed, and those it replaces end. */
  function prepare({ run, replaced }: Claim & { readonly type: 'claimed' }, { found, isAccepted }: Executable): void {
    for (const { id } of replaced) alive.get(id)?.send({ type: 'replaced' })
    materials.set(run.id, { definition: found.definition, isAccepted, base: baseOf(found, effects.paths.home) })
  }

  function tell(event: WorkflowRunEvent): void {
    for (const ref of alive.values()) ref.send(event)
  }

  return {
    owner,
    nextRunId,
    get running() {
      return underWay.size
    },
    begin(claim, executable) {
      if (claim.type !== 'claimed') return
      prepare(claim, executable)
      start(claim.run.id, 'claimed')
    },
    async recover() {
      const left = ledger.open().filter(({ status }) => status !== 'retry_waiting')
      const refs = left.map(({ id }) => start(id, 'left'))
      await Promise.all(refs.map(ended))
      if (refs.some((ref) => ref.getSnapshot().hasTag('unrecorded'))) throw new Error('the end of a workflow run could not be recorded')
    },
    async resume() {
      const turn = takeTurns()
      for (const { id, status } of ledger.open()) {
        if (status !== 'retry_waiting' || alive.has(id)) continue
        await turn()
        if (isOver()) return
        if (ledger.run(id)?.status === 'retry_waiting') start(id, 'waiting')
      }
    },
    renew() {
      const now = clock.now()
      const due = [...underWay].flatMap((id) => {
        const row = ledger.run(id)
        return row !== undefined && isOpen(row) && (row.leaseExpiresAt ?? 0) - now < LIMITS.workflows.lease / 2 ? [row] : []
      })
      if (due.length > 0)
        ledger.commit('process', (tx) => due.forEach((row) => ledger.renewLease(tx, { ...row, ...leaseOf({ owner, now }) })))
    },
    refuse: () => tell({ type: 'service.stopping' }),
    async drain() {
      const refs = [...alive.values()]
      tell({ type: 'stop.requested' })
      await Promise.all(refs.map(ended))
      moments.stop()
    },
  }
}

/** However it ends. */
function ended(ref: Actor): Promise<void> {
  return new Promise((resolve) => void ref.subscribe({ complete: resolve, error: () => resolve() }))
}
