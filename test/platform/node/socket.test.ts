/** Connections to servers of the configuration, over real sockets of this machine. */
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openSocket } from '../../../src/platform/node/network/socket.js'

async function listen() {
  const peers: Socket[] = []
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    peers.push(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  onTestFinished(() => {
    for (const peer of peers) peer.destroy()
    server.close()
  })
  return { port: typeof address === 'object' && address !== null ? address.port : 0, peers, server }
}

const bytes = (text: string) => new TextEncoder().encode(text)
const options = (port: number, onData: (chunk: Uint8Array) => void = () => undefined) => ({
  host: '127.0.0.1',
  port,
  signal: new AbortController().signal,
  backlog: 1024,
  onData,
})

describe('a connection', () => {
  it('carries bytes both ways, and tells its end after the last of them', async () => {
    const { port, peers } = await listen()
    let heard = ''
    const pipe = await openSocket(options(port, (chunk) => (heard += new TextDecoder().decode(chunk))))
    expect(pipe.write(bytes('hello'))).toBe(true)
    await expect.poll(() => peers.length).toBe(1)
    const [sent] = (await once(peers[0] as Socket, 'data')) as [Uint8Array]
    expect(new TextDecoder().decode(sent)).toBe('hello')
    peers[0]?.end('good '.repeat(1000))
    expect(await pipe.closed).toBe('its connection was closed')
    expect(heard).toBe('good '.repeat(1000))
    expect(pipe.write(bytes('late'))).toBe(false)
    pipe.close()
  })

  it('takes no more than its backlog for a peer that does not read, and nothing while it is paused', async () => {
    const { port, peers } = await listen()
    let heard = 0
    const pipe = await openSocket(options(port, ({ length }) => (heard += length)))
    await expect.poll(() => peers.length).toBe(1)
    peers[0]?.pause()
    const large = new Uint8Array(1000)
    let taken = 0
    while (taken < 100_000 && pipe.write(large)) taken++
    expect(pipe.write(new Uint8Array(1025))).toBe(false)
    pipe.pause()
    peers[0]?.write(large)
    pipe.resume()
    await expect.poll(() => heard).toBe(1000)
    pipe.close()
    expect(await pipe.closed).toBe('its connection was closed')
  })

  it('is closed when a listener throws, with what it threw', async () => {
    const { port, peers } = await listen()
    const pipe = await openSocket(
      options(port, () => {
        throw new Error('I cannot read this')
      }),
    )
    await expect.poll(() => peers.length).toBe(1)
    peers[0]?.write('x')
    expect(await pipe.closed).toBe('I cannot read this')
  })

  it('that cannot be opened rejects, also when nobody waits for it any more', async () => {
    const { port, server } = await listen()
    const leave = new AbortController()
    const left = openSocket({ ...options(port), signal: leave.signal })
    leave.abort(new Error('too late'))
    await expect(left).rejects.toThrow('too late')
    await expect(openSocket({ ...options(port), signal: leave.signal })).rejects.toThrow('too late')
    server.close()
    await once(server, 'close')
    await expect(openSocket(options(port))).rejects.toThrow('ECONNREFUSED')
  })
})
