// Holds subsystems d.3, d.6, m (quotas): each quota of a tenant is met exactly by 32 clients at a time, while another tenant goes on.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Quotas } from '../../../src/protocol/caller.js'
import type { Session } from '../../../src/protocol/session/session.js'
import { finish, type ModelServer, reply, startModelServer, text } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { type Answer, openScene, type Scene, type Server } from '../server/server.js'
import { openStream } from '../server/stream.js'

const CLIENTS = 32
const MOST = 7

/** Of a tenant each, beside whom there is one without: by what a test is about. */
const QUOTAS = {
  requests: { requestsPerMinute: MOST },
  'in-flight': { maxInFlight: MOST },
  sessions: { maxSessions: MOST },
  number: { maxArtifacts: MOST },
  bytes: { maxArtifactBytes: MOST * 1000 + 999 },
  retention: { artifactRetentionDays: 0 },
  tokens: { modelTokensPerDay: 1 },
} as const satisfies Readonly<Record<string, Quotas>>

let scene: Scene
let server: Server
let model: ModelServer
beforeAll(async () => {
  model = await startModelServer(() => reply(text('Done.'), finish('stop')))
  scene = openScene(makePlace())
  scene.place.configure(withModel(model.url, { hosted: { providers: ['test'], execution: 'native' } }))
  const tokens = Object.entries(QUOTAS).flatMap(([about, quotas]) => {
    const directoryPrefixes = [directoryOf(about)]
    mkdirSync(directoryOf(about))
    return [
      { token: `a-${about}`, tenantId: `a-${about}`, directoryPrefixes, ...quotas },
      { token: `b-${about}`, tenantId: `b-${about}`, directoryPrefixes },
    ]
  })
  const file = join(scene.place.root, 'tokens.json')
  writeFileSync(file, JSON.stringify({ tokens }), { mode: 0o600 })
  server = await scene.start({ SVC_AGENT_AUTH_CONFIG: file })
})
afterAll(async () => {
  await scene.close()
  await model.close()
})

const directoryOf = (about: string) => join(scene.place.root, about)

function tenantsOf(about: keyof typeof QUOTAS) {
  const directory = directoryOf(about)
  const ask =
    (token: string) =>
    (method: string, path: string, body?: unknown, headers: object = {}): Promise<Answer> =>
      server.call(method, path, body, { authorization: `Bearer ${token}`, 'x-svc-directory': directory, ...headers })
  return { directory, a: ask(`a-${about}`), b: ask(`b-${about}`) }
}

/** How often each status came. */
async function statuses(asked: readonly Promise<{ readonly status: number }>[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { status } of await Promise.all(asked)) counts[status] = (counts[status] ?? 0) + 1
  return counts
}
const together = <T>(ask: (at: number) => Promise<T>): Promise<T>[] => Array.from({ length: CLIENTS }, (_, at) => ask(at))
const REFUSED = { code: 'quota.exceeded', retryable: true }

test('requests in a minute: as many as may be are answered, the rest is 429 with the time to wait, and another tenant notices nothing', async () => {
  const { a, b } = tenantsOf('requests')
  const [ofA, ofB] = await Promise.all([statuses(together(() => a('GET', '/v2/meta'))), statuses(together(() => b('GET', '/v2/meta')))])
  expect([ofA, ofB]).toEqual([{ 200: MOST, 429: CLIENTS - MOST }, { 200: CLIENTS }])
  const { headers, body } = await a('GET', '/v2/meta')
  expect(body).toMatchObject({ ...REFUSED, details: { quota: 'requestsPerMinute', limit: MOST } })
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60)
  const audit = (await b('GET', '/v2/audit')).text
  expect(audit).not.toContain('a-requests')
})

test('requests at a time: streams keep their places while they are open, however they end', async () => {
  const { a, b, directory } = tenantsOf('in-flight')
  const mine = (await a('POST', '/v2/sessions', { title: 'mine' })).body as Session
  const streams = async () => {
    const tried = together(() =>
      openStream(server.url, { sessionId: mine.id, tail: true }, { authorization: 'Bearer a-in-flight', 'x-svc-directory': directory }),
    )
    return (await Promise.allSettled(tried)).flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  }
  for (let round = 0; round < 2; round++) {
    const open = await streams()
    expect(open).toHaveLength(MOST)
    expect((await a('GET', '/v2/meta')).body).toMatchObject({ ...REFUSED, details: { quota: 'maxInFlight', limit: MOST } })
    expect(await statuses(together(() => b('GET', '/v2/meta')))).toEqual({ 200: CLIENTS })
    const [first, ...others] = open
    first?.close()
    while ((await a('GET', '/v2/meta')).status !== 200);
    for (const each of others) each.close()
    await Promise.all(open.map((each) => each.ended))
    // The last of them has given back its place when as many can be open again.
    while ((await statuses(Array.from({ length: MOST }, () => a('GET', '/v2/meta'))))[429] !== undefined);
  }
})

test('sessions: created and copied ones are as many as may be, and one that is deleted makes room', async () => {
  const { a, b } = tenantsOf('sessions')
  const first = (await a('POST', '/v2/sessions', { title: 'first' })).body as Session
  const made = await statuses(
    together((at) => (at % 2 === 0 ? a('POST', `/v2/sessions/${first.id}/fork`, {}) : a('POST', '/v2/sessions', { title: `${at}` }))),
  )
  expect(made).toEqual({ 200: MOST - 1, 429: CLIENTS - MOST + 1 })
  expect((await a('POST', '/v2/sessions', {})).body).toMatchObject({ ...REFUSED, details: { quota: 'maxSessions', limit: MOST } })
  expect(((await a('GET', '/v2/sessions')).body as { items: unknown[] }).items).toHaveLength(MOST)
  expect(await statuses(together(() => b('POST', '/v2/sessions', {})))).toEqual({ 200: CLIENTS })
  expect((await a('DELETE', `/v2/sessions/${first.id}`)).status).toBe(200)
  expect(await statuses(together(() => a('POST', '/v2/sessions', {})))).toMatchObject({ 429: expect.any(Number) as number })
  expect(((await a('GET', '/v2/sessions')).body as { items: unknown[] }).items).toHaveLength(MOST)
})

const upload = (ask: ReturnType<typeof tenantsOf>['a'], bytes: string) =>
  ask('POST', '/v2/artifacts', bytes, { 'content-type': 'text/plain' })

test.each(['number', 'bytes'] as const)(
  'artifacts by %s: as many as may be are there, and one that is deleted makes room',
  async (about) => {
    const { a, b } = tenantsOf(about)
    const [quota, limit] = Object.entries(QUOTAS[about])[0] ?? []
    expect(await statuses(together(() => upload(a, 'x'.repeat(1000))))).toEqual({ 201: MOST, 429: CLIENTS - MOST })
    expect((await upload(a, 'x'.repeat(1000))).body).toMatchObject({ ...REFUSED, details: { quota, limit } })
    const kept = (await a('GET', '/v2/artifacts')).body as { id: string }[]
    expect(kept).toHaveLength(MOST)
    expect(await statuses(together(() => upload(b, 'x'.repeat(1000))))).toEqual({ 201: CLIENTS })
    expect((await a('DELETE', `/v2/artifacts/${kept[0]?.id}`)).status).toBe(204)
    expect(await statuses(together(() => upload(a, 'x'.repeat(1000))))).toEqual({ 201: 1, 429: CLIENTS - 1 })
  },
)

test('artifacts that are older than the tenant keeps are not there, and those of another tenant stay', async () => {
  const { a, b } = tenantsOf('retention')
  const [ofA, ofB] = [((await upload(a, 'old')).body as { id: string }).id, ((await upload(b, 'kept')).body as { id: string }).id]
  expect((await a('GET', `/v2/artifacts/${ofA}/content`)).status).toBe(404)
  expect((await a('GET', '/v2/artifacts')).body).toEqual([])
  expect((await b('GET', `/v2/artifacts/${ofB}/content`)).text).toBe('kept')
})

test('tokens of models in a day: they are used by whoever is let in, then each prompt is 429 with the time until tomorrow, for this tenant alone', async () => {
  const { a, b } = tenantsOf('tokens')
  const work = async (ask: typeof a) => {
    const { id } = (await ask('POST', '/v2/sessions', { title: 'work' })).body as Session
    const prompted = await ask('POST', `/v2/sessions/${id}/prompt`, { prompt: 'go' })
    if (prompted.status === 204) await ask('POST', `/v2/sessions/${id}/wait`)
    return prompted
  }
  expect((await work(a)).status).toBe(204)
  const asked = model.requests.length
  const refused = await Promise.all(together(() => work(a)))
  expect(await statuses(refused.map(async (each) => each))).toEqual({ 429: CLIENTS })
  expect(refused[0]?.body).toMatchObject({ ...REFUSED, details: { quota: 'modelTokensPerDay', limit: 1 } })
  const wait = Number(refused[0]?.headers.get('retry-after'))
  expect([wait > 0, wait <= 86_400, model.requests.length]).toEqual([true, true, asked])
  expect((await work(b)).status).toBe(204)
})
