/**
 * Bringing activations in line with the files (subsystems a.7).
 *
 * I1 A file that says the same as before changes nothing: what was activated or paused by a call stays so.
 * I2 A file that changed, or came back, decides itself; one that is gone or broken makes its activation inactive.
 * I3 What may not run is inactive, and looked at again when that may pass: see `waiting`.
 * I4 A workflow of a project belongs to the workspace that holds its file, however many workspaces below it are in use;
 *    one of the installation runs in each of them.
 */
import { isWithin } from '../../../protocol/caller.js'
import type { Effects } from '../../../ports/effects.js'
import { type Found, findWorkflow, sourceAt, whatIsWrong, workflowIds } from '../files/catalog.js'
import { savedReport, type Zoned } from './activation-record.js'
import { type Activations, identityOf, type Seen } from './activations.js'
import type { Fitness, FitnessOf } from '../runs/fitness.js'
import type { Activation, Ledger } from '../runs/ledger.js'
import type { Library } from '../files/library.js'
import type { Source } from '../files/sources.js'
import type { Context } from '../files/places.js'
import { nextTurn } from '../../../kernel/pause.js'
import { takeTurns } from '../turns.js'

export interface Reconciler {
  /** Root of the activation of a workflow that a context finds. */
  rootOf(context: Context, found: Found): string
  activationId(root: string, workflowId: string): string
  /** Resolves once the activations of these workflows follow the files as they are known. */
  reconcile(context: Context, ids: Iterable<string>): Promise<void>
  /** Every workflow of a context. */
  reconcileContext(context: Context): Promise<void>
  /** Every context and every activation. */
  reconcileAll(): Promise<void>
  /** The file that defines a workflow for the workspace it belongs to. */
  find(root: string, workflowId: string): Found | undefined
  /** Why an activation has no file that could be executed. */
  lossOf(activation: Activation): string
  /** Whether its file is there and not valid. */
  isBroken(activation: Activation): boolean
  /** Activations whose files may be fit to run soon; `recheck` looks at them again, and at those that run elsewhere. */
  readonly waiting: number
  recheck(): Promise<void>
  /** Makes the activation of a found workflow, active or not, as its file says. */
  adopt(root: string, found: Found): void
}

export interface ReconcilerDeps {
  readonly effects: Pick<Effects, 'clock'>
  readonly ledger: Ledger
  readonly library: Library
  readonly activations: Pick<Activations, 'report'>
  readonly zoned: Zoned
  readonly fitness: FitnessOf
  activationId(root: string, workflowId: string): string
}

interface Target {
  readonly activationId: string
  readonly root: string
  readonly id: string
}

/** Workflows looked at, and activations told, in one go: some ten milliseconds. */
const AT_ONCE = 64

/** What activations are brought in line with. */
interface Ground extends ReconcilerDeps {
  /** Those whose files may be fit to run soon (I3). */
  readonly waiting: Map<string, Target>
}

export function createReconciler(deps: ReconcilerDeps): Reconciler {
  const ground: Ground = { ...deps, waiting: new Map() }
  const { waiting } = ground
  return {
    rootOf,
    activationId: deps.activationId,
    find: (root, id) => desired(ground, { root, id }),
    lossOf: (activation) => lossOf(ground, activation),
    isBroken: (activation) => isBroken(ground, activation),
    adopt: (root, found) => deps.activations.report([adoption(ground, root, found, false)]),
    get waiting() {
      return waiting.size
    },
    recheck: () => recheck(ground),
    reconcile: (context, ids) => reconcileTargets(ground, [...targetsOf(ground, context, ids)]),
    reconcileContext: (context) => reconcileTargets(ground, [...everyTarget(ground, context)]),
    reconcileAll: () => reconcileAll(ground),
  }
}

/** I4 */
function rootOf(context: Context, found: Found): string {
  return context.isInstallation ? context.root : (found.root.owner ?? context.root)
}

/** Contexts that may find workflows of a root: itself, and workspaces below it. */
function* contextsOf({ library }: Ground, root: string): Generator<Context> {
  const own = library.context(root)
  if (own !== undefined) yield own
  for (const context of library.contexts()) if (context.root !== root && isWithin(root, context.directory)) yield context
}

function desired(ground: Ground, { root, id }: Pick<Target, 'root' | 'id'>): Found | undefined {
  for (const context of contextsOf(ground, root)) {
    const found = findWorkflow(ground.library.sources(context.root), id)
    if (found !== undefined && rootOf(context, found) === root) return found
  }
  return undefined
}

function adoption({ effects, zoned, activationId }: Ground, root: string, found: Found, isSaved: boolean): Seen {
  const identity = { activationId: activationId(root, found.id), workflowId: found.id, root }
  return { identity, report: savedReport(found, effects.clock.now(), zoned), found, isSaved }
}

/** I2. */
function loss({ effects }: Ground, activation: Activation, reason: string): Seen {
  return { identity: identityOf(activation), report: { type: 'file.lost', at: effects.clock.now(), reason } }
}

function sourceOf(ground: Ground, { projection }: Activation): Source | undefined {
  for (const context of contextsOf(ground, projection.workspaceRoot)) {
    const source = sourceAt(ground.library.sources(context.root), projection.sourcePath)
    if (source !== undefined) return source
  }
  return undefined
}

function lossOf(ground: Ground, activation: Activation): string {
  const { sourcePath, workflowId } = activation.projection
  const source = sourceOf(ground, activation)
  if (source === undefined) return `${sourcePath} is gone`
  return source.content.ok ? `${sourcePath} does not define "${workflowId}" any more` : `${sourcePath}: ${whatIsWrong(source)}`
}

function isBroken(ground: Ground, activation: Activation): boolean {
  return sourceOf(ground, activation)?.content.ok === false
}

/** What an activation has to be told; undefined = nothing. */
function newsOf(ground: Ground, target: Target, found: Found | undefined, fit: Fitness | undefined): Seen | undefined {
  const { ledger, library } = ground
  const before = ledger.activation(target.activationId)
  const obstacle = fit?.obstacles[0]
  if (before === undefined) {
    const isWanted = found?.definition.active === true && obstacle === undefined && library.context(target.root)?.isInstallation !== true
    return isWanted ? adoption(ground, target.root, found, fit?.isSaved === true) : undefined
  }
  if (found === undefined || isBroken(ground, before)) return before.isLost ? undefined : loss(ground, before, lossOf(ground, before))
  const { sourceHash, sourcePath, active } = before.projection
  const isSame = !before.isLost && sourceHash === found.sourceHash && sourcePath === found.sourcePath
  if (obstacle === undefined) return isSame ? undefined : adoption(ground, target.root, found, fit?.isSaved === true) // I1
  return before.isLost || (isSame && !active) ? undefined : loss(ground, before, `${found.sourcePath}: ${obstacle.message}`)
}

/** I3. Those whose files became others while this was found out, to be asked again. */
async function reconcileSome(ground: Ground, targets: readonly Target[]): Promise<readonly Target[]> {
  const { fitness, activations, waiting } = ground
  const found = targets.map((target) => desired(ground, target))
  const existing = found.flatMap((each) => each ?? [])
  const fits = new Map((await fitness(existing)).map((fit, index) => [existing[index], fit]))
  const others: Target[] = []
  const news = targets.flatMap((target, index) => {
    const file = found[index]
    if (desired(ground, target) !== file) {
      others.push(target)
      return []
    }
    const fit = file && fits.get(file)
    if (fit?.isPassing === true) waiting.set(target.activationId, target)
    else waiting.delete(target.activationId)
    return newsOf(ground, target, file, fit) ?? []
  })
  if (news.length > 0) activations.report(news)
  return others
}

/** In the order of their rows: what is committed together lies together. */
async function reconcileTargets(ground: Ground, found: readonly Target[]): Promise<void> {
  const targets = found.toSorted((a, b) => (a.activationId < b.activationId ? -1 : 1))
  for (let start = 0; start < targets.length; start += AT_ONCE) {
    if (start > 0) await nextTurn()
    let some: readonly Target[] = targets.slice(start, start + AT_ONCE)
    while (some.length > 0) some = await reconcileSome(ground, some)
  }
}

async function recheck(ground: Ground): Promise<void> {
  const elsewhere = [...ground.ledger.activations()].filter(
    ({ projection }) => projection.active && projection.definition.directory !== undefined,
  )
  const targets = new Map(ground.waiting)
  for (const activation of elsewhere) addTarget(targets, activation)
  await reconcileTargets(ground, [...targets.values()])
}

async function reconcileAll(ground: Ground): Promise<void> {
  const { ledger, library } = ground
  const targets = new Map<string, Target>()
  const turn = takeTurns()
  for (const context of library.contexts()) {
    for (const target of everyTarget(ground, context)) {
      await turn()
      targets.set(target.activationId, target)
    }
  }
  for (const activation of ledger.activations()) addTarget(targets, activation)
  await reconcileTargets(ground, [...targets.values()])
}

function addTarget(targets: Map<string, Target>, { projection }: Activation): void {
  const { activationId: id, workspaceRoot: root, workflowId } = projection
  targets.set(id, { activationId: id, root, id: workflowId })
}

function* targetsOf({ library, activationId }: Ground, context: Context, ids: Iterable<string>): Generator<Target> {
  const owners = library.sources(context.root).flatMap(({ root }) => root.owner ?? [])
  const roots = new Set([context.root, ...owners])
  for (const id of ids) for (const root of roots) yield { activationId: activationId(root, id), root, id }
}

function everyTarget(ground: Ground, context: Context): Generator<Target> {
  return targetsOf(ground, context, workflowIds(ground.library.sources(context.root)))
}
