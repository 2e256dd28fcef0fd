/**
 * The parts of the plugin and the order they start in (subsystems a.7, a.8).
 *
 * I1 What an earlier process left unfinished is ended before anything is claimed.
 * I2 Nothing is claimed once the service begins to stop.
 * I3 Activations that could not be told of their files, because nothing could be written, are told at a later tick.
 * I4 What is due in a workspace that has switched workflows off is passed over.
 * I5 Files that may not run for a reason that may pass are looked at again, soon at first and ever less often.
 */
import { toFailure } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { NativeHost } from '../../../actors/plugin/native/native.js'
import type { ClaimAnswer, ClaimInput } from '../../../machines/activation.machine.js'
import { type Zoned, zonedProjection } from './activation-record.js'
import { type Activations, createActivations } from './activations.js'
import { type Claim, claimOccurrence } from '../runs/claim.js'
import { baseOf, createFitness, type Executable, type FitnessOf } from '../files/fitness.js'
import { type Activation, createLedger, type Ledger } from '../runs/ledger.js'
import { createLibrary, type Library } from '../files/library.js'
import { type Context, isInstallationRoot, type PlaceOptions, workspaceContext } from '../files/places.js'
import { createReconciler, type Reconciler } from './reconcile.js'
import { createRetries } from '../runs/retries.js'
import { createRunner, type Runner } from '../runs/runner.js'
import { inZone, LOCAL_ZONE } from '../files/schedule-fields.js'
import { type Acceptance, createSettings } from '../settings.js'
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
  /** Resolves once every tracked workspace was looked at. */
  readonly started: Promise<void>
  /** The workspace is in use: its workflows run from now on. Resolves once its files were looked at. */
  use(context: Context): Promise<void>
  /** The file that may be executed for an activation now, read again; rejects with the reason why there is none. */
  current(activation: Activation): Promise<Executable>
  /** Executes what was claimed; runs that were replaced end. */
  begin(claim: Claim, executable: Executable): void
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

const BELIEVED: Readonly<Record<Acceptance, string>> = {
  repository: 'workflow files run as soon as they are saved; those that came with a checkout run once their content was accepted',
  required: 'workflow files of a workspace run only once their content was accepted',
  files: 'workflow files that say so run by schedule as soon as they are there, also those of a checkout',
}

export function startEngine(host: NativeHost, options: WorkflowsOptions): Engine {
  const { effects, rows, stopping } = host
  const { clock, log, paths } = effects
  const settings = createSettings(host)
  const zoned: Zoned = (schedule) => (schedule.timezone === LOCAL_ZONE ? inZone(schedule, options.localZone()) : schedule)
  const ledger = createLedger(rows, (projection) => zonedProjection(projection, zoned))
  const runner = createRunner({
    host,
    ledger,
    onEnded() {
      retries.note()
      activations.released()
    },
  })
  const activations = createActivations({ effects, actors: host.actors, ledger, zoned, claim, running: () => runner.running })
  const retries = createRetries({
    effects,
    ledger,
    owner: runner.owner,
    isFull: () => isOver() || runner.running >= LIMITS.workflows.running,
    current,
    begin,
  })
  const library = createLibrary({
    effects,
    places: options.places,
    cache: createSourceCache(rows, options.version),
    onChanged: (context, ids) => void follow(context, ids),
  })
  const activationId = (root: string, workflowId: string) => `wfa_${effects.sha256(`${root}\0${workflowId}`)}`
  const fitness = createFitness({ host, ledger, acceptance: () => settings.acceptance, activationId })
  const reconciler = createReconciler({ effects, ledger, library, activations, zoned, fitness, activationId })
  const using = new Map<string, Use>()
  let isStarted = false
  let isBehind = false
  let isStopped = false
  let ticking: unknown
  let rechecking: unknown
  let recheckAfter: number = LIMITS.workflows.recheck

  /** I2. */
  const isOver = () => isStopped || stopping.aborted

  /** Never rejects. */
  async function follow(context: Context, ids: ReadonlySet<string>): Promise<void> {
    if (!isStarted || isOver()) return
    if (await settings.refresh()) await reconciled(() => reconciler.reconcileAll())
    else await reconciled(() => reconciler.reconcile(context, ids))
  }

  /** Never rejects: what fails is made good later (I3). */
  async function reconciled(reconcile: () => Promise<void>): Promise<void> {
    try {
      const { waiting } = reconciler
      await reconcile()
      if (reconciler.waiting > waiting) recheckAfter = LIMITS.workflows.recheck
      if (reconciler.waiting > 0) recheckLater()
    } catch (error) {
      isBehind = true
      log.error('workflows could not follow their files and will be told of them again', { cause: String(error) })
    }
  }

  async function isOff({ projection }: Activation): Promise<boolean> {
    const { workspaceRoot: root } = projection
    return !isInstallationRoot(root) && (await host.switchedOff(root)) !== undefined
  }

  /** I5. */
  function recheckLater(): void {
    clock.clearTimeout(rechecking)
    if (isOver()) return
    rechecking = clock.setTimeout(() => {
      recheckAfter = Math.min(recheckAfter * 2, LIMITS.workflows.relook)
      void reconciled(() => reconciler.recheck())
    }, recheckAfter)
  }

  async function current(activation: Activation): Promise<Executable> {
    if (await isOff(activation)) throw new Error('scheduled workflows are switched off for this workspace')
    const { workspaceRoot, workflowId, sourceHash, sourcePath } = activation.projection
    const found = reconciler.find(workspaceRoot, workflowId)
    if (found === undefined) throw new Error(reconciler.lossOf(activation))
    const [fit] = await fitness([found])
    const [obstacle] = fit?.obstacles ?? []
    if (activation.isLost)
      throw new Error(obstacle === undefined ? reconciler.lossOf(activation) : `${found.sourcePath}: ${obstacle.message}`)
    const content = await readContent({ effects, budget: { used: 0 } }, found.sourcePath)
    const isCurrent =
      found.sourcePath === sourcePath && content?.ok === true && content.hash === sourceHash && found.sourceHash === sourceHash
    if (isCurrent && fit !== undefined && obstacle === undefined) return { found, isAccepted: fit.isAccepted }
    for (const context of library.contexts()) library.suspect(context.root, found.sourcePath, workflowId)
    throw new Error(`${found.sourcePath}: ${isCurrent && obstacle !== undefined ? obstacle.message : 'is being changed'}`)
  }

  async function claim({ activationId, scheduledAt }: ClaimInput): Promise<ClaimAnswer> {
    const before = ledger.activation(activationId)
    if (before === undefined || isOver()) throw new Error('nothing is claimed any more') // I2
    if (await isOff(before)) return { type: 'refused', at: clock.now() } // I4
    const ready = await current(before)
    const activation = ledger.activation(activationId)
    const { projection } = activation ?? before
    if (activation === undefined || !projection.active || projection.sourceHash !== ready.found.sourceHash || isOver())
      throw new Error('the activation was changed meanwhile')
    const now = clock.now()
    const request = { activation, scheduledAt, trigger: 'scheduled', now, runId: runner.nextRunId(), owner: runner.owner } as const
    const outcome = claimOccurrence(ledger, request)
    begin(outcome, ready)
    return { type: outcome.type === 'claimed' ? 'claimed' : 'refused', at: now }
  }

  function begin(claimed: Claim, { found, isAccepted }: Executable): void {
    if (claimed.type !== 'claimed') return
    for (const run of claimed.replaced) runner.abandon(run)
    void runner.execute({ run: claimed.run, definition: found.definition, isAccepted, base: baseOf(found, paths.home) })
  }

  /** The workspace that was used longest ago makes room. */
  function track(directory: string): void {
    const known = ledger.workspaces()
    const over = known.includes(directory) ? [] : known.slice(0, Math.max(0, known.length + 1 - LIMITS.workflows.workspaces))
    ledger.commit('process', (tx) => {
      for (const old of over) ledger.untrack(tx, old)
      ledger.track(tx, directory, clock.now())
    })
    for (const old of over) {
      library.unfollow(old)
      using.delete(old)
    }
    if (over.length > 0) void reconciled(() => reconciler.reconcileAll())
  }

  function use(context: Context): Promise<void> {
    const now = clock.monotonic()
    const known = using.get(context.root)
    if (known !== undefined) {
      if (now - known.noted >= LIMITS.workflows.useNoted && !context.isInstallation) note(context, known, now)
      return known.ready
    }
    const work = async () => {
      await started
      if (!context.isInstallation) track(context.directory)
      await library.follow(context)
      await reconciler.reconcileContext(context)
    }
    const ready = work()
    using.set(context.root, { ready, noted: now })
    ready.catch(() => using.delete(context.root))
    return ready
  }

  function note({ directory }: Context, known: Use, now: number): void {
    known.noted = now
    try {
      ledger.commit('process', (tx) => ledger.track(tx, directory, clock.now()))
    } catch (error) {
      log.warn('the use of a workspace could not be noted', { directory, cause: String(error) })
    }
  }

  async function start(): Promise<void> {
    const began = clock.monotonic()
    runner.recover() // I1
    await settings.refresh()
    log.info(`${BELIEVED[settings.acceptance]} (workflows.acceptance is "${settings.acceptance}")`, { acceptance: settings.acceptance })
    for (const directory of ledger.workspaces()) {
      using.set(directory, { ready: started, noted: Number.NEGATIVE_INFINITY })
      if (isOver()) return
      await library.follow(workspaceContext(directory))
    }
    if (isOver()) return
    isStarted = true
    await reconciled(() => reconciler.reconcileAll())
    await activations.start()
    if (isOver()) return
    retries.note()
    tick()
    const ms = Math.round(clock.monotonic() - began)
    log.info('workflows follow their files', { workspaces: ledger.workspaces().length, expecting: activations.expecting, ms })
  }

  function tick(): void {
    if (isOver()) return
    ticking = clock.setTimeout(() => {
      if (isOver()) return
      try {
        runner.renew()
      } catch (error) {
        log.warn('leases of workflow runs could not be renewed', { cause: toFailure(error).message })
      }
      void followSettings()
        .then(() => reconciled(() => reconciler.recheck()))
        .then(tick)
    }, LIMITS.workflows.lease / 5)
  }

  /** Never rejects. */
  async function followSettings(): Promise<void> {
    if (!isStarted) return
    const isChanged = await settings.refresh()
    if (isOver() || !(isChanged || isBehind)) return
    isBehind = false
    await reconciled(() => reconciler.reconcileAll())
  }

  const started = start().catch((error: unknown) => {
    if (!isOver()) log.error('scheduled workflows did not start', { cause: String(error) })
    throw error
  })
  started.catch(() => undefined)

  return {
    ledger,
    library,
    reconciler,
    activations,
    runner,
    zoned,
    fitness,
    started,
    use,
    current,
    begin,
    followSettings,
    async stop() {
      isStopped = true
      clock.clearTimeout(ticking)
      clock.clearTimeout(rechecking)
      library.stop()
      activations.stop()
      retries.stop()
      await Promise.allSettled([runner.drain(), started])
    },
  }
}
