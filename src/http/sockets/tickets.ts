/**
 * Tickets that stand for a credential (threat-model S1).
 *
 * I1 A ticket is presented when its request arrives, before anything of the request is judged: it is used whatever becomes of it.
 */
import type { IncomingMessage } from 'node:http'
import type { Plugins } from '../../ports/plugins.js'

type Opening = ReturnType<Plugins['present']>

export interface Tickets {
  /** A request has come, whether or not it is one. Throws nothing. */
  arrive(request: IncomingMessage): void
  /** How the ticket of a request opens the socket of its operation; the empty ticket for a request without one. */
  of(request: IncomingMessage): Opening
}

export function createTickets(plugins: Pick<Plugins, 'present'>, operationId: string): Tickets {
  const openings = new WeakMap<IncomingMessage, Opening>()
  return {
    arrive(request) {
      if (openings.has(request)) return
      for (const ticket of ticketsIn(request.url ?? '')) openings.set(request, plugins.present(operationId, ticket))
    },
    of: (request) => openings.get(request) ?? plugins.present(operationId, ''),
  }
}

function ticketsIn(target: string): readonly string[] {
  const query = target.indexOf('?')
  return query < 0 ? [] : new URLSearchParams(target.slice(query + 1)).getAll('ticket')
}
