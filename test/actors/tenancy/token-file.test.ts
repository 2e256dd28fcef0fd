// Holds subsystems d.3; threat-model T1, T2, T5.
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { openTokenFile } from '../../../src/actors/tenancy/tenants/token-file.js'
import { nextTurn } from '../../../src/kernel/pause.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { createFakeEffects, type FakeEffects } from '../../fakes/effects.js'

let effects: FakeEffects
let path: string
beforeEach(() => {
  effects = createFakeEffects()
  path = join(effects.root, 'tokens.json')
})

const entry = (token: string, more: object = {}) => ({ token, tenantId: 'acme', directoryPrefixes: ['/srv/acme'], ...more })
const write = (...tokens: object[]) => writeFileSync(path, JSON.stringify({ tokens }), { mode: 0o600 })
const open = (value = path, operator?: string) => openTokenFile({ effects, value, operator })
const look = () => effects.clock.advanceAsync(LIMITS.tenants.look * LIMITS.tenants.pauseOfBad)

test('makes callers that are hosted, of their tenant and in their directories', async () => {
  write(entry('one'), entry('two', { tenantId: 'b', directoryPrefixes: [] }))
  const file = await open()
  expect(file.callerOf('one')).toEqual({
    subject: 'hosted:acme',
    tenantId: 'acme',
    authenticated: true,
    operator: false,
    hosted: true,
    directoryPrefixes: ['/srv/acme'],
  })
  expect(file.callerOf('two')).toMatchObject({ tenantId: 'b', directoryPrefixes: [] })
  for (const other of ['', 'on', 'onee', 'ONE', 'one\n']) expect(file.callerOf(other)).toBeUndefined()
  file.close()
  expect(effects.clock.pendingTimers).toBe(0)
})

test('may be the document itself, which is not looked at again', async () => {
  const file = await open(` ${JSON.stringify({ tokens: [entry('one')] })}`)
  expect(file.callerOf('one')).toMatchObject({ tenantId: 'acme' })
  expect(effects.clock.pendingTimers).toBe(0)
})

test.each([
  ['an empty value', '', /neither an absolute path nor a JSON object/],
  ['a relative path', 'tokens.json', /neither an absolute path/],
  ['a document that is cut off', '{"tokens":', /^SVC_AGENT_AUTH_CONFIG: line 1: is not JSON/],
])('that is %s stops the start', async (_, value, message) => {
  await expect(open(value)).rejects.toMatchObject({ code: 'config.invalid', message: expect.stringMatching(message) as string })
})

test('that is not there, not readable as text, malformed, a directory, or holds the token of the operator stops the start, by name', async () => {
  const refused = async (reason: RegExp, operator?: string) =>
    expect(open(path, operator)).rejects.toMatchObject({ code: 'config.invalid', message: expect.stringMatching(reason) as string })
  const named = (text: string) => new RegExp(`^SVC_AGENT_AUTH_CONFIG: ${path}: ${text}`)
  await refused(named('there is no such file'))
  writeFileSync(path, Uint8Array.of(0xff, 0xfe))
  await refused(named(''))
  writeFileSync(path, '{"tokens":[\n{"token":"a","tenantId":""}]}')
  await refused(named('line 2: tokens\\[0\\]\\.tenantId has to be'))
  write(entry('one'))
  await refused(named('the token of SVC_AGENT_TOKEN'), 'one')
  rmSync(path)
  mkdirSync(path)
  await refused(named(''))
})

test('is read again when it changes: who left or has other rights is nobody, who is the same stays who he was', async () => {
  write(entry('stays'), entry('leaves'), entry('moves'))
  const file = await open()
  const [stays, leaves, moves] = ['stays', 'leaves', 'moves'].map((token) => file.callerOf(token))
  if (stays === undefined || leaves === undefined || moves === undefined) throw new Error('nobody')
  write(entry('stays'), entry('moves', { directoryPrefixes: ['/srv'] }), entry('comes'))
  await look()
  expect([stays, leaves, moves].map((caller) => file.stands(caller))).toEqual([true, false, false])
  expect(file.callerOf('stays')).toBe(stays)
  expect(file.callerOf('leaves')).toBeUndefined()
  expect(file.callerOf('moves')).toMatchObject({ directoryPrefixes: ['/srv'] })
  expect(file.callerOf('comes')).toBeDefined()
  write()
  await look()
  expect(file.stands(stays)).toBe(false)
  expect(file.callerOf('stays')).toBeUndefined()
  file.close()
})

test('that becomes unusable leaves the last good one in force, and says so until it is good again; it may be replaced through a link', async () => {
  const [first, second] = [join(effects.root, 'first'), join(effects.root, 'second')]
  write(entry('one'))
  renameSync(path, first)
  symlinkSync(first, path)
  const file = await open()
  expect(file.problem).toBeUndefined()
  writeFileSync(first, '{"tokens": [\n\n', { mode: 0o600 })
  await look()
  expect(file.problem).toMatch(/^line 3: is not JSON/)
  expect(file.callerOf('one')).toMatchObject({ tenantId: 'acme' })
  rmSync(first)
  await look()
  expect(file.problem).toBe('there is no such file')
  writeFileSync(second, JSON.stringify({ tokens: [entry('two')] }), { mode: 0o600 })
  rmSync(path)
  symlinkSync(second, path)
  await look()
  expect([file.problem, file.callerOf('one')]).toEqual([undefined, undefined])
  expect(file.callerOf('two')).toBeDefined()
  file.close()
})

test('takes directories in canonical form when it is read, and no link that comes later widens one', async () => {
  mkdirSync(join(effects.root, 'real'))
  symlinkSync(join(effects.root, 'real'), join(effects.root, 'link'))
  write(entry('one', { directoryPrefixes: [join(effects.root, 'link'), join(effects.root, 'later')] }))
  chmodSync(path, 0o600)
  const file = await open()
  const expected = { directoryPrefixes: [join(effects.root, 'real'), join(effects.root, 'later')] }
  expect(file.callerOf('one')).toMatchObject(expected)
  symlinkSync('/', join(effects.root, 'later'))
  await look()
  expect(file.callerOf('one')).toMatchObject(expected)
  file.close()
})

test('that is large is read in many turns, and the last one counts until all of it was read', async () => {
  const many = (tenantId: string) => Array.from({ length: 2000 }, (_, at) => entry(`token-${at}`, { tenantId }))
  write(...many('a'))
  const file = await open()
  expect(file.callerOf('token-1999')).toMatchObject({ tenantId: 'a' })
  write(...many('b'), entry('last'))
  let turns = 0
  const tenants = new Set<string>()
  void look()
  while (file.callerOf('last') === undefined) {
    for (const at of [0, 1000, 1999]) tenants.add(file.callerOf(`token-${at}`)?.tenantId ?? '')
    await nextTurn()
    turns++
  }
  expect([...tenants]).toEqual(['a'])
  expect(turns).toBeGreaterThan(statSync(path).size / LIMITS.tenants.partCharacters)
  expect(['token-0', 'token-1999'].map((token) => file.callerOf(token)?.tenantId)).toEqual(['b', 'b'])
  writeFileSync(path, readFileSync(path).subarray(0, 100_000), { mode: 0o600 })
  await look()
  while (file.problem === undefined) await nextTurn()
  expect(file.problem).toMatch(/^line 1: is not JSON of the form/)
  expect(file.callerOf('last')).toBeDefined()
  file.close()
})

test('that cannot be used is not read again until it has changed', async () => {
  write(entry('one'))
  const { files } = effects
  let reads = 0
  const file = await openTokenFile({
    effects: { ...effects, files: { ...files, read: (...asked) => (reads++, files.read(...asked)) } },
    value: path,
    operator: undefined,
  })
  writeFileSync(path, '{', { mode: 0o600 })
  for (let again = 0; again < 4; again++) await look()
  expect([reads, file.problem]).toEqual([2, expect.stringMatching(/^line 1: is not JSON/)])
  write(entry('two'))
  await look()
  expect([reads, file.problem]).toEqual([3, undefined])
  file.close()
})

test('keeps who is connected where only quotas have changed, and holds the new ones', async () => {
  write(entry('one', { maxSessions: 1 }))
  const file = await open()
  const before = file.callerOf('one')
  if (before === undefined) throw new Error('nobody')
  expect(before.quotas).toEqual({ maxSessions: 1 })
  write(entry('one', { maxInFlight: 2 }))
  await look()
  expect([file.stands(before), file.callerOf('one')?.quotas]).toEqual([true, { maxInFlight: 2 }])
  write(entry('one'))
  await look()
  expect([file.stands(before), file.callerOf('one')]).toEqual([true, { ...before, quotas: undefined }])
  write(entry('one', { tenantId: 'b' }))
  await look()
  expect(file.stands(before)).toBe(false)
  file.close()
})
