/** Routes of plugin processes, those that become sockets included (plugin-protocol §8.2, §8.3). */
import { SvcError } from '../../../protocol/errors.js'
import type { RouteDeclaration } from '../../../protocol/plugin/plugin-frame.js'
import { RouteResponse } from '../../../protocol/plugin/plugin-services.js'
import type { Clock } from '../../../ports/effects.js'
import type { RouteContribution, SocketRouteContribution } from '../../../ports/contributions.js'
import type { ServedSessions } from '../brokers/served-sessions.js'
import { socketOver } from './external-socket.js'
import { isFields } from '../link/initialize.js'
import type { ContributionLink } from './contribution-link.js'

export function externalRoute(
  { descriptor, priority }: RouteDeclaration,
  link: ContributionLink,
  served: Pick<ServedSessions, 'during'>,
): RouteContribution {
  return {
    descriptor,
    priority,
    async handle(request, signal) {
      const serving = request.sessionId === null ? undefined : { sessionId: request.sessionId }
      const result = await served.during(serving, () => link.call('route.handle', { routeId: descriptor.id, request }, { signal }))
      const parsed = RouteResponse.safeParse(isFields(result) && result['headers'] === null ? { ...result, headers: {} } : result)
      if (parsed.success) return parsed.data
      link.complain(`The plugin answered a request for the route "${descriptor.id}" with something that is no response.`)
      throw new SvcError('plugin.invalid_response', undefined, { routeId: descriptor.id })
    },
  }
}

export function externalSocketRoute(
  { descriptor, priority }: RouteDeclaration,
  link: ContributionLink,
  clock: Clock,
): SocketRouteContribution {
  return {
    descriptor,
    priority,
    async open(request, signal) {
      const params = { routeId: descriptor.id, request: { ...request, body: null } }
      const opening = new AbortController() // once it is open, only its socket ends the stream
      const abort = () => opening.abort(signal.reason)
      signal.throwIfAborted()
      signal.addEventListener('abort', abort, { once: true })
      try {
        const { stream, accepted } = await link.openStream('route.websocket.open', (ids) => ({ ...params, ...ids }), opening.signal)
        await accepted
        return socketOver(stream, link, clock)
      } finally {
        signal.removeEventListener('abort', abort)
      }
    },
  }
}
