/** The operations of the contract (http-contract §5.12 and its notes). */
import { upcoming } from '../../machines/workflows/schedule/occurrence.js'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import { expectedOf } from '../../protocol/resource/expected.js'
import type { WorkflowDefinition, WorkflowDefinitionPatch, WorkflowRun } from '../../protocol/workflow/workflow.js'
import type { NativeHost } from '../../ports/plugin.js'
import type { Operation, OperationCall } from '../../ports/doors.js'
import { type Found, findWorkflow, sourceAt, whatIsWrong } from './files/catalog.js'
import { type Claim, claimOccurrence } from './runs/claim.js'
import { createDefinitions } from './definitions.js'
import type { Engine } from './schedule/engine.js'
import type { Executable, Fitness } from './runs/fitness.js'
import type { Activation } from './runs/ledger.js'
import { createManaged, managedPath } from './files/managed.js'
import { type Context, installationContext, workspaceContext } from './files/places.js'
import { freeSlot } from './runs/retry.js'
import { createViews, revisionOf } from './views.js'

const PREFIX = 'v2.plugins.workflows'
const REPEATABLE: ReadonlySet<WorkflowRun['status']> = new Set(['failed', 'interrupted', 'replaced'])

/** A call as the contracts have parsed it. */
interface Given {
  readonly context: Context
  readonly id: string
  readonly runId: string
  readonly limit: number
  readonly expected: string | undefined
  readonly body: unknown
}

export function createOperations(host: NativeHost, engine: Engine): Readonly<Record<string, Operation>> {
  const { effects } = host
  const { ledger, library, reconciler, activations, runner, fitness } = engine
  const views = createViews(host, engine)
  const definitions = createDefinitions({ ...engine, clock: effects.clock }, createManaged(effects), views)

  const serve =
    (handle: (given: Given) => Promise<unknown>): Operation =>
    async (call) => {
      const given = read(effects, call)
      await engine.use(given.context)
      return handle(given)
    }

  /** As the files are at this moment. */
  async function find({ context, id }: Given): Promise<Found> {
    await library.look(context.root)
    const found = findWorkflow(library.sources(context.root), id)
    if (found !== undefined) return found
    const lost = activationOf(context, id)
    const { path } = await managedPath(effects, context, id)
    const managed = sourceAt(library.sources(context.root), path)
    const problem =
      lost !== undefined && reconciler.isBroken(lost) ? reconciler.lossOf(lost) : managed && `${path}: ${whatIsWrong(managed)}`
    if (problem !== undefined) throw new SvcError('management.invalid_request', problem, { workflowId: id })
    throw new SvcError('resource.not_found', `There is no workflow "${id}".`, { workflowId: id })
  }

  /** Its activation: of the file that is found, else of any workspace above that had one. */
  function activationOf(context: Context, id: string): Activation | undefined {
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

  function known({ context, id }: Given): Activation {
    const activation = activationOf(context, id)
    if (activation !== undefined) return activation
    throw new SvcError('resource.not_found', `The workflow "${id}" was never active and never run.`, { workflowId: id })
  }

  function knownRun(given: Given): WorkflowRun {
    const run = ledger.run(given.runId)
    if (run !== undefined && run.activationId === known(given).projection.activationId) return run
    throw new SvcError('resource.not_found', `The workflow "${given.id}" has no run "${given.runId}".`, { runId: given.runId })
  }

  /** The activation of a found workflow, in line with its file; it is made when there is none. */
  async function current({ context }: Given, found: Found): Promise<Activation> {
    await reconciler.reconcile(context, [found.id])
    const root = reconciler.rootOf(context, found)
    const activationId = reconciler.activationId(root, found.id)
    if (ledger.activation(activationId) === undefined) reconciler.adopt(root, found)
    const activation = ledger.activation(activationId)
    if (activation === undefined) throw new SvcError('server.internal', `The workflow "${found.id}" could not be noted.`)
    return activation
  }

  function begin(claim: Claim, executable: Executable): WorkflowRun {
    if (claim.type !== 'claimed') {
      throw new SvcError('resource.conflict', 'The workflow is running, and its concurrency policy allows no other run.', {
        workflowId: executable.found.id,
      })
    }
    runner.begin(claim, executable)
    return claim.run
  }

  /** Refuses a directory that is not there; who may act on a content is for the caller. */
  function refuseMissing({ id, sourcePath }: Found, fit: Fitness | undefined): void {
    const missing = fit?.obstacles.find(({ code }) => code === 'directory-missing')
    if (missing === undefined) return
    throw new SvcError('request.unprocessable', `The workflow "${id}" cannot run: ${missing.message}.`, {
      workflowId: id,
      sourcePath,
      reason: missing.code,
    })
  }

  async function executable(found: Found): Promise<Executable> {
    const [fit] = await fitness([found])
    const { id, sourcePath, sourceHash } = found
    const unaccepted = fit?.obstacles.find(({ code }) => code === 'acceptance-required')
    if (fit === undefined || unaccepted !== undefined) {
      const details = { workflowId: id, sourcePath, revision: revisionOf(sourceHash), reason: 'acceptance-required' }
      throw new SvcError('request.forbidden', `${sourcePath} ${unaccepted?.message ?? 'cannot be judged'}.`, details)
    }
    refuseMissing(found, fit)
    if (runner.running >= LIMITS.workflows.running) {
      throw new SvcError('quota.exceeded', `${LIMITS.workflows.running} runs of workflows are under way; try again later.`)
    }
    return { found, isAccepted: fit.isAccepted }
  }

  const claimed = (activation: Activation, how: Pick<Parameters<typeof claimOccurrence>[1], 'scheduledAt' | 'trigger' | 'retryOf'>) =>
    claimOccurrence(ledger, { activation, now: effects.clock.now(), runId: runner.nextRunId(), owner: runner.owner, ...how })

  return {
    [`${PREFIX}.list`]: serve(async ({ context }) => {
      await library.look(context.root)
      return views.catalog(context)
    }),
    [`${PREFIX}.get`]: serve(async (given) => views.view(given.context, await find(given))),
    [`${PREFIX}.create`]: serve(({ context, body }) => definitions.create(context, body as WorkflowDefinition)),
    [`${PREFIX}.update`]: serve(({ context, id, body, expected }) =>
      definitions.replace(context, id, body as WorkflowDefinition, expected),
    ),
    [`${PREFIX}.patch`]: serve(({ context, id, body, expected }) =>
      definitions.patch(context, id, body as WorkflowDefinitionPatch, expected),
    ),
    [`${PREFIX}.delete`]: serve(({ context, id, expected }) => definitions.delete(context, id, expected)),
    [`${PREFIX}.activate`]: serve(async (given) => {
      const found = await find(given)
      const { expected } = given
      const currentRevision = revisionOf(found.sourceHash)
      if (expected !== undefined && expected !== '*' && expected !== currentRevision) {
        throw new SvcError('management.revision_conflict', `The workflow "${found.id}" was changed meanwhile.`, { currentRevision })
      }
      refuseMissing(found, (await fitness([found]))[0])
      const { owner } = found.root
      if (owner !== undefined) {
        const activationId = reconciler.activationId(owner, found.id)
        const content = { hash: found.sourceHash, known: 'accepted', now: effects.clock.now() } as const
        ledger.commit('power', (tx) => ledger.note(tx, activationId, content))
      }
      const activation = activations.request(await current(given, found), 'activate.requested')
      return views.projection(activation.projection)
    }),
    [`${PREFIX}.pause`]: serve(async (given) => {
      const { projection } = activations.request(known(given), 'pause.requested')
      return views.projection(projection)
    }),
    [`${PREFIX}.preview`]: serve(async (given) => {
      const { definition, sourcePath } = await find(given)
      const shown = views.definition(definition)
      return { definition: shown, sourcePath, upcoming: upcoming(shown.schedule, effects.clock.now(), LIMITS.workflows.preview) }
    }),
    [`${PREFIX}.run`]: serve(async (given) => {
      const found = await find(given)
      const ready = await executable(found)
      const activation = await current(given, found)
      const { activationId } = activation.projection
      const scheduledAt = freeSlot(ledger, { activationId, scheduledAt: effects.clock.now() - 1 })
      return begin(claimed(activation, { scheduledAt, trigger: 'manual' }), ready)
    }),
    [`${PREFIX}.history`]: serve(async (given) => ({ runs: ledger.runs(known(given).projection.activationId, given.limit) })),
    [`${PREFIX}.runs.get`]: serve(async (given) => knownRun(given)),
    [`${PREFIX}.runs.retry`]: serve(async (given) => {
      const run = knownRun(given)
      if (!REPEATABLE.has(run.status)) {
        throw new SvcError('resource.conflict', `A run that is "${run.status}" cannot be repeated.`, { runId: run.id, status: run.status })
      }
      const found = await find(given)
      const ready = await executable(found)
      const activation = await current(given, found)
      return begin(claimed(activation, { scheduledAt: freeSlot(ledger, run), trigger: 'manual-retry', retryOf: run }), ready)
    }),
  }
}

function read(effects: NativeHost['effects'], { caller, directory, params, query, headers, body }: OperationCall): Given {
  if (caller.directoryPrefixes !== undefined) throw new SvcError('request.forbidden', 'Scheduled workflows are for local callers only.')
  const texts: Readonly<Record<string, unknown>> = { ...record(params), ...record(query), ...record(headers) }
  const text = (name: string) => (typeof texts[name] === 'string' ? texts[name] : undefined)
  const limit = texts['limit']
  return {
    context: text('scope') === 'installation' ? installationContext(effects) : workspaceContext(directory),
    id: text('workflow_id') ?? '',
    runId: text('run_id') ?? '',
    limit: typeof limit === 'number' ? limit : LIMITS.workflows.historyDefault,
    expected: expectedOf(undefined, text('expectedRevision'), text('if-match')),
    body,
  }
}

function record(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {}
}
