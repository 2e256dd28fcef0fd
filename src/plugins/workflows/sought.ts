/** What a call is about: a workflow as its files are at this moment, its activation, and its runs. */
import { SvcError } from '../../protocol/errors.js'
import type { WorkflowRun } from '../../protocol/workflow/workflow.js'
import type { Effects } from '../../ports/effects.js'
import { type Found, findWorkflow, sourceAt, whatIsWrong } from './files/catalog.js'
import { managedPath } from './files/managed.js'
import type { Context } from './files/places.js'
import type { Given } from './given.js'
import type { Activation } from './runs/ledger.js'
import type { Engine } from './schedule/engine.js'

/** Where it is looked for. */
export interface Seekers extends Pick<Engine, 'ledger' | 'library' | 'reconciler'> {
  readonly effects: Pick<Effects, 'files' | 'paths'>
}

/** As the files are at this moment. */
export async function findNow(seekers: Seekers, { context, id }: Given): Promise<Found> {
  const { library, reconciler, effects } = seekers
  await library.look(context.root)
  const found = findWorkflow(library.sources(context.root), id)
  if (found !== undefined) return found
  const lost = activationOf(seekers, context, id)
  const { path } = await managedPath(effects, context, id)
  const managed = sourceAt(library.sources(context.root), path)
  const problem = lost !== undefined && reconciler.isBroken(lost) ? reconciler.lossOf(lost) : managed && `${path}: ${whatIsWrong(managed)}`
  if (problem !== undefined) throw new SvcError('management.invalid_request', problem, { workflowId: id })
  throw new SvcError('resource.not_found', `There is no workflow "${id}".`, { workflowId: id })
}

/** Its activation: of the file that is found, else of any workspace above that had one. */
function activationOf({ ledger, library, reconciler }: Seekers, context: Context, id: string): Activation | undefined {
  const sources = library.sources(context.root)
  const found = findWorkflow(sources, id)
  const roots = found === undefined ? [] : [reconciler.rootOf(context, found)]
  if (roots.length === 0) roots.push(context.root, ...sources.flatMap(({ root }) => root.owner ?? []).toReversed())
  for (const root of roots) {
    const activation = ledger.activation(reconciler.activationId(root, id))
    if (activation !== undefined) return activation
  }
  return undefined
}

export function knownActivation(seekers: Seekers, { context, id }: Given): Activation {
  const activation = activationOf(seekers, context, id)
  if (activation !== undefined) return activation
  throw new SvcError('resource.not_found', `The workflow "${id}" was never active and never run.`, { workflowId: id })
}

export function knownRun(seekers: Seekers, given: Given): WorkflowRun {
  const run = seekers.ledger.run(given.runId)
  if (run !== undefined && run.activationId === knownActivation(seekers, given).projection.activationId) return run
  throw new SvcError('resource.not_found', `The workflow "${given.id}" has no run "${given.runId}".`, { runId: given.runId })
}

/** The activation of a found workflow, in line with its file; it is made when there is none. */
export async function currentActivation({ ledger, reconciler }: Seekers, { context }: Given, found: Found): Promise<Activation> {
  await reconciler.reconcile(context, [found.id])
  const root = reconciler.rootOf(context, found)
  const activationId = reconciler.activationId(root, found.id)
  if (ledger.activation(activationId) === undefined) reconciler.adopt(root, found)
  const activation = ledger.activation(activationId)
  if (activation === undefined) throw new SvcError('server.internal', `The workflow "${found.id}" could not be noted.`)
  return activation
}
