// Holds plugin-protocol §9.1, §9.2, §12-5, §13-13.
import { describe, expect, it } from 'vitest'
import { readPluginEntries } from '../../../src/actors/resource/config/entries.js'
import { createWorkspace } from './workspace.js'

const RECORD = { workspaceId: '/w', packageId: 'dev.example.todo', revision: 'sha256:00', executableApproved: true }

const read = (plugins: unknown, more: Record<string, unknown> = {}) => readPluginEntries({ plugins, ...more }, {})
const serve = (options: Record<string, unknown>) => read({ 'dev.example.x': { options: { serve: ['x'], ...options } } })
const paths = (entries: ReturnType<typeof read>) => entries.diagnostics.map(({ path }) => path)

describe('forms of a value', () => {
  it.each([
    ['a boolean', { 'dev.example.a': true }],
    ['an id', { any: 'dev.example.a' }],
    ['an id with options', { any: ['dev.example.a', { path: undefined }] }],
    ['an object', { 'dev.example.a': {} }],
    ['an object with an id', { any: { id: 'dev.example.a', enabled: true } }],
  ])('takes %s', (_name, plugins) => {
    expect(read(plugins).driven).toEqual([{ form: 'declarative', id: 'dev.example.a', path: undefined }])
  })

  it('takes the list form beside the map, which comes first', () => {
    const entries = read(
      { 'dev.example.a': { options: { npm: 'mapped' } } },
      { plugin: ['dev.example.b', ['dev.example.a', { npm: 'listed' }]] },
    )
    expect(entries.driven).toMatchObject([
      { form: 'npm', id: 'dev.example.a', spec: 'mapped' },
      { form: 'declarative', id: 'dev.example.b' },
    ])
    expect(paths(entries)).toEqual(['plugin.1'])
  })

  it('reports values of no known form and goes on', () => {
    const entries = read({ a: 1, b: null, c: [], 'dev.example.d': true }, { plugin: [true, 7] })
    expect(entries.driven).toHaveLength(1)
    expect(paths(entries)).toEqual(['plugins.a', 'plugins.b', 'plugins.c', 'plugin.0', 'plugin.1'])
  })
})

it('takes null for an option that is absent, in approvals as well', () => {
  const entries = read({
    'dev.example.a': {
      id: null,
      enabled: null,
      options: { trust: { ...RECORD, scope: null, scopeId: null, capabilities: null, luaApproved: null }, config: null, sandbox: null },
    },
    'dev.example.b': { options: { trust: null } },
    'dev.example.c': { options: { trust: [{ ...RECORD, revision: null }] } },
  })
  expect(entries.package('dev.example.a')).toMatchObject({
    config: {},
    sandbox: undefined,
    trust: [{ ...RECORD, capabilities: [], luaApproved: false, nativeApproved: false }],
  })
  expect(paths(entries)).toEqual(['plugins.dev.example.c.options.trust'])
})

describe('switching off', () => {
  it.each([
    ['false', { 'dev.example.a': false }],
    ['enabled: false', { 'dev.example.a': { enabled: false, options: { serve: ['x'] } } }],
    ['disable: true', { 'dev.example.a': { disable: true } }],
    ['disabled: true', { 'dev.example.a': { disabled: true } }],
    ['a leading minus', { '-dev.example.a': true }],
    ['a minus in the id', { any: '-dev.example.a' }],
    ['a prefix', { 'dev.example.*': false }],
    ['a prefix with a minus', { '-dev.example.*': false }],
    ['everything', { '*': false }],
  ])('knows %s', (_name, plugins) => {
    const entries = read(plugins)
    expect(entries.isDisabled('dev.example.a')).toBe(true)
    expect(entries.driven).toEqual([])
  })

  it('leaves other ids alone', () => {
    const entries = read({ 'dev.example.a': false, 'dev.other.*': false })
    expect(['dev.example.ab', 'dev.example', 'dev.othe'].map(entries.isDisabled)).toEqual([false, false, false])
  })

  it('wins over an entry that is switched on', () => {
    const entries = read({ 'dev.example.*': false, 'dev.example.a': { options: { serve: ['x'] } } })
    expect([entries.driven, entries.off]).toMatchObject([[], [{ form: 'serve', id: 'dev.example.a' }]])
  })

  it('is all that a workspace may do, and ends no entry of the installation: its hooks may refuse what the workspace wants', () => {
    const workspace = {
      plugins: { 'dev.example.a': { enabled: false }, 'dev.example.b': { options: { serve: ['evil'], trust: [RECORD] } }, 'x.*': false },
    }
    const entries = readPluginEntries({ plugins: { 'dev.example.a': { options: { serve: ['a'] } } } }, workspace)
    expect([entries.driven, entries.off]).toMatchObject([[{ form: 'serve', id: 'dev.example.a' }], []])
    expect([entries.isDisabled('dev.example.a'), entries.isDisabled('x.y'), entries.isDisabled('dev.example.b')]).toEqual([
      true,
      true,
      false,
    ])
    expect(entries.package('dev.example.b').trust).toEqual([])
  })

  it('cannot be undone by a workspace', () => {
    const entries = readPluginEntries({ plugins: { 'dev.example.a': false } }, { plugins: { 'dev.example.a': true } })
    expect(entries.isDisabled('dev.example.a')).toBe(true)
  })

  it('reaches the entries through the layers of a directory', async () => {
    const workspace = createWorkspace()
    workspace.write('config/config.json', {
      plugins: { 'dev.example.a': { options: { serve: ['a'] } }, 'dev.example.b': { options: { serve: ['b'] } } },
    })
    workspace.write('work/svc.json', { plugins: { 'dev.example.a': false, 'dev.example.c': { options: { serve: ['evil'] } } } })
    const { trusted, document, workspace: raw } = await workspace.configs.snapshots.get(workspace.work)
    for (const other of [document, raw]) {
      const { driven, isDisabled } = readPluginEntries(trusted, other)
      expect(driven.map(({ id }) => [id, isDisabled(id)])).toEqual([
        ['dev.example.a', true],
        ['dev.example.b', false],
      ])
    }
  })
})

describe('the form of an entry', () => {
  it.each([
    [
      { serve: ['x', '-y'], entry: 'a.mjs', npm: 'n' },
      { form: 'serve', command: ['x', '-y'] },
    ],
    [
      { serve: [], entry: 'a.mjs' },
      { form: 'serve', command: [] },
    ],
    [
      { serve: ['x', 1], entry: 'a.mjs', npm: 'n' },
      { form: 'entry', path: 'a.mjs' },
    ],
    [
      { entry: 5, npm: '@s/n@1' },
      { form: 'npm', spec: '@s/n@1' },
    ],
    [{ path: 'hooks/h.json' }, { form: 'declarative', path: 'hooks/h.json' }],
  ])('of %j is the first that fits', (options, expected) => {
    expect(read({ 'dev.example.x': { options } }).driven).toMatchObject([expected])
  })

  it.each(['hooks/x.json', './x', 'x.json'])('takes the id "%s" for the path of a manifest', (id) => {
    expect(read({ [id]: true }).driven).toEqual([{ form: 'declarative', id, path: id }])
  })

  it('is none for settings of a built-in plugin', () => {
    expect(read({ 'dev.svc.shell': { options: { config: {} } } }).driven).toEqual([])
  })

  it.each(['dev.svc.shell', 'nodots', 'dev/x.y', 'dev.example.ü'])('refuses to run a process under the id "%s"', (id) => {
    const entries = read({ [id]: { options: { serve: ['x'] } } })
    expect(entries.driven).toEqual([])
    expect(entries.diagnostics.filter(({ level }) => level === 'error')).toMatchObject([{ level: 'error', path: `plugins.${id}` }])
  })
})

describe('options of a process', () => {
  it('has defaults that need no grant to start', () => {
    expect(serve({}).driven).toEqual([
      {
        form: 'serve',
        id: 'dev.example.x',
        command: ['x'],
        config: {},
        timeoutMs: 60_000,
        sandbox: undefined,
        network: true,
        capabilities: ['network'],
        env: {},
        revision: undefined,
      },
    ])
  })

  it('keeps what is written', () => {
    const written = { config: [1], sandbox: false, network: false, capabilities: ['config-read'], env: { A: 'b' } }
    expect(serve({ ...written, timeoutMs: 5, digest: 'd1' }).driven).toMatchObject([{ ...written, timeoutMs: 1000, revision: 'd1' }])
  })

  it('drops unknown capabilities and the network of one that has none', () => {
    const entries = serve({ network: false, capabilities: ['network', 'root', 'task-spawn', 'task-spawn'] })
    expect(entries.driven).toMatchObject([{ capabilities: ['task-spawn'] }])
    const at = 'plugins.dev.example.x.options.capabilities'
    expect(entries.diagnostics.map(({ path, message }) => [path, message])).toEqual([[at, '"root" is not a capability; it is ignored']])
  })

  it('drops variables that are no text', () => {
    const entries = serve({ env: { A: 1, B: 'b', 'C=D': 'x', E: 'nul\0' } })
    expect(entries.driven).toMatchObject([{ env: { B: 'b' } }])
    expect(paths(entries)).toHaveLength(3)
  })

  it('narrows where a switch is not readable', () => {
    const entries = serve({ network: 'yes', sandbox: 'off' })
    expect(entries.driven).toMatchObject([{ network: false, capabilities: [], sandbox: true }])
    expect(paths(entries)).toEqual(['plugins.dev.example.x.options.network', 'plugins.dev.example.x.options.sandbox'])
  })
})

describe('settings of a package', () => {
  it('has one approval or a list of them, and none that cannot be read', () => {
    const trustOf = (trust: unknown) => read({ 'dev.example.todo': { options: { trust } } }).package('dev.example.todo').trust
    const parsed = { ...RECORD, capabilities: [], luaApproved: false, nativeApproved: false }
    expect(trustOf(RECORD)).toEqual([parsed])
    expect(trustOf([RECORD, { ...RECORD, scope: 'session', scopeId: 's' }])).toEqual([
      parsed,
      { ...parsed, scope: 'session', scopeId: 's' },
    ])
    expect(trustOf([RECORD, { ...RECORD, capabilities: ['root'] }, 'yes'])).toEqual([parsed])
    expect(trustOf(true)).toEqual([])
  })

  it('reports an approval that cannot be read', () => {
    expect(paths(read({ 'dev.example.todo': { options: { trust: { packageId: 'x' } } } }))).toEqual([
      'plugins.dev.example.todo.options.trust',
    ])
  })

  it('has defaults where there is no entry', () => {
    expect(read({}).package('dev.example.todo')).toEqual({ config: {}, timeoutMs: 60_000, sandbox: undefined, trust: [] })
  })
})

describe('options without effect', () => {
  const KNOWN = {
    config: {},
    env: {},
    timeoutMs: 5000,
    network: false,
    sandbox: true,
    capabilities: [],
    revision: 'r',
    path: 'x',
    trust: [],
  }

  it('are told one by one, with what may be meant, and what a plugin has is not', () => {
    expect(paths(read({ 'dev.example.x': { options: { ...KNOWN, serve: ['x'] } } }))).toEqual([])
    expect(paths(read({ 'dev.svc.mcp': { options: { toolBudget: 4 } } }))).toEqual([])
    for (const key of Object.keys({ ...KNOWN, serve: 1 }))
      expect(paths(read({ 'dev.svc.pty': { options: { [key]: key === 'trust' ? [] : 'x' } } }))).toContain(
        `plugins.dev.svc.pty.options.${key}`,
      )
    const { diagnostics } = read({ 'dev.example.x': { options: { serve: ['x'], bogus: 1, capabilites: [] } } })
    expect(diagnostics.map(({ path, message }) => `${path}: ${message}`)).toEqual([
      'plugins.dev.example.x.options.bogus: has no effect: it is no option of a plugin',
      'plugins.dev.example.x.options.capabilites: has no effect: it is no option of a plugin; did you mean "capabilities"?',
    ])
  })

  it('are a second and a third way to start it', () => {
    const told = (options: object) => paths(read({ 'dev.example.x': { options } }))
    expect(told({ serve: ['x'], entry: 'y', npm: 'z' })).toEqual([
      'plugins.dev.example.x.options.entry',
      'plugins.dev.example.x.options.npm',
    ])
    expect(told({ entry: 'y', npm: 'z' })).toEqual(['plugins.dev.example.x.options.npm'])
    expect(told({ serve: [1], entry: 'y' })).toEqual(['plugins.dev.example.x.options.serve'])
    expect(told({ npm: 'z' })).toEqual([])
  })
})

it('shows its findings when the configuration is checked', async () => {
  const workspace = createWorkspace()
  workspace.write('config/config.json', { plugins: { 'dev.example.x': { options: { serve: ['x'], capabilities: ['root'] } } } })
  const { diagnostics } = await workspace.configs.validate(workspace.work)
  expect(diagnostics).toEqual([
    {
      level: 'warning',
      path: 'plugins.dev.example.x.options.capabilities',
      message: '"root" is not a capability; it is ignored',
      file: workspace.at('config/config.json'),
      line: 1,
      column: 55,
    },
  ])
})

describe('hosts of this machine', () => {
  const problems = (hosts: unknown) =>
    read({ 'dev.example.a': { options: { hosts } } }).diagnostics.map(({ path, message }) => `${path}: ${message}`)

  it.each([
    ['a text', '127.0.0.1:8080', 'must be a list of hosts, such as ["127.0.0.1:8080"]'],
    ['an address', ['http://127.0.0.1:8080/x'], '"http://127.0.0.1:8080/x" is no host, and names none: write "127.0.0.1:8080"'],
    ['a number', [8080], '8080 is no host, and names none'],
  ])('are told where they are %s', (_name, hosts, problem) => {
    expect(problems(hosts)).toEqual([expect.stringContaining(`plugins.dev.example.a.options.hosts: ${problem}`)])
  })

  it('are names and addresses, with a port or without', () => {
    expect(problems(['127.0.0.1:8080', 'LOCALHOST', '*.lan.example', '[::1]:8080'])).toEqual([])
  })
})
