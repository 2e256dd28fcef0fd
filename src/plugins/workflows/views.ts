/** Workflows as clients see them (http-contract §2.18). */
import { LIMITS } from '../../protocol/limits.js'
import type { WorkflowCatalog, WorkflowDefinition, WorkflowDiagnostic, WorkflowProjection, WorkflowView } from '../../protocol/workflow.js'
import type { NativeHost } from '../../actors/plugin/native.js'
import { zonedProjection } from './activation-record.js'
import { type Found, listWorkflows } from './catalog.js'
import type { Engine } from './engine.js'
import { managedPath } from './managed.js'
import type { Context } from './places.js'
import { runDirectory } from './prepare.js'
import { baseOf, NOT_ACCEPTED } from './reconcile.js'
import { takeTurns } from './turns.js'

export interface Views {
  view(context: Context, found: Found): Promise<WorkflowView>
  catalog(context: Context): Promise<WorkflowCatalog>
  projection(projection: WorkflowProjection): WorkflowProjection
  definition(definition: WorkflowDefinition): WorkflowDefinition
}

export function createViews(host: Pick<NativeHost, 'effects'>, { ledger, library, reconciler, zoned }: Engine): Views {
  const definition = (given: WorkflowDefinition): WorkflowDefinition => ({ ...given, schedule: zoned(given.schedule) })

  async function view(context: Context, found: Found): Promise<WorkflowView> {
    const activation = ledger.activation(reconciler.activationId(reconciler.rootOf(context, found), found.id))
    const id = activation?.projection.activationId ?? null
    const writable = (await managedPath(host.effects, context, found.id)).path === found.sourcePath
    return {
      definition: definition(found.definition),
      sourcePath: found.sourcePath,
      sourceHash: found.sourceHash,
      active: activation?.projection.active ?? false,
      activationID: id,
      activationId: id,
      lastScheduledAt: activation?.projection.lastScheduledAt ?? null,
      writable,
      ...(writable && { revision: revisionOf(found.sourceHash) }),
    }
  }

  /** What the files do not say of themselves: a directory that is not there, a content nobody has accepted. */
  async function concerns(found: Found): Promise<WorkflowDiagnostic[]> {
    const { sourcePath, definition: given, root } = found
    const diagnostics: WorkflowDiagnostic[] = []
    if (!reconciler.isAccepted(found)) diagnostics.push({ sourcePath, message: NOT_ACCEPTED })
    if (given.directory === undefined) return diagnostics
    const problem = await runDirectory(host, given, baseOf({ root }, host.effects.paths.home)).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    )
    if (problem !== undefined) diagnostics.push({ sourcePath, message: problem })
    return diagnostics
  }

  return {
    view,
    definition,
    projection: (projection) => zonedProjection(projection, zoned),
    async catalog(context) {
      const { workflows, diagnostics } = listWorkflows(library.sources(context.root))
      const turn = takeTurns()
      const views: WorkflowView[] = []
      for (const found of workflows) {
        await turn()
        views.push(await view(context, found))
        diagnostics.push(...(await concerns(found)))
      }
      return { workflows: views, diagnostics: diagnostics.slice(0, LIMITS.workflows.filesPerRoot) }
    },
  }
}

export function revisionOf(hash: string): string {
  return `sha256:${hash}`
}
