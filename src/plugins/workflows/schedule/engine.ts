/**
 * The parts of the plugin, and the actor that starts and stops them (subsystems a.7, a.8).
 *
 * I1 Nothing is claimed but while the machine says that workflows are served.
 * I2 What is due in a workspace that has switched workflows off is passed over.
 */
import { type Actor, createActor, toPromise } from 'xstate'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import { isActive, reached } from '../../../kernel/reached.js'
import { beginWork } from '../../../kernel/work.js'
import type { NativeHost } from '../../../ports/plugin.js'
import type { ClaimAnswer, ClaimInput } from '../../../machines/workflows/activation.machine.js'
import type { workflowEngineMachine } from '../../../machines/workflows/workflow-engine.machine.js'
import { type Zoned, zonedProjection } from './activation-record.js'
import { type Activations, createActivations } from './activations.js'
import { claimOccurrence } from '../runs/claim.js'
import { workflowEngineLogic } from './engine.actor.js'
import { createFollowing } from './following.js'
import { createFitness, type Executable, type FitnessOf } from '../runs/fitness.js'
import { type Activation, createLedger, type Ledger } from '../runs/ledger.js'
import { createLibrary, type Library } from '../files/library.js'
import { type Context, isInstallationRoot, type PlaceOptions } from '../files/places.js'
import { createReconciler, type Reconciler } from './reconcile.js'
import { createRunner, type Runner } from '../runs/runner.js'
import { inZone, LOCAL_ZONE } from '../files/schedule-fields.js'
import { createSettings } from '../settings.js'
import { createPause } from '../../../kernel/pause.js'
import { createSourceCache } from '../files/source-cache.js'
import { readContent } from '../files/sources.js'

export interface WorkflowsOptions {
  readonly places: PlaceOptions
  /** Of the program: what another version has understood of a file is not trusted. */
  readonly version: string
  /** Name of the zone of the operating system. */
  localZone(): string
}

export interface Engine {
  readonly ledger: Ledger
  readonly library: Library
  readonly reconciler: Reconciler
  readonly activations: Activations
  readonly runner: Runner
  readonly zoned: Zoned
  readonly fitness: FitnessOf
  /** The workspace is in use: its workflows run from now on. Resolves once its files were looked at. */
  use(context: Context): Promise<void>
  /** The file that may be executed for an activation now, read again; rejects with the reason why there is none. */
  current(activation: Activation): Promise<Executable>
  /** Reads the settings again and follows them. Never rejects. */
  followSettings(): Promise<void>
  stop(): Promise<void>
}

interface Use {
  /** Resolves once the files of the workspace were looked at. */
  readonly ready: Promise<void>
  /** When the use was noted last, by the monotonic clock. */
  noted: number
}

export function startEngine(host: NativeHost, options: WorkflowsOptions): Engine {
  const { effects, rows, stopping } = host
  const { clock, log } = effects
  const settings = createSettings(host)
  const zoned: Zoned = (schedule) => (schedule.timezone === LOCAL_ZONE ? inZone(schedule, options.localZone()) : schedule)
  const ledger = createLedger(rows, (projection) => zonedProjection(projection, zoned))
  const isServing = () => actor.getSnapshot().hasTag('serving')
  const current = (activation: Activation) => currentFile(serving, activation)
  const runner = createRunner({ host, ledger, isOver: () => !isServing(), current, onEnded: () => activations.released() })
  const claim = (occurrence: ClaimInput) => claimDue(serving, occurrence)
  const activations = createActivations({ effects, actors: host.actors, ledger, zoned, claim, running: () => runner.running })
  const library = createLibrary({
    effects,
    places: options.places,
    cache: createSourceCache(rows, options.version),
    onChanged: (context, ids) => void following.follow(context, ids),
  })
  const activationId = (root: string, workflowId: string) => `wfa_${effects.sha256(`${root}\0${workflowId}`)}`
  const fitness = createFitness({ host, ledger, acceptance: () => settings.acceptance, activationId })
  const reconciler = createReconciler({ effects, ledger, library, activations, zoned, fitness, activationId })
  const following = createFollowing({
    effects,
    settings,
    reconciler,
    isServing,
    isBehind: () => actor.getSnapshot().hasTag('behind'),
    tell(event) {
      if (isActive(actor)) actor.send(event)
    },
  })
  const serving: Serving = { host, ledger, library, reconciler, fitness, runner, isServing, turn: createPause() }
  const using = new Map<string, Use>()
  const onTracked = (directory: string): void => {
    const ready = untilStarted(actor)
    using.set(directory, { ready, noted: Number.NEGATIVE_INFINITY })
    ready.catch(() => using.delete(directory))
  }
  const logic = workflowEngineLogic({ effects, ledger, settings, library, runner, activations, following, onTracked })
  const actor = createActor(logic, { id: 'workflow-engine', clock })
  const uses: Uses = { effects, ledger, library, reconciler, following, using, started: () => untilStarted(actor) }

  function refuse(): void {
    actor.send({ type: 'service.stopping' })
  }

  actor.subscribe({ error: (error) => log.error('the actor of scheduled workflows crashed', { cause: String(error) }) })
  host.actors.add(actor, 'workflow-engine')
  actor.start()
  stopping.addEventListener('abort', refuse)
  if (stopping.aborted) refuse()

  return {
    ledger,
    library,
    reconciler,
    activations,
    runner,
    zoned,
    fitness,
    use: (context) => use(uses, context),
    current,
    followSettings: following.followSettings,
    stop() {
      stopping.removeEventListener('abort', refuse)
      actor.send({ type: 'stop.requested' })
      return toPromise(actor).then(ignore, ignore)
    },
  }
}

/** What is due is claimed, and executed, with these. */
interface Serving extends Pick<Engine, 'ledger' | 'library' | 'reconciler' | 'fitness' | 'runner'> {
  readonly host: NativeHost
  /** Waits for a turn of the event loop. */
  readonly turn: () => Promise<void>
  isServing(): boolean
}

async function isOff({ host }: Serving, { projection }: Activation): Promise<boolean> {
  const { workspaceRoot: root } = projection
  return !isInstallationRoot(root) && (await host.switchedOff(root)) !== undefined
}

/** See `Engine.current`. */
async function currentFile(serving: Serving, activation: Activation): Promise<Executable> {
  const { host, library, reconciler, fitness } = serving
  if (await isOff(serving, activation)) throw new Error('scheduled workflows are switched off for this workspace')
  const { workspaceRoot, workflowId, sourceHash, sourcePath } = activation.projection
  const found = reconciler.find(workspaceRoot, workflowId)
  if (found === undefined) throw new Error(reconciler.lossOf(activation))
  const [fit] = await fitness([found])
  const [obstacle] = fit?.obstacles ?? []
  if (activation.isLost)
    throw new Error(obstacle === undefined ? reconciler.lossOf(activation) : `${found.sourcePath}: ${obstacle.message}`)
  const reading = { effects: host.effects, budget: { used: 0 }, work: beginWork(LIMITS.workflows.lookWork) }
  const content = await readContent(reading, found.sourcePath, { ok: true, hash: found.sourceHash, definition: found.definition })
  const isCurrent =
    found.sourcePath === sourcePath && content?.ok === true && content.hash === sourceHash && found.sourceHash === sourceHash
  if (isCurrent && fit !== undefined && obstacle === undefined) return { found, isAccepted: fit.isAccepted }
  for (const context of library.contexts()) library.suspect(context.root, found.sourcePath, workflowId)
  throw new Error(`${found.sourcePath}: ${isCurrent && obstacle !== undefined ? obstacle.message : 'is being changed'}`)
}

async function claimDue(serving: Serving, { activationId, scheduledAt }: ClaimInput): Promise<ClaimAnswer> {
  const { host, ledger, runner, isServing, turn } = serving
  const { clock } = host.effects
  await turn()
  const before = ledger.activation(activationId)
  if (before === undefined || !isServing()) throw new Error('nothing is claimed any more') // I1
  if (await isOff(serving, before)) return { type: 'refused', at: clock.now() } // I2
  const ready = await currentFile(serving, before)
  const activation = ledger.activation(activationId)
  const { projection } = activation ?? before
  if (activation === undefined || !projection.active || projection.sourceHash !== ready.found.sourceHash || !isServing())
    throw new Error('the activation was changed meanwhile')
  const now = clock.now()
  const request = { activation, scheduledAt, trigger: 'scheduled', now, runId: runner.nextRunId(), owner: runner.owner } as const
  const outcome = claimOccurrence(ledger, request)
  runner.begin(outcome, ready)
  return { type: outcome.type === 'claimed' ? 'claimed' : 'refused', at: now }
}

/** Workspaces in use, and what follows them. */
interface Uses extends Pick<Engine, 'ledger' | 'library' | 'reconciler'> {
  readonly effects: NativeHost['effects']
  readonly following: ReturnType<typeof createFollowing>
  /** By root. */
  readonly using: Map<string, Use>
  readonly started: () => Promise<void>
}

/** See `Engine.use`. */
function use(uses: Uses, context: Context): Promise<void> {
  const { effects, using } = uses
  const now = effects.clock.monotonic()
  const known = using.get(context.root)
  if (known !== undefined) {
    if (now - known.noted >= LIMITS.workflows.useNoted && !context.isInstallation) note(uses, context, known, now)
    return known.ready
  }
  const ready = begin(uses, context)
  using.set(context.root, { ready, noted: now })
  ready.catch(() => using.delete(context.root))
  return ready
}

async function begin(uses: Uses, context: Context): Promise<void> {
  await uses.started()
  if (!context.isInstallation) track(uses, context.directory)
  await uses.library.follow(context)
  await uses.reconciler.reconcileContext(context)
}

/** The workspace that was used longest ago makes room. */
function track({ effects, ledger, library, following, using }: Uses, directory: string): void {
  const known = ledger.workspaces()
  const over = known.includes(directory) ? [] : known.slice(0, Math.max(0, known.length + 1 - LIMITS.workflows.workspaces))
  ledger.commit('process', (tx) => {
    for (const old of over) ledger.untrack(tx, old)
    ledger.track(tx, directory, effects.clock.now())
  })
  for (const old of over) {
    library.unfollow(old)
    using.delete(old)
  }
  if (over.length > 0) void following.all()
}

function note({ effects, ledger }: Uses, { directory }: Context, known: Use, now: number): void {
  known.noted = now
  try {
    ledger.commit('process', (tx) => ledger.track(tx, directory, effects.clock.now()))
  } catch (error) {
    effects.log.warn('the use of a workspace could not be noted', { directory, cause: String(error) })
  }
}

/** Rejects when it has failed to, until that is tried again, or is ended before. */
async function untilStarted(actor: Actor<typeof workflowEngineMachine>): Promise<void> {
  await reached(actor, (now) => now.hasTag('started') || now.hasTag('failed') || now.hasTag('over'))
  const snapshot = actor.getSnapshot()
  if (snapshot.hasTag('started')) return
  if (snapshot.hasTag('failed')) throw new Error(snapshot.context.failure?.message)
  throw new SvcError('lifecycle.closed', 'Scheduled workflows are being ended.')
}

function ignore(): void {}
