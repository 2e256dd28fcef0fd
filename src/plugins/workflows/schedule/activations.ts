/**
 * The supervisor of activations: one actor for each workflow that something happens to, rebuilt from its row when it does
 * (subsystems a.7–a.9; laws §8).
 *
 * I1 At most one actor for each activation. It is the root of a system of its own, so that a crash ends that activation alone.
 * I2 An actor that rests is stopped, and one whose first decision is to rest is never started; what expects an occurrence
 *    leaves a moment in the agenda and nothing else, so that ten thousand of them cost ten thousand numbers.
 * I3 What an actor has decided is committed before anything else happens; an actor whose row cannot be written is given up,
 *    and the row stays right.
 * I4 What is due waits while too many runs are under way; meanwhile its occurrences collapse into the latest.
 */
import { type ActorRefFrom, createActor, fromPromise } from 'xstate'
import { activationMachine, type ClaimAnswer, type ClaimInput, type FileReport } from '../../../machines/workflows/activation.machine.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Effects } from '../../../ports/effects.js'
import type { NativeHost } from '../../../ports/plugin.js'
import { expectedAt, type Identity, nextRecord, storedInput, type Zoned } from './activation-record.js'
import { createAgenda } from '../runs/agenda.js'
import type { Found } from '../files/catalog.js'
import type { Activation, Ledger, Tx } from '../runs/ledger.js'
import { takeTurns } from '../turns.js'

export interface Activations {
  /** Tells activations what was seen of their files, in one commit; the first report of a file makes its activation. */
  report(reports: readonly Seen[]): void
  /** As a call asks; on disk when it answers. */
  request(activation: Activation, type: 'activate.requested' | 'pause.requested'): Activation
  /** Brings every active workflow into the agenda; resolves once all are there. */
  start(): Promise<void>
  /** A run has ended: what had to wait may go on. */
  released(): void
  /** Ends every actor; nothing is due any more. */
  stop(): void
  readonly awake: number
  readonly expecting: number
}

/** What was seen of the file of one activation; `found` when it is valid. */
export interface Seen {
  readonly identity: Identity
  readonly report: FileReport
  readonly found?: Found
  /** Somebody saved this content: once it was active, it may run again. */
  readonly isSaved?: boolean
}

export interface ActivationsDeps {
  readonly effects: Pick<Effects, 'clock' | 'log'>
  readonly actors: NativeHost['actors']
  readonly ledger: Ledger
  readonly zoned: Zoned
  /** Reads the file again and claims; rejects when nothing can be claimed now. */
  claim(input: ClaimInput): Promise<ClaimAnswer>
  /** Runs under way. */
  running(): number
}

const logic = activationMachine
type Actor = ActorRefFrom<typeof logic>

interface Awake {
  readonly identity: Identity
  readonly ref: Actor
  /** The file it was told of last. */
  found: Found | undefined
  isSaved: boolean
}

interface Decision {
  readonly before: Activation | undefined
  readonly next: Activation
  /** Why there is no file. */
  readonly loss: string | undefined
  readonly isSaved: boolean
}

export function createActivations({ effects, actors, ledger, zoned, claim, running }: ActivationsDeps): Activations {
  const { clock, log } = effects
  const awake = new Map<string, Awake>()
  const agenda = createAgenda(effects, due)
  /** Due, and waiting for runs to end. */
  const held = new Set<string>()

  const provided = logic.provide({
    actors: { claim: fromPromise<ClaimAnswer, ClaimInput>(({ input }) => claim(input)) },
  })

  /** Its actor, told what was `seen`; a new one runs only if there is something to do (I2). */
  function tell({ identity, report, found, isSaved = false }: Seen): Awake {
    const known = awake.get(identity.activationId)
    if (known === undefined) {
      const actor: Awake = { identity, ref: create(identity, report), found, isSaved }
      if (!actor.ref.getSnapshot().hasTag('resting')) begin(actor)
      return actor
    }
    if (found !== undefined) known.found = found
    known.isSaved = isSaved
    known.ref.send(report)
    return known
  }

  function wake(identity: Identity): Awake {
    const known = awake.get(identity.activationId)
    if (known !== undefined) return known // I1
    const actor: Awake = { identity, ref: create(identity), found: undefined, isSaved: false }
    begin(actor)
    return actor
  }

  /** An actor that was not started, as its row is. */
  function create({ activationId }: Identity, report?: FileReport): Actor {
    const row = ledger.activation(activationId)
    const stored = row && storedInput(row, zoned)
    const input = { activationId, at: clock.now(), ...(stored !== undefined && { stored }), ...(report !== undefined && { report }) }
    return createActor(provided, { id: `activation:${activationId}`, input, clock })
  }

  function begin(actor: Awake): void {
    const { ref, identity } = actor
    const { activationId } = identity
    awake.set(activationId, actor)
    ref.subscribe({
      next: () => queueMicrotask(() => settleLater(actor)),
      complete: () => forget(actor),
      error: (error) => {
        log.error('an activation actor crashed', { activationId, cause: String(error) })
        forget(actor)
      },
    })
    actors.add(ref, 'activation')
    ref.start()
  }

  function forget(actor: Awake): void {
    if (awake.get(actor.identity.activationId) === actor) awake.delete(actor.identity.activationId)
    if (held.size > 0) queueMicrotask(release)
  }

  function release(): void {
    const room = LIMITS.workflows.running - running() - awake.size
    for (const activationId of [...held].slice(0, Math.max(0, room))) {
      held.delete(activationId)
      due(activationId)
    }
  }

  /** I3. What the actors have decided, in one commit; then those that rest are let go. */
  function settle(actors: readonly Awake[], durability: 'power' | 'process'): void {
    const decided = actors.flatMap((actor) => decisionOf(actor) ?? [])
    if (decided.length > 0) {
      try {
        ledger.commit(durability, (tx) => decided.forEach((decision) => record(tx, decision)))
      } catch (failure) {
        actors.forEach(giveUp)
        throw failure
      }
    }
    for (const actor of actors) {
      const snapshot = actor.ref.getSnapshot()
      if (snapshot.hasTag('resting')) rest(actor, snapshot.hasTag('expecting'))
    }
  }

  function decisionOf(actor: Awake): Decision | undefined {
    const before = ledger.activation(actor.identity.activationId)
    const snapshot = actor.ref.getSnapshot()
    const next = nextRecord(actor.identity, before, actor.found, snapshot)
    return next && { before, next, loss: snapshot.context.lost, isSaved: actor.isSaved }
  }

  function record(tx: Tx, { before, next, loss, isSaved }: Decision): void {
    const { activationId, sourceHash, active } = next.projection
    if (isSaved && active && !next.isLost) ledger.note(tx, activationId, { hash: sourceHash, known: 'saved', now: clock.now() })
    const wasActive = before?.projection.active === true
    const isSilent = before !== undefined && (next.isLost ? !wasActive : isPassing(before, next))
    if (isSilent) ledger.noteActivation(tx, next)
    else ledger.putActivation(tx, next, next.isLost ? loss : undefined)
  }

  function settleLater(actor: Awake): void {
    if (awake.get(actor.identity.activationId) !== actor || agenda.isOver) return
    try {
      settle([actor], 'process')
    } catch (error) {
      log.warn('what an activation decided could not be recorded', { activationId: actor.identity.activationId, cause: String(error) })
    }
  }

  /** I2. */
  function rest(actor: Awake, isExpecting: boolean): void {
    const { activationId } = actor.identity
    forget(actor)
    actor.ref.stop()
    const row = ledger.activation(activationId)
    const at = isExpecting && row !== undefined ? expectedAt(row, zoned, clock.now()) : undefined
    if (at === undefined) agenda.remove(activationId)
    else agenda.put(activationId, at)
  }

  /** Tried again from its row a little later. */
  function giveUp(actor: Awake): void {
    forget(actor)
    actor.ref.stop()
    agenda.put(actor.identity.activationId, clock.now() + LIMITS.workflows.claimRetry)
  }

  /** Never throws. */
  function due(activationId: string): void {
    if (agenda.isOver) return
    if (running() + awake.size >= LIMITS.workflows.running) {
      held.add(activationId) // I4
      return
    }
    const row = ledger.activation(activationId)
    if (row === undefined || !row.projection.active) return
    const known = awake.get(activationId)
    if (known !== undefined) return known.ref.send({ type: 'clock.checked', at: clock.now() })
    const actor = wake(identityOf(row))
    queueMicrotask(() => settleLater(actor))
  }

  return {
    report(reports) {
      settle(reports.map(tell), 'process')
    },
    request(activation, type) {
      const actor = wake(identityOf(activation))
      actor.ref.send({ type, at: clock.now() })
      settle([actor], 'power')
      return ledger.activation(activation.projection.activationId) ?? activation
    },
    async start() {
      const turn = takeTurns()
      for (const { projection } of ledger.activations()) {
        const { activationId } = projection
        if (agenda.has(activationId)) continue // it has decided since the start
        await turn()
        const activation = ledger.activation(activationId)
        const at = activation && expectedAt(activation, zoned, Number.MIN_SAFE_INTEGER)
        if (at !== undefined) agenda.put(activationId, at)
      }
    },
    released: release,
    stop() {
      agenda.stop()
      for (const { ref } of awake.values()) ref.send({ type: 'stop.requested' })
    },
    get awake() {
      return awake.size
    },
    get expecting() {
      return agenda.size
    },
  }
}

export function identityOf({ projection }: Activation): Identity {
  const { activationId, workflowId, workspaceRoot } = projection
  return { activationId, workflowId, root: workspaceRoot }
}

/** The schedule went on, and nothing else: the run tells of it. */
function isPassing(before: Activation, next: Activation): boolean {
  const [old, now] = [before.projection, next.projection]
  return (
    before.isLost === next.isLost && old.active === now.active && old.sourceHash === now.sourceHash && old.sourcePath === now.sourcePath
  )
}
