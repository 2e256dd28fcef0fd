// Holds sessions-events §8.6, §12.4; plugin-protocol §3, §13-18; laws §10.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { NativePlugin } from '../../../src/ports/plugin.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { TRUSTED_CALLER } from '../../../src/protocol/caller.js'
import type { PackageLifecycleInfo } from '../../../src/protocol/plugin/plugin.js'
import type { PlayedChild } from '../../../src/simulation/child.js'
import { readTool } from '../../fakes/plugins.js'
import { createFakeEffects, type FakeEffects } from '../../fakes/effects.js'
import { startTestService } from '../../fakes/service.js'

const ID = 'dev.example.played'

function writePackage(effects: FakeEffects, text: string, scope = 'workspace'): void {
  const root = join(effects.paths.config, 'plugins', ID)
  mkdirSync(root, { recursive: true })
  writeFileSync(join(root, 'text'), text)
  const agent = { runtime: 'process', command: ['/bin/sh'], scope }
  writeFileSync(join(root, 'svc-plugin.json'), JSON.stringify({ id: ID, version: '1', agent }))
}

/** A service with one package; every start of its process is a child that the test plays. */
async function begin(
  play: (child: PlayedChild, start: number) => void,
  plugins: readonly NativePlugin[] = [],
  env: Readonly<Record<string, string>> = { SVC_AGENT_PLUGIN_SANDBOX: 'off' },
) {
  const effects = createFakeEffects({ env })
  let starts = 0
  effects.processes.pipe(() => (child) => play(child, ++starts))
  writePackage(effects, 'one')
  const service = await startTestService({ effects, plugins })
  const file = join(effects.paths.config, 'config.json')
  const configure = (change: Record<string, unknown>) =>
    writeFileSync(file, JSON.stringify({ ...(JSON.parse(readFileSync(file, 'utf8')) as object), ...change }))
  const list = () => service.runtime.plugins.lifecycle(service.directory)
  const lifecycle = async (): Promise<PackageLifecycleInfo> => {
    const [info] = await list()
    if (info === undefined) throw new Error('there is no package')
    return info
  }
  const approve = async (...more: string[]) => {
    const { revision } = await lifecycle()
    const trust = [revision, ...more].map((approved) => ({
      workspaceId: service.directory,
      packageId: ID,
      revision: approved,
      executableApproved: true,
    }))
    configure({ plugins: { [ID]: { options: { trust } } } })
    return revision
  }
  /** Resolves with the record of the `count`th time that the package came into a state. */
  const reaches = async (state: string, count = 1): Promise<PackageLifecycleInfo> => {
    let seen = 0
    const counted = new Set<string>()
    const event = await service.until(({ id, type, data }) => {
      if (type === 'package.updated' && data['info'].state === state && !counted.has(id)) {
        counted.add(id)
        seen++
      }
      return seen >= count
    })
    return event.data['info'] as PackageLifecycleInfo
  }
  return { service, effects, list, lifecycle, configure, approve, reaches, starts: () => starts }
}

describe('a native plugin', () => {
  const broken: NativePlugin = {
    id: 'test.broken',
    name: 'Broken',
    start() {
      throw new Error('no licence')
    },
  }

  it('that throws at its start fails alone: the service runs and tells why', async () => {
    const service = await startTestService({ plugins: [broken] })
    const list = await service.runtime.plugins.list(service.directory)
    expect(list.find(({ id }) => id === 'test.broken')).toMatchObject({ active: false, internal: true, reason: 'no licence' })
    expect(list.find(({ id }) => id === 'test.played')).toMatchObject({ active: true, generation: 1 })
  })

  it('is stopped when its generation is retired with the service', async () => {
    let stopped = 0
    const service = await startTestService({
      plugins: [
        {
          id: 'test.stopping',
          name: 'Stopping',
          start: () => ({}),
          stop: async () => {
            stopped++
          },
        },
      ],
    })
    await service.stop()
    expect(stopped).toBe(1)
  })

  it('whose tool has the name of another one fails, and the first keeps it', async () => {
    const twin = (id: string): NativePlugin => ({
      id,
      name: id,
      start: () => ({ operations: { 'v2.twin': async () => id } }),
    })
    const service = await startTestService({ plugins: [twin('test.first'), twin('test.second')] })
    const list = await service.runtime.plugins.list(service.directory)
    expect(list.find(({ id }) => id === 'test.second')).toMatchObject({
      active: false,
      reason: 'The operation "v2.twin" is already contributed by test.first.',
    })
  })

  it('is switched off for a directory by the configuration, and its operations answer that they are not there', async () => {
    const plugin: NativePlugin = {
      id: 'dev.svc.switchable',
      name: 'Switchable',
      start: () => ({ operations: { 'v2.switchable': async () => 'here' } }),
    }
    const service = await startTestService({ plugins: [plugin], config: { plugins: { 'dev.svc.switchable': false } } })
    await service.runtime.plugins.lifecycle(service.directory)
    const call = { directory: service.directory, signal: new AbortController().signal } as never
    await expect(service.runtime.plugins.call('v2.switchable', call)).rejects.toMatchObject({ code: 'feature.not_implemented' })
    const list = await service.runtime.plugins.list(service.directory)
    expect(list.find(({ id }) => id === plugin.id)).toMatchObject({
      enabled: false,
      active: false,
      reason: 'disabled by installation config',
    })
  })
})

/** Answers requests as a plugin with one tool; `answer` plays the tool. */
function servesTool(child: PlayedChild, tool: string, answer: (id: number) => void = () => undefined, more: object = {}): void {
  let rest = ''
  child.onInput((text) => {
    const lines = `${rest}${text}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const frame = JSON.parse(line) as { id?: number; method: string }
      const tools = [{ id: tool, description: 'x', parameters: { type: 'object' } }]
      if (frame.method === 'initialize') say(child, { id: frame.id, result: { protocol: 'svc-plugin/2', tools, ...more } })
      else if (frame.method === 'tool.invoke') answer(frame.id ?? 0)
    }
  })
}

/** The package, approved and served by children with one tool. */
async function serve(env?: Readonly<Record<string, string>>) {
  const children: PlayedChild[] = []
  const play = (child: PlayedChild): void => {
    children.push(child)
    servesTool(child, 'played_tool')
  }
  const begun = await begin(play, [], env)
  await begun.approve()
  await begun.lifecycle()
  await begun.reaches('active')
  return { ...begun, children }
}

const say = (child: PlayedChild, frame: unknown) => child.stdout(`${JSON.stringify(frame)}\n`)

describe('a package', () => {
  it('runs nothing before it is approved', async () => {
    const { lifecycle, starts } = await begin(() => undefined)
    expect(await lifecycle()).toMatchObject({ state: 'permission-required', leaseActive: false })
    expect(starts()).toBe(0)
  })

  it('serves once it is approved', async () => {
    const { service, approve, lifecycle, reaches } = await begin((child) => servesTool(child, 'played_tool'))
    await approve()
    await lifecycle()
    await reaches('active')
    expect((await service.runtime.system.tools(service.directory)).map(({ id }) => id)).toContain('played_tool')
  })

  it('that was refused because another has the same tool is told by whom, and serves once that one is switched off', async () => {
    const owner: NativePlugin = { id: 'dev.svc.owner', name: 'Owner', start: () => ({ tools: [readTool] }) }
    const { service, effects, configure, approve, lifecycle, reaches } = await begin(
      (child) => {
        servesTool(child, 'read')
        child.onInput((text) => {
          if (text.includes('"shutdown"')) child.end()
        })
      },
      [owner],
    )
    await approve()
    await lifecycle()
    expect((await reaches('failed')).diagnostics).toEqual([
      {
        code: 'failed',
        message: 'The tool "read" is already contributed by dev.svc.owner.',
        action: 'switch dev.svc.owner off, or name the contribution otherwise: it is tried again then',
      },
    ])
    const file = join(effects.paths.config, 'config.json')
    const { plugins } = JSON.parse(readFileSync(file, 'utf8')) as { plugins: object }
    configure({ plugins: { ...plugins, [owner.id]: false } })
    await lifecycle()
    expect(await reaches('active')).toMatchObject({ diagnostics: [], leaseActive: true })
    await service.stop()
  })

  it('of session scope that is approved rests with its session, and its process ends', async () => {
    const { service, effects, list, reaches, starts, configure } = await begin((child) => servesTool(child, 'played_tool'))
    writePackage(effects, 'one', 'session')
    const session = await service.session()
    const [{ revision } = { revision: '' }] = await list()
    const trust = { workspaceId: service.directory, packageId: ID, revision, scope: 'session', scopeId: session, executableApproved: true }
    configure({ plugins: { [ID]: { options: { trust } } } })
    expect(await list()).toMatchObject([{ state: 'trusted', scopeId: session, leaseActive: false, diagnostics: [] }])
    expect(starts()).toBe(0)
    service.steps.push((push) =>
      push({ type: 'finish', reason: 'stop', usage: { input: 1, output: 1, reasoning: 0, cache: { read: 0, write: 0 } } }),
    )
    await service.prompt(session, 'wake up')
    await reaches('active')
    await service.idle(session)
    const before = service.events.length
    const shown = (await service.runtime.plugins.list(service.directory)).filter(({ id }) => id === ID)
    expect(shown).toMatchObject([{ active: true, contributions: [{ kind: 'tool' }] }])
    expect(await service.runtime.plugins.manifest(service.directory, ID)).toEqual(shown[0])
    await effects.clock.advanceAsync(LIMITS.sessions.idleMemory)
    await effects.clock.advanceAsync(LIMITS.plugins.shutdownGrace)
    const rested = service.events.slice(before).filter(({ type }) => type === 'package.updated')
    expect(rested.at(-1)?.data['info']).toMatchObject({ state: 'trusted', scopeId: session })
    expect(await list()).toMatchObject([{ state: 'trusted', scopeId: session, leaseActive: false }])
    expect(service.running.counters()).toMatchObject({ processes: 0 })
  })

  it('that never answers initialize is given eight seconds, then it has failed and nothing of it runs', async () => {
    const children: PlayedChild[] = []
    const { service, effects, approve, lifecycle, reaches } = await begin((child) => void children.push(child))
    await approve()
    await lifecycle()
    await reaches('loading')
    await effects.clock.advanceAsync(7_900)
    expect(await lifecycle()).toMatchObject({ state: 'loading' })
    await effects.clock.advanceAsync(200)
    const failed = await reaches('failed')
    expect(failed.diagnostics).toEqual([
      expect.objectContaining({ code: 'failed', message: expect.stringContaining('timed out after 8000 ms') }),
    ])
    expect(children.map(({ ended }) => ended)).toEqual([true])
    expect(service.running.counters()).toMatchObject({ processes: 0 })
  })

  it('that ends by itself is brought back later each time, and given up after three times in a minute', async () => {
    const { children, effects, reaches, starts } = await serve()
    for (const [death, delay] of [250, 500, 1000].entries()) {
      children.at(-1)?.end({ exitCode: 7 })
      const degraded = await reaches('degraded', death + 1)
      expect(degraded.diagnostics[0]?.message).toContain('7')
      await effects.clock.advanceAsync(delay - 10)
      expect(starts()).toBe(death + 1)
      await effects.clock.advanceAsync(20)
      await reaches('active', death + 2)
      expect(starts()).toBe(death + 2)
    }
    children.at(-1)?.end({ exitCode: 7 })
    expect(await reaches('failed')).toMatchObject({ leaseActive: false })
  })

  it('that serves well for a minute is forgiven its earlier ends', async () => {
    const { children, effects, reaches } = await serve()
    for (let death = 1; death <= 5; death++) {
      children.at(-1)?.end({ exitCode: 7 })
      await reaches('degraded', death)
      await effects.clock.advanceAsync(300)
      await reaches('active', death + 1)
      await effects.clock.advanceAsync(60_100)
    }
  })

  it('that is replaced may finish its calls for a minute, then it is told to end, and killed a second and a half later', async () => {
    const children: PlayedChild[] = []
    const { service, effects, approve, lifecycle, reaches } = await begin((child) => {
      children.push(child)
      servesTool(child, 'played_tool')
    })
    const first = await approve()
    await lifecycle()
    await reaches('active')
    const view = await service.runtime.system.tools(service.directory)
    expect(view.map(({ id }) => id)).toContain('played_tool')
    service.steps.push((push) => {
      push({ type: 'tool-call', callId: 'call_1', tool: 'played_tool', input: '{}' })
      push({ type: 'finish', reason: 'tool-calls', usage: { input: 1, output: 1, reasoning: 0, cache: { read: 0, write: 0 } } })
    })
    service.steps.push((push) =>
      push({ type: 'finish', reason: 'stop', usage: { input: 1, output: 1, reasoning: 0, cache: { read: 0, write: 0 } } }),
    )
    const session = await service.session()
    await service.prompt(session, 'call it')
    await service.until(({ type, data }) => type === 'message.part.updated' && data['part'].state?.status === 'running')

    writePackage(effects, 'two')
    await approve(first)
    await lifecycle()
    await reaches('active', 2)
    const [old] = children
    await effects.clock.advanceAsync(59_000)
    expect(old?.input).not.toContain('shutdown')
    await effects.clock.advanceAsync(1_100)
    expect(old?.input).toContain('{"method":"shutdown","params":{}}')
    expect(old?.inputClosed).toBe(true)
    await effects.clock.advanceAsync(1_300)
    expect(old?.ended).toBe(false)
    await effects.clock.advanceAsync(200)
    expect(old?.ended).toBe(true)
    await service.idle(session)
    expect(await lifecycle()).toMatchObject({
      state: 'active',
      generation: 2,
      diagnostics: [{ code: 'timeout' }, { code: 'unstoppable', message: expect.stringContaining('Generation 1') as string }],
    })
  })

  it('has what the running content did wrong in its record, until other content is started', async () => {
    const { children, effects, approve, lifecycle, reaches } = await serve()
    children[0]?.stdout('no frame\n')
    expect(await lifecycle()).toMatchObject({ diagnostics: [{ code: 'malformed-frame' }] })
    children[0]?.end({ exitCode: 7 })
    await reaches('degraded')
    await effects.clock.advanceAsync(300)
    expect(await reaches('active', 2)).toMatchObject({ diagnostics: [{ code: 'malformed-frame' }] })
    writePackage(effects, 'two')
    await approve()
    await lifecycle()
    expect(await reaches('active', 3)).toMatchObject({ diagnostics: [] })
  })

  it('that runs without the sandbox it would have says why', async () => {
    const { lifecycle } = await serve({})
    expect((await lifecycle()).diagnostics).toEqual([
      {
        code: 'uncontained',
        message: expect.stringMatching(/^It runs without a sandbox: bubblewrap \(bwrap\) is not installed/) as string,
      },
    ])
  })

  it('that has not answered initialize yet does not keep the routes of others waiting', async () => {
    const descriptor = { id: 'here', method: 'GET', path: '/here', scope: 'workspace' } as const
    const routed: NativePlugin = {
      id: 'test.routed',
      name: 'Routed',
      start: () => ({ routes: [{ descriptor, priority: 0, handle: async () => ({ status: 200, headers: {}, body: 'here' }) }] }),
    }
    const { service, approve, lifecycle, reaches } = await begin(() => undefined, [routed])
    await approve()
    await lifecycle()
    await reaches('loading')
    const path = '/v2/plugins/test.routed/here'
    const call = { pluginId: routed.id, method: 'GET', upgrade: false, path, query: {}, headers: {}, directory: service.directory }
    const match = await service.runtime.plugins.match(TRUSTED_CALLER, { ...call, workspaceId: undefined })
    expect(match).toMatchObject({ kind: 'route', directory: service.directory })
    expect(await lifecycle()).toMatchObject({ state: 'loading' })
  })

  it('that comes back while what ran of it is still being retired serves again as soon as that is gone', async () => {
    const { children, effects, list, reaches } = await serve()
    rmSync(join(effects.paths.config, 'plugins', ID), { recursive: true })
    expect(await list()).toEqual([])
    expect(children.map(({ ended }) => ended)).toEqual([false])
    writePackage(effects, 'one')
    await list()
    await effects.clock.advanceAsync(1_600)
    expect(await reaches('active', 2)).toMatchObject({ generation: 2, leaseActive: true })
    expect(children.map(({ ended }) => ended)).toEqual([true, false])
  })

  it.each([
    ['', {}],
    ['; its hooks stay, because the installation has brought it', { hooks: ['tool.before'] }],
  ])('that everybody shares is switched off by a workspace for that workspace alone%s', async (stays, more) => {
    const children: PlayedChild[] = []
    const { service, effects, approve, lifecycle, reaches } = await begin((child) => {
      children.push(child)
      servesTool(child, 'played_tool', undefined, more)
    })
    writePackage(effects, 'one', 'global')
    await approve()
    await lifecycle()
    await reaches('active')
    const narrow = join(service.directory, 'narrow')
    mkdirSync(join(narrow, '.svc'), { recursive: true })
    writeFileSync(join(narrow, '.svc/config.json'), JSON.stringify({ plugins: { '*': false } }))
    const { plugins, system } = service.runtime
    const toolsOf = async (directory: string) => (await system.tools(directory)).map(({ id }) => id).filter((id) => id === 'played_tool')
    expect(await plugins.lifecycle(narrow)).toMatchObject([{ state: 'disabled', diagnostics: [{ code: 'inactive' }] }])
    const listed = (await plugins.list(narrow)).find(({ id }) => id === ID)
    expect(listed).toMatchObject({ enabled: false, active: false, reason: `switched off by this workspace${stays}` })
    expect({ here: await toolsOf(service.directory), there: await toolsOf(narrow) }).toEqual({ here: ['played_tool'], there: [] })
    expect(await lifecycle()).toMatchObject({ state: 'active', generation: 1, leaseActive: true })
    expect(children.map(({ ended }) => ended)).toEqual([false])
  })

  it('that refuses with a screenful has one plain line of it in its record', async () => {
    const { approve, lifecycle, reaches } = await begin((child) =>
      child.onInput(() => say(child, { id: 1, error: `\u001b[2J\u202e\nno\n${'x'.repeat(100_000)}` })),
    )
    await approve()
    await lifecycle()
    const [diagnostic] = (await reaches('failed')).diagnostics
    expect(diagnostic?.message).toMatch(/^[\x20-\x7e…]{100,3000}$/)
    expect(diagnostic?.message).toContain('no xxx')
  })
})
