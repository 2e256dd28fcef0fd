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
import { laidOut } from '../../../kernel/machine/laid-out.js'
import { chartOf } from '../../../kernel/machine/chart.js'
import { type ActorRefFrom, createActor, fromPromise } from 'xstate'
import { activationMachine, type ClaimAnswer, type ClaimInput, type FileReport } from '../../../machines/workflows/activation.machine.js'
import { LIMITS } from '../../../protocol/limits.js'
import { delayOf } from '../../../protocol/retry.js'
import type { Effects } from '../../../ports/effects.js'
import type { NativeHost } from '../../../ports/plugin.js'
import { expectedAt, type Identity, storedInput, type Zoned } from './activation-record.js'
import { type Agenda, createAgenda } from '../runs/agenda.js'
import type { Found } from '../files/catalog.js'
import type { Activation, Ledger } from '../runs/ledger.js'
import { decisionOf, recordDecision } from './decision.js'
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

type Actor = ActorRefFrom<typeof activationMachine>

interface Awake {
  readonly identity: Identity
  readonly ref: Actor
  /** The file it was told of last. */
  found: Found | undefined
  isSaved: boolean
}

/** Who is awake, who waits for room, and when the others are due. */
interface Roster {
  readonly deps: ActivationsDeps
  readonly logic: typeof activationMachine
  readonly awake: Map<string, Awake>
  readonly agenda: Agenda
  /** Due, and waiting for runs to end. */
  readonly held: Set<string>
}

export function createActivations(deps: ActivationsDeps): Activations {
  const { effects, ledger } = deps
  const logic = laidOut(
    chartOf(activationMachine).provide({
      actors: { claim: fromPromise<ClaimAnswer, ClaimInput>(({ input }) => deps.claim(input)) },
    }),
  )
  const agenda = createAgenda(effects, (activationId) => due(roster, activationId))
  const roster: Roster = { deps, logic, awake: new Map(), agenda, held: new Set() }
  return {
    report(reports) {
      settle(
        roster,
        reports.map((seen) => tell(roster, seen)),
        'process',
      )
    },
    request(activation, type) {
      const actor = wake(roster, identityOf(activation))
      actor.ref.send({ type, at: effects.clock.now() })
      settle(roster, [actor], 'power')
      return ledger.activation(activation.projection.activationId) ?? activation
    },
    start: () => expectAll(roster),
    released: () => release(roster),
    stop() {
      agenda.stop()
      for (const { ref } of roster.awake.values()) ref.send({ type: 'stop.requested' })
    },
    get awake() {
      return roster.awake.size
    },
    get expecting() {
      return agenda.size
    },
  }
}

async function expectAll({ deps, agenda }: Roster): Promise<void> {
  const { ledger, zoned } = deps
  const turn = takeTurns()
  for (const { projection } of ledger.activations()) {
    const { activationId } = projection
    if (agenda.has(activationId)) continue // it has decided since the start
    await turn()
    const activation = ledger.activation(activationId)
    const at = activation && expectedAt(activation, zoned, Number.MIN_SAFE_INTEGER)
    if (at !== undefined) agenda.put(activationId, at)
  }
}

/** Its actor, told what was `seen`; a new one runs only if there is something to do (I2). */
function tell(roster: Roster, { identity, report, found, isSaved = false }: Seen): Awake {
  const known = roster.awake.get(identity.activationId)
  if (known === undefined) {
    const actor: Awake = { identity, ref: create(roster, identity, report), found, isSaved }
    if (!actor.ref.getSnapshot().hasTag('resting')) begin(roster, actor)
    return actor
  }
  if (found !== undefined) known.found = found
  known.isSaved = isSaved
  known.ref.send(report)
  return known
}

function wake(roster: Roster, identity: Identity): Awake {
  const known = roster.awake.get(identity.activationId)
  if (known !== undefined) return known // I1
  const actor: Awake = { identity, ref: create(roster, identity), found: undefined, isSaved: false }
  begin(roster, actor)
  return actor
}

/** An actor that was not started, as its row is. */
function create({ deps, logic }: Roster, { activationId }: Identity, report?: FileReport): Actor {
  const { ledger, zoned, effects } = deps
  const { clock } = effects
  const row = ledger.activation(activationId)
  const stored = row && storedInput(row, zoned)
  const input = { activationId, at: clock.now(), ...(stored !== undefined && { stored }), ...(report !== undefined && { report }) }
  return createActor(logic, { id: `activation:${activationId}`, input, clock })
}

function begin(roster: Roster, actor: Awake): void {
  const { effects, actors } = roster.deps
  const { ref, identity } = actor
  const { activationId } = identity
  roster.awake.set(activationId, actor)
  ref.subscribe({
    next: () => queueMicrotask(() => settleLater(roster, actor)),
    complete: () => forget(roster, actor),
    error: (error) => {
      effects.log.error('an activation actor crashed', { activationId, cause: String(error) })
      forget(roster, actor)
    },
  })
  actors.add(ref, 'activation')
  ref.start()
}

function forget(roster: Roster, actor: Awake): void {
  const { awake, held } = roster
  if (awake.get(actor.identity.activationId) === actor) awake.delete(actor.identity.activationId)
  if (held.size > 0) queueMicrotask(() => release(roster))
}

function release(roster: Roster): void {
  const { deps, awake, held } = roster
  const room = LIMITS.workflows.running - deps.running() - awake.size
  for (const activationId of [...held].slice(0, Math.max(0, room))) {
    held.delete(activationId)
    due(roster, activationId)
  }
}

/** I3. What the actors have decided, in one commit; then those that rest are let go. */
function settle(roster: Roster, actors: readonly Awake[], durability: 'power' | 'process'): void {
  const { ledger, effects } = roster.deps
  const decided = actors.flatMap((actor) => decisionOf(ledger, actor, actor.ref.getSnapshot()) ?? [])
  if (decided.length > 0) {
    try {
      ledger.commit(durability, (tx) => decided.forEach((decision) => recordDecision(ledger, tx, decision, effects.clock.now())))
    } catch (failure) {
      for (const actor of actors) giveUp(roster, actor)
      throw failure
    }
  }
  for (const actor of actors) {
    const snapshot = actor.ref.getSnapshot()
    if (snapshot.hasTag('resting')) rest(roster, actor, snapshot.hasTag('expecting'))
  }
}

function settleLater(roster: Roster, actor: Awake): void {
  const { deps, awake, agenda } = roster
  const { activationId } = actor.identity
  if (awake.get(activationId) !== actor || agenda.isOver) return
  try {
    settle(roster, [actor], 'process')
  } catch (error) {
    deps.effects.log.warn('what an activation decided could not be recorded', { activationId, cause: String(error) })
  }
}

/** I2. */
function rest(roster: Roster, actor: Awake, isExpecting: boolean): void {
  const { deps, agenda } = roster
  const { activationId } = actor.identity
  forget(roster, actor)
  actor.ref.stop()
  const row = deps.ledger.activation(activationId)
  const at = isExpecting && row !== undefined ? expectedAt(row, deps.zoned, deps.effects.clock.now()) : undefined
  if (at === undefined) agenda.remove(activationId)
  else agenda.put(activationId, at)
}

/** Tried again from its row a little later. */
function giveUp(roster: Roster, actor: Awake): void {
  forget(roster, actor)
  actor.ref.stop()
  roster.agenda.put(actor.identity.activationId, roster.deps.effects.clock.now() + delayOf(LIMITS.workflows.claimRetry))
}

/** Never throws. */
function due(roster: Roster, activationId: string): void {
  const { deps, awake, agenda, held } = roster
  if (agenda.isOver) return
  if (deps.running() + awake.size >= LIMITS.workflows.running) {
    held.add(activationId) // I4
    return
  }
  const row = deps.ledger.activation(activationId)
  if (row === undefined || !row.projection.active) return
  const known = awake.get(activationId)
  if (known !== undefined) return known.ref.send({ type: 'clock.checked', at: deps.effects.clock.now() })
  const actor = wake(roster, identityOf(row))
  queueMicrotask(() => settleLater(roster, actor))
}

export function identityOf({ projection }: Activation): Identity {
  const { activationId, workflowId, workspaceRoot } = projection
  return { activationId, workflowId, root: workspaceRoot }
}
