/** Agents of others, over the Agent Client Protocol: `dev.svc.external` (subsystems l). */
import type { NativePlugin } from '../../ports/plugin.js'
import { SvcError } from '../../protocol/errors.js'
import { ExternalOptionsPreviewRequest, ExternalPreviewQuery, externalRoutes } from '../../protocol/external/external.js'
import type { Caller } from '../../protocol/caller.js'
import { createPreviews } from './previews.js'

export interface ExternalOptions {
  /** Environment of the server. */
  readonly env: Readonly<Record<string, string | undefined>>
}

export function externalPlugin({ env }: ExternalOptions): NativePlugin {
  return {
    id: 'dev.svc.external',
    name: 'External agents',
    capability: { id: 'svc.external.preview', apiPrefix: '/v2/external' },
    eventNamespaces: [],
    start(host) {
      const { preview } = createPreviews(host, env)
      return {
        operations: {
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
