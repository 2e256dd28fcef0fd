import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { Capability } from '../../../src/protocol/system/system.js'
import type { Pty, Shell } from '../../../src/protocol/terminal/pty.js'
import { makePlace } from '../server/place.js'
import { residentMiB } from '../server/probe.js'
import { descendants, isRunning, untilNone } from '../server/processes.js'
import { type Scene, type Server, openScene } from '../server/server.js'
import { addressOf, connect, createTerminal, ticketFor } from './terminals.js'

const PATH = '/v2/plugins/dev.svc.pty'
const sh = (script: string) => ({ command: ['/bin/sh', '-c', script] })

let scene: Scene
let server: Server
beforeAll(async () => {
  scene = openScene(makePlace())
  server = await scene.start()
})
afterAll(() => scene.close())

describe('a terminal', () => {
  test('is offered, listed, and forgotten, and its events say so', async () => {
    const capabilities = await server.get<Capability[]>('/v2/capabilities')
    expect(capabilities.find(({ id }) => id === 'svc.pty')).toMatchObject({ enabled: true, apiPrefix: PATH })
    expect((await server.get<Shell[]>(`${PATH}/shells`)).map(({ name }) => name)).toContain('sh')
    const stream = await server.stream({ tail: true })
    const terminal = await createTerminal(server, { ...sh('exit 5'), title: 'short' })
    expect(await server.get<Pty[]>(PATH)).toContainEqual(terminal)
    const viewer = await connect(server, terminal.id)
    expect(await viewer.closed).toEqual({ code: 1000, reason: '' })
    const exited = await stream.waitFor(({ type }) => type === 'pty.exited')
    expect(exited).toMatchObject({ source: 'dev.svc.pty', data: { id: terminal.id, ptyID: terminal.id, exitStatus: 5 } })
    expect((await server.call('DELETE', `${PATH}/${terminal.id}`)).body).toBe(true)
    await stream.waitFor(({ type }) => type === 'pty.deleted')
    expect(stream.events.filter(({ type }) => type.startsWith('pty.')).map(({ type }) => type)).toEqual([
      'pty.created',
      'pty.exited',
      'pty.deleted',
    ])
    stream.close()
    expect((await server.call('GET', `${PATH}/${terminal.id}`)).status).toBe(404)
  })

  test('runs the login shell of the user in the directory of the call when nobody names a command', async () => {
    const terminal = await createTerminal(server)
    expect(terminal).toMatchObject({ command: ['/bin/sh'], cwd: scene.place.repo, title: 'shell' })
    const viewer = await connect(server, terminal.id)
    viewer.type('echo "$PWD:$TERM:$SVC_TERMINAL:${SVC_AGENT_STATE_DIR-none}"; tty\n')
    await viewer.until(new RegExp(`${scene.place.repo}:xterm-256color:1:none\r\n/dev/pts/`))
    viewer.type('exit\n')
    expect((await viewer.closed).code).toBe(1000)
    await server.call('DELETE', `${PATH}/${terminal.id}`)
  })

  test('loses no output when its program exits, twenty times 300 KB', async () => {
    const terminal = await createTerminal(server, sh('head -c 300000 /dev/zero | tr "\\0" x; printf end'))
    for (let run = 0; run < 20; run++) {
      const viewer = await connect(server, terminal.id)
      expect(await viewer.closed).toEqual({ code: 1000, reason: '' })
      expect(viewer.text()).toBe(`${'x'.repeat(300_000)}end`)
      expect(viewer.cursor()).toBe(300_003)
    }
    await server.call('DELETE', `${PATH}/${terminal.id}`)
  })

  test('is taken up again by cursor, without losing or repeating a byte', async () => {
    const terminal = await createTerminal(
      server,
      sh('stty -echo; i=0; while [ $i -lt 50000 ]; do i=$((i+1)); echo "$i é€😀"; done; read x'),
    )
    let whole = ''
    let cursor = 0
    for (let drops = 0; ; drops++) {
      const viewer = await connect(server, terminal.id, cursor)
      try {
        await viewer.until(drops < 12 ? /(?:.*\n){200}|50000 é/ : /50000 é€😀\r\n/)
      } finally {
        viewer.drop()
      }
      await viewer.closed
      // What a client keeps is what its last cursor covers: a text frame may have come without its own.
      whole += viewer.text().slice(0, viewer.cursor() - cursor)
      cursor = viewer.cursor()
      if (whole.includes('50000 é€😀\r\n')) break
    }
    expect(whole).toBe(Array.from({ length: 50_000 }, (_, index) => `${index + 1} é€😀\r\n`).join(''))
    await server.call('DELETE', `${PATH}/${terminal.id}`)
  })

  test('has the size it is given, before and after the start', async () => {
    const terminal = await createTerminal(server, sh('trap "stty size" WINCH; stty size; while :; do sleep 0.02; done'))
    const size = (cols: number, rows: number) => server.call('PUT', `${PATH}/${terminal.id}`, { size: { cols, rows } })
    await size(101, 31)
    const viewer = await connect(server, terminal.id)
    await viewer.until(/^31 101\r\n/)
    await size(132, 43)
    await viewer.until(/43 132\r\n/)
    expect((await size(0, 43)).status).toBe(400)
    await server.call('DELETE', `${PATH}/${terminal.id}`)
    await viewer.closed
  })

  test('shows several clients the same, and takes input of each', async () => {
    const terminal = await createTerminal(server, sh('stty -echo; echo ready; while read line; do echo "<$line>"; done'))
    const viewers = await Promise.all([connect(server, terminal.id), connect(server, terminal.id), connect(server, terminal.id)])
    await Promise.all(viewers.map((viewer) => viewer.until(/ready/)))
    for (const [index, viewer] of viewers.entries()) {
      viewer.type(`from ${index}\n`)
      await Promise.all(viewers.map((each) => each.until(new RegExp(`<from ${index}>`))))
    }
    expect(new Set(viewers.map((viewer) => viewer.text())).size).toBe(1)
    await server.call('DELETE', `${PATH}/${terminal.id}`)
  })

  test('waits for a client that stands still alone, and loses nothing of it', async () => {
    const terminal = await createTerminal(
      server,
      sh('stty raw -echo; printf ready; read x; head -c 40000000 /dev/zero | tr "\\0" x; printf end'),
    )
    const viewer = await connect(server, terminal.id)
    await viewer.until(/ready/)
    viewer.socket.pause()
    viewer.type('\n')
    const before = residentMiB(server)
    await untilIdle(server)
    expect(residentMiB(server) - before).toBeLessThan(8)
    viewer.socket.resume()
    await viewer.closed
    expect(viewer.length).toBe(40_000_008)
    await server.call('DELETE', `${PATH}/${terminal.id}`)
  })

  test('goes on for others while one stands still', async () => {
    const terminal = await createTerminal(
      server,
      sh('stty raw -echo; printf ready; read x; head -c 40000000 /dev/zero | tr "\\0" x; printf end; read x'),
    )
    const [quick, slow] = await Promise.all([connect(server, terminal.id), connect(server, terminal.id)])
    await Promise.all([quick.until(/ready/), slow.until(/ready/)])
    slow.socket.pause()
    const before = residentMiB(server)
    quick.type('\n')
    await quick.until(/end$/)
    expect(quick.length).toBe(40_000_008)
    expect(residentMiB(server) - before).toBeLessThan(64)
    slow.socket.resume()
    await slow.until(/end$/)
    expect(slow.cursor()).toBe(40_000_008)
    expect(slow.length).toBeLessThan(20_000_000)
    await server.call('DELETE', `${PATH}/${terminal.id}`)
  })

  test.each(['removed', 'exited'])('leaves no process when it is %s, not even jobs of an interactive shell', async (how) => {
    const mark = `svc-terminal-${how}-${process.pid}`
    const terminal = await createTerminal(server, { command: ['/bin/sh', '-i'] })
    const viewer = await connect(server, terminal.id)
    viewer.type(`(trap "" HUP TERM; : ${mark}; sleep 301; sleep 302) & sleep 303 & echo started-$((1+1))\n`)
    await viewer.until(/started-2/)
    const theirs = descendants(server.pid).filter(({ command }) => /sleep 30[123]|sh -i/.test(command))
    expect(theirs.length).toBeGreaterThanOrEqual(3)
    if (how === 'removed') await server.call('DELETE', `${PATH}/${terminal.id}`)
    else viewer.type('exit\nexit\n')
    await viewer.closed
    expect(theirs.filter(isRunning)).toEqual([])
    await server.call('DELETE', `${PATH}/${terminal.id}`)
  })

  test('says why its program cannot be started, and may be connected to again', async () => {
    const terminal = await createTerminal(server, { command: ['no-such-program'] })
    for (let attempt = 0; attempt < 2; attempt++) {
      const viewer = await connect(server, terminal.id)
      expect((await viewer.closed).code).toBe(1000)
      expect(viewer.text()).toBe('The program "no-such-program" was not found or is not executable.\r\n')
    }
    await server.call('DELETE', `${PATH}/${terminal.id}`)
  })
})

describe('a connection', () => {
  const refusal = (address: string, headers: Record<string, string> = {}) =>
    new Promise<number | undefined>((resolve) => {
      const socket = new WebSocket(address, { headers })
      socket.on('error', () => undefined)
      socket.once('open', () => {
        resolve(101)
        socket.terminate()
      })
      socket.once('unexpected-response', (_request, answer) => resolve(answer.statusCode))
    })

  test('needs a ticket for its terminal that was not presented before, and no other credential', async () => {
    const guarded = await scene.start({ SVC_AGENT_TOKEN: 'secret', SVC_AGENT_STATE_DIR: `${scene.place.root}/guarded` })
    const terminal = await createTerminal(guarded, sh('read x'))
    const other = await createTerminal(guarded, sh('read x'))
    const at = (id: string, ticket?: string) => addressOf(guarded, id, ticket === undefined ? '' : `ticket=${ticket}`)
    expect((await guarded.call('POST', `${PATH}/${terminal.id}/connect-token`)).status).toBe(403)
    expect(await refusal(at('pty_none', 'x'))).toBe(404)
    expect(await refusal(at(terminal.id))).toBe(401)
    expect(await refusal(at(terminal.id, 'guessed'))).toBe(403)
    expect(await refusal(at(terminal.id), { authorization: 'Bearer secret' })).toBe(403)

    const ticket = await ticketFor(guarded, terminal.id)
    expect(await refusal(at(other.id, ticket))).toBe(403)
    expect(await refusal(at(terminal.id, ticket))).toBe(403)
    const good = await ticketFor(guarded, terminal.id)
    for (const headers of [{ origin: 'https://evil.example' }, { host: 'evil.example' }, { 'sec-fetch-site': 'cross-site' }]) {
      const spent = await ticketFor(guarded, terminal.id)
      expect(await refusal(at(terminal.id, spent), headers)).not.toBe(101)
      expect(await refusal(at(terminal.id, spent))).toBe(403)
    }
    expect(await refusal(at(terminal.id, good))).toBe(101)
    expect(await refusal(at(terminal.id, good))).toBe(403)
    const audit = await guarded.get<{ path: string; status: number }[]>('/v2/audit')
    expect(audit.filter(({ path }) => path.endsWith('/connect'))).toMatchObject([{ status: 101 }, { status: 403 }])
    expect(JSON.stringify(audit)).not.toContain(good)
  })

  test('is refused without a WebSocket handshake', async () => {
    const terminal = await createTerminal(server, sh('read x'))
    const url = new URL(addressOf(server, terminal.id, `ticket=${await ticketFor(server, terminal.id)}`).replace('ws:', 'http:'))
    const status = await new Promise((resolve) => request(url, (answer) => resolve(answer.resume().statusCode)).end())
    expect(status).toBe(400)
    await server.call('DELETE', `${PATH}/${terminal.id}`)
  })
})

describe('the end of the server', () => {
  test.each(['stop', 'kill'] as const)('by %s leaves no process of a terminal', async (how) => {
    const own = await scene.start({ SVC_AGENT_STATE_DIR: `${scene.place.root}/${how}` })
    const terminal = await createTerminal(own, { command: ['/bin/sh', '-i'] })
    const viewer = await connect(own, terminal.id)
    viewer.type('(trap "" HUP TERM; sleep 304; sleep 305) & (trap "" HUP TERM; sleep 306; sleep 307)\n')
    const mine = () => descendants(own.pid).filter(({ command }) => /sleep 30[46]/.test(command))
    while (mine().length < 2) await delay(10)
    const theirs = descendants(own.pid).filter(({ command }) => /sleep 30|sh -i/.test(command))
    await own[how]()
    expect(await untilNone(() => theirs.filter(isRunning))).toEqual([])
  })
})

/** Clock ticks a process has run for. */
function ticksOf(pid: number): number {
  const line = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}

/** Resolves once a server that was busy has nothing to do. */
async function untilIdle({ pid }: Server): Promise<void> {
  for (let calm = 0, last = -1; calm < 5; await delay(60)) {
    const ticks = ticksOf(pid)
    calm = ticks === last ? calm + 1 : 0
    last = ticks
  }
}
