/** Bytes from one address to another, both ways, until either end is done. */
import { connect, createServer, type NetConnectOpts, type ListenOptions, type Server, type Socket } from 'node:net'

/** Where to connect to. A function answers it anew for each connection, and takes back what it needed for it. */
export type Target = NetConnectOpts | (() => { readonly path: string; release(): void } | undefined)

/** Listens at `from`; each connection is one to the first of `to` that takes it. No program goes on running for the sake of it: a worker ends by itself. */
export function forward(from: ListenOptions, to: readonly Target[]): Promise<Server> {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, (socket) => {
    socket.on('error', () => socket.destroy())
    reach(to, (there) => {
      if (there === undefined) return socket.destroy()
      join(socket, there)
    })
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(from, () => resolve(server.unref()))
  })
}

/** Pipes two sockets into each other; the end of one is the end of the other. */
export function join(one: Socket, other: Socket): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.unref().pipe(to)
    from.on('error', () => to.destroy())
    from.once('close', () => to.destroy())
  }
}

function reach([first, ...rest]: readonly Target[], done: (socket: Socket | undefined) => void): void {
  if (first === undefined) return done(undefined)
  const opened = typeof first === 'function' ? first() : undefined
  const place = typeof first === 'function' ? opened && { path: opened.path } : first
  if (place === undefined) return reach(rest, done)
  const socket = connect({ ...place, allowHalfOpen: true, noDelay: true } as NetConnectOpts)
  const failed = () => {
    opened?.release()
    reach(rest, done)
  }
  socket.once('error', failed)
  socket.once('connect', () => {
    opened?.release()
    socket.off('error', failed)
    done(socket)
  })
}
