/**
 * Requests that ask to become a socket (threat-model S2).
 *
 * Owns the connections Node has let go for an upgrade: nobody else times them out, ends them or counts them at a stop.
 * I1 Only what may become a socket leaves the HTTP parser; every other wish to upgrade (h2c, say) is an ordinary request.
 * I2 An upgrade that is answered instead of carried out ends its connection with the answer.
 */
import { IncomingMessage } from 'node:http'
import type { Server } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { SvcError } from '../../protocol/errors.js'

export interface Upgrades {
  /** Whether a request asks to become a socket. */
  asks(request: FastifyRequest): boolean
  /** Ends the connection once `reply` is sent, when its request asked for a socket and did not become one. */
  endWith(request: FastifyRequest, reply: FastifyReply): void
  /** Runs `work` while nobody reads the connection of a request, and closes it at once when the client leaves meanwhile. */
  watching<T>(request: FastifyRequest, work: () => Promise<T>): Promise<T>
  /** Cuts every connection that is, or waits to be, a socket. */
  destroyAll(): void
}

export function followUpgrades(server: Server): Upgrades {
  const connections = new Set<Duplex>()
  server.on('upgrade', (_request, connection) => {
    connections.add(connection)
    connection.once('close', () => connections.delete(connection))
  })
  return {
    asks: ({ raw }) => connections.has(raw.socket),
    endWith({ raw }, reply) {
      const { socket } = raw
      if (!connections.has(socket)) return
      reply.header('connection', 'close')
      reply.raw.once('finish', () => socket.destroySoon())
    },
    async watching({ raw: { socket } }, work) {
      // Nothing is taken out: what a client says too early waits for whoever reads next.
      const look = () => {
        socket.read(0)
      }
      const leave = () => socket.destroy()
      socket.on('readable', look)
      socket.once('end', leave)
      try {
        return await work()
      } finally {
        socket.off('readable', look)
        socket.off('end', leave)
      }
    },
    destroyAll() {
      for (const connection of connections) connection.destroy()
    },
  }
}

const SOCKET_PATHS = '/v2/plugins/'

/** The request class of the server: Node hands a connection over as an upgrade when `upgrade` is true after the headers were read. */
export class Incoming extends IncomingMessage {
  declare private wanted: unknown

  get upgrade(): boolean {
    return this.wanted === true && (this.method === 'CONNECT' || maySocket(this))
  }

  set upgrade(wanted: unknown) {
    this.wanted = wanted
  }
}

function maySocket({ method, url, headers }: IncomingMessage): boolean {
  return method === 'GET' && url?.startsWith(SOCKET_PATHS) === true && headers.upgrade?.toLowerCase() === 'websocket'
}

const KEY = /^[+/0-9A-Za-z]{22}==$/
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

/** Refuses a handshake that could not be completed, before anybody acts on it: `request.invalid`. */
export function checkHandshake({ headers }: FastifyRequest): void {
  const version = headers['sec-websocket-version']
  if (version !== '13') throw new SvcError('request.invalid', 'The header Sec-WebSocket-Version must be 13.')
  if (!KEY.test(headers['sec-websocket-key'] ?? ''))
    throw new SvcError('request.invalid', 'The header Sec-WebSocket-Key is missing or not a key.')
  const protocols = headers['sec-websocket-protocol']?.split(',').map((name) => name.trim()) ?? []
  if (!protocols.every((name) => TOKEN.test(name)) || new Set(protocols).size < protocols.length) {
    throw new SvcError('request.invalid', 'The header Sec-WebSocket-Protocol is not a list of different names.')
  }
}
