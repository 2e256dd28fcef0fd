/** Routes and sockets of plugin processes (plugin-protocol §8.2, §8.3). */
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { RouteDeclaration } from '../../../protocol/plugin-frame.js'
import { RouteResponse, SocketMessage } from '../../../protocol/plugin-services.js'
import type { PluginSocket, RouteContribution, SocketRouteContribution } from '../contributions.js'
import { isEmptyTable, isFields } from './initialize.js'
import type { Link } from './link.js'
import type { PluginStream } from './streams.js'

export function externalRoute({ descriptor, priority }: RouteDeclaration, link: Link): RouteContribution {
  return {
    descriptor,
    priority,
    async handle(request, signal) {
      const result = await link.call('route.handle', { routeId: descriptor.id, request }, { signal })
      const parsed = RouteResponse.safeParse(isFields(result) && result['headers'] === null ? { ...result, headers: {} } : result)
      if (parsed.success) return parsed.data
      link.complain(`The plugin answered a request for the route "${descriptor.id}" with something that is no response.`)
      throw new SvcError('plugin.invalid_response', undefined, { routeId: descriptor.id })
    },
  }
}

export function externalSocketRoute({ descriptor, priority }: RouteDeclaration, link: Link): SocketRouteContribution {
  return {
    descriptor,
    priority,
    async open(request, signal) {
      const params = { routeId: descriptor.id, request: { ...request, body: null } }
      const { stream, accepted } = link.openStream('route.websocket.open', (ids) => ({ ...params, ...ids }), signal)
      await accepted
      return socketOf(stream, link)
    },
  }
}

function socketOf(stream: PluginStream, link: Link): PluginSocket {
  let hasClosed = false
  const receive = (message: SocketMessage): void => {
    if (!stream.live || hasClosed) return
    hasClosed = message.kind === 'close'
    const isRead = link.counters.waitingBytes <= LIMITS.plugins.frameBytes
    if (isRead && link.notify('route.websocket.message', { streamId: stream.streamId, message })) return
    const reason = isRead ? 'A message for the plugin does not fit in one frame.' : 'The plugin does not read the messages of this socket.'
    stream.fail(new SvcError('plugin.failed', reason))
  }
  return {
    outbound: { [Symbol.asyncIterator]: () => outbound(stream, link) },
    receive,
    close() {
      receive({ kind: 'close' })
      stream.cancel()
    },
  }
}

async function* outbound(stream: PluginStream, link: Link): AsyncGenerator<SocketMessage, void> {
  for await (const item of stream.items) {
    const parsed = SocketMessage.safeParse(
      isFields(item) && item['kind'] !== 'text' && isEmptyTable(item['data']) ? { ...item, data: [] } : item,
    )
    if (!parsed.success) {
      const message = 'The plugin sent something through a socket that is no socket message.'
      link.complain(message)
      throw new SvcError('plugin.failed', message)
    }
    yield parsed.data
  }
}
