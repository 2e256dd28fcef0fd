// Holds service "Authentication" 8.
/** Workers that nobody uses, and workers whose time is over. */
import { afterEach, describe, expect, test } from 'vitest'
import type { Session } from '../../../src/protocol/session/session.js'
import { mentioning } from '../server/processes.js'
import { type Host, lackingHost, openHost, whyNoHost } from './host.js'

describe.skipIf(whyNoHost() !== undefined)(`a worker${lackingHost()}`, () => {
  let host: Host
  afterEach(() => host.close())

  const status = async () => (await host.ask('acme', 'alpha', 'status')).body.binding.status
  const machines = () => mentioning(`${host.data}/m/`).filter(({ command }) => command.startsWith('bwrap'))

  test('that nobody uses is put to sleep, costs nothing, and is woken by the next request under the same grant', async () => {
    host = await openHost([], { idle: 1 })
    const alpha = await host.connect('acme', 'alpha')
    const session = await alpha.must<Session>('POST', '/v2/sessions', ALLOWED)
    // What runs keeps it awake, whether somebody listens or not.
    await alpha.must('POST', `/v2/sessions/${session.id}/prompt`, { prompt: 'run sleep 5; echo over' })
    await expect.poll(async () => (await status()).state).toBe('stopped')
    expect(machines()).toEqual([])
    const context = await alpha.must('GET', `/v2/sessions/${session.id}/context`)
    expect(JSON.stringify(context)).toContain('over')
    expect(JSON.stringify(context)).not.toContain('interrupted')
    expect(machines().length).toBeGreaterThan(0)

    // Two requests at once, by both controllers, wake one machine.
    await expect.poll(async () => (await status()).state).toBe('stopped')
    const both = await Promise.all([alpha, alpha.by(1)].map((user) => user.call('GET', `/v2/sessions/${session.id}`)))
    expect(both.map(({ status }) => status)).toEqual([200, 200])
    expect((await status()).handle).toEqual(alpha.connection.handle)
  })

  test('whose time is over is replaced before, and its readers come back to the next one', async () => {
    host = await openHost([], { worker: 60, replace: 35, renew: 35 })
    const alpha = await host.connect('acme', 'alpha')
    const session = await alpha.must<Session>('POST', '/v2/sessions', ALLOWED)
    const stream = await alpha.stream({ sessionId: session.id })
    await stream.ended.catch(() => undefined)
    const last = stream.received.flatMap(({ id }) => (id === undefined ? [] : [id])).at(-1) ?? 0
    const next = await host.connect('acme', 'alpha')
    expect(next.connection.workerGeneration).toBeGreaterThan(alpha.connection.workerGeneration)
    expect(next.connection.expiresAt).toBeGreaterThan(alpha.connection.expiresAt)
    const again = await next.stream({ sessionId: session.id, lastEventId: last })
    await next.must('PATCH', `/v2/sessions/${session.id}`, { title: 'told afterwards' })
    await again.waitFor((event) => event.type === 'session.updated' && event.data.info.title === 'told afterwards')
  })
})

const ALLOWED = { title: 'a test', permission: [{ permission: '*', pattern: '*', action: 'allow' }] }
