/** Workflows as clients see them (http-contract §2.18). */
import { LIMITS } from '../../protocol/limits.js'
import type { WorkflowCatalog, WorkflowDefinition, WorkflowProjection, WorkflowView } from '../../protocol/workflow/workflow.js'
import type { NativeHost } from '../../ports/plugin.js'
import { zonedProjection } from './schedule/activation-record.js'
import { type Found, listWorkflows } from './files/catalog.js'
import type { Engine } from './schedule/engine.js'
import { diagnosticsOf, type Fitness } from './runs/fitness.js'
import { managedPath } from './files/managed.js'
import { missingNames } from './runs/named.js'
import type { Context } from './files/places.js'
import { takeTurns } from './turns.js'

export interface Views {
  view(context: Context, found: Found): Promise<WorkflowView>
  catalog(context: Context): Promise<WorkflowCatalog>
  projection(projection: WorkflowProjection): WorkflowProjection
  definition(definition: WorkflowDefinition): WorkflowDefinition
}

export function createViews(
  host: Pick<NativeHost, 'effects' | 'hasAgent' | 'skills'>,
  { ledger, library, reconciler, zoned, fitness }: Engine,
): Views {
  const definition = (given: WorkflowDefinition): WorkflowDefinition => ({ ...given, schedule: zoned(given.schedule) })

  async function viewOf(context: Context, found: Found, fit: Pick<Fitness, 'obstacles' | 'notes'>): Promise<WorkflowView> {
    const { obstacles } = fit
    const diagnostics = [...diagnosticsOf(found, fit), ...(await missingNames(host, found))]
    const activation = ledger.activation(reconciler.activationId(reconciler.rootOf(context, found), found.id))
    const id = activation?.projection.activationId ?? null
    const isActive = activation?.projection.active === true
    if (isActive && obstacles.length > 0) library.suspect(context.root, found.sourcePath, found.id)
    const writable = (await managedPath(host.effects, context, found.id)).path === found.sourcePath
    return {
      definition: definition(found.definition),
      sourcePath: found.sourcePath,
      sourceHash: found.sourceHash,
      active: isActive && obstacles.length === 0,
      activationID: id,
      activationId: id,
      lastScheduledAt: activation?.projection.lastScheduledAt ?? null,
      writable,
      ...(diagnostics.length > 0 && { diagnostics }),
      ...(writable && { revision: revisionOf(found.sourceHash) }),
    }
  }

  return {
    async view(context, found) {
      const [fit] = await fitness([found])
      return viewOf(context, found, fit ?? { obstacles: [], notes: [] })
    },
    definition,
    projection: (projection) => zonedProjection(projection, zoned),
    async catalog(context) {
      const { workflows, diagnostics } = listWorkflows(library.sources(context.root))
      const turn = takeTurns()
      const views: WorkflowView[] = []
      const fits = await fitness(workflows)
      for (const [index, found] of workflows.entries()) {
        await turn()
        const fit = fits[index]
        if (fit === undefined) continue
        const view = await viewOf(context, found, fit)
        views.push(view)
        diagnostics.push(...(view.diagnostics ?? []))
      }
      return { workflows: views, diagnostics: diagnostics.slice(0, LIMITS.workflows.filesPerRoot) }
    },
  }
}

export function revisionOf(hash: string): string {
  return `sha256:${hash}`
}
