// Holds subsystems d.5; threat-model T1, T2, T5.
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { openSigned } from '../../../src/actors/tenancy/signed/signed.js'
import { createFakeEffects, type FakeEffects } from '../../fakes/effects.js'
import { claimsAt, DAEMON_KEY, sign, signText } from '../../fakes/signed.js'

let effects: FakeEffects
let file: string
beforeEach(() => {
  effects = createFakeEffects()
  mkdirSync(join(effects.root, 'svc'), { mode: 0o700 })
  file = join(effects.root, 'svc', 'daemon-token')
})

const open = async (fixed?: string, isShared = false) => {
  const source = await openSigned({ effects, fixed, file, isShared })
  if (source === undefined) throw new Error('there is no key')
  return source
}
const put = (key: string, mode = 0o600) => {
  rmSync(file, { force: true })
  writeFileSync(file, key, { mode })
}
const claims = (more: object = {}) => claimsAt(effects.clock.now(), { ...more })

test('a credential makes the caller it says, until it ends', async () => {
  const source = await open(DAEMON_KEY)
  const now = effects.clock.now()
  const caller = await source.callerOf(sign(claims()))
  expect(caller).toEqual({
    subject: 'user:ada',
    tenantId: 'acme',
    authenticated: true,
    operator: false,
    directoryPrefixes: ['/srv/space'],
    until: now + 120_000,
  })
  expect(await source.callerOf(sign(claims({ hosted: true, directoryPrefixes: [] })))).toMatchObject({
    hosted: true,
    directoryPrefixes: [],
  })
  expect(await source.callerOf(sign(claims({ tenantId: 'local' })))).toMatchObject({ tenantId: 'local', operator: false })
  if (caller === undefined) throw new Error('nobody')
  const again = sign(claims())
  expect(await source.callerOf(again)).toBe(caller)
  effects.clock.advance(119_999)
  expect([source.stands(caller), await source.callerOf(again)]).toEqual([true, caller])
  effects.clock.advance(1)
  expect([source.stands(caller), await source.callerOf(again)]).toEqual([false, undefined])
  effects.clock.stepWall(-200_000)
  expect(await source.callerOf(again)).toBeUndefined()
})

test('clocks may differ by five seconds, and a lifetime is two minutes at most', async () => {
  const source = await open(DAEMON_KEY)
  const seconds = Math.floor(effects.clock.now() / 1000)
  const at = async (issuedAt: number, expiresAt: number) =>
    (await source.callerOf(sign(claims({ issuedAt: seconds + issuedAt, expiresAt: seconds + expiresAt })))) !== undefined
  expect(await at(5, 125)).toBe(true)
  expect(await at(6, 126)).toBe(false)
  expect(await at(0, 121)).toBe(false)
  expect(await at(-119, 1)).toBe(true)
  expect(await at(-120, 0)).toBe(false)
  expect(await at(10, 10)).toBe(false)
  expect(await at(1, -1)).toBe(false)
})

test('whatever else is said, or said otherwise, opens nothing', async () => {
  const source = await open(DAEMON_KEY)
  const good = sign(claims())
  const [, payload = '', signature = ''] = good.split('.').slice(-3)
  const spare = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    .split('')
    .map((last) => `${signature.slice(0, -1)}${last}`)
  const wrong: readonly string[] = [
    sign(claims(), 'another-key'),
    ...[
      { issuer: 'me' },
      { audience: 'you' },
      { subject: '' },
      { subject: 'two words' },
      { subject: 'local-operator' },
      { subject: 'local' },
      { subject: 'hosted:acme' },
      { subject: 's'.repeat(257) },
      { tenantId: '' },
      { tenantId: '..' },
      { tenantId: 'a/b' },
      { tenantId: 'local', hosted: true },
      { workspaceId: '' },
      { workspaceId: 7 },
      { directoryPrefixes: ['srv'] },
      { directoryPrefixes: ['/a/../b'] },
      { directoryPrefixes: '/' },
      { hosted: 1 },
      { issuedAt: 1.5 },
      { expiresAt: '1' },
      { admin: true },
      { directoryPrefixes: undefined },
    ].map((more) => sign(claims(more))),
    signText('null'),
    signText('{'),
    signText(''),
    `${good}.`,
    `${good}=`,
    good.slice(0, -1),
    good.replace('svc-daemon-v1', 'svc-daemon-v2'),
    `svc-daemon-v1.${payload}`,
    `svc-daemon-v1..${signature}`,
    `svc-daemon-v1.${payload}A.${signature}`,
    sign(claims({ subject: 's'.repeat(200), directoryPrefixes: Array.from({ length: 200 }, (_, at) => `/srv/${'d'.repeat(40)}/${at}`) })),
    ...spare.filter((other) => other !== signature).map((other) => `svc-daemon-v1.${payload}.${other}`),
  ]
  for (const text of wrong) expect([text, await source.callerOf(text)]).toEqual([text, undefined])
  expect(await source.callerOf(good)).toBeDefined()
})

test('a credential of one workspace makes a caller of that workspace; one of none a caller of all', async () => {
  const source = await open(DAEMON_KEY)
  expect(await source.callerOf(sign(claims({ workspaceId: 'ws1' })))).toMatchObject({ workspaceId: 'ws1', tenantId: 'acme' })
  expect(await source.callerOf(sign(claims({ workspaceId: 'ws1', hosted: true })))).toMatchObject({ workspaceId: 'ws1', hosted: true })
  for (const workspaceId of [null, undefined])
    expect(await source.callerOf(sign(claims({ workspaceId })))).not.toHaveProperty('workspaceId')
})

test('the key in a file is read again when a signature does not fit, and the old one opens nothing then', async () => {
  put(`${DAEMON_KEY}\n`)
  const source = await open()
  const old = sign(claims())
  expect(await source.callerOf(old)).toBeDefined()
  put('the-next-key')
  expect(await source.callerOf(sign(claims(), 'the-next-key'))).toBeDefined()
  expect(await source.callerOf(old)).toBeUndefined()
  put('')
  expect(await source.callerOf(sign(claims(), 'x'))).toBeUndefined()
  rmSync(file)
  expect(await source.callerOf(sign(claims(), 'the-next-key'))).toBeDefined()
})

test('a key that is configured and of no use stops the start; where others may put one, theirs says nothing', async () => {
  for (const fixed of ['', ' ', 'two words']) await expect(open(fixed)).rejects.toMatchObject({ code: 'config.invalid' })
  expect(await openSigned({ effects, fixed: undefined, file, isShared: false })).toBeUndefined()
  const unusable = async (key: string, mode: number) => {
    put(key, mode)
    chmodSync(file, mode)
    await expect(open()).rejects.toMatchObject({ code: 'config.invalid' })
    expect(await openSigned({ effects, fixed: undefined, file, isShared: true })).toBeUndefined()
  }
  await unusable('', 0o600)
  await unusable('two words', 0o600)
  await unusable(DAEMON_KEY, 0o640)
  await unusable(DAEMON_KEY, 0o602)
})
