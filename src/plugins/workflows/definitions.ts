/** The operations that write definitions (http-contract §5.12; subsystems a.12). */
import type { Effects } from '../../ports/effects.js'
import { SvcError } from '../../protocol/errors.js'
import type { WorkflowDefinition, WorkflowView } from '../../protocol/workflow/workflow.js'
import { type Found, findWorkflow } from './files/catalog.js'
import { patchDefinition, validateDefinition } from './files/definition.js'
import type { Engine } from './schedule/engine.js'
import type { Managed, ManagedFile } from './files/managed.js'
import type { Context } from './files/places.js'
import { revisionOf, type Views } from './views.js'

export interface Definitions {
  create(context: Context, body: WorkflowDefinition): Promise<WorkflowView>
  /** `expected` is the revision the caller has seen; undefined = any. */
  replace(context: Context, id: string, body: WorkflowDefinition, expected: string | undefined): Promise<WorkflowView>
  patch(context: Context, id: string, body: Parameters<typeof patchDefinition>[1], expected: string | undefined): Promise<WorkflowView>
  delete(context: Context, id: string, expected: string | undefined): Promise<void>
}

export function createDefinitions(
  { clock, ledger, library, reconciler }: Engine & Pick<Effects, 'clock'>,
  managed: Managed,
  views: Views,
): Definitions {
  const find = (context: Context, id: string) => findWorkflow(library.sources(context.root), id)

  /** The files are looked at at once: what was just written is complete. */
  async function settle(context: Context, id: string, written?: string): Promise<Found | undefined> {
    await library.look(context.root)
    const found = find(context, id)
    const owner = found?.root.owner
    if (found !== undefined && owner !== undefined && found.sourceHash === written) {
      const content = { hash: written, known: 'accepted', now: clock.now() } as const // written by the operator, these very bytes
      ledger.commit('power', (tx) => ledger.note(tx, reconciler.activationId(owner, found.id), content))
    }
    await reconciler.reconcile(context, [id])
    return found
  }

  async function written(context: Context, id: string, hash: string): Promise<WorkflowView> {
    const found = await settle(context, id, hash)
    if (found === undefined)
      throw new SvcError('server.internal', `The workflow "${id}" was written and cannot be read.`, { workflowId: id })
    return views.view(context, found)
  }

  /** Refuses a workflow that another file defines. */
  function refuseForeign(context: Context, id: string, { path }: ManagedFile): void {
    const found = find(context, id)
    if (found === undefined || found.sourcePath === path) return
    throw new SvcError('management.read_only', `The workflow "${id}" is defined by ${found.sourcePath}, which is not changed here.`, {
      workflowId: id,
      sourcePath: found.sourcePath,
    })
  }

  function expecting(context: Context, id: string, expected: string | undefined): (file: ManagedFile) => void {
    return (file) => {
      refuseForeign(context, id, file)
      if (file.hash === undefined) throw new SvcError('resource.not_found', `There is no workflow "${id}".`, { workflowId: id })
      const currentRevision = revisionOf(file.hash)
      if (expected === undefined || expected === '*' || expected === currentRevision) return
      throw new SvcError('management.revision_conflict', `The workflow "${id}" was changed meanwhile.`, { currentRevision })
    }
  }

  return {
    async create(context, body) {
      const definition = validateDefinition(body, { isNew: true })
      await library.look(context.root)
      const hash = await managed.write(context, definition, (file) => {
        refuseForeign(context, definition.id, file)
        if (file.hash === undefined) return
        const currentRevision = revisionOf(file.hash)
        throw new SvcError('management.revision_conflict', `The workflow "${definition.id}" exists.`, { currentRevision })
      })
      return written(context, definition.id, hash)
    },
    async replace(context, id, body, expected) {
      if (body.id !== id) throw new SvcError('management.invalid_request', `The definition has the id "${body.id}", not "${id}".`)
      const definition = validateDefinition(body, { isNew: false })
      await library.look(context.root)
      return written(context, id, await managed.write(context, definition, expecting(context, id, expected)))
    },
    async patch(context, id, body, expected) {
      await library.look(context.root)
      const file = await managed.read(context, id)
      expecting(context, id, expected)(file)
      const found = find(context, id)
      if (found === undefined || found.sourceHash !== file.hash) {
        throw new SvcError('management.invalid_request', `The file of "${id}" is not valid; replace the whole definition.`, {
          workflowId: id,
        })
      }
      const definition = patchDefinition(found.definition, body)
      const seen = revisionOf(found.sourceHash)
      return written(context, id, await managed.write(context, definition, expecting(context, id, seen)))
    },
    async delete(context, id, expected) {
      await library.look(context.root)
      await managed.remove(context, id, expecting(context, id, expected))
      await settle(context, id)
    },
  }
}
