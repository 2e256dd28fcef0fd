// Holds subsystems d.1, d.9; threat-model T1, T2, T5.
import { expect, test } from 'vitest'
import { openWorkerCallers } from '../../../src/actors/tenancy/worker/worker-callers.js'
import { keyOfBytes, readToken } from '../../../src/actors/tenancy/worker/worker-token.js'
import { createFakeClock } from '../../../src/simulation/clock.js'
import { bootstrapAt, signWorker, signWorkerText, WORKER_PREFIX, workerClaims, workerKeys } from '../../fakes/workers.js'

const clock = createFakeClock()
const worker = bootstrapAt(clock.now())
const { seed, bytes } = workerKeys()
const key = keyOfBytes(bytes)
if (key === undefined) throw new Error('no key')
const source = openWorkerCallers(clock, key, worker)
const claims = (more: object = {}) => workerClaims(worker, clock.now(), { ...more })
const callerOf = (more: object = {}) => source.callerOf(signWorker(claims(more), seed))

test('a token makes the caller it says, in the one tenant of the worker, until it ends', () => {
  const now = clock.now()
  const token = signWorker(claims({ scopes: ['agent:read', 'workspace:admin'] }), seed)
  const caller = source.callerOf(token)
  expect(caller).toEqual({
    subject: 'user:ada',
    tenantId: 'local',
    authenticated: true,
    operator: false,
    actorType: 'human',
    directoryPrefixes: ['/srv/space'],
    scopes: new Set(['agent:read', 'workspace:admin']),
    hasWhole: true,
    manages: true,
    until: now + 300_000,
  })
  expect(callerOf({ scopes: ['agent:use'], actorType: 'service-account', directoryPrefix: '/srv/space/app' })).toEqual({
    subject: 'user:ada',
    tenantId: 'local',
    authenticated: true,
    operator: false,
    actorType: 'service-account',
    directoryPrefixes: ['/srv/space/app'],
    scopes: new Set(['agent:use']),
    until: now + 300_000,
  })
  if (caller === undefined || caller instanceof Promise) throw new Error('nobody')
  expect(source.callerOf(token)).toBe(caller)
  clock.advance(299_999)
  expect([source.stands(caller), source.callerOf(token)]).toEqual([true, caller])
  clock.advance(1)
  expect([source.stands(caller), source.callerOf(token)]).toEqual([false, undefined])
})

test('a token for another tenant, workspace, runtime or generation, or beyond the root, opens nothing', () => {
  expect(callerOf()).toBeDefined()
  for (const other of [
    { tenantId: 'other' },
    { workspaceId: 'ws-2' },
    { runtimeId: 'rt-2' },
    { runtimeGeneration: 2 },
    { runtimeGeneration: 4 },
    { directoryPrefix: '/srv' },
    { directoryPrefix: '/' },
    { directoryPrefix: '/srv/spaces' },
    { directoryPrefix: '/srv/space/../other' },
    { directoryPrefix: '/srv/space/' },
    { version: 2 },
    { subject: 'local' },
    { subject: 'local-operator' },
    { subject: 'hosted:acme' },
    { subject: 'ada lovelace' },
    { subject: 'a'.repeat(257) },
    { subject: '' },
    { actorType: 'robot' },
    { scopes: ['agent:read', 'agent:read'] },
    { scopes: ['agent:write'] },
    { scopes: 'agent:read' },
    { quotas: { maxFriends: 1 } },
    { quotas: { maxInFlight: -1 } },
    { quotas: [] },
    { extra: 1 },
    { aud: 'svc' },
  ])
    expect([other, callerOf(other)]).toEqual([other, undefined])
})

test('clocks may differ by five seconds, a lifetime is five minutes at most, and ends with the bootstrap', () => {
  const seconds = Math.floor(clock.now() / 1000)
  const at = (issuedAt: number, expiresAt: number) =>
    callerOf({ issuedAt: seconds + issuedAt, expiresAt: seconds + expiresAt }) !== undefined
  expect([at(0, 300), at(0, 301), at(5, 300), at(6, 300), at(-300, 0), at(-299, 1), at(0, 0), at(10, 5)]).toEqual([
    true,
    false,
    true,
    false,
    false,
    true,
    false,
    false,
  ])
  const short = openWorkerCallers(clock, key, { ...worker, expiresAt: seconds + 100 })
  const until = (expiresAt: number) => short.callerOf(signWorker(claims({ expiresAt: seconds + expiresAt }), seed)) !== undefined
  expect([until(100), until(101)]).toEqual([true, false])
  expect(callerOf({ issuedAt: clock.now(), expiresAt: clock.now() + 1000 })).toBeUndefined() // ms
})

test('a caller is held to the quotas of its token', async () => {
  const quotas = async (each: unknown) => (await callerOf({ quotas: each }))?.quotas
  expect([await quotas({ maxInFlight: 3 }), await quotas({}), await quotas(null)]).toEqual([{ maxInFlight: 3 }, {}, undefined])
})

test('a token has one spelling, is signed by this key, and is of its form', () => {
  const token = signWorker(claims(), seed)
  const [payload = '', signature = ''] = token.slice(WORKER_PREFIX.length).split('.')
  const read = (text: string) => readToken(text, key, worker) !== undefined
  expect(read(token)).toBe(true)
  const last = signature.slice(-1)
  const spellings = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_')
    .filter((character) => character !== last)
    .map((character) => `${WORKER_PREFIX}${payload}.${signature.slice(0, -1)}${character}`)
  const same = spellings.filter((text) =>
    Buffer.from(text.slice(text.lastIndexOf('.') + 1), 'base64url').equals(Buffer.from(signature, 'base64url')),
  )
  expect([same.length, spellings.filter(read)]).toEqual([15, []])
  for (const text of [
    `${token}=`,
    ` ${token}`,
    `${token}\n`,
    token.replace(WORKER_PREFIX, 'svc-workspace-worker-v2.'),
    token.replace(WORKER_PREFIX, 'svc-daemon-v1.'),
    `${WORKER_PREFIX}${payload}`,
    `${WORKER_PREFIX}${payload}.`,
    `${WORKER_PREFIX}.${signature}`,
    `${WORKER_PREFIX}${payload}.${signature}.${signature}`,
    signWorker(claims(), workerKeys().seed),
    signWorker([], seed),
    signWorker(null, seed),
    signWorkerText('{', seed),
    signWorkerText(Buffer.from([0x7b, 0xff, 0x7d]), seed),
    signWorkerText(JSON.stringify({ ...claims(), pad: 'x'.repeat(8192) }), seed),
  ])
    expect([text, read(text)]).toEqual([text, false])
})

test('a key has thirty-two bytes, and is none that everybody could sign for', () => {
  expect([keyOfBytes(bytes.subarray(1)), keyOfBytes(Buffer.concat([bytes, Buffer.from([0])])), keyOfBytes(Buffer.alloc(0))]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
  const weak = [
    Buffer.alloc(32),
    Buffer.from(`01${'00'.repeat(31)}`, 'hex'),
    Buffer.from(`ec${'ff'.repeat(30)}7f`, 'hex'),
    Buffer.from(`${'00'.repeat(31)}80`, 'hex'),
  ]
  expect(weak.map((point) => keyOfBytes(point))).toEqual([undefined, undefined, undefined, undefined])
})
