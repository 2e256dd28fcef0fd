/** The operations of the contract (http-contract §5.12 and its notes). */
import { upcoming } from '../../machines/workflows/schedule/occurrence.js'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import type { WorkflowDefinition, WorkflowDefinitionPatch, WorkflowProjection } from '../../protocol/workflow/workflow.js'
import type { NativeHost } from '../../ports/plugin.js'
import type { Operation } from '../../ports/doors.js'
import { refuseMissing, repeatRun, type Runners, runNow } from './asked-run.js'
import { createDefinitions } from './definitions.js'
import { createManaged } from './files/managed.js'
import { type Given, readCall } from './given.js'
import type { Engine } from './schedule/engine.js'
import { currentActivation, findNow, knownActivation, knownRun } from './sought.js'
import { createViews, revisionOf } from './views.js'

const PREFIX = 'v2.plugins.workflows'

/** What the operations work with. */
interface Served extends Engine, Pick<Runners, 'effects'> {}

export function createOperations(host: NativeHost, engine: Engine): Readonly<Record<string, Operation>> {
  const { effects } = host
  const served: Served = { ...engine, effects }
  const { ledger, library, activations } = engine
  const views = createViews(host, engine)
  const definitions = createDefinitions({ ...engine, clock: effects.clock }, createManaged(effects), views)

  const serve =
    (handle: (given: Given) => Promise<unknown>): Operation =>
    async (call) => {
      const given = readCall(effects, call)
      await engine.use(given.context)
      return handle(given)
    }

  return {
    [`${PREFIX}.list`]: serve(async ({ context }) => {
      await library.look(context.root)
      return views.catalog(context)
    }),
    [`${PREFIX}.get`]: serve(async (given) => views.view(given.context, await findNow(served, given))),
    [`${PREFIX}.create`]: serve(({ context, body }) => definitions.create(context, body as WorkflowDefinition)),
    [`${PREFIX}.update`]: serve(({ context, id, body, expected }) =>
      definitions.replace(context, id, body as WorkflowDefinition, expected),
    ),
    [`${PREFIX}.patch`]: serve(({ context, id, body, expected }) =>
      definitions.patch(context, id, body as WorkflowDefinitionPatch, expected),
    ),
    [`${PREFIX}.delete`]: serve(({ context, id, expected }) => definitions.delete(context, id, expected)),
    [`${PREFIX}.activate`]: serve(async (given) => views.projection(await activate(served, given))),
    [`${PREFIX}.pause`]: serve(async (given) => {
      const { projection } = activations.request(knownActivation(served, given), 'pause.requested')
      return views.projection(projection)
    }),
    [`${PREFIX}.preview`]: serve(async (given) => {
      const { definition, sourcePath } = await findNow(served, given)
      const shown = views.definition(definition)
      return { definition: shown, sourcePath, upcoming: upcoming(shown.schedule, effects.clock.now(), LIMITS.workflows.preview) }
    }),
    [`${PREFIX}.run`]: serve((given) => runNow(served, given)),
    [`${PREFIX}.history`]: serve(async (given) => ({
      runs: ledger.runs(knownActivation(served, given).projection.activationId, given.limit),
    })),
    [`${PREFIX}.runs.get`]: serve(async (given) => knownRun(served, given)),
    [`${PREFIX}.runs.retry`]: serve((given) => repeatRun(served, given)),
  }
}

/** Who activates a content of a repository has accepted it. */
async function activate(served: Served, given: Given): Promise<WorkflowProjection> {
  const { ledger, reconciler, fitness, activations, effects } = served
  const found = await findNow(served, given)
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
  return activations.request(await currentActivation(served, given, found), 'activate.requested').projection
}
