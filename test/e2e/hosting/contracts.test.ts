// Holds http-contract §7.2, §7.3; threat-model T2, T5.
/** Who is refused by a host: applications, coordinators and users with credentials that are foreign, old or played again. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { call, type Host, lackingHost, openHost, type User, whyNoHost } from './host.js'

describe.skipIf(whyNoHost() !== undefined)(`a host${lackingHost()}`, () => {
  let host: Host
  let alpha: User
  let beta: User
  beforeAll(async () => {
    host = await openHost()
    alpha = await host.connect('acme', 'alpha')
    beta = await host.connect('globex', 'beta')
  })
  afterAll(() => host.close())

  const binding = async (tenant: string, workspace: string) => (await host.ask(tenant, workspace, 'status')).body.binding

  describe('of applications', () => {
    const at = (path: string) => `${host.controllers[0]}/v1/workspaces/${path}`
    const bearer = (tenant: string) => ({ authorization: `Bearer ${host.secret(`application-${tenant}`)}` })

    test('takes who it knows, for its own tenant, and no more than is said', async () => {
      const json = { 'content-type': 'application/json' }
      const answers = await Promise.all([
        call(at('alpha/runtime/status'), 'GET', {}),
        call(at('alpha/runtime/status'), 'GET', { authorization: 'Bearer nobody' }),
        call(at('beta/runtime/status'), 'GET', bearer('acme')),
        call(at('nothing/runtime/status'), 'GET', bearer('acme')),
        call(at('al%2Fpha/runtime/status'), 'GET', bearer('acme')),
        call(at('alpha/runtime/ensure'), 'POST', { ...bearer('acme'), ...json }, { more: 1 }),
        call(at('alpha/runtime/ensure'), 'POST', { ...bearer('acme'), ...json }, '{'),
        call(at('alpha/runtime/stop'), 'POST', { ...bearer('acme'), ...json }, {}),
        call(at('alpha/runtime/ensure'), 'GET', bearer('acme')),
        call(at('alpha/runtime/status'), 'GET', bearer('acme')),
      ])
      expect(answers.map(({ status, body }) => [status, body.code])).toEqual([
        [403, 'denied'],
        [403, 'denied'],
        [403, 'denied'],
        [403, 'denied'],
        [400, 'invalid'],
        [400, 'invalid'],
        [400, 'invalid'],
        [400, 'invalid'],
        [400, 'invalid'],
        [200, undefined],
      ])
    })

    test('does nothing to a machine that is not the one it is asked about', async () => {
      const { handle } = (await binding('acme', 'alpha')).status
      const others = [
        { ...handle, generation: handle.generation + 1 },
        { ...handle, machine_id: 'another' },
        { ...handle, owner: { tenant: 'globex', workspace: 'beta' } },
        { ...handle, provider: 'elsewhere' },
      ]
      for (const expected_handle of others) {
        for (const operation of ['start', 'stop', 'destroy']) {
          expect(await host.ask('acme', 'alpha', operation, { expected_handle })).toMatchObject({ status: 409, body: { code: 'conflict' } })
        }
      }
      expect((await binding('acme', 'alpha')).status).toMatchObject({ state: 'running', ready: true })
    })
  })

  describe('of coordinators', () => {
    const ask = (verb: string, body: unknown, bearer = host.secret('bridge')) =>
      call(`${host.bridge}/v2/runtime/${verb}`, 'POST', { authorization: `Bearer ${bearer}` }, body)

    test('takes its bearer alone, and requests of its version', async () => {
      const { allocation, status } = await binding('acme', 'alpha')
      const good = { version: 2, allocation, handle: status.handle }
      expect(await ask('inspect', good)).toMatchObject({
        status: 200,
        body: { version: 2, status: { handle: status.handle, ready: true } },
      })
      expect((await ask('inspect', good, host.secret('application-acme'))).status).toBe(401)
      expect((await ask('inspect', { ...good, version: 1 })).status).toBe(409)
      expect((await ask('inspect', { ...good, more: 1 })).status).toBe(409)
      expect((await ask('restart', good)).status).toBe(404)
    })

    test('does nothing for a stale generation, a foreign handle or another spec', async () => {
      const { allocation, status } = await binding('acme', 'alpha')
      const { handle } = status
      const stale = { ...allocation, generation: allocation.generation + 1 }
      const changed = { ...allocation, spec: { ...allocation.spec, vcpus: 2 } }
      const foreign = { ...handle, owner: { tenant: 'globex', workspace: 'beta' } }
      const answers = await Promise.all([
        ask('stop', { version: 2, allocation, handle: foreign }),
        ask('stop', { version: 2, allocation, handle: null }),
        ask('stop', { version: 2, allocation: changed, handle }),
        ask('stop', { version: 2, allocation: stale, handle: { ...handle, generation: stale.generation, machine_id: handle.machine_id } }),
        ask('ensure', { version: 2, allocation, handle }),
        ask('ensure', { version: 2, allocation: { ...allocation, provider: 'elsewhere' }, handle: null }),
      ])
      expect(answers.map(({ status }) => status)).toEqual([409, 409, 409, 409, 409, 409])
      expect((await binding('acme', 'alpha')).status).toMatchObject({ state: 'running', ready: true })
    })
  })

  describe('of users', () => {
    const signed = (claims: object) => host.parts.createGrants(readFileSync(join(host.data, 'secret-grant-key'))).seal(claims) as string
    const base = () => ({
      owner: { tenant: 'acme', workspace: 'alpha' },
      generation: alpha.connection.workerGeneration,
      subject: 'user@acme',
      actorType: 'human',
      scopes: ['agent:read'],
      expiresAt: Math.floor(Date.now() / 1000) + 60,
    })
    const statusOf = async (bearer: string | undefined, of: User = alpha) =>
      (
        await call(
          `${of.connection.baseUrl}/v2/sessions?directory=/workspace`,
          'GET',
          bearer === undefined ? {} : { authorization: `Bearer ${bearer}` },
        )
      ).status

    test('takes what it gave for this worker and this generation, until its end', async () => {
      expect(await statusOf(signed(base()))).toBe(200)
      expect(await statusOf(alpha.connection.bearer)).toBe(200)
      const refused = [
        undefined,
        'nothing',
        beta.connection.bearer,
        signed({ ...base(), expiresAt: Math.floor(Date.now() / 1000) }),
        signed({ ...base(), generation: base().generation + 1 }),
        signed({ ...base(), owner: { tenant: 'globex', workspace: 'alpha' } }),
        host.secret('application-acme'),
        host.parts.createGrants(Buffer.alloc(32, 7)).seal(base()) as string,
      ]
      expect(await Promise.all(refused.map((bearer) => statusOf(bearer)))).toEqual(refused.map(() => 401))
      expect(await statusOf(alpha.connection.bearer, beta)).toBe(401)
    })

    test('lets them do what they were let, and no more', async () => {
      const reader = { authorization: `Bearer ${signed(base())}`, 'x-svc-directory': '/workspace' }
      expect(await call(`${alpha.connection.baseUrl}/v2/sessions`, 'POST', reader, { title: 'mine' })).toMatchObject({ status: 403 })
      expect(await alpha.call('PATCH', '/v2/config', { model: 'svc/offline' })).toMatchObject({ status: 403 })
    })

    test('keeps workers from each other: a token of one is nothing at another, nor one of an earlier generation', async () => {
      const { allocation } = await binding('acme', 'alpha')
      const direct = async (claims: object, tenant = 'acme', workspace = 'alpha') => {
        const { status } = await binding(tenant, workspace)
        const token = host.parts.createSigner(readFileSync(join(host.data, 'secret-signing-seed'))).token(claims) as string
        const url = `${status.connection.agent_api_base_url as string}v2/runtime`
        return (await call(url, 'GET', { authorization: `Bearer ${token}` })).status
      }
      const issuedAt = Math.floor(Date.now() / 1000)
      const claims = {
        version: 1,
        tenantId: 'acme',
        workspaceId: 'alpha',
        runtimeId: allocation.launch.runtime_id,
        runtimeGeneration: allocation.generation,
        subject: 'user@acme',
        actorType: 'human',
        directoryPrefix: '/workspace',
        scopes: ['agent:read'],
        issuedAt,
        expiresAt: issuedAt + 60,
      }
      expect(await direct(claims)).toBe(200)
      expect(await direct(claims, 'globex', 'beta')).toBe(401)
      expect(await direct({ ...claims, runtimeGeneration: claims.runtimeGeneration + 1 })).toBe(401)
      expect(await direct({ ...claims, runtimeId: 'rt-of-another-life' })).toBe(401)
      expect(await direct({ ...claims, issuedAt: issuedAt - 400, expiresAt: issuedAt - 100 })).toBe(401)
    })
  })

  test('an owner that slept through the end of its lease changes nothing any more', async () => {
    const database = await host.parts.openDatabase(readFileSync(join(host.data, 'database-url'), 'utf8'))
    try {
      const { leases, bindings } = database
      const key = { tenant: 'acme', workspace: 'spare' }
      await bindings.admit(key, { image: 'svc', region: 'here', vcpus: 1, memory_mib: 512, disk_gib: 1 })
      const { allocation } = await binding('acme', 'alpha')
      await bindings.open(key, 'bubblewrap', allocation.launch)
      await leases.join('sleeper', 'http://127.0.0.1:1', 60)
      await leases.join('other', 'http://127.0.0.1:2', 60)
      const hold = await leases.claim('sleeper', key)
      expect(await leases.claim('other', key)).toBeUndefined()
      await bindings.amend(key, hold, 1, () => ({ last_error: { code: 'timeout', retryable: true } }))
      await leases.leave('sleeper')
      expect(await leases.renew('sleeper', 60)).toBe(false)
      const next = await leases.claim('other', key)
      expect(next.fence).toBeGreaterThan(hold.fence)
      const before = await bindings.find(key)
      await expect(bindings.amend(key, hold, 1, () => ({ retired: true }))).rejects.toMatchObject({ fault: 'fenced' })
      await expect(bindings.amend(key, next, 2, () => ({ retired: true }))).rejects.toMatchObject({ fault: 'fenced' })
      expect(await bindings.find(key)).toEqual(before)
      await leases.leave('other')
      // Of many who want it at once, one has it.
      const names = Array.from({ length: 8 }, (_, index) => `rival-${index}`)
      await Promise.all(names.map((name) => leases.join(name, 'http://127.0.0.1:3', 60)))
      const taken = (await Promise.all(names.map((name) => leases.claim(name, key)))) as unknown[]
      expect(taken.filter((each) => each !== undefined)).toHaveLength(1)
      await Promise.all(names.map((name) => leases.leave(name)))
    } finally {
      await database.close()
    }
  })

  test('what is destroyed is gone with its volume, and comes not back', async () => {
    const { handle } = (await binding('globex', 'beta')).status
    expect((await host.ask('globex', 'beta', 'destroy', { expected_handle: handle })).status).toBe(200)
    await expect.poll(async () => (await binding('globex', 'beta')).retired).toBe(true)
    expect(await beta.call('GET', '/v2/sessions')).toMatchObject({ status: 401 })
    for (const operation of ['ensure', 'connection']) expect((await host.ask('globex', 'beta', operation)).status).toBe(409)
    const { allocation, status } = await binding('globex', 'beta')
    const again = await call(
      `${host.bridge}/v2/runtime/destroy`,
      'POST',
      { authorization: `Bearer ${host.secret('bridge')}` },
      { version: 2, allocation, handle: status.handle },
    )
    expect(again).toMatchObject({ status: 200, body: { status: { state: 'destroyed' } } })
  })
})
