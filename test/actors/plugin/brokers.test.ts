// Holds plugin-protocol §2.5, §2.6, §4.8, §12-6.
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { GrantedBroker } from '../../../src/actors/plugin/brokers/broker.js'
import { type BrokerHost, createBrokers } from '../../../src/actors/plugin/brokers/brokers.js'
import { createLeases } from '../../../src/actors/plugin/brokers/leases.js'
import type { InstancePlace } from '../../../src/actors/plugin/generation/instance.js'
import { SvcError } from '../../../src/protocol/errors.js'
import { HOST_CAPABILITIES, type HostCapability } from '../../../src/protocol/plugin/plugin.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { OWNER } from './played-link.js'

interface Options {
  readonly capabilities?: readonly HostCapability[]
  readonly place?: InstancePlace
  readonly brokers?: ReadonlyMap<HostCapability, GrantedBroker>
  readonly config?: unknown
}

function setUp({ capabilities = HOST_CAPABILITIES, place, brokers = new Map(), config = {} }: Options = {}) {
  const effects = createFakeEffects()
  const published: [string, unknown][] = []
  const where = place ?? { scope: 'workspace', workspace: effects.paths.cwd }
  const owners: unknown[] = []
  const installed = [...brokers].map(([capability, broker]) => {
    const grant = ({ owner }: { readonly owner: unknown }) => (owners.push(owner), broker)
    return [capability, { grant }] as const
  })
  const leases = createLeases({ effects, brokers: new Map(installed) })
  const lease = leases.grant({ owner: OWNER, place: where, declared: {}, listedHosts: [] }, capabilities)
  const host: BrokerHost = {
    config: async () => config,
    setConfig: async (key, value, issueOf) => {
      const issue = issueOf({ [key]: value })
      if (issue !== undefined) throw new SvcError('request.unprocessable', issue)
      Object.assign(config as object, { [key]: value })
    },
    publish: async (type, properties) => void published.push([type, properties]),
    protectedFiles: { reasons: async (paths) => paths.map((path) => (path.includes('/.git/') ? 'version-control settings' : undefined)) },
  }
  const made = createBrokers({
    effects,
    host,
    owner: OWNER,
    lease,
    place: where,
    eventNamespaces: ['acme', '.dotted.'],
    config,
    settingsIssue: (value) => (JSON.stringify(value).includes('bad') ? 'it is bad' : undefined),
  })
  const call = (method: string, params: unknown) =>
    made.serve({ method, params, owner: OWNER, signal: new AbortController().signal, waits: () => undefined })
  return { call, owners, lease, published, effects, root: effects.paths.cwd, audit: made.audit }
}

describe('the configuration', () => {
  const config = { theme: 'dark', a: { b: [1, 2], 'c.d': 1 }, none: null }

  test.each([
    ['theme', 'dark'],
    ['a.b', [1, 2]],
    ['', config],
    ['a.b.0', null],
    ['a.missing.x', null],
    ['none', null],
    ['toString', null],
    ['a.c.d', null],
  ])('answers the key %j', async (key, value) => {
    expect(await setUp({ config }).call('host.config.get', { key })).toEqual(value)
  })

  test('of the plugin itself is changed and then read as it is, and a denial names the capability', async () => {
    const write = ['host.config.set', { key: 'a', value: 1 }] as const
    const { call } = setUp({ config: {} })
    expect([await call(...write), await call('host.config.get', { key: 'a' })]).toEqual([{}, 1])
    await expect(call('host.config.set', { key: 'a', value: 'bad' })).rejects.toThrow('it is bad')
    await expect(setUp({ capabilities: ['config-read'] }).call(...write)).rejects.toThrow(/not available.*ConfigWrite is not granted/)
  })
})

describe('files of the workspace', () => {
  test('are read as bytes, listed by name and written whole', async () => {
    const { call, root } = setUp()
    mkdirSync(join(root, 'sub'))
    expect(await call('host.workspace.write', { path: 'sub/é', contents: [104, 105] })).toEqual({})
    expect(await call('host.workspace.write', { path: 'sub/a', contents: {} })).toEqual({})
    expect(await call('host.workspace.write', { path: './sub/./z', contents: [0, 255] })).toEqual({})
    expect(await call('host.workspace.read', { path: 'sub/é' })).toEqual([104, 105])
    expect(await call('host.workspace.list', { path: 'sub' })).toEqual(['a', 'z', 'é'])
    expect(await call('host.workspace.list', { path: '.' })).toEqual(['sub'])
    await call('host.workspace.write', { path: 'sub/é', contents: [33] })
    expect(readFileSync(join(root, 'sub/é'), 'utf8')).toBe('!')
  })

  test.each(['../x', 'a/../../x', '/etc/passwd', 'a\0b'])('are refused outside: %j', async (path) => {
    const { call } = setUp()
    for (const [method, rest] of [
      ['read', {}],
      ['list', {}],
      ['write', { contents: [1] }],
    ] as const)
      await expect(call(`host.workspace.${method}`, { path, ...rest })).rejects.toThrow(/relative path|contains ".."/)
  })

  test('are refused behind links that lead outside, for reading, listing and writing', async () => {
    const { call, root, effects } = setUp()
    writeFileSync(join(effects.root, 'secret'), 'secret')
    symlinkSync(join(effects.root, 'secret'), join(root, 'file-link'))
    symlinkSync(effects.root, join(root, 'directory-link'))
    symlinkSync(join(effects.root, 'fresh'), join(root, 'dangling'))
    await expect(call('host.workspace.read', { path: 'file-link' })).rejects.toThrow('"file-link" leads out of the workspace')
    await expect(call('host.workspace.list', { path: 'directory-link' })).rejects.toThrow('leads out')
    await expect(call('host.workspace.write', { path: 'file-link', contents: [1] })).rejects.toThrow('leads out')
    await expect(call('host.workspace.write', { path: 'directory-link/new', contents: [1] })).rejects.toThrow('leads out')
    await expect(call('host.workspace.write', { path: 'dangling', contents: [1] })).rejects.toThrow('is a link')
    expect(readFileSync(join(effects.root, 'secret'), 'utf8')).toBe('secret')
    expect(existsSync(join(effects.root, 'fresh'))).toBe(false)
    expect(existsSync(join(effects.root, 'new'))).toBe(false)
  })

  test('are not written where the directory is missing, over a directory, or where they are protected', async () => {
    const { call, root } = setUp()
    mkdirSync(join(root, '.git'))
    const write = (path: string) => call('host.workspace.write', { path, contents: [1] })
    await expect(write('missing/x')).rejects.toThrow('"missing/x" does not exist')
    await expect(write('.git')).rejects.toThrow('not a regular file')
    await expect(write('')).rejects.toThrow('is a directory')
    await expect(write('.git/config')).rejects.toThrow('is protected')
  })

  test.each([[[256]], [[1.5]], ['text'], [{ a: 1 }]])('are not written from %j', async (contents) => {
    await expect(setUp().call('host.workspace.write', { path: 'x', contents })).rejects.toThrow('contents')
  })

  test('larger than a frame can carry are refused', async () => {
    const { call, root } = setUp()
    writeFileSync(join(root, 'big'), new Uint8Array(600_000))
    await expect(call('host.workspace.read', { path: 'big' })).rejects.toThrow('larger than 524288 bytes')
  })

  test('are not available to plugins without a workspace', async () => {
    const { call } = setUp({ place: { scope: 'user', scopeId: 'u' } })
    await expect(call('host.workspace.read', { path: 'x' })).rejects.toThrow('not available')
  })
})

describe('events of plugins', () => {
  test('are published within the namespaces of the manifest, dots trimmed', async () => {
    const { call, published } = setUp()
    await call('host.event.publish', { namespace: '.acme.', name: 'done.', payload: { a: 1 } })
    await call('host.event.publish', { namespace: 'acme.build', name: 'x' })
    await call('host.event.publish', { namespace: 'dotted', name: 'x', payload: null })
    expect(published).toEqual([
      ['plugin.acme.done', { a: 1 }],
      ['plugin.acme.build.x', null],
      ['plugin.dotted.x', null],
    ])
  })

  test.each([
    ['acmeother', 'x', 'not declared'],
    ['other', 'x', 'not declared'],
    ['', 'x', 'namespace of an event'],
    ['acme', '..', 'name of an event'],
    ['acme', 'a b', 'name of an event'],
    ['acme', 'a..b', 'name of an event'],
  ])('as %j %j are refused', async (namespace, name, message) => {
    const { call, published } = setUp()
    await expect(call('host.event.publish', { namespace, name, payload: 1 })).rejects.toThrow(message)
    expect(published).toEqual([])
  })

  test('are not available to a revoked lease', async () => {
    const { call, lease, published } = setUp()
    lease.revoke()
    await expect(call('host.event.publish', { namespace: 'acme', name: 'x', payload: 1 })).rejects.toThrow(
      /not available.*not granted any more/,
    )
    expect(published).toEqual([])
  })
})

describe('brokers', () => {
  const METHODS: readonly [string, HostCapability, string][] = [
    ['host.network.request', 'network', 'Network'],
    ['host.process.spawn', 'process-spawn', 'ProcessSpawn'],
    ['host.task.spawn', 'task-spawn', 'TaskSpawn'],
    ['host.secret.use', 'secret-use', 'SecretUse'],
    ['host.secret.read', 'secret-read', 'SecretRead'],
    ['host.prompt.read', 'prompt-read', 'PromptRead'],
    ['host.message.read', 'message-read', 'MessageRead'],
    ['host.response.transform', 'response-transform', 'ResponseTransform'],
    ['host.provider.call', 'provider-access', 'ProviderAccess'],
    ['host.policy.call', 'policy-invoke', 'PolicyInvoke'],
  ]

  test.each(METHODS)('%s asks the broker of %s and wraps its output', async (method, capability, name) => {
    const seen: unknown[] = []
    const broker: GrantedBroker = { call: async (operation, input) => [seen.push({ operation, input }), 'out'][1] }
    const { call, owners } = setUp({ brokers: new Map([[capability, broker]]) })
    expect(await call(method, { operation: 'sign-request', input: { a: 1 } })).toEqual({ output: 'out' })
    expect(await call(method, { operation: 'x' })).toEqual({ output: 'out' })
    expect(seen).toEqual([
      { operation: 'sign-request', input: { a: 1 } },
      { operation: 'x', input: null },
    ])
    expect(owners).toEqual([OWNER])
    await expect(setUp().call(method, { operation: 'x' })).rejects.toThrow('not available')
    const denied = setUp({ capabilities: [], brokers: new Map([[capability, broker]]) })
    await expect(denied.call(method, { operation: 'x' })).rejects.toThrow(`${name} is not granted`)
  })

  test('are cancelled, also when they cannot be', async () => {
    const cancelled: string[] = []
    const cancels: GrantedBroker = { call: async () => null, cancel: async (id) => void cancelled.push(id) }
    const { call } = setUp({
      brokers: new Map<HostCapability, GrantedBroker>([
        ['task-spawn', cancels],
        ['process-spawn', { call: async () => null }],
      ]),
    })
    expect(await call('host.task.cancel', { opaqueId: 'o1' })).toEqual({})
    expect(await call('host.process.cancel', { opaqueId: 'o2' })).toEqual({})
    expect(cancelled).toEqual(['o1'])
  })

  test('are checked in order: method, size, shape, operation, service', async () => {
    const { call } = setUp()
    await expect(call('host.nothing', {})).rejects.toThrow('unknown method')
    await expect(call('host.secret.use', { operation: 5, input: 'x'.repeat(262_144) })).rejects.toThrow('input exceeds 262144')
    await expect(call('host.secret.use', { operation: 5 })).rejects.toThrow('params are not valid: operation')
    await expect(call('host.secret.use', { operation: '' })).rejects.toThrow('1 to 256 bytes')
    await expect(call('host.secret.use', { operation: 'é'.repeat(129) })).rejects.toThrow('1 to 256 bytes')
    await expect(call('host.task.cancel', { opaqueId: '' })).rejects.toThrow('1 to 256 bytes')
    await expect(call('host.secret.use', { operation: 'é'.repeat(128) })).rejects.toThrow('not available')
  })

  test('whose output is too large are an error', async () => {
    const { call } = setUp({ brokers: new Map([['network', { call: async () => 'x'.repeat(524_288) }]]) })
    await expect(call('host.network.request', { operation: 'x' })).rejects.toThrow('output exceeds 524288')
  })
})

describe('the audit', () => {
  test('has ten fields', () => {
    const { audit, effects } = setUp()
    audit('host.config.get', 'allowed')
    audit('host.nothing', 'denied')
    const ids = {
      pluginId: OWNER.pluginId,
      instanceId: OWNER.instanceId,
      packageRevision: OWNER.packageRevision,
      registryGeneration: 3,
      scope: 'workspace',
      workspaceId: OWNER.workspaceId,
      scopeId: undefined,
    }
    expect(effects.logs).toEqual([
      {
        level: 'debug',
        message: 'plugin request',
        fields: { ...ids, capability: 'config-read', method: 'host.config.get', outcome: 'allowed' },
      },
      { level: 'info', message: 'plugin request', fields: { ...ids, capability: 'unknown', method: 'host.nothing', outcome: 'denied' } },
    ])
  })
})
