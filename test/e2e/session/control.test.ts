/**
 * Two clients want control of one session of the built program. A server knows one subject, so clients of the same server contend by the
 * revision they claim on; the subject is another one when the server is started with a token, which the lease of the first outlives.
 */
import { afterEach, expect, test } from 'vitest'
import type { SessionControl } from '../../../src/protocol/session/sharing.js'
import { finish, reply, startModelServer, text } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { openScene, type Server } from '../server/server.js'
import type { Stream } from '../server/stream.js'

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

/** What a client heard of control: subject and revision, or null. */
const heard = ({ events }: Stream) =>
  events.flatMap(({ type, data }) => {
    if (type !== 'session.control.updated') return []
    const { control } = data as { readonly control: SessionControl | null }
    return [control === null ? null : [control.controllerSubject, control.revision]]
  })

async function twoClients(server: Server, sessionId: string): Promise<readonly [Stream, Stream]> {
  const streams = await Promise.all([server.stream({ sessionId, tail: true }), server.stream({ sessionId, tail: true })])
  cleanups.push(async () => streams.forEach((stream) => stream.close()))
  return [streams[0], streams[1]]
}

test('control is held by one of two clients, outlives a restart, is taken over after its lease and given up, and both hear of it', async () => {
  const model = await startModelServer([reply(text('Here.'), finish('stop'))])
  cleanups.push(() => model.close())
  const scene = openScene(makePlace())
  cleanups.push(() => scene.close())
  scene.place.configure(withModel(model.url))
  const first = await scene.start()
  const { id } = await first.createSession()
  const at = `/v2/sessions/${id}/control`
  const claim = (server: Server, body: object) => server.call('POST', at, body)
  const early = await twoClients(first, id)

  const claims = await Promise.all([1, 2, 3, 4].map(() => claim(first, { expectedRevision: 0, leaseSeconds: 300 })))
  expect(claims.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409])
  expect(claims.find(({ status }) => status === 409)?.body).toMatchObject({
    code: 'resource.conflict',
    details: { sessionId: id, currentRevision: 1 },
  })
  expect((await claim(first, { expectedRevision: 1, leaseSeconds: 15 })).body).toMatchObject({ controllerSubject: 'local', revision: 2 })
  expect((await first.call('DELETE', `${at}?expectedRevision=1`)).status).toBe(409)
  for (const stream of early) {
    await stream.waitFor(({ type, data }) => type === 'session.control.updated' && JSON.stringify(data).includes('"revision":2'))
    expect(heard(stream)).toEqual([
      ['local', 1],
      ['local', 2],
    ])
  }
  await first.kill()

  const second = await scene.start({ SVC_AGENT_TOKEN: 'another-client' })
  const late = await twoClients(second, id)
  const refusals = [
    await claim(second, { leaseSeconds: 15 }),
    await second.call('DELETE', at),
    await second.call('POST', `/v2/sessions/${id}/prompt`, { prompt: 'mine' }),
    await second.call('POST', `/v2/sessions/${id}/shell`, { command: 'true' }),
    await second.call('POST', `/v2/sessions/${id}/commands`, { command: 'summarize' }),
  ]
  expect(refusals.map(({ status }) => status)).toEqual([409, 409, 409, 409, 409])
  for (const { text: told } of refusals) expect(told).toContain('local controls this session until')
  const held = await second.get<SessionControl>(at)
  expect(held).toMatchObject({ controllerSubject: 'local', revision: 2 })
  await expect.poll(() => second.get<SessionControl | null>(at), { interval: 250 }).toBeNull()
  expect(Date.now()).toBeGreaterThanOrEqual(held.leaseExpiresAt)

  const takeovers = await Promise.all([1, 2].map(() => claim(second, { expectedRevision: 2, leaseSeconds: 15 })))
  expect(takeovers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
  await second.prompt(id, { prompt: 'mine' })
  await second.call('POST', `/v2/sessions/${id}/wait`)
  expect((await second.call('DELETE', `${at}?expectedRevision=3`)).body).toBe(true)
  expect((await second.call('DELETE', at)).body).toBe(false)
  for (const stream of late) {
    await stream.waitFor(({ type, data }) => type === 'session.control.updated' && JSON.stringify(data).includes('"control":null'))
    expect(heard(stream)).toEqual([['local-operator', 3], null])
  }
  expect(await second.get(`/v2/sessions/${id}/participants`)).toMatchObject([{ subject: 'local' }, { subject: 'local-operator' }])
})
