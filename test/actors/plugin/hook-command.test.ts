// Holds plugin-protocol §9.5, §13-15.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import type { ProcessResult, SpawnOptions } from '../../../src/ports/effects.js'
import { createNodeEffects } from '../../../src/platform/node/node-effects.js'
import { readPluginEntries } from '../../../src/actors/resource/config/entries.js'
import { startHookCommand } from '../../../src/actors/plugin/entry/hook-command.js'
import { findHookCommands, HookManifest } from '../../../src/actors/plugin/entry/hook-manifest.js'
import type { InstanceProblem } from '../../../src/actors/plugin/generation/instance.js'
import { createSandbox } from '../../../src/actors/plugin/entry/sandbox.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import type { HostCapability } from '../../../src/protocol/plugin/plugin.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { createFakeProcesses } from '../../../src/simulation/processes.js'

const FIXTURES = join(import.meta.dirname, '../../fixtures/hook-commands')
const GRANTS: ReadonlySet<HostCapability> = new Set(['process-spawn', 'workspace-read', 'network'])
const never = new AbortController().signal

interface Setup {
  readonly manifest: Record<string, unknown>
  readonly processes?: ReturnType<typeof createFakeProcesses>
  readonly grants?: ReadonlySet<HostCapability>
  readonly file?: string
}

const real = createNodeEffects({ logWrite: () => undefined })
afterAll(() => real.processes.killAll())

async function start({ manifest, processes, grants = GRANTS, file = join(FIXTURES, 'manifest.json') }: Setup) {
  const effects = processes === undefined ? real : { ...createFakeEffects({ processes }), env: {} }
  const problems: InstanceProblem[] = []
  const deps = {
    effects: { ...effects, env: { SVC_AGENT_PLUGIN_SANDBOX: 'off' } },
    sandbox: createSandbox(effects),
    grants,
    serverUrl: () => 'http://127.0.0.1:1',
  }
  const command = { id: 'dev.example.hook', file, manifest: HookManifest.parse(manifest), revision: 'sha256:00' }
  const instance = await startHookCommand(deps, command, '/tmp')(1, (problem) => problems.push(problem), never)
  const hook = async (name: string, value: unknown, context: Record<string, unknown> = {}, signal = never) => {
    const run = instance.contributions.hooks?.[name]
    if (run === undefined) throw new Error(`no hook ${name}`)
    return run(context, value, signal)
  }
  return { instance, hook, problems, deps }
}

const program = (name: string, more: Record<string, unknown> = {}) => ({
  manifest: { command: [process.execPath, `./${name}.mjs`], ...more },
})
const answer = (value: unknown): Partial<ProcessResult> => ({ stdout: JSON.stringify({ protocol: 'svc-plugin/1', ok: true, value }) })
const inputOf = ({ stdin }: SpawnOptions): { hook: string; context: unknown; value: unknown } => JSON.parse(stdin ?? '')

/** Processes that wait until they are let go. */
function heldProcesses() {
  const processes = createFakeProcesses()
  const held: (() => void)[] = []
  processes.script(async () => {
    await new Promise<void>((resolve) => held.push(resolve))
    return answer({})
  })
  const turns = async () => {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
  return { processes, held, turns, release: () => held.splice(0).forEach((let_go) => let_go()) }
}

describe('a manifest that lists hooks', () => {
  it('has its command run for these alone, and its values added all the same', async () => {
    const processes = createFakeProcesses()
    processes.script(async (options) => answer({ ...(inputOf(options).value as object), RUN: inputOf(options).hook }))
    const { instance, hook } = await start({
      processes,
      manifest: { command: './hook.sh', hooks: ['shell.env'], chatOptions: { seed: 1 } },
    })
    expect(Object.keys(instance.contributions.hooks ?? {})).toEqual(['chat.options', 'shell.env'])
    expect(instance.contributions.events).toBeUndefined()
    expect(await hook('chat.options', {})).toEqual({ seed: 1 })
    expect(await hook('shell.env', {})).toEqual({ RUN: 'shell.env' })
    expect(HookManifest.safeParse({ hooks: ['tool.befor'] }).success).toBe(false)
  })
})

describe('what the answers of a command depend on', () => {
  it('is its program and the files its arguments name', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'svc-hook-'))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    writeFileSync(join(directory, 'hook.mjs'), 'one')
    const { instance } = await start({ manifest: { command: [process.execPath, './hook.mjs', '--flag'] }, file: join(directory, 'x.json') })
    const before = await instance.contributions.hookState?.()
    expect(await instance.contributions.hookState?.()).toBe(before)
    writeFileSync(join(directory, 'hook.mjs'), 'other')
    expect(await instance.contributions.hookState?.()).not.toBe(before)
  })
})

describe('a manifest without a command', () => {
  it('adds its values and runs nothing', async () => {
    const processes = createFakeProcesses()
    const { instance, hook } = await start({
      processes,
      manifest: { chatHeaders: { 'x-team': 'a' }, chatOptions: { seed: 1 }, shellEnv: { CI: '1' } },
    })
    expect(await hook('chat.headers', { accept: '*', 'x-team': 'old' })).toEqual({ accept: '*', 'x-team': 'a' })
    expect(await hook('chat.options', { top: 1 })).toEqual({ top: 1, seed: 1 })
    expect(await hook('shell.env', {})).toEqual({ CI: '1' })
    expect(Object.keys(instance.contributions.hooks ?? {})).toEqual(['chat.options', 'chat.headers', 'shell.env'])
    expect(instance.contributions.events).toBeUndefined()
    expect(processes.calls).toEqual([])
    instance.retire()
    await instance.gone
  })
})

describe('a command', () => {
  it('gets the merged value on one line and answers the new one', async () => {
    const { hook } = await start(program('upper-cases', { shellEnv: { CI: 'yes' } }))
    expect(await hook('shell.env', { A: 'b' })).toEqual({ A: 'B', CI: 'YES' })
  })

  it('serves every hook name and all events', async () => {
    const { instance } = await start(program('upper-cases'))
    const names = ['chat.headers', 'chat.messages', 'chat.options', 'shell.env', 'tool.after', 'tool.before', 'tool.definition']
    expect(Object.keys(instance.contributions.hooks ?? {}).toSorted()).toEqual(names)
    expect(instance.contributions.events?.namespaces).toEqual([''])
  })

  it('runs beside its manifest, knowing who it is and no secret of the server', async () => {
    const { hook } = await start({ manifest: { command: `${process.execPath} ./upper-cases.mjs one  two` } })
    const seen = await hook('tool.before', {}, { ask: 'environment' })
    expect(seen).toMatchObject({
      cwd: FIXTURES,
      hook: 'tool.before',
      argv: ['one', 'two'],
      env: {
        SVC_PLUGIN_ID: 'dev.example.hook',
        SVC_PLUGIN_PROTOCOL: 'svc-plugin/1',
        SVC_WORKSPACE_DIR: '/tmp',
        SVC_AGENT_SERVER_URL: 'http://127.0.0.1:1',
      },
    })
    const { env } = seen as { env: Record<string, string> }
    expect(Object.keys(env).filter((name) => name !== 'PWD' && !name.startsWith('SVC_') && !(name in real.childEnv))).toEqual([])
  })

  it.each([
    ['times-out', { timeoutMs: 100 }, /longer than 100 ms/],
    ['wrong-protocol', {}, /speaks "svc-plugin\/9" instead of "svc-plugin\/1"/],
    ['too-much-output', {}, /more than 4194304 bytes/],
    ['exits-1', {}, /exit code 1/],
    ['ok-false', {}, /refused without a reason/],
    ['not-json', {}, /is not JSON/],
    ['too-deep', {}, /nested deeper than 128 levels/],
    ['does-not-exist', {}, /exit code 1/],
  ])('fails the hook when it %s', async (name, more, message) => {
    const { hook } = await start(program(name, more))
    await expect(hook('tool.before', {})).rejects.toThrow(message)
  })

  it('fails with the reason it gives', async () => {
    const { hook } = await start(program('ok-false'))
    await expect(hook('tool.before', {}, { reason: 'not on a Sunday' })).rejects.toThrow('not on a Sunday')
  })

  it('ends with the signal of the caller', async () => {
    const { hook } = await start(program('times-out'))
    const caller = new AbortController()
    const call = hook('tool.before', {}, {}, caller.signal)
    caller.abort(new Error('no longer wanted'))
    await expect(call).rejects.toThrow('no longer wanted')
    expect(real.processes.alive).toBe(0)
  })

  it.each([
    [undefined, 10_000],
    [1.5, 10_000],
    [1, 100],
    [500_000, 120_000],
    [2000, 2000],
  ])('has a time limit: %s means %s ms', async (timeoutMs, expected) => {
    const processes = createFakeProcesses()
    processes.script(() => answer(null))
    const { hook } = await start({ processes, manifest: { command: ['/bin/x'], timeoutMs } })
    expect(await hook('tool.before', {})).toBeNull()
    expect(processes.calls[0]?.timeoutMs).toBe(expected)
  })
})

describe('starting', () => {
  it('needs no grant: the program is one that the installation names, and the host starts it', async () => {
    const { hook } = await start({ ...program('upper-cases'), grants: new Set() })
    expect(await hook('chat.options', { effort: 'low' })).toEqual({ effort: 'LOW' })
  })

  it('fails when the program is on no search path', async () => {
    await expect(start({ processes: createFakeProcesses(), manifest: { command: 'nope -x' } })).rejects.toThrow(
      '"nope" was not found on the search path',
    )
  })

  it('fails when it requires a sandbox that is not there', async () => {
    const processes = createFakeProcesses()
    await expect(start({ processes, manifest: { command: ['/bin/x'], sandbox: true } })).rejects.toThrow(
      'sandbox required but bubblewrap (bwrap) is not installed',
    )
  })
})

describe('many calls', () => {
  it('run a few at a time, in order, and the rest waits', async () => {
    const { processes, turns, release } = heldProcesses()
    const { hook } = await start({ processes, manifest: { command: ['/bin/x'] } })
    const calls = Array.from({ length: LIMITS.plugins.legacyProcesses + 3 }, async (_, index) => hook('tool.before', { index }))
    await turns()
    expect(processes.calls).toHaveLength(LIMITS.plugins.legacyProcesses)
    release()
    await turns()
    release()
    await Promise.all(calls)
    expect(processes.calls.map((call) => inputOf(call).value)).toEqual(calls.map((_, index) => ({ index })))
  })

  it('are refused beyond the number that may wait', async () => {
    const { processes, turns, release } = heldProcesses()
    const { hook, instance } = await start({ processes, manifest: { command: ['/bin/x'] } })
    const calls = Array.from({ length: LIMITS.plugins.legacyProcesses + LIMITS.plugins.pendingCalls }, async () =>
      hook('tool.before', {}).catch(() => 'ended'),
    )
    await turns()
    await expect(hook('tool.before', {})).rejects.toThrow('too many calls')
    instance.kill()
    release()
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['ended']))
    await instance.gone
  })

  it('stop waiting when nobody wants the answer', async () => {
    const { processes, turns, release } = heldProcesses()
    const { hook } = await start({ processes, manifest: { command: ['/bin/x'] } })
    const running = Array.from({ length: LIMITS.plugins.legacyProcesses }, async () => hook('tool.before', {}))
    const caller = new AbortController()
    const waiting = hook('tool.before', {}, {}, caller.signal)
    await turns()
    caller.abort(new Error('gone'))
    await expect(waiting).rejects.toThrow('gone')
    release()
    await Promise.all(running)
    expect(processes.calls).toHaveLength(LIMITS.plugins.legacyProcesses)
  })
})

describe('retirement', () => {
  it('starts nothing more and waits for what runs', async () => {
    const { processes, turns, release } = heldProcesses()
    const { hook, instance } = await start({ processes, manifest: { command: ['/bin/x'] } })
    const running = hook('tool.before', {})
    await turns()
    instance.retire()
    await expect(hook('tool.before', {})).rejects.toThrow('retired')
    let isGone = false
    void instance.gone.then(() => (isGone = true))
    await turns()
    expect(isGone).toBe(false)
    release()
    await running
    await instance.gone
  })

  it('ends what runs when it is killed', async () => {
    const { hook, instance } = await start(program('times-out'))
    const running = hook('tool.before', {})
    instance.kill()
    await expect(running).rejects.toThrow('retired')
    await instance.gone
    expect(real.processes.alive).toBe(0)
  })
})

describe('events', () => {
  const event = (id: number) => ({ id: `evt_${id}`, type: 'session.updated', properties: { id } })

  it('come one after another, whole and without a value', async () => {
    const { processes, turns, release } = heldProcesses()
    const { instance } = await start({ processes, manifest: { command: ['/bin/x'] } })
    for (const id of [1, 2]) instance.contributions.events?.deliver(event(id))
    await turns()
    expect(processes.calls.map(inputOf)).toEqual([{ protocol: 'svc-plugin/1', hook: 'event', context: event(1), value: null }])
    release()
    await turns()
    expect(processes.calls.map(inputOf)).toHaveLength(2)
    release()
  })

  it('give way to newer ones, and that is counted', async () => {
    const { processes, turns, release, held } = heldProcesses()
    const { instance, problems } = await start({ processes, manifest: { command: ['/bin/x'] } })
    for (let id = 0; id < LIMITS.plugins.eventQueue + 4; id++) instance.contributions.events?.deliver(event(id))
    expect(instance.droppedFrames).toBe(3)
    expect(problems).toMatchObject([{ code: 'flood' }])
    for (let round = 0; round <= LIMITS.plugins.eventQueue; round++) {
      while (held.length === 0) await turns()
      release()
    }
    await turns()
    const ids = processes.calls.map((call) => (inputOf(call).context as { id: string }).id)
    expect(ids.slice(0, 3)).toEqual(['evt_0', 'evt_4', 'evt_5'])
    expect(ids).toHaveLength(LIMITS.plugins.eventQueue + 1)
  })

  it('that fail are told once, and the next one is delivered', async () => {
    const processes = createFakeProcesses()
    processes.script(() => ({ exitCode: 1 }))
    const { instance, problems } = await start({ processes, manifest: { command: ['/bin/x'] } })
    for (const id of [1, 2, 3]) instance.contributions.events?.deliver(event(id))
    while (processes.calls.length < 3) await new Promise((resolve) => setImmediate(resolve))
    expect(problems).toEqual([{ code: 'log', message: 'the event session.updated was not taken: it ended with exit code 1' }])
  })

  it('are not delivered after retirement', async () => {
    const processes = createFakeProcesses()
    const { instance } = await start({ processes, manifest: { command: ['/bin/x'] } })
    instance.retire()
    instance.contributions.events?.deliver(event(1))
    await instance.gone
    expect(processes.calls).toEqual([])
  })
})

describe('finding manifests', () => {
  function place(files: Record<string, unknown>, env: Record<string, string> = {}) {
    const effects = createFakeEffects({ env })
    for (const [path, content] of Object.entries(files)) {
      const target = join(effects.root, path)
      mkdirSync(dirname(target), { recursive: true })
      writeFileSync(target, typeof content === 'string' ? content : JSON.stringify(content))
    }
    const find = async (plugins: unknown = {}) => {
      const found = await findHookCommands(effects, readPluginEntries({ plugins }, {}))
      return { ids: found.commands.map(({ id, file }) => [id, file.slice(effects.root.length + 1)]), broken: found.broken }
    }
    return { effects, find }
  }

  it('takes every JSON file of the installation, under its name or its id', async () => {
    const { find } = place({
      'config/plugins/a.json': {},
      'config/plugins/b.json': { id: ' dev.example.b ' },
      'config/plugins/dev.x/c.json': {},
      'config/plugins/d.txt': '{}',
    })
    expect(await find()).toEqual({
      ids: [
        ['a', 'config/plugins/a.json'],
        ['dev.example.b', 'config/plugins/b.json'],
      ],
      broken: [],
    })
  })

  it('finds nothing in a workspace by itself', async () => {
    const { find } = place({ 'work/.svc/plugins/a.json': { command: 'x' }, 'work/plugins/b.json': { command: 'x' }, 'work/c.json': {} })
    const { ids, broken } = await find({ b: true, c: true })
    expect([ids, broken.map(({ id }) => id)]).toEqual([[], ['b', 'c']])
  })

  it('keeps apart what is switched off, by name and by id, and says nothing of what is wrong with it', async () => {
    const { effects, find } = place({
      'config/plugins/a.json': {},
      'config/plugins/b.json': { id: 'dev.example.b' },
      'config/plugins/c.json': '{',
    })
    const plugins = { a: false, 'dev.example.*': false, c: false }
    expect(await find(plugins)).toEqual({ ids: [], broken: [] })
    const { off } = await findHookCommands(effects, readPluginEntries({ plugins }, {}))
    expect(off.map(({ id }) => id)).toEqual(['a', 'dev.example.b'])
  })

  it('stay on whatever a workspace says, for they judge its calls', async () => {
    const { effects } = place({ 'config/plugins/a.json': {}, 'config/plugins/b.json': {} })
    const found = async (mine: object, theirs: object) => {
      const { commands, off } = await findHookCommands(effects, readPluginEntries({ plugins: mine }, { plugins: theirs }))
      return [commands.map(({ id }) => id), off.map(({ id }) => id)]
    }
    expect(await found({}, { a: false, '*': false, b: { enabled: false } })).toEqual([['a', 'b'], []])
    expect(await found({ a: true }, { a: false })).toEqual([['a', 'b'], []])
    expect(await found({ a: false }, { b: false })).toEqual([['b'], ['a']])
  })

  it('are not there for names that nothing has, as of packages of npm, which is told', async () => {
    const { find } = place({ 'config/plugins/guard.json': {} })
    const { ids, broken } = await find({
      'left-pad': true,
      '@example/svc-plugin': true,
      guard: true,
      'dev.example.package': true,
      off: false,
    })
    expect(ids).toEqual([['guard', 'config/plugins/guard.json']])
    expect(broken.map(({ id, reason }) => [id, reason.split(':')[0]])).toEqual([
      ['@example/svc-plugin', 'no plugin has this name, and nothing is started'],
      ['left-pad', 'no plugin has this name, and nothing is started'],
    ])
  })

  it('follows the path of an entry: absolute, or from the configuration, and never from the workspace', async () => {
    const { effects, find } = place({
      'config/h/one.json': {},
      'work/h/one.json': {},
      'work/h/two.json': {},
      'elsewhere/three.json': { id: 'dev.example.three' },
    })
    const found = await find({
      one: { options: { path: 'h/one.json' } },
      './h/two.json': true,
      three: { options: { path: join(effects.root, 'elsewhere/three.json') } },
      missing: { options: { path: 'two.json' } },
    })
    expect(found.ids).toEqual([
      ['dev.example.three', 'elsewhere/three.json'],
      ['one', 'config/h/one.json'],
    ])
    expect(found.broken).toEqual([
      { id: 'two', reason: 'there is no manifest "./h/two.json"' },
      { id: 'missing', reason: 'there is no manifest "two.json"' },
    ])
  })

  it('leaves an id to the process that an entry describes', async () => {
    const { find } = place({ 'config/plugins/a.json': { id: 'dev.example.a' } })
    const found = await find({ 'dev.example.a': { options: { serve: ['x'] } } })
    expect(found.ids).toEqual([])
    expect(found.broken).toMatchObject([{ id: 'a', reason: expect.stringContaining('already that of an entry') as string }])
  })

  it('finds an entry by its name in each configuration directory', async () => {
    const { effects, find } = place({ 'home/.svc/plugins/dev.example.a.json': {} })
    expect(await find({ 'dev.example.a': true })).toMatchObject({ ids: [['dev.example.a', 'home/.svc/plugins/dev.example.a.json']] })
    expect(effects.paths.config).not.toContain('.svc')
  })

  it('says what is wrong with the others', async () => {
    const { find } = place({
      'config/plugins/a.json': '{ "command": [1] }',
      'config/plugins/b.json': '{',
      'config/plugins/c.json': { id: 'dev.svc.shell' },
      'config/plugins/d.json': { id: 'no way' },
      'config/plugins/e.json': '{"id": "x", "id": "y"}',
      'config/plugins/f.json': {},
      'config/plugins/g.json': { id: 'f' },
    })
    const { ids, broken } = await find()
    expect(ids).toEqual([['f', 'config/plugins/f.json']])
    expect(broken.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd', 'e', 'g'])
    expect(broken.map(({ reason }) => reason).join('\n')).toMatch(
      /"command".*\n.*b\.json:1:2.*\n.*built-in.*\n.*not an id.*\n.*appears twice.*\n.*already that of/,
    )
  })
})
