// Holds service "Authentication" 8; http-contract §7; subsystems d.9.
/** The hosting example, end to end: what users of two workspaces notice of workers and controllers that come and go. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RawData, WebSocket } from 'ws'
import type { Message } from '../../../src/protocol/message/message.js'
import type { Session } from '../../../src/protocol/session/session.js'
import type { Stream } from '../server/stream.js'
import { type Host, lackingHost, openHost, type User, whyNoHost } from './host.js'

describe.skipIf(whyNoHost() !== undefined)(
  `two workspaces, two workers, two controllers, one database, in bubblewrap${lackingHost()}`,
  () => {
    let host: Host
    beforeAll(async () => {
      host = await openHost()
    })
    afterAll(() => host.close())

    const connect = (name: 'alpha' | 'beta', controller = 0) => host.connect(name === 'alpha' ? 'acme' : 'globex', name, controller)

    async function openSession(user: User, title: string): Promise<Session> {
      return user.must<Session>('POST', '/v2/sessions', { title, permission: [{ permission: '*', pattern: '*', action: 'allow' }] })
    }

    async function prompt(user: User, session: Session, text: string): Promise<void> {
      await user.must('POST', `/v2/sessions/${session.id}/prompt`, { prompt: text })
    }

    const idsOf = ({ received }: Stream) => received.flatMap(({ id }) => (id === undefined ? [] : [id]))
    const said = async (user: User, session: Session) =>
      JSON.stringify(await user.must<Message[]>('GET', `/v2/sessions/${session.id}/context`))

    test('each has a worker of its own, and says which', async () => {
      const [alpha, beta] = await Promise.all([connect('alpha', 0), connect('beta', 1)])
      const infos = await Promise.all([alpha, beta].map((user) => user.must<{ worker: object }>('GET', '/v2/runtime')))
      expect(infos).toMatchObject([
        { deployment: 'workspace-worker', worker: { tenantId: 'acme', workspaceId: 'alpha', runtimeGeneration: 1, root: '/workspace' } },
        { deployment: 'workspace-worker', worker: { tenantId: 'globex', workspaceId: 'beta', runtimeGeneration: 1, root: '/workspace' } },
      ])
      const session = await openSession(alpha, 'of alpha')
      expect(await beta.call('GET', `/v2/sessions/${session.id}`)).toMatchObject({ status: 404 })
      // By whichever controller it comes.
      expect(await alpha.by(1).must<Session>('GET', `/v2/sessions/${session.id}`)).toMatchObject({ id: session.id })
    })

    test('a controller dies: its reader comes back to the other one, and no event is missed or doubled', async () => {
      const alpha = await connect('alpha', 0)
      const session = await openSession(alpha, 'a long one')
      const control = await alpha.by(1).stream({ sessionId: session.id })
      const first = await alpha.stream({ sessionId: session.id })
      await prompt(alpha, session, 'run for i in 1 2 3 4 5 6; do echo $i; sleep 0.3; done')
      await first.waitFor((event) => event.type === 'session.status' && event.data.status.type === 'busy')
      await host.kill(0)
      await first.ended.catch(() => undefined)
      const cut = idsOf(first)
      const again = await alpha.by(1).stream({ sessionId: session.id, lastEventId: cut.at(-1) ?? 0 })
      await again.idle(session.id)
      await control.idle(session.id)
      const ids = [...cut, ...idsOf(again)]
      // In order, none twice; and none that a reader without any accident has, but for those that the server itself no longer tells who comes late.
      expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b))
      const late = await alpha.by(1).stream({ sessionId: session.id, since: cut.at(-1) ?? 0 })
      await late.idle(session.id)
      const told = new Set(idsOf(late))
      const missed = idsOf(control).filter((id) => id >= (cut[0] ?? 0) && id <= (ids.at(-1) ?? 0) && !ids.includes(id))
      expect(missed.filter((id) => told.has(id))).toEqual([])
      expect(ids.length).toBeGreaterThan(cut.length)
      expect(await said(alpha.by(1), session)).toContain('6')
      await host.revive(0)
    })

    test('a worker dies in mid-turn: its replacement has the next generation, and goes on from the volume', async () => {
      const alpha = await connect('alpha', 0)
      const before = alpha.connection
      const session = await openSession(alpha, 'cut off')
      const stream = await alpha.stream({ sessionId: session.id })
      await prompt(alpha, session, 'write kept.txt: on the volume')
      await alpha.must('POST', `/v2/sessions/${session.id}/wait`) // a stream begins with what it is like before
      const from = stream.events.length
      await prompt(alpha, session, 'run sleep 600')
      const isRunning = (text: string) => text.includes('"running"') && text.includes('sleep 600')
      await stream.waitFor((event) => event.type === 'message.part.updated' && isRunning(JSON.stringify(event.data)), from)
      await host.killWorker('acme', 'alpha')
      await stream.ended.catch(() => undefined)

      await expect
        .poll(async () => (await host.ask('acme', 'alpha', 'status')).body.verification?.handle.generation)
        .toBe(before.workerGeneration + 1)
      // What was given for the worker that is gone is worth nothing with its successor.
      await expect.poll(async () => (await alpha.call('GET', '/v2/sessions')).status).toBe(401)
      const next = await connect('alpha', 1)
      expect(next.connection).toMatchObject({ workerGeneration: before.workerGeneration + 1, root: before.root })
      expect(await said(next, session)).toContain('"interrupted":true')
      await prompt(next, session, 'read kept.txt')
      await next.must('POST', `/v2/sessions/${session.id}/wait`)
      expect(await said(next, session)).toContain('on the volume')
    })

    test('the database restarts: what runs goes on, and what is wanted afterwards is done', async () => {
      const beta = await connect('beta', 0)
      const session = await openSession(beta, 'through a restart')
      const stream = await beta.stream({ sessionId: session.id })
      await stream.idle(session.id)
      const from = stream.events.length
      await prompt(beta, session, 'run sleep 2; echo o$((20 + 1))k')
      host.restartDatabase()
      await stream.idle(session.id, from)
      expect(await said(beta, session)).toContain('o21k')
      const { body } = await host.ask('globex', 'beta', 'status')
      const stopped = await host.ask('globex', 'beta', 'stop', { expected_handle: body.binding.status.handle }, 1)
      expect(stopped.status).toBe(200)
      await expect.poll(async () => (await host.ask('globex', 'beta', 'status')).body.binding.status.state).toBe('stopped')
      // The next request wakes it, in its generation: what was given before is good.
      expect(await said(beta, session)).toContain('done')
      expect((await host.ask('globex', 'beta', 'status')).body.binding.status).toMatchObject({ state: 'running', ready: true })
    })

    test('a bridge dies: its machines go on in their generation, and it knows them when it is back', async () => {
      const beta = await connect('beta', 0)
      const session = await openSession(beta, 'beyond the bridge')
      await host.killBridge()
      await host.reviveBridge()
      await expect.poll(async () => (await beta.call('GET', `/v2/sessions/${session.id}`)).status).toBe(200)
      expect((await host.ask('globex', 'beta', 'status')).body.binding.allocation.generation).toBe(beta.connection.workerGeneration)
    })

    test('a terminal is a socket through the controller', async () => {
      const beta = await connect('beta', 1)
      const path = '/v2/plugins/dev.svc.pty'
      const { id } = await beta.must<{ id: string }>('POST', path, { command: ['/bin/sh', '-c', 'echo from-inside; cat'] })
      const { body } = await beta.call('POST', `${path}/${id}/connect-token`, undefined, { 'x-svc-ticket': '1' })
      const socket = new WebSocket(`${beta.connection.baseUrl.replace('http', 'ws')}${path}/${id}/connect?ticket=${body.ticket}`)
      const heard = new Promise<string>((resolve, reject) => {
        let text = ''
        socket.on('message', (data, isBinary) => {
          if (!isBinary) text += textOf(data)
          // What is typed comes back as soon as there is a terminal, and its program may say something later.
          if (text.includes('typed back') && text.includes('from-inside')) resolve(text)
        })
        socket.once('error', reject)
        socket.once('close', () => reject(new Error(`the socket was closed after: ${text}`)))
      })
      await new Promise((resolve) => socket.once('open', resolve))
      socket.send('typed back\n')
      expect(await heard).toContain('typed back')
      const closed = new Promise((resolve) => socket.once('close', resolve))
      socket.close()
      await closed
    })
  },
)

const textOf = (data: RawData): string => (Buffer.isBuffer(data) ? data.toString() : '')
