/**
 * The other side of a socket, whichever way it talks: in messages (plugin-protocol §8.3), or in frames, which keep bytes
 * as they are and are asked for at the pace of the client.
 */
import { once } from '../../kernel/once.js'
import type { FrameSocket, PluginSocket } from '../../ports/contributions.js'
import type { SocketMessage } from '../../protocol/plugin/plugin-services.js'

export type Saying = 'text' | 'binary' | 'ping' | 'pong'

/** Where the other side's words go. */
export interface Outlet {
  /** False once the socket is closing. */
  readonly isOpen: boolean
  /** Resolves when the peer has taken it. */
  send(kind: Saying, data: string | Uint8Array): Promise<void>
}

export interface Peer {
  /** Says what there is to say, in order, the next once the last was taken; resolves at the end of it, rejects when the other side failed. */
  speak(outlet: Outlet): Promise<void>
  /** The client said something; while the answer is pending it is not read. Throws what ends the socket. */
  hear(kind: Saying, data: Buffer): Promise<void> | undefined
  /** The client has closed in order. */
  hearEnd(): void
  /** The socket is over. Acts once and throws nothing. */
  close(): void
}

export function messagePeer(socket: PluginSocket): Peer {
  return {
    async speak(outlet) {
      for await (const message of socket.outbound) {
        if (message.kind === 'close' || !outlet.isOpen) return
        await outlet.send(message.kind, message.kind === 'text' ? message.data : Uint8Array.from(message.data))
      }
    },
    hear(kind, data) {
      socket.receive(messageOf(kind, data))
      return undefined
    },
    hearEnd: () => socket.receive({ kind: 'close' }),
    close: closingOnce(socket),
  }
}

export function framePeer(socket: FrameSocket): Peer {
  return {
    async speak(outlet) {
      for await (const frames of socket.frames) {
        if (!outlet.isOpen) return
        await Promise.all(frames.map(({ kind, data }) => outlet.send(kind, data)))
      }
    },
    hear: (kind, data) => (kind === 'text' || kind === 'binary' ? socket.take({ kind, data }) : undefined),
    hearEnd: () => undefined,
    close: closingOnce(socket),
  }
}

function messageOf(kind: Saying, data: Buffer): SocketMessage {
  return kind === 'text' ? { kind, data: data.toString('utf8') } : { kind, data: [...data] }
}

function closingOnce(socket: { close(): void }): () => void {
  return once(() => {
    try {
      socket.close()
    } catch {
      // The client is gone either way; nobody is left to tell.
    }
  })
}
