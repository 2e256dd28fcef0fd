// Holds plugin-protocol §3.5; threat-model C5.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createNodeEffects } from '../../../src/platform/node/node-effects.js'
import { createLeases } from '../../../src/actors/plugin/brokers/leases.js'
import { drivenSignature, resolveDriven } from '../../../src/actors/plugin/entry/driven.js'
import { type ProcessEntry, readPluginEntries } from '../../../src/actors/resource/config/entries.js'
import { createNpmCache } from '../../../src/actors/plugin/entry/npm-cache.js'
import { startProcess } from '../../../src/actors/plugin/process/process-instance.js'
import { createSandbox } from '../../../src/actors/plugin/entry/sandbox.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { createFakeProcesses } from '../../../src/simulation/processes.js'

const NODE = '/opt/node/bin/node'

/** A workspace with files below a temporary root, and what an entry becomes in it. */
function setup(files: Record<string, string> = {}, env: Record<string, string> = {}) {
  const processes = createFakeProcesses()
  const effects = createFakeEffects({ processes, env })
  const at = (path: string) => join(effects.root, path)
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(at(path)), { recursive: true })
    writeFileSync(at(path), content)
  }
  const npm = createNpmCache({ effects, onInstalled: () => undefined })
  const deps = {
    effects,
    sandbox: createSandbox(effects),
    npm,
    node: NODE,
    grants: new Set(['network', 'config-read'] as const),
    serverUrl: () => undefined,
  }
  const entry = (options: Record<string, unknown>): ProcessEntry => {
    const [found] = readPluginEntries({ plugins: { 'dev.example.x': { options } } }, {}).driven
    if (found === undefined || found.form === 'declarative') throw new Error('no process entry')
    return found
  }
  return {
    at,
    processes,
    resolve: async (options: Record<string, unknown>) => resolveDriven(deps, entry(options), at('work')),
    signature: async (options: Record<string, unknown>) => drivenSignature(deps, entry(options), at('work')),
  }
}

describe('a served program', () => {
  it('becomes a process in the workspace with what it asks for and is granted', async () => {
    const { at, processes, resolve } = setup()
    processes.programs.set('tool', '/usr/bin/tool')
    const options = {
      serve: ['tool', '--x'],
      capabilities: ['config-read', 'task-spawn'],
      env: { A: 'b', SVC_PLUGIN_ID: 'other' },
      revision: 'r1',
      config: { a: 1 },
    }
    expect(await resolve(options)).toEqual({
      spec: {
        pluginId: 'dev.example.x',
        place: { scope: 'workspace', workspace: at('work') },
        revision: 'r1',
        config: { a: 1 },
        timeoutMs: 60_000,
        directory: at('work'),
        program: '/usr/bin/tool',
        args: ['--x'],
        uncontained: expect.stringContaining('bubblewrap (bwrap) is not installed') as string,
        env: {
          PATH: '/usr/bin:/bin',
          HOME: at('home'),
          SVC_PLUGIN_PROTOCOL: 'svc-plugin/2',
          SVC_WORKSPACE_DIR: at('work'),
          A: 'b',
          SVC_PLUGIN_ID: 'other',
        },
        capabilities: new Set(['config-read', 'network']),
        eventNamespaces: ['dev.example.x'],
      },
    })
  })

  it('is found by a path below the configuration, and never in the workspace, by a path or by a name', async () => {
    const { at, processes, resolve } = setup({ 'config/bin/tool': '', 'config/tool': '', 'work/bin/tool': '', 'work/other/tool': '' })
    expect(await resolve({ serve: ['bin/tool'] })).toMatchObject({ spec: { program: at('config/bin/tool') } })
    expect(await resolve({ serve: ['./tool'] })).toMatchObject({ spec: { program: at('config/tool') } })
    expect(await resolve({ serve: ['other/tool'] })).toEqual({
      unavailable: `the program "${at('config/other/tool')}" does not exist; a path is absolute or relative to the configuration directory`,
    })
    expect(await resolve({ serve: ['tool'] })).toEqual({ unavailable: 'the program "tool" was not found on the search path' })
    processes.programs.set('tool', at('work/bin/tool'))
    expect(await resolve({ serve: ['tool'] })).toEqual({ unavailable: expect.stringContaining('in the workspace') as string })
    expect(await resolve({ serve: [at('work/bin/tool')] })).toMatchObject({ spec: { program: at('work/bin/tool') } })
  })

  it('gets no argument that names a file of the workspace', async () => {
    const { at, processes, resolve } = setup({ 'work/tools/x.mjs': '' })
    processes.programs.set('node', '/usr/bin/node')
    expect(await resolve({ serve: ['node', 'tools/x.mjs'] })).toEqual({
      unavailable: 'the argument "tools/x.mjs" names a file of the workspace; name a file by its absolute path',
    })
    expect(await resolve({ serve: ['node', at('work/tools/x.mjs')] })).toHaveProperty('spec')
    expect(await resolve({ serve: ['node', 'tools/y.mjs', '--tools'] })).toHaveProperty('spec')
  })

  it.each([
    [[], 'is empty'],
    [[''], 'is empty'],
    [['./nope'], 'does not exist'],
    [['/nope/x'], 'does not exist'],
  ])('cannot be %j', async (serve, reason) => {
    expect(await setup().resolve({ serve })).toEqual({ unavailable: expect.stringContaining(reason) as string })
  })

  it('sees in its sandbox the package of a script that is named', async () => {
    const { at, processes, resolve } = setup({ 'pkg/package.json': '{}', 'pkg/dist/x.mjs': '', 'home/y.mjs': '' })
    processes.programs.set('node', NODE)
    processes.programs.set('bwrap', '/usr/bin/bwrap')
    processes.script(() => ({ stdout: 'bubblewrap' }))
    const resolved = await resolve({ serve: ['node', at('pkg/dist/x.mjs'), at('home/y.mjs'), '-x'], sandbox: true })
    if ('unavailable' in resolved) throw new Error(resolved.unavailable)
    const { program, args } = resolved.spec
    const shown = args.flatMap((arg, index) => (arg === '--ro-bind' ? [args[index + 2]] : []))
    expect(program).toBe('/usr/bin/bwrap')
    expect(shown).toEqual(expect.arrayContaining([at('work'), at('pkg'), at('home/y.mjs'), dirname(NODE)]))
    expect(shown).not.toContain(at('home'))
    expect(args.slice(-5)).toEqual(['--', NODE, at('pkg/dist/x.mjs'), at('home/y.mjs'), '-x'])
  })

  it('stays out where the installation requires a sandbox that is not there', async () => {
    const { processes, resolve } = setup({}, { SVC_AGENT_PLUGIN_SANDBOX: 'required' })
    processes.programs.set('tool', '/usr/bin/tool')
    expect(await resolve({ serve: ['tool'] })).toEqual({ unavailable: expect.stringContaining('sandbox required') as string })
    expect(await resolve({ serve: ['tool'], sandbox: false })).toHaveProperty('spec')
  })
})

describe('an entry', () => {
  it.each([
    ['a file', 'tools/x.mjs', { 'config/tools/x.mjs': '' }, 'config/tools/x.mjs'],
    [
      'main of a package',
      'pkg',
      { 'config/pkg/package.json': '{"main":"dist/a.js"}', 'config/pkg/dist/a.js': '', 'config/pkg/index.mjs': '' },
      'config/pkg/dist/a.js',
    ],
    [
      'index.mjs without that file',
      'pkg',
      { 'config/pkg/package.json': '{"main":"gone.js"}', 'config/pkg/index.mjs': '', 'config/pkg/index.js': '' },
      'config/pkg/index.mjs',
    ],
    ['index.js at last', 'pkg', { 'config/pkg/package.json': 'no json', 'config/pkg/index.js': '' }, 'config/pkg/index.js'],
    [
      'nothing outside of its package',
      'pkg',
      { 'config/pkg/package.json': '{"main":"../x.mjs"}', 'config/x.mjs': '', 'config/pkg/index.js': '' },
      'config/pkg/index.js',
    ],
    ['a file of the home directory', '~/x.mjs', { 'home/x.mjs': '' }, 'home/x.mjs'],
  ])('runs %s with Node', async (_name, entry, files, expected) => {
    const { at, resolve } = setup(files)
    expect(await resolve({ entry })).toMatchObject({ spec: { program: NODE, args: [at(expected)], directory: at('work') } })
  })

  it('says when there is nothing to run, and its signature tells when there is', async () => {
    const { at, resolve, signature } = setup({ 'config/empty/x.txt': '' })
    expect(await resolve({ entry: 'empty' })).toEqual({ unavailable: expect.stringContaining('index.mjs') as string })
    expect(await signature({ entry: 'empty' })).toBe('dev.example.x:0')
    writeFileSync(at('config/empty/index.js'), '')
    expect(await signature({ entry: 'empty' })).toBe('dev.example.x:1')
    expect(await signature({ serve: ['./empty/index.js'] })).toBe('dev.example.x:1')
    expect(await signature({ serve: ['nowhere'] })).toBe('dev.example.x:0')
    chmodSync(at('config/empty'), 0o700)
  })
})

describe('an npm package', () => {
  it('is being installed at first and runs from its slot afterwards', async () => {
    const { at, processes, resolve, signature } = setup()
    expect(await signature({ npm: '@s/n@1.2.3' })).toBe('dev.example.x:0')
    expect(processes.calls).toEqual([])
    expect(await resolve({ npm: '@s/n@1.2.3' })).toEqual({ unavailable: 'installing npm package @s/n@1.2.3' })
    const slot = at('cache/plugin-cache/_s_n_1.2.3')
    mkdirSync(join(slot, 'node_modules/@s/n'), { recursive: true })
    writeFileSync(join(slot, 'node_modules/@s/n/index.mjs'), '')
    expect(await resolve({ npm: '@s/n@1.2.3' })).toMatchObject({
      spec: { program: NODE, args: [join(slot, 'node_modules/@s/n/index.mjs')] },
    })
    expect(await signature({ npm: '@s/n@1.2.3' })).toBe('dev.example.x:1')
  })
})

it('a process talks from inside its sandbox, where this machine has one', async () => {
  const effects = createNodeEffects({ logWrite: () => undefined })
  const sandbox = createSandbox(effects)
  const { root } = createFakeEffects()
  const npm = createNpmCache({ effects, onInstalled: () => undefined })
  const path = join(import.meta.dirname, '../../fixtures/plugin-attacks/writes-before-initialize.mjs')
  const deps = { effects, sandbox, npm, node: process.execPath, grants: new Set<never>(), serverUrl: () => undefined }
  const common = { id: 'dev.example.x', config: {}, timeoutMs: 10_000, network: false, capabilities: [], env: {}, revision: undefined }
  const inside = await resolveDriven(deps, { ...common, form: 'entry', path, sandbox: true }, join(root, 'work'))
  const driven =
    'spec' in inside ? inside : await resolveDriven(deps, { ...common, form: 'entry', path, sandbox: false }, join(root, 'work'))
  if ('unavailable' in driven) throw new Error(driven.unavailable)
  const host = {
    config: async () => null,
    setConfig: async () => undefined,
    publish: async () => undefined,
    protectedFiles: { reasons: async () => [] },
  }
  const start = startProcess(
    { effects, nextInstanceId: () => 'plugin-instance-1', host, leases: createLeases({ effects, brokers: new Map() }) },
    driven.spec,
  )
  const instance = await start(1, () => undefined, new AbortController().signal)
  const context = {
    sessionId: 's',
    messageId: 'm',
    callId: 'c',
    agent: 'a',
    directory: root,
    signal: new AbortController().signal,
    progress: () => undefined,
    decisions: () => [],
  }
  expect(driven.spec.program.endsWith('bwrap')).toBe('spec' in inside)
  expect(await instance.contributions.tools?.[0]?.invoke({}, context)).toMatchObject({ output: 'ok' })
  instance.retire()
  await instance.gone
  expect(effects.processes.alive).toBe(0)
})
