/**
 * An operation of the contract that becomes a socket, served by a built-in plugin (threat-model S1, S2).
 *
 * I1 Order: the ticket is presented; the gate, with its doors for hosts and origins; the handshake; the plugin, which refuses or
 *    opens; the upgrade.
 * I2 What was opened is closed when the connection ends, whether or not it ever became a socket.
 * I3 A ticket says whose the socket is: it is counted for its tenant, as what was asked with a credential was by the gate.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { SvcError } from '../../protocol/errors.js'
import type { RouteContract } from '../../protocol/route.js'
import type { Admission } from '../admission/admission.js'
import type { Audit } from '../admission/audit.js'
import type { TenantQuotas } from '../admission/quotas.js'
import type { Standing } from '../admission/standing.js'
import { admitterOf, callOf } from '../bind.js'
import type { OpenCalls } from '../calls.js'
import { framePeer } from '../sockets/peers.js'
import type { Peer } from '../sockets/peers.js'
import type { Tickets } from '../sockets/tickets.js'
import { checkHandshake } from '../sockets/upgrades.js'
import type { Upgrades } from '../sockets/upgrades.js'
import type { Bridges } from '../sockets/websocket.js'

export interface ServedSocketParts {
  readonly tickets: Tickets
  readonly admission: Admission
  readonly audit: Audit
  readonly quotas: TenantQuotas
  readonly standing: Standing
  readonly calls: OpenCalls
  readonly upgrades: Upgrades
  readonly bridges: Bridges
}

/** `scope` is a Fastify instance that knows sockets. */
export function bindServedSocket(scope: FastifyInstance, parts: ServedSocketParts, contract: RouteContract): void {
  const { tickets, audit, quotas, standing, calls, upgrades, bridges } = parts
  const peers = new WeakMap<FastifyRequest, Peer>()

  async function open(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (!upgrades.asks(request)) throw new SvcError('request.invalid', 'This operation needs a WebSocket handshake.')
    checkHandshake(request)
    if (calls.closing) throw new SvcError('lifecycle.closed')
    const { socket } = request.raw
    const call = callOf(contract, request, reply, calls)
    const opened = await calls.settled(reply.raw, () => upgrades.watching(request, () => tickets.of(request.raw)(call)))
    const peer = framePeer(opened.socket)
    if (call.signal.aborted || socket.destroyed) {
      peer.close()
      call.signal.throwIfAborted()
    }
    socket.once('close', () => peer.close())
    if (request.caller === null) quotas.count(opened.caller, socket) // I3
    request.caller = opened.caller
    peers.set(request, peer)
  }

  scope.route({
    method: 'GET',
    url: contract.path.replace(/\{(\w+)\}/g, ':$1'),
    config: { contract },
    onRequest: admitterOf(contract, parts.admission),
    preValidation: open,
    handler() {
      throw new SvcError('request.invalid', 'This operation needs a WebSocket handshake.')
    },
    wsHandler(client, request) {
      audit.record(request, contract.success.status)
      const peer = peers.get(request)
      if (peer === undefined) return client.terminate()
      if (request.caller !== null) standing.followSocket(request.caller, client)
      bridges.join(client, peer)
    },
  })
}
