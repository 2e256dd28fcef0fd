// Holds threat-model S2.
import { once } from 'node:events'
import { type Server, createServer } from 'node:http'
import { type Socket, connect } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { boundSockets } from '../../src/http/sockets/sockets.js'

const LIMITS = { all: 6, reserved: 2, perAddress: 4 }
const open: { server: Server; sockets: Socket[] }[] = []

afterEach(async () => {
  for (const { server, sockets } of open.splice(0)) {
    for (const socket of sockets) socket.destroy()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

/** A server that admits `/in`, never answers `/held`, and says of each request whether its socket is one of the last. */
async function bench(limits = LIMITS) {
  const refused: string[] = []
  const server = createServer((request, answer) => {
    if (request.url !== '/out') sockets.admit(request.socket, request.url === '/token')
    if (request.url !== '/held') answer.end(sockets.isReserved(request.socket) ? 'reserved' : 'ordinary')
  })
  const sockets = boundSockets(server, (address) => refused.push(address), limits)
  server.listen(0, '0.0.0.0')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const mine: Socket[] = []
  open.push({ server, sockets: mine })
  const peer = async (from = '127.0.0.1') => {
    const accepted = once(server, 'connection')
    const socket = connect({ port, host: '127.0.0.1', localAddress: from })
    mine.push(socket)
    const closed = new Promise<'closed'>((resolve) => socket.once('close', () => resolve('closed')))
    socket.on('error', () => undefined)
    await Promise.race([Promise.all([accepted, once(socket, 'connect')]), closed])
    const ask = async (path: string) => {
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
      return Promise.race([once(socket, 'data').then(([data]) => String(data).split('\r\n\r\n')[1] ?? ''), closed])
    }
    const hold = async () => {
      const asked = once(server, 'request')
      socket.write('GET /held HTTP/1.1\r\nHost: x\r\n\r\n')
      await asked
    }
    return { socket, closed, ask, hold }
  }
  const peers = async (count: number, from?: string) => {
    const all: Awaited<ReturnType<typeof peer>>[] = []
    for (let at = 0; at < count; at++) all.push(await peer(from))
    return all
  }
  return { peer, peers, refused }
}

describe('the sockets of a server', () => {
  test('of one address that say nothing make room for the next one, the oldest first', async () => {
    const { peer, peers, refused } = await bench()
    const idle = await peers(LIMITS.perAddress)
    const late = await peer()
    expect(await late.ask('/in')).toBe('ordinary')
    expect(await idle[0]?.closed).toBe('closed')
    expect(idle.map(({ socket }) => socket.destroyed)).toEqual([true, false, false, false])
    for (let count = 0; count < 40; count++) expect(await (await peer()).ask('/in')).toBe('ordinary')
    expect(new Set(refused)).toEqual(new Set(['127.0.0.1']))
  })

  test('that were admitted do not count against their address, and one that was not does', async () => {
    const { peers } = await bench({ ...LIMITS, all: 100 })
    const all = await peers(LIMITS.perAddress - 1)
    for (const each of all) await each.ask('/in')
    const strangers = await peers(LIMITS.perAddress)
    for (const each of strangers) await each.ask('/out')
    await peers(1)
    expect(await strangers[0]?.closed).toBe('closed')
    expect(all.map(({ socket }) => socket.destroyed)).toEqual(all.map(() => false))
  })

  test('make room when there are too many: of the idle ones one of the address with most of them, and none that is in use', async () => {
    const { peer, peers } = await bench({ ...LIMITS, perAddress: 100 })
    const [light] = await peers(1, '127.0.0.2')
    const heavy = await peers(5)
    for (const each of [light, ...heavy]) await each?.ask('/in')
    await heavy[0]?.hold()
    const late = await peer('127.0.0.3')
    expect(await late.ask('/in')).toBe('ordinary')
    expect(await heavy[1]?.closed).toBe('closed')
    expect([light, ...heavy].map((each) => each?.socket.destroyed)).toEqual([false, false, true, false, false, false])
  })

  test('that have shown a credential stay while there are others, however few those are', async () => {
    const { peer, peers } = await bench({ ...LIMITS, perAddress: 100 })
    const bearers = await peers(5)
    for (const each of bearers) await each.ask('/token')
    const [silent] = await peers(1, '127.0.0.2')
    await peer('127.0.0.3')
    expect(await silent?.closed).toBe('closed')
    expect(bearers.map(({ socket }) => socket.destroyed)).toEqual(bearers.map(() => false))
  })

  test('are a few more when all are in use, which are known, and make room for each other', async () => {
    const { peer, peers, refused } = await bench({ ...LIMITS, perAddress: 100 })
    for (const each of await peers(LIMITS.all)) await each.hold()
    const last = await peers(LIMITS.reserved)
    for (const each of last) expect(await each.ask('/in')).toBe('reserved')
    for (let count = 0; count < 10; count++) expect(await (await peer()).ask('/in')).toBe('reserved')
    expect(refused.length).toBeGreaterThan(0)
    const busy = await peers(LIMITS.reserved)
    for (const each of busy) await each.hold()
    expect(await (await peer()).closed).toBe('closed')
  })
})
