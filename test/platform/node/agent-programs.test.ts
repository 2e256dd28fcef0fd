import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createAgentPrograms } from '../../../src/platform/node/process/agent-programs.js'

const MARK = 'a-mark-of-this-test'
const programs = createAgentPrograms(MARK)
const children: ChildProcess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

/** Connects to a port, says who it is, and stays. */
const CALLER = `const [port] = process.argv.slice(1); require('net').connect(port, '127.0.0.1', function () { this.write(String(process.pid)) }); setInterval(() => 0, 1000)`

async function called(mark: string | undefined, before: readonly string[] = [], looked = programs) {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  const env = { PATH: process.env['PATH'], ...(mark !== undefined && { SVC_PROCESS_MARK: mark }) }
  const words = [...before, process.execPath, '-e', CALLER, String(port)]
  children.push(spawn(words[0] ?? '', words.slice(1), { env, stdio: 'ignore' }))
  const [socket] = (await once(server, 'connection')) as [Socket]
  const [said] = (await once(socket, 'data')) as [Buffer]
  const peer = { port: socket.remotePort ?? 0, ourPort: socket.localPort ?? 0 }
  const found = [looked.has(Number(String(said))), await looked.holds(peer)]
  socket.destroy()
  server.close()
  return found
}

describe.skipIf(!existsSync('/proc/self/environ'))('a process that an agent has started', () => {
  it.each([
    ['carries a mark of this server', `${MARK}.0123`, [], true],
    ['descends from one that does, without it', `${MARK}.0123`, ['sh', '-c', 'env -i "$@"; :', 'sh'], true],
    ['carries one of another server', 'another.0123', [], false],
    ['carries one whose beginning is ours', `${MARK}x.0123`, [], false],
    ['carries none', undefined, [], false],
    ['is in a terminal, which is for people', `${MARK}.t-0123`, [], false],
  ])('%s', async (_, mark, before, expected) => {
    expect(await called(mark, before)).toEqual([expected, expected])
  })

  const most = { ancestors: 64, table: 8_000_000, processes: 8192, descriptors: 4096 }
  it.each([
    ['processes', { ...most, processes: 1 }, undefined, [false, true]],
    ['connections', { ...most, table: 100 }, undefined, [false, true]],
    ['descriptors, if it is one of them', { ...most, descriptors: 1 }, `${MARK}.0123`, [true, true]],
    ['descriptors, if it is none of them', { ...most, descriptors: 1 }, undefined, [false, false]],
  ])('is taken to be at the other end where there are more %s than are looked at', async (_, bounds, mark, expected) => {
    expect(await called(mark, [], createAgentPrograms(MARK, { most: bounds }))).toEqual(expected)
  })

  it('that has more descriptors than are looked at may hold any connection', async () => {
    const few = createAgentPrograms(MARK, { most: { ...most, descriptors: 1 } })
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const ourPort = typeof address === 'object' ? (address?.port ?? 0) : 0
    const child = spawn('sleep', ['100'], { env: { PATH: process.env['PATH'], SVC_PROCESS_MARK: `${MARK}.0123` } })
    children.push(child)
    const client = connect(ourPort, '127.0.0.1')
    await once(client, 'connect')
    const peer = { port: client.localPort ?? 0, ourPort }
    expect([await programs.holds(peer), await few.holds(peer)]).toEqual([false, true])
    client.destroy()
    server.close()
  })

  it('is not one that has ended, nor this one', async () => {
    const nobody = await programs.holds({ port: 1, ourPort: 2 })
    expect([programs.has(2 ** 22 + 1), programs.has(process.pid), nobody]).toEqual([false, false, false])
  })

  it('that hands its connection on while it is looked for is found all the same', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0
    const handing = `const { spawn } = require('child_process')
      const socket = require('net').connect(${port}, '127.0.0.1', () => socket.write('here'))
      process.on('SIGUSR2', () => {
        const heir = spawn('sleep', ['100'], { stdio: ['ignore', 'ignore', 'ignore', socket._handle.fd] })
        heir.on('spawn', () => socket.write(String(heir.pid), () => process.exit()))
      })
      setInterval(() => 0, 1000)`
    const env = { PATH: process.env['PATH'], SVC_PROCESS_MARK: `${MARK}.0123` }
    const child = spawn(process.execPath, ['-e', handing], { env, stdio: 'ignore' })
    children.push(child)
    const [socket] = (await once(server, 'connection')) as [Socket]
    await once(socket, 'data')
    let heir: number | undefined
    const handOn = async () => {
      if (heir !== undefined) return
      const ended = once(child, 'exit')
      child.kill('SIGUSR2')
      const [said] = (await once(socket, 'data')) as [Buffer]
      heir = Number(String(said))
      await ended
    }
    let now = 0
    const looked = createAgentPrograms(MARK, { monotonic: () => (now += 1000), pause: handOn })
    expect(await looked.holds({ port: socket.remotePort ?? 0, ourPort: socket.localPort ?? 0 })).toBe(true)
    if (heir !== undefined) process.kill(heir, 'SIGKILL')
    socket.destroy()
    server.close()
  })

  it('is looked for a process at a time, and for all who ask meanwhile at once', async () => {
    let [now, turns, looks] = [0, 0, 0]
    const pause = async () => void (turns += 1)
    const slow = createAgentPrograms(MARK, { monotonic: () => (now += 1000), pause })
    const server = createServer((socket) => socket.resume()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const ourPort = typeof address === 'object' ? (address?.port ?? 0) : 0
    const client = connect(ourPort, '127.0.0.1')
    await once(client, 'connect')
    const ask = async () => {
      const answer = await slow.holds({ port: client.localPort ?? 0, ourPort })
      looks = turns
      return answer
    }
    expect(await ask()).toBe(false)
    const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name)).length
    const one = looks
    expect(one).toBeGreaterThan(processes / 2)
    turns = 0
    expect(await Promise.all(Array.from({ length: 20 }, ask))).toEqual(Array.from({ length: 20 }, () => false))
    expect(looks).toBeLessThan(4 * one) // one that was under way, and one for the rest
    client.destroy()
    server.close()
  })
})
