// Holds http-contract §2.1; subsystems o, o.1.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { createSystem } from '../../../src/actors/runtime/system.js'
import type { SystemDeps } from '../../../src/actors/runtime/system.js'
import { TRUSTED_CALLER } from '../../../src/protocol/caller.js'
import type { Caller } from '../../../src/protocol/caller.js'
import { SvcError } from '../../../src/protocol/errors.js'
import type { AuditEntry } from '../../../src/protocol/system/system.js'
import { ApiMeta, Capability, DirectoryListing, HealthResponse, Identity, RuntimeInfo } from '../../../src/protocol/system/system.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { createFakePlugins, createFakeView, readTool, registeredTool } from '../../fakes/plugins.js'
import { createFakeRuntime } from '../../fakes/runtime.js'

const READY = {
  ready: true,
  store: { ready: true },
  disk: { ready: true, freeBytes: 1_000_000 },
  plugins: { ready: true, givenUp: [] },
}
const code = (expected: string): unknown => expect.objectContaining({ code: expected })

async function setup(overrides: Partial<SystemDeps> & { env?: Record<string, string> } = {}) {
  const effects = createFakeEffects({ env: overrides.env ?? {} })
  const { cwd, home } = effects.paths
  mkdirSync(cwd, { recursive: true })
  mkdirSync(home, { recursive: true })
  const rows: (AuditEntry & { subject: string })[] = []
  const runtime = createFakeRuntime()
  const system = await createSystem({
    hosting: { policy: async () => 'disabled' },
    effects,
    store: {
      transact: (durability, change) => {
        expect(durability).toBe('process')
        return change()
      },
      audit: {
        insert: (entry) => rows.push(entry),
        list: ({ tenantId, limit }) => rows.filter((row) => row.tenantId === tenantId).slice(-limit),
      },
    },
    configs: runtime.configs,
    resources: runtime.resources,
    providers: runtime.providers,
    plugins: createFakePlugins(() => createFakeView({ tools: [registeredTool('test.files', readTool)] })),
    version: '1.2.3',
    generation: () => 7,
    readiness: async () => READY,
    ...overrides,
  })
  return { system, effects, cwd, home, rows }
}

test('every record fits its contract', async () => {
  const { system, cwd } = await setup()
  expect(HealthResponse.parse(await system.health())).toMatchObject({ healthy: true, version: '1.2.3', readiness: READY })
  expect(ApiMeta.parse(system.meta())).toEqual({
    apiVersion: '2.0.0',
    serverVersion: '1.2.3',
    pluginApiVersion: '1.0.0',
    eventSchemaVersion: '1.0.0',
    partSchemaVersion: '1.0.0',
    generation: 7,
  })
  expect(RuntimeInfo.parse(system.runtime())).toEqual({ deployment: 'local', executionAvailable: true })
  const capabilities = z.array(Capability).parse(await system.capabilities(cwd))
  expect(capabilities.map(({ id }) => id).toSorted()).toEqual([
    'svc.agents',
    'svc.artifacts',
    'svc.commands',
    'svc.config',
    'svc.directories',
    'svc.events',
    'svc.identity',
    'svc.permissions',
    'svc.providers',
    'svc.sessions',
    'svc.skills',
  ])
  expect(await system.tools(cwd)).toEqual([
    {
      id: 'read',
      description: 'Reads a file.',
      parameters: {
        type: 'object',
        properties: { filePath: { type: 'string' }, limit: { type: 'integer', minimum: -9007199254740991, maximum: 9007199254740991 } },
        required: ['filePath'],
        additionalProperties: false,
      },
    },
  ])
})

describe('identity', () => {
  const configured = (username: unknown): Pick<SystemDeps, 'configs'> => ({ configs: { load: async () => ({ username }) } })

  test('is the display name before the configured one, and the user of the system', async () => {
    const { system } = await setup({ env: { SVC_DISPLAY_NAME: ' Ada ', USER: 'ada' }, ...configured('Countess') })
    expect(Identity.parse(await system.identity())).toEqual({ configuredName: 'Ada', systemName: 'ada' })
    const { system: other } = await setup({ env: { SVC_DISPLAY_NAME: ' ', USERNAME: 'ada' }, ...configured('Countess') })
    expect(await other.identity()).toEqual({ configuredName: 'Countess', systemName: 'ada' })
  })

  test('is null where nothing is said, without control characters and at most 32 characters long', async () => {
    const { system } = await setup(configured(5))
    expect(await system.identity()).toEqual({ configuredName: null, systemName: 'tester' })
    const { system: long } = await setup(configured(`\u0007${'é'.repeat(40)}`))
    expect((await long.identity()).configuredName).toBe('é'.repeat(32))
  })

  test('does not depend on a configuration that can be read', async () => {
    const { system } = await setup({ configs: { load: () => Promise.reject(new SvcError('config.invalid')) } })
    expect((await system.identity()).configuredName).toBeNull()
  })
})

test('defaults are what a session would start with, null where there is nothing', async () => {
  const { system, cwd } = await setup()
  expect(await system.defaults(cwd)).toEqual({ defaultAgent: 'build', model: 'svc/offline', variant: null })
  const { system: bare } = await setup({
    configs: { load: async () => ({ variant: 'high' }) },
    resources: { defaultAgent: () => Promise.reject(new SvcError('resource.not_found')) },
    providers: { defaultModel: () => Promise.reject(new SvcError('request.invalid')) },
  })
  expect(await bare.defaults(cwd)).toEqual({ defaultAgent: null, model: null, variant: 'high' })
})

test('audit entries carry who, what and when, and are listed for one tenant', async () => {
  const { system, rows, effects } = await setup()
  const caller: Caller = { ...TRUSTED_CALLER, subject: 'local-operator', authenticated: true }
  system.recordAudit({ caller, method: 'GET', path: '/v2/meta', status: 200 })
  expect(rows).toEqual([
    {
      id: rows[0]?.id,
      tenantId: 'local',
      subject: 'local-operator',
      method: 'GET',
      path: '/v2/meta',
      status: 200,
      created: effects.clock.now(),
    },
  ])
  expect(rows[0]?.id).toMatch(/^aud_/)
  expect(system.audit(caller, 10)).toHaveLength(1)
  expect(system.audit({ ...caller, tenantId: 'other' }, 10)).toEqual([])
})

describe('directories', () => {
  test('lists child folders by name, links to folders by their target, and nothing else', async () => {
    const { system, cwd } = await setup()
    for (const name of ['beta', 'Alpha', '.hidden', 'alpha']) mkdirSync(join(cwd, name))
    mkdirSync(join(cwd, 'beta/inner'))
    writeFileSync(join(cwd, 'file'), '')
    symlinkSync(join(cwd, 'beta/inner'), join(cwd, 'link'))
    symlinkSync(join(cwd, 'beta'), join(cwd, 'again'))
    symlinkSync(join(cwd, 'nowhere'), join(cwd, 'broken'))
    symlinkSync(join(cwd, 'file'), join(cwd, 'to-file'))
    const listing = DirectoryListing.parse(await system.directories(TRUSTED_CALLER, undefined))
    expect(listing).toEqual({
      path: cwd,
      parent: join(cwd, '..'),
      entries: [
        { name: '.hidden', path: join(cwd, '.hidden') },
        { name: 'Alpha', path: join(cwd, 'Alpha') },
        { name: 'alpha', path: join(cwd, 'alpha') },
        { name: 'beta', path: join(cwd, 'beta') },
        { name: 'link', path: join(cwd, 'beta/inner') },
      ],
    })
  })

  test('has no parent at the root, and expands the home folder and relative paths', async () => {
    const { system, cwd, home } = await setup()
    mkdirSync(join(cwd, 'child'))
    mkdirSync(join(home, 'inside'))
    expect((await system.directories(TRUSTED_CALLER, '/')).parent).toBeNull()
    expect((await system.directories(TRUSTED_CALLER, ' ')).path).toBe(cwd)
    expect((await system.directories(TRUSTED_CALLER, 'child')).path).toBe(join(cwd, 'child'))
    expect((await system.directories(TRUSTED_CALLER, '~')).path).toBe(home)
    expect((await system.directories(TRUSTED_CALLER, '~/inside')).path).toBe(join(home, 'inside'))
  })

  test.each(['~root', '/definitely/missing', 'a\0b'])('refuses %j', async (path) => {
    const { system } = await setup()
    await expect(system.directories(TRUSTED_CALLER, path)).rejects.toEqual(code('request.invalid_directory'))
    await expect(system.canonicalDirectory(path)).rejects.toEqual(code('request.invalid_directory'))
  })

  test('refuses a file', async () => {
    const { system, cwd } = await setup()
    writeFileSync(join(cwd, 'file'), '')
    await expect(system.canonicalDirectory('file')).rejects.toEqual(code('request.invalid_directory'))
  })

  test('shows a scoped caller its own folders only, also behind links', async () => {
    const { system, cwd } = await setup()
    mkdirSync(join(cwd, 'mine/deep'), { recursive: true })
    mkdirSync(join(cwd, 'other'))
    symlinkSync(join(cwd, 'other'), join(cwd, 'mine/escape'))
    const scoped: Caller = { ...TRUSTED_CALLER, authenticated: true, directoryPrefixes: [join(cwd, 'mine')] }
    expect(await system.directories(scoped, undefined)).toEqual({
      path: join(cwd, 'mine'),
      parent: null,
      entries: [{ name: 'deep', path: join(cwd, 'mine/deep') }],
    })
    expect((await system.directories(scoped, 'deep')).parent).toBe(join(cwd, 'mine'))
    for (const path of ['..', 'escape', cwd]) {
      await expect(system.directories(scoped, path)).rejects.toEqual(code('auth.directory_forbidden'))
    }
    await expect(system.directories({ ...scoped, directoryPrefixes: [] }, cwd)).rejects.toEqual(code('auth.directory_forbidden'))
  })
})
