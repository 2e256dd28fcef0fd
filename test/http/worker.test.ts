// Holds subsystems d.1, d.9; threat-model T2, T4, T7: every operation of the contract for every scope of a worker.
import { afterAll, describe, expect, test } from 'vitest'
import { openWorkerCallers } from '../../src/actors/tenancy/worker/worker-callers.js'
import { checkScopes, SCOPED, WHILE_ENDING } from '../../src/http/admission/scopes.js'
import { createTokens } from '../../src/http/admission/tokens.js'
import { API } from '../../src/protocol/api.js'
import { WorkerScope } from '../../src/protocol/hosting/worker.js'
import type { RouteContract } from '../../src/protocol/route.js'
import { createFakeClock } from '../../src/simulation/clock.js'
import { createFakeRuntime, FOREIGN_SESSION_ID, SESSION_ID } from '../fakes/runtime.js'
import { claimsAt, sign } from '../fakes/signed.js'
import { bootstrapAt, signWorker, WORKER_PREFIX, workerClaims, workerKeys } from '../fakes/workers.js'
import { createTestServer, requestOf } from './setup.js'

const clock = createFakeClock()
const worker = bootstrapAt(clock.now())
const { seed, verifier } = workerKeys()
const base = createFakeRuntime()
/** One session is in the directory of the caller, another beyond it. */
const runtime = {
  ...base,
  sessions: {
    ...base.sessions,
    owner: (id: string) =>
      id === SESSION_ID
        ? { tenantId: 'local', directory: '/srv/space' }
        : id === FOREIGN_SESSION_ID
          ? { tenantId: 'local', directory: '/srv/other' }
          : undefined,
  },
}
let isEnding = false
const callers = openWorkerCallers(clock, verifier, worker)
const server = createTestServer({
  runtime,
  clock,
  tokens: createTokens({}, { worker: callers }),
  operations: checkScopes(() => isEnding),
})
afterAll(() => server.close(0))

const SCOPES = WorkerScope.options
const tokenOf = (scopes: readonly string[], more: object = {}) => signWorker(workerClaims(worker, clock.now(), { scopes, ...more }), seed)
const TOKENS: Readonly<Record<string, string>> = Object.fromEntries(SCOPES.map((scope) => [scope, tokenOf([scope])]))
const ALL = tokenOf(SCOPES)

/** Streams are left open, and sockets need a connection. */
const ASKED = API.filter(({ success }) => success.mediaType !== 'text/event-stream' && success.status !== 101)
const isOpen = ({ access }: RouteContract) => access.class === 'open'
const scopeOf = ({ id }: Pick<RouteContract, 'id'>) => SCOPES.find((scope) => SCOPED[scope].has(id))

let asked = 0
async function ask(
  contract: RouteContract,
  credential: string | undefined,
  { foreign = false, directory = '/srv/space', query = '' } = {},
) {
  const { headers, url, ...request } = requestOf(contract, foreign)
  const { authorization: _, ...others } = headers as Readonly<Record<string, string>>
  const address = asked++
  const answer = await server.inject({
    ...request,
    ...(contract.id === 'v2.sessions.export' && { payload: JSON.stringify({ workspaceRoot: directory }) }),
    url: `${url}${query === '' ? '' : `${url.includes('?') ? '&' : '?'}${query}`}`,
    remoteAddress: `10.${address >> 16}.${(address >> 8) & 255}.${address & 255}`,
    headers: { ...others, 'x-svc-directory': directory, ...(credential !== undefined && { authorization: `Bearer ${credential}` }) },
  })
  const isJson = answer.headers['content-type']?.toString().startsWith('application/json') === true
  const body = isJson ? answer.json<{ code?: string; details?: { scope?: string } }>() : undefined
  return { status: answer.statusCode, code: body?.code, scope: body?.details?.scope }
}
async function judged(...asking: Parameters<typeof ask>): Promise<string> {
  const { status, code, scope } = await ask(...asking)
  return status < 300 ? 'let in' : `${status} ${code}${scope === undefined ? '' : ` ${scope}`}`
}

test('every operation stands under one scope, is of management, or is open; nothing else stands there', () => {
  for (const contract of API) {
    const scopes = SCOPES.filter((scope) => SCOPED[scope].has(contract.id))
    const expected = isOpen(contract) || contract.id.startsWith('v2.management.') ? 0 : 1
    expect([contract.id, scopes.length]).toEqual([contract.id, expected])
    const reads = contract.method === 'GET' ? ['agent:read', 'workspace:admin'] : ['agent:use', 'workspace:admin']
    expect([contract.id, scopes.filter((scope) => !reads.includes(scope))]).toEqual([contract.id, []])
  }
  const ids = new Set<string>(API.map(({ id }) => id))
  expect([...SCOPES.flatMap((scope) => [...SCOPED[scope]]), ...WHILE_ENDING].filter((id) => !ids.has(id))).toEqual([])
})

test.each(SCOPES)('the scope %s opens what stands under it, in the directory of the caller, and nothing else', async (scope) => {
  for (const contract of ASKED.filter((each) => !isOpen(each))) {
    const needed = scopeOf(contract)
    const expected = needed === undefined ? '403 request.forbidden' : needed === scope ? 'let in' : `403 request.forbidden ${needed}`
    expect([contract.id, await judged(contract, TOKENS[scope])]).toEqual([contract.id, expected])
  }
})

describe('all scopes together', () => {
  const scoped = ASKED.filter((each) => !isOpen(each) && scopeOf(each) !== undefined)
  const ofSessions = scoped.filter(({ access }) => access.class === 'session' || access.class === 'interaction')
  const ofDirectories = scoped.filter(({ access }) => access.class === 'directory')

  test('open everything but management', async () => {
    for (const contract of scoped) expect([contract.id, await judged(contract, ALL)]).toEqual([contract.id, 'let in'])
  })

  test('open no session beyond the directory, and no directory of others', async () => {
    for (const contract of ofSessions)
      expect([contract.id, await judged(contract, ALL, { foreign: true })]).toEqual([contract.id, '403 auth.session_forbidden'])
    for (const contract of ofDirectories) {
      for (const directory of ['/srv', '/srv/spaces', '/']) {
        const answer = await judged(contract, ALL, { directory })
        expect([contract.id, directory, answer]).toEqual([contract.id, directory, '403 auth.directory_forbidden'])
      }
    }
  })
})

test('nothing of the installation is changed by a caller of a worker, and nothing of it is read', async () => {
  const config = API.find(({ id }) => id === 'v2.config.update')
  const agents = API.find(({ id }) => id === 'v2.agents.list')
  if (config === undefined || agents === undefined) throw new Error('no such operations')
  expect(await judged(config, ALL, { query: 'scope=installation' })).toBe('403 request.forbidden')
  expect(await judged(agents, ALL, { query: 'scope=installation' })).toBe('403 auth.directory_forbidden')
})

test('a worker that ends reads, answers and stops; it takes nothing new on', async () => {
  isEnding = true
  try {
    for (const contract of ASKED.filter((each) => !isOpen(each) && scopeOf(each) !== undefined)) {
      const expected = scopeOf(contract) === 'agent:read' || WHILE_ENDING.has(contract.id) ? 'let in' : '409 lifecycle.closed'
      expect([contract.id, await judged(contract, ALL)]).toEqual([contract.id, expected])
    }
  } finally {
    isEnding = false
  }
})

test('routes of plugins are read with one scope and called with another', async () => {
  const call = async (method: 'GET' | 'POST', scope: string) => {
    const headers = { authorization: `Bearer ${TOKENS[scope]}`, 'x-svc-directory': '/srv/space' }
    const answer = await server.inject({ method, url: '/v2/plugins/dev.example.notes/list', headers })
    return answer.statusCode === 403
  }
  expect([
    await call('GET', 'agent:read'),
    await call('POST', 'agent:read'),
    await call('GET', 'agent:use'),
    await call('POST', 'agent:use'),
  ]).toEqual([false, true, true, false])
})

describe('nothing but tokens of its controller', () => {
  test('is a credential of a worker: every operation is 401 with one text for all others', async () => {
    const others = [
      undefined,
      'no-such-token',
      sign(claimsAt(clock.now())),
      tokenOf(SCOPES, { runtimeGeneration: 2 }),
      signWorker(workerClaims(worker, clock.now()), workerKeys().seed),
    ]
    for (const credential of others)
      for (const contract of ASKED.filter((each) => !isOpen(each)))
        expect([contract.id, await judged(contract, credential)]).toEqual([contract.id, '401 auth.invalid_token'])
  })

  test.each(['SVC_AGENT_TOKEN', 'SVC_AGENT_AUTH_CONFIG', 'SVC_DAEMON_TOKEN'])(
    'may be configured beside them: %s stops the start',
    (name) => {
      expect(() => createTokens({ [name]: 'something' }, { worker: callers })).toThrow(`${name} is set`)
    },
  )
})

describe('six thousand tokens that were changed', () => {
  let state = 7
  const random = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state % below
  }
  const one = <T>(of: readonly T[]): T => of[random(of.length)] as T
  const ALPHABET = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/~ ')
  const VALUES: readonly unknown[] = [null, 0, -1, 1.5, '', '/', '../..', [], {}, true, Number.MAX_SAFE_INTEGER, 'a b', ['agent:write']]
  const good = ALL
  const signature = good.slice(good.lastIndexOf('.') + 1)
  const claims = workerClaims(worker, clock.now(), { scopes: SCOPES })
  const others = workerKeys().seed
  /** One member is another, or is gone; a list of no scopes is one that counts. */
  const changed = () => {
    const [name, value] = [one(Object.keys(claims)), one(VALUES)]
    const { [name]: _, ...rest } = claims
    if (random(4) === 0) return rest
    return { ...rest, [name]: name === 'scopes' && Array.isArray(value) ? null : value }
  }
  const at = () => random(good.length)
  const spliced = (from: number, count: number, text: string) => good.slice(0, from) + text + good.slice(from + count)
  const MUTATIONS: readonly (() => string)[] = [
    () => spliced(at(), 1, one(ALPHABET)),
    () => spliced(at(), 1 + random(3), ''),
    () => spliced(at(), 0, one(ALPHABET)),
    () => good.slice(0, at()),
    () => `${WORKER_PREFIX}${Buffer.from(JSON.stringify(changed())).toString('base64url')}.${signature}`,
    () => signWorker(changed(), seed),
    () => signWorker(claims, others),
  ]

  test('get 401 or 403, and nothing else', async () => {
    const contract = API.find(({ id }) => id === 'v2.runtime.get')
    if (contract === undefined) throw new Error('no such operation')
    const seen = new Map<number, number>()
    for (let round = 0; round < 6000; round++) {
      const text = one(MUTATIONS)().trim()
      if (text === good) continue
      const { status } = await ask(contract, text)
      seen.set(status, (seen.get(status) ?? 0) + 1)
    }
    expect([...seen.keys()]).toEqual([401])
    expect((await ask(contract, good)).status).toBe(200) // the positive control
  })
})
