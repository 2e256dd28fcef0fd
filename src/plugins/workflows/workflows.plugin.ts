/** The built-in plugin of scheduled workflows: files that hold a schedule and a prompt (service.md, Scheduled workflow file). */
import * as z from 'zod'
import type { NativeHost, NativePlugin } from '../../ports/plugin.js'
import { LOCAL_TENANT } from '../../protocol/caller.js'
import type { EventsContribution } from '../../ports/contributions.js'
import { type Engine, startEngine, type WorkflowsOptions } from './schedule/engine.js'
import { createOperations } from './operations.js'
import { workspaceContext } from './files/places.js'

export function workflowsPlugin(options: WorkflowsOptions): NativePlugin {
  let engine: Engine | undefined
  return {
    id: 'dev.svc.workflows',
    name: 'Scheduled workflows',
    capability: { id: 'svc.workflows', apiPrefix: '/v2/plugins/dev.svc.workflows' },
    requires: ['svc.config', 'svc.agents'],
    eventNamespaces: ['workflow'],
    start(host) {
      engine = startEngine(host, options)
      return { operations: createOperations(host, engine), events: watchSessions(host, engine) }
    },
    async stop() {
      await engine?.stop()
    },
  }
}

/** What counts here of a new session. */
const Created = z.object({
  info: z.object({
    directory: z.string(),
    parentId: z.string().optional(),
    workflowRunID: z.string().optional(),
    svcTenantId: z.string().optional(),
  }),
})

/**
 * A workspace is in use once a session was created in it, by a person or a program; what a workflow starts is no such act, and what a
 * tenant does neither: nothing that lies in its directories runs as this installation.
 */
function watchSessions({ effects }: NativeHost, engine: Engine): EventsContribution {
  return {
    namespaces: ['session.created', 'config.updated'],
    deliver({ type, properties }) {
      if (type === 'config.updated') return void engine.followSettings()
      if (type !== 'session.created') return
      const created = Created.safeParse(properties)
      if (!created.success) return
      const { directory, parentId, workflowRunID, svcTenantId = LOCAL_TENANT } = created.data.info
      if (parentId !== undefined || workflowRunID !== undefined || svcTenantId !== LOCAL_TENANT) return
      engine
        .use(workspaceContext(directory))
        .catch((error: unknown) => effects.log.warn('the workflows of a workspace cannot be followed', { directory, cause: String(error) }))
    },
  }
}
