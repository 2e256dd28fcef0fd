/**
 * Sockets over HTTP: what the one side says, the other hears (plugin-protocol §8.3; threat-model S2, §7).
 *
 * Owns the sockets it was given and one timer for all of them; does not know what a message says. A socket is open to
 * whoever passed the doors and the credential of its request; browsers send no Authorization header with it, so that
 * without trusted mode only other programs can open one.
 * I1 Messages for the client leave in order, one at a time: the next is taken once the peer has taken the last.
 * I2 A message that the other side cannot take ends the socket; nothing is stored for it here.
 * I3 A peer that takes nothing for the write stall, or says nothing for two heartbeats, is gone.
 * I4 The other side is told of the end exactly when there is one, whoever brought it about.
 */
import type { WebSocket } from '@fastify/websocket'
import type { Clock } from '../actors/effects.js'
import type { PluginSocket } from '../actors/plugin/contributions.js'
import { SvcError } from '../protocol/errors.js'
import { LIMITS } from '../protocol/limits.js'
import type { SocketMessage } from '../protocol/plugin-services.js'

export interface Bridges {
  /** Joins an open socket of a client with its other side, until either ends. */
  join(client: WebSocket, peer: PluginSocket): void
  /** Closes every socket (orderly stop), and those that still come. */
  endAll(): void
  readonly size: number
}

/** Settings of the socket server: no compression, messages of bounded size. */
export const SOCKET_OPTIONS = { maxPayload: LIMITS.sockets.messageBytes, perMessageDeflate: false, clientTracking: false } as const

const NORMAL = 1000
const GOING_AWAY = 1001
const LOST = 1006
const TOO_BIG = 1009
const FAILED = 1011
const TRY_LATER = 1013

const STOPPING = 'The server is stopping.'
const HEARTBEAT = Buffer.from('svc heartbeat')

interface Live {
  readonly client: WebSocket
  /** When the peer was last heard, and whether it was asked for a sign of life since. */
  heard: number
  asked: boolean
  /** Since when a message has been on its way to the peer. */
  sendingSince: number | undefined
  end(code: number, reason?: string): void
}

export function createBridges({ clock }: { readonly clock: Pick<Clock, 'monotonic' | 'setTimeout' | 'clearTimeout'> }): Bridges {
  const open = new Set<Live>()
  let stopping = false
  let timer: unknown

  function tend(): void {
    const now = clock.monotonic()
    for (const live of open) {
      const silence = now - live.heard
      const stalled = live.sendingSince !== undefined && now - live.sendingSince >= LIMITS.sockets.writeStall
      if (stalled || silence >= 2 * LIMITS.sockets.heartbeat) live.client.terminate()
      else if (silence >= LIMITS.sockets.heartbeat && !live.asked) {
        live.asked = true
        if (live.client.readyState === live.client.OPEN) live.client.ping(HEARTBEAT)
      }
    }
    timer = open.size > 0 ? clock.setTimeout(tend, LIMITS.sockets.heartbeat / 3) : undefined
  }

  function hear(live: Live): void {
    live.heard = clock.monotonic()
    live.asked = false
  }

  function rest(): void {
    if (timer !== undefined) clock.clearTimeout(timer)
    timer = undefined
  }

  function send(live: Live, message: Exclude<SocketMessage, { kind: 'close' }>): Promise<void> {
    return new Promise((resolve, reject) => {
      const { client } = live
      const sent = (error?: Error | null) => {
        live.sendingSince = undefined
        if (error instanceof Error) reject(error)
        else resolve()
      }
      live.sendingSince = clock.monotonic()
      if (message.kind === 'text') client.send(message.data, sent)
      else if (message.kind === 'binary') client.send(Uint8Array.from(message.data), sent)
      else if (message.kind === 'ping') client.ping(Uint8Array.from(message.data), false, sent)
      else client.pong(Uint8Array.from(message.data), false, sent)
    })
  }

  async function carry(live: Live, outbound: AsyncIterable<SocketMessage>): Promise<void> {
    try {
      for await (const message of outbound) {
        if (message.kind === 'close') live.end(NORMAL)
        if (message.kind === 'close' || live.client.readyState !== live.client.OPEN) break
        await send(live, message)
      }
      live.end(NORMAL)
    } catch (error) {
      live.end(FAILED, error instanceof Error ? error.message : String(error))
    }
  }

  function join(client: WebSocket, otherSide: PluginSocket): void {
    const peer = sealed(otherSide)
    let over = false
    const live: Live = {
      client,
      heard: clock.monotonic(),
      asked: false,
      sendingSince: undefined,
      end(code, reason = '') {
        if (over) return
        over = true
        client.close(code, shortened(reason))
        peer.close()
      },
    }

    function pass(message: SocketMessage): void {
      hear(live)
      if (over) return
      try {
        peer.receive(message)
      } catch (error) {
        const tooBig = error instanceof SvcError && error.code === 'request.body_too_large'
        live.end(tooBig ? TOO_BIG : TRY_LATER, error instanceof Error ? error.message : String(error))
      }
    }

    client.on('message', (data, isBinary) => {
      const bytes = bytesOf(data)
      pass(isBinary ? { kind: 'binary', data: [...bytes] } : { kind: 'text', data: bytes.toString('utf8') })
    })
    client.on('ping', (data) => pass({ kind: 'ping', data: [...data] }))
    client.on('pong', (data) => {
      if (data.equals(HEARTBEAT)) hear(live)
      else pass({ kind: 'pong', data: [...data] })
    })
    client.once('close', (code) => {
      open.delete(live)
      if (open.size === 0) rest()
      if (code !== LOST) pass({ kind: 'close' })
      over = true
      peer.close()
    })
    open.add(live)
    timer ??= clock.setTimeout(tend, LIMITS.sockets.heartbeat / 3)
    if (stopping) live.end(GOING_AWAY, STOPPING)
    else void carry(live, peer.outbound)
  }

  return {
    join,
    endAll() {
      stopping = true
      for (const live of open) live.end(GOING_AWAY, STOPPING)
    },
    get size() {
      return open.size
    },
  }
}

/** The same socket, whose `close` acts once and throws nothing. */
export function sealed(peer: PluginSocket): PluginSocket {
  let isClosed = false
  return {
    outbound: peer.outbound,
    receive: (message) => peer.receive(message),
    close() {
      if (isClosed) return
      isClosed = true
      try {
        peer.close()
      } catch {
        // The client is gone either way; nobody is left to tell.
      }
    },
  }
}

function bytesOf(data: Buffer | ArrayBuffer | readonly Buffer[]): Buffer {
  if (Buffer.isBuffer(data)) return data
  return data instanceof ArrayBuffer ? Buffer.from(data) : Buffer.concat(data)
}

/** As much of a sentence as a close frame holds, whole characters in one line. */
function shortened(reason: string): string {
  const line = reason.toWellFormed().replace(/\p{Cc}+/gu, ' ')
  let bytes = 0
  let text = ''
  for (const character of line) {
    bytes += Buffer.byteLength(character)
    if (bytes > LIMITS.sockets.closeReason) break
    text += character
  }
  return text
}
