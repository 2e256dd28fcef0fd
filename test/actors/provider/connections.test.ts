// Holds subsystems c.5, c.6.
import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { createConnections } from '../../../src/actors/provider/credentials/connections.js'
import { createCredentialFile } from '../../../src/actors/provider/credentials/credential-file.js'
import { SvcError } from '../../../src/protocol/errors.js'
import { createFakeEffects, type FakeEffects } from '../../fakes/effects.js'

const KEY = { type: 'api', key: 'sk-planted' } as const
const made: FakeEffects[] = []
afterEach(() => {
  for (const { root } of made.splice(0)) rmSync(root, { recursive: true, force: true })
})

function setUp(env: Record<string, string> = {}) {
  const effects = createFakeEffects({ env })
  made.push(effects)
  const endpointOf = async (providerId: string) => {
    if (providerId === 'unknown') throw new SvcError('resource.not_found')
    return 'https://vendor.example/v1'
  }
  const open = () => createConnections({ effects, file: createCredentialFile(effects), endpointOf })
  return { effects, open, connections: open(), path: join(effects.paths.state, 'auth.json') }
}

test('connections are stored, named, chosen and removed', async () => {
  const { connections } = setUp()
  const first = await connections.create('vendor', undefined, { label: 'Work', credential: KEY, setDefault: false })
  const second = await connections.create('vendor', undefined, { label: 'Play', credential: KEY, setDefault: false })
  expect(first).toEqual({
    providerId: 'vendor',
    connectionId: first.connectionId,
    label: 'Work',
    scope: { tenantId: 'local' },
    authType: 'api',
    isDefault: true,
  })
  expect(second.isDefault).toBe(false)
  const { connectionId } = second
  expect(await connections.rename('vendor', undefined, { connectionId, label: 'Fun' })).toEqual({ ...second, label: 'Fun' })
  expect(await connections.setDefault('vendor', undefined, connectionId)).toMatchObject({ isDefault: true })
  expect(await connections.list('vendor', '/elsewhere')).toEqual([])
  expect(await connections.has('vendor', '/elsewhere')).toBe(true)
  expect(await connections.remove('vendor', undefined, connectionId)).toBe(true)
  expect(await connections.remove('vendor', undefined, connectionId)).toBe(false)
  expect(await connections.list('vendor', undefined)).toEqual([first])
  expect(await connections.unset('vendor', undefined)).toBe(true)
  expect(await connections.has('vendor', undefined)).toBe(false)
})

test('a connection that is not there is refused, and so is a provider nobody knows', async () => {
  const { connections, path } = setUp()
  await expect(connections.setDefault('vendor', undefined, 'conn_no')).rejects.toMatchObject({ code: 'resource.not_found' })
  await expect(connections.set('unknown', undefined, KEY)).rejects.toMatchObject({ code: 'resource.not_found' })
  expect(existsSync(path)).toBe(false)
})

test('the file is for its owner alone, and an open one is closed by the next change', async () => {
  const { connections, path } = setUp()
  await connections.set('vendor', undefined, KEY)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  chmodSync(path, 0o644)
  await connections.set('vendor', undefined, { ...KEY, key: 'sk-other' })
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('changes of two processes at the same time are all kept', async () => {
  const { connections, open } = setUp()
  const others = open()
  const labels = Array.from({ length: 6 }, (_, index) => `c${index}`)
  for (const [index, label] of labels.entries()) {
    await (index % 2 === 0 ? connections : others).create('vendor', undefined, { label, credential: KEY, setDefault: false })
  }
  expect((await connections.list('vendor', undefined)).map(({ label }) => label)).toEqual(labels)
  expect(await others.list('vendor', undefined)).toEqual(await connections.list('vendor', undefined))
})

test('a malformed file is told, never written over, and nothing of it is repeated', async () => {
  const { connections, effects, path } = setUp()
  const text = '{"vendor": {"type":"api","key":"sk-planted"'
  writeFileSync(path, text)
  expect(await connections.list('vendor', undefined)).toEqual([])
  const refused = await connections.set('vendor', undefined, KEY).catch((error: unknown) => error)
  expect(refused).toMatchObject({
    code: 'resource.conflict',
    message: `The credential file ${path} is malformed; nothing was changed. Repair it, or move it away.`,
  })
  expect(readFileSync(path, 'utf8')).toBe(text)
  expect(effects.logs).toMatchObject([{ level: 'warn', fields: { path } }, {}])
  expect(JSON.stringify([effects.logs, refused])).not.toContain('planted')
})

test('credentials in the environment are read and not changed', async () => {
  const { connections, path } = setUp({ SVC_AGENT_AUTH_CONTENT: JSON.stringify({ vendor: KEY }) })
  expect(await connections.list('vendor', undefined)).toMatchObject([{ connectionId: 'conn_legacy', label: 'Default', isDefault: true }])
  await expect(connections.unset('vendor', undefined)).rejects.toMatchObject({ code: 'resource.conflict' })
  expect(existsSync(path)).toBe(false)
})

test('the file is where SVC_AGENT_AUTH_PATH says, in a directory for its owner alone', async () => {
  const { effects } = setUp()
  const path = join(effects.root, 'private', 'keys.json')
  const moved = { ...effects, env: { SVC_AGENT_AUTH_PATH: path } }
  const connections = createConnections({ effects, file: createCredentialFile(moved), endpointOf: async () => undefined })
  await connections.set('vendor', undefined, KEY)
  expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ version: 2 })
  expect(statSync(join(effects.root, 'private')).mode & 0o777).toBe(0o700)
})
