/** Agents of others, over the Agent Client Protocol: `dev.svc.external` (subsystems l). */
import type { NativePlugin } from '../../ports/plugin.js'
import { SvcError } from '../../protocol/errors.js'
import {
  ExternalImportRequest,
  ExternalOptionSetRequest,
  ExternalOptionsPreviewRequest,
  ExternalPreviewQuery,
  externalRoutes,
} from '../../protocol/external/external.js'
import { CREATE_EXTERNAL, ExternalSessionParams, externalSessionRoutes } from '../../protocol/external/external-sessions.js'
import { EXTERNAL_PLUGIN } from '../../protocol/session/external-provider.js'
import type { Caller } from '../../protocol/caller.js'
import { createKept, SESSION_ROWS } from './kept.js'
import { createPreviews } from './previews.js'
import { createExternalSessions } from './sessions.js'

export interface ExternalOptions {
  /** Environment of the server. */
  readonly env: Readonly<Record<string, string | undefined>>
}

export function externalPlugin({ env }: ExternalOptions): NativePlugin {
  return {
    id: EXTERNAL_PLUGIN,
    name: 'External agents',
    capability: { id: 'svc.external', apiPrefix: '/v2/external' },
    eventNamespaces: [],
    sessionRows: SESSION_ROWS,
    start(host) {
      const previews = createPreviews(host, env)
      const { preview } = previews
      const sessions = createExternalSessions({ host, env, previews, kept: createKept(host.rows) })
      return {
        providers: [sessions.provider],
        operations: {
          async [CREATE_EXTERNAL](call) {
            requireOwn(call.caller)
            return sessions.create(call)
          },
          async [externalSessionRoutes.options.id]({ caller, params }) {
            requireOwn(caller)
            return sessions.options(ExternalSessionParams.parse(params).session_id)
          },
          async [externalSessionRoutes.setOption.id]({ caller, params, body }) {
            requireOwn(caller)
            return sessions.setOption(ExternalSessionParams.parse(params).session_id, ExternalOptionSetRequest.parse(body))
          },
          async [externalSessionRoutes.catalog.id]({ caller, directory, query }) {
            requireOwn(caller)
            return sessions.catalog(ExternalPreviewQuery.parse(query).provider, directory)
          },
          async [externalSessionRoutes.import.id]({ caller, directory, body }) {
            requireOwn(caller)
            return sessions.import(directory, ExternalImportRequest.parse(body))
          },
          async [externalRoutes.preview.id]({ caller, directory, query }) {
            requireOwn(caller)
            return preview(ExternalPreviewQuery.parse(query).provider, directory, {})
          },
          async [externalRoutes.previewSelected.id]({ caller, directory, query, body }) {
            requireOwn(caller)
            return preview(ExternalPreviewQuery.parse(query).provider, directory, ExternalOptionsPreviewRequest.parse(body).selectedOptions)
          },
        },
      }
    },
    stop: () => Promise.resolve(),
  }
}

/** It starts a program of this machine. */
function requireOwn({ authenticated, operator }: Caller): void {
  if (authenticated && !operator) throw new SvcError('request.forbidden', 'This operation is for the local operator only.')
}
