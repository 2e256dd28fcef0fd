/**
 * Sockets over HTTP: what the one side says, the other hears (plugin-protocol §8.3; threat-model S2, §7).
 *
 * Owns the sockets it was given and one timer for all of them; does not know what a message says. A socket is open to
 * whoever passed the doors and the credential of its request; browsers send no Authorization header with it, so that
 * without trusted mode only other programs can open one.
 * I1 What is said to the client leaves in order: the next is asked for once the peer has taken the last.
 * I2 What the other side cannot take ends the socket; what it takes later stops the reading of the client meanwhile.
 * I3 A peer that takes nothing for the write stall, or says nothing for two heartbeats while it is read, is gone.
 * I4 The other side is told of the end exactly when there is one, whoever brought it about.
 */
import { createAlarm } from '../../kernel/alarm.js'
import type { WebSocket } from '@fastify/websocket'
import type { Clock } from '../../ports/effects.js'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import type { Outlet, Peer, Saying } from './peers.js'
import { messageOf } from '../../protocol/message-of.js'

export interface Bridges {
  /** Joins an open socket of a client with its other side, until either ends. */
  join(client: WebSocket, peer: Peer): void
  /** Closes every socket (orderly stop), and those that still come. */
  endAll(): void
  readonly size: number
}

/** Settings of the socket server: no compression, messages of bounded size, each in a turn of its own: a read of the connection brings thousands. */
export const SOCKET_OPTIONS = {
  maxPayload: LIMITS.sockets.messageBytes,
  perMessageDeflate: false,
  clientTracking: false,
  allowSynchronousEvents: false,
} as const

const NORMAL = 1000
const GOING_AWAY = 1001
const LOST = 1006
const TOO_BIG = 1009
const FAILED = 1011
const TRY_LATER = 1013

const STOPPING = 'The server is stopping.'
const HEARTBEAT = Buffer.from('svc heartbeat')

/** An open socket of a client, joined with its other side. */
interface Live {
  readonly client: WebSocket
  readonly peer: Peer
  readonly clock: Pick<Clock, 'monotonic'>
  /** When the client was last heard, and whether it was asked for a sign of life since. */
  heard: number
  asked: boolean
  /** What is on its way to the client, and since when it has taken nothing. */
  sending: number
  sendingSince: number | undefined
  /** The client is not read, because the other side is still busy with what it said. */
  isHeld: boolean
  isOver: boolean
}

export function createBridges({ clock }: { readonly clock: Pick<Clock, 'monotonic' | 'setTimeout' | 'clearTimeout'> }): Bridges {
  const open = new Set<Live>()
  const tending = createAlarm(clock, () => {
    for (const live of open) tend(live)
    if (open.size > 0) tending.set(LIMITS.sockets.heartbeat / 3)
  })

  return {
    join(client, peer) {
      const live: Live = {
        client,
        peer,
        clock,
        heard: clock.monotonic(),
        asked: false,
        sending: 0,
        sendingSince: undefined,
        isHeld: false,
        isOver: false,
      }
      listen(live)
      client.once('close', (code) => {
        open.delete(live)
        if (open.size === 0) tending.clear()
        if (code !== LOST) pass(live, () => peer.hearEnd())
        live.isOver = true
        peer.close()
      })
      open.add(live)
      if (!tending.isSet) tending.set(LIMITS.sockets.heartbeat / 3)
      if (tending.isOver) end(live, GOING_AWAY, STOPPING)
      else void carry(live)
    },
    endAll() {
      tending.end()
      for (const live of open) end(live, GOING_AWAY, STOPPING)
    },
    get size() {
      return open.size
    },
  }
}

/** I3 */
function tend(live: Live): void {
  const { client, clock } = live
  const now = clock.monotonic()
  const silence = live.isHeld ? 0 : now - live.heard
  const stalled = live.sendingSince !== undefined && now - live.sendingSince >= LIMITS.sockets.writeStall
  if (stalled || silence >= 2 * LIMITS.sockets.heartbeat) client.terminate()
  else if (silence >= LIMITS.sockets.heartbeat && !live.asked) {
    live.asked = true
    if (client.readyState === client.OPEN) client.ping(HEARTBEAT)
  }
}

function hear(live: Live): void {
  live.heard = live.clock.monotonic()
  live.asked = false
}

/** I4 */
function end(live: Live, code: number, reason = ''): void {
  if (live.isOver) return
  live.isOver = true
  live.client.close(code, shortened(reason))
  live.peer.close()
}

/** What the client says. */
function listen(live: Live): void {
  const { client, peer } = live
  client.on('message', (data, isBinary) => pass(live, () => peer.hear(isBinary ? 'binary' : 'text', bytesOf(data))))
  client.on('ping', (data) => pass(live, () => peer.hear('ping', data)))
  client.on('pong', (data) => {
    if (data.equals(HEARTBEAT)) hear(live)
    else pass(live, () => peer.hear('pong', data))
  })
}

function pass(live: Live, say: () => Promise<void> | undefined | void): void {
  hear(live)
  if (live.isOver) return
  try {
    const taken = say()
    if (taken !== undefined) hold(live, taken)
  } catch (error) {
    refuse(live, error)
  }
}

/** I2 */
function hold(live: Live, taken: Promise<void>): void {
  live.isHeld = true
  live.client.pause()
  const release = () => {
    hear(live)
    live.isHeld = false
    live.client.resume()
  }
  taken.catch((error: unknown) => refuse(live, error)).finally(release)
}

function refuse(live: Live, error: unknown): void {
  const tooBig = error instanceof SvcError && error.code === 'request.body_too_large'
  end(live, tooBig ? TOO_BIG : TRY_LATER, messageOf(error))
}

/** What the other side says. */
async function carry(live: Live): Promise<void> {
  try {
    await live.peer.speak(outletOf(live))
    end(live, NORMAL)
  } catch (error) {
    end(live, FAILED, messageOf(error))
  }
}

/** I1 */
function outletOf(live: Live): Outlet {
  const { client, clock } = live
  const transmit = (kind: Saying, data: string | Uint8Array, sent: (error?: Error | null) => void): void => {
    if (kind === 'ping') client.ping(data, false, sent)
    else if (kind === 'pong') client.pong(data, false, sent)
    else client.send(data, { binary: kind === 'binary' }, sent)
  }
  return {
    get isOpen() {
      return client.readyState === client.OPEN
    },
    send: (kind, data) =>
      new Promise((resolve, reject) => {
        live.sending++
        live.sendingSince ??= clock.monotonic()
        transmit(kind, data, (error) => {
          live.sendingSince = --live.sending > 0 ? clock.monotonic() : undefined
          if (error instanceof Error) reject(error)
          else resolve()
        })
      }),
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
