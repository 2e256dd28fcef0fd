/** Bytes from one address to another, both ways, until either end is done. */
import { connect, createServer, type NetConnectOpts, type ListenOptions, type Server, type Socket } from 'node:net'

/** Where to connect to. A function answers it anew for each connection, and takes back what it needed for it. */
export type Target = NetConnectOpts | (() => { readonly path: string; release(): void } | undefined)

/** Listens at `from`; each connection is one to the first of `to` that takes it. No program goes on running for the sake of it: a worker ends by itself. */
export function forward(from: ListenOptions, to: readonly Target[]): Promise<Server> {
  return accept({ ...from, pauseOnConnect: true }, (socket) => {
    reach(to, socket, (there) => {
      if (there === undefined) return socket.destroy()
      socket.unref().pipe(there.unref())
      destroyTogether(socket, there)
    })
  })
}

/** Listens at `from` and hands over each connection; keeps no program running. `pauseOnConnect`: it is not read before. */
export function accept(from: ListenOptions & { readonly pauseOnConnect?: boolean }, take: (socket: Socket) => void): Promise<Server> {
  const { pauseOnConnect = false } = from
  const server = createServer({ allowHalfOpen: true, pauseOnConnect, noDelay: true }, (socket) => {
    socket.on('error', () => socket.destroy())
    take(socket)
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(from, () => resolve(server.unref()))
  })
}

/** Pipes two sockets into each other; the end of one is the end of the other. */
export function join(one: Socket, other: Socket): void {
  one.unref().pipe(other.unref()).pipe(one)
  destroyTogether(one, other)
}

function destroyTogether(one: Socket, other: Socket): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on('error', () => to.destroy())
    from.once('close', () => to.destroy())
  }
}

/** Every read of every socket fills it, and is passed on before the next. */
const READ = Buffer.allocUnsafeSlow(64 * 1024)

/**
 * What a socket reads, told by `told` as it comes, for `connect`: no stream stands in between, which costs more than the bytes of a delta.
 * The bytes are good for the time of the call; false stops reading until `resume`.
 */
export function reading(told: (bytes: Buffer) => boolean) {
  return { onread: { buffer: READ, callback: (count: number, buffer: Uint8Array) => told(Buffer.from(buffer.subarray(0, count))) } }
}

function reach([first, ...rest]: readonly Target[], from: Socket, done: (socket: Socket | undefined) => void): void {
  if (first === undefined) return done(undefined)
  const opened = typeof first === 'function' ? first() : undefined
  const place = typeof first === 'function' ? opened && { path: opened.path } : first
  if (place === undefined) return reach(rest, from, done)
  const back = (bytes: Buffer): boolean => {
    const goesOn = from.write(bytes)
    if (!goesOn) from.once('drain', () => socket.resume())
    return goesOn
  }
  const socket: Socket = connect({ ...place, allowHalfOpen: true, noDelay: true, ...reading(back) } as NetConnectOpts)
  socket.once('end', () => from.end())
  const failed = () => {
    opened?.release()
    reach(rest, from, done)
  }
  socket.once('error', failed)
  socket.once('connect', () => {
    opened?.release()
    socket.off('error', failed)
    done(socket)
  })
}
