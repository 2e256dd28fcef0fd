/** Terminals for people: `dev.svc.pty` (http-contract §2.15, §5.11; subsystems g). */
import type { NativeHost, NativePlugin } from '../../ports/plugin.js'
import type { Contributions } from '../../ports/plugin.js'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import { PtyConnectQuery, PtyCreateRequest, PtyParams, PtyTicketHeaders, PtyUpdateRequest, ptyRoutes } from '../../protocol/terminal/pty.js'
import { listShells } from './shells.js'
import { createTerminals, type Terminals } from './terminals.js'
import { createTickets } from './tickets.js'

const TICKET_HEADER = '1'
const SECOND = 1000

export function ptyPlugin(): NativePlugin {
  let stop: () => Promise<void> = async () => undefined
  return {
    id: 'dev.svc.pty',
    name: 'Terminals',
    capability: { id: 'svc.pty', apiPrefix: '/v2/plugins/dev.svc.pty' },
    eventNamespaces: ['pty'],
    start(host) {
      const terminals = createTerminals(host)
      stop = () => terminals.stop()
      return contributions(host, terminals)
    },
    stop: () => stop(),
  }
}

function contributions({ effects }: NativeHost, terminals: Terminals): Contributions {
  const tickets = createTickets(effects)
  const unavailable = () => effects.terminals.unavailable()

  async function mustBeAvailable(): Promise<void> {
    const reason = await unavailable()
    if (reason !== undefined) throw new SvcError('feature.not_implemented', `There are no terminals on this server: ${reason}`)
  }

  return {
    unavailable,
    operations: {
      [ptyRoutes.list.id]: async ({ caller }) => terminals.list(caller),
      [ptyRoutes.shells.id]: () => listShells(effects),
      async [ptyRoutes.create.id]({ caller, directory, body }) {
        await mustBeAvailable()
        return terminals.create(caller, directory, PtyCreateRequest.parse(body))
      },
      [ptyRoutes.get.id]: async ({ caller, params }) => terminals.find(caller, idOf(params)).info,
      [ptyRoutes.update.id]: ({ caller, params, body }) => terminals.update(caller, idOf(params), PtyUpdateRequest.parse(body)),
      async [ptyRoutes.remove.id]({ caller, params }) {
        await terminals.remove(caller, idOf(params))
        return true
      },
      async [ptyRoutes.connectToken.id]({ caller, params, headers }) {
        const { info } = terminals.find(caller, idOf(params))
        if (PtyTicketHeaders.parse(headers)['x-svc-ticket'] !== TICKET_HEADER) {
          throw new SvcError('request.forbidden', `The header X-Svc-Ticket must be ${TICKET_HEADER}.`)
        }
        return { ticket: tickets.issue(caller, info.id), expires_in: LIMITS.terminals.ticketAge / SECOND }
      },
    },
    sockets: {
      [ptyRoutes.connect.id](ticket) {
        const presented = tickets.present(ticket)
        return async ({ params, query }) => {
          const id = idOf(params)
          const { cursor } = PtyConnectQuery.parse(query)
          terminals.mustExist(id)
          if (presented?.ptyId !== id) {
            throw new SvcError(
              'request.forbidden',
              'A connection needs a ticket for this terminal that was not presented before; ask for one.',
            )
          }
          const { caller } = presented
          return { caller, socket: terminals.find(caller, id).connect(cursor) }
        }
      },
    },
  }
}

function idOf(params: unknown): string {
  return PtyParams.parse(params).pty_id
}
