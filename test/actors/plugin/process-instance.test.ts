import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import type { StreamPart } from '../../../src/ports/provider-adapter.js'
import { isRunning, until } from '../../fakes/programs.js'
import { contextOf, effects, processes, published, specOf, start, type Started } from './started-process.js'

const running: Started[] = []
const started = async (...parameters: Parameters<typeof start>): Promise<Started> => {
  const one = await start(...parameters)
  running.push(one)
  return one
}
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop()))
  await until('every process is gone', () => processes.alive === 0)
})

describe('a plugin process', () => {
  test('offers what it declares, with its own name and version', async () => {
    const { instance } = await started('echo')
    expect(instance).toMatchObject({ name: 'Echo', version: '1.2.3', droppedFrames: 0 })
    const { tools, hooks, events, agents, skills, providers, routes, websocketRoutes, messageParts, mcp } = instance.contributions
    expect(tools?.map(({ id, permission }) => [id, permission])).toEqual([
      ['echo', 'read'],
      ['ask', 'ask'],
      ['inside', 'inside'],
    ])
    expect(Object.keys(hooks ?? {})).toEqual(['tool.before'])
    expect(events?.namespaces).toEqual(['session.'])
    expect(agents).toMatchObject([{ id: 'echo.agents', priority: 3 }])
    expect(skills).toEqual([])
    expect(providers?.[0]?.builtin).toMatchObject({ id: 'parrot', name: 'Parrot', models: [{ id: 'small' }] })
    expect(routes?.map(({ descriptor }) => descriptor.path)).toEqual(['/hello'])
    expect(websocketRoutes?.map(({ descriptor }) => descriptor.path)).toEqual(['/chat'])
    expect(messageParts).toEqual([{ id: 'card', version: 1, schema: {}, fallbackTextField: 'text' }])
    expect(mcp).toEqual([])
  })

  test('runs tools, whose input is checked before and whose pattern is an argument', async () => {
    const { instance, tool } = await started('echo')
    const echo = instance.contributions.tools?.[0]
    const signal = new AbortController().signal
    expect(await echo?.invoke({ text: 'hi' }, contextOf(signal))).toEqual({ title: 'Echo', output: 'hi', metadata: { length: 2 } })
    expect(echo?.input.safeParse({ text: 5 }).error?.issues).toMatchObject([{ path: ['text'], message: 'must be string' }])
    expect(echo?.input.safeParse({ text: 'x', more: 1 }).success).toBe(false)
    expect(await echo?.needs({ text: 'a/b' }, contextOf(signal))).toMatchObject([{ permission: 'read', patterns: ['a/b'] }])
    expect(await instance.contributions.tools?.[1]?.needs({}, contextOf(signal))).toMatchObject([{ permission: 'ask', patterns: ['*'] }])
    await expect(tool('ask', { method: 'host.nothing' })).rejects.toThrow('unknown method')
  })

  test('gets its owner, its configuration and an allow-listed environment', async () => {
    const { tool } = await started('echo', { config: { mode: 'x' }, env: { ...specOf('echo').env, EXTRA: '1' } })
    const { owner, config, env, cwd } = JSON.parse(await tool('inside')) as Record<string, Record<string, unknown>>
    expect(owner).toEqual({
      pluginId: 'dev.example.fixture',
      instanceId: expect.stringMatching(/^plugin-instance-\d+$/),
      packageRevision: 'sha256:1234',
      registryGeneration: 4,
      scope: 'workspace',
      workspaceId: effects.paths.cwd,
    })
    expect(config).toEqual({ mode: 'x' })
    expect(cwd).toBe(specOf('echo').directory)
    expect(env).toMatchObject({
      EXTRA: '1',
      SVC_PLUGIN_ID: 'dev.example.fixture',
      SVC_PLUGIN_PROTOCOL: 'svc-plugin/2',
      SVC_PLUGIN_INSTANCE_ID: owner?.['instanceId'],
      SVC_WORKSPACE_DIR: cwd,
    })
    expect(Object.keys(env ?? {}).filter((name) => /TOKEN|VITEST/.test(name))).toEqual([])
  })

  test('may ask the host before it answers initialize, and in the middle of a call', async () => {
    const { tool } = await started('echo', { config: { askFirst: true } })
    expect(JSON.parse(await tool('inside'))).toMatchObject({ config: { answer: 'dark' } })
    expect(await tool('ask', { method: 'host.config.get', params: { key: 'nested.deep' } })).toBe('[\n  1\n]')
  })

  test('reads, lists and writes its workspace and publishes events in its namespaces', async () => {
    const { tool } = await started('echo')
    writeFileSync(join(effects.paths.cwd, 'note.txt'), 'hi')
    expect(JSON.parse(await tool('ask', { method: 'host.workspace.read', params: { path: './note.txt' } }))).toEqual([104, 105])
    await tool('ask', { method: 'host.workspace.write', params: { path: 'new.txt', contents: [111, 107] } })
    expect(readFileSync(join(effects.paths.cwd, 'new.txt'), 'utf8')).toBe('ok')
    expect(JSON.parse(await tool('ask', { method: 'host.workspace.list', params: { path: '' } }))).toEqual(['new.txt', 'note.txt'])
    await tool('ask', { method: 'host.event.publish', params: { namespace: 'example.sub', name: 'done', payload: { a: 1 } } })
    expect(published).toEqual([{ type: 'plugin.example.sub.done', properties: { a: 1 } }])
  })

  test('is asked by hooks, services and routes', async () => {
    const { contributions } = (await started('echo')).instance
    const request = { workspaceId: null, directory: '/x', options: {} }
    const signal = new AbortController().signal
    expect(await contributions.hooks?.['tool.before']?.({ toolId: 'bash' }, { a: 1 }, signal)).toEqual({
      a: 1,
      hook: 'tool.before',
      toolId: 'bash',
    })
    expect(await contributions.agents?.[0]?.call(request)).toEqual({
      agents: [{ name: 'echo', mode: 'all', prompt: '/x' }],
      defaultAgent: null,
    })
    expect(await contributions.commands?.[0]?.call(request)).toEqual([])
    expect(await contributions.prompts?.[0]?.call({ promptId: 'p', variables: { name: 'n' }, service: request })).toEqual({
      content: 'p n',
      system: false,
    })
    const route = {
      tenantId: null,
      hosted: false,
      workspaceId: null,
      workspace: null,
      sessionId: null,
      actor: null,
      path: { a: '1' },
      query: {},
      headers: {},
      body: null,
    }
    expect(await contributions.routes?.[0]?.handle(route, signal)).toEqual({
      status: 200,
      headers: {},
      body: { routeId: 'hello', path: { a: '1' } },
    })
    const socket = await contributions.websocketRoutes?.[0]?.open(route, signal)
    socket?.receive({ kind: 'text', data: 'hello' })
    const seen: unknown[] = []
    for await (const message of socket?.outbound ?? []) {
      seen.push(message)
      socket?.receive({ kind: 'close' })
    }
    socket?.close()
    expect(seen).toEqual([{ kind: 'text', data: 'you said hello' }])
  })

  test('generates as a provider', async () => {
    const { instance } = await started('echo')
    const adapter = instance.contributions.providers?.[0]?.create({
      providerId: 'parrot',
      npm: 'parrot',
      baseURL: undefined,
      apiKey: () => undefined,
      headers: {},
      options: {},
      compatibility: { streamUsage: false, reasoningEffort: false },
    })
    const parts: StreamPart[] = []
    const prompt = Array.from({ length: 300 }, (_, index) => `w${index}`)
    const request = {
      sessionId: 'ses_1',
      directory: '/x',
      model: { providerId: 'parrot', id: 'small' },
      messages: [{ role: 'user' as const, content: [{ type: 'text' as const, text: prompt.join(' ') }] }],
      tools: [],
      options: {},
    }
    await adapter?.generate(request, (part) => parts.push(part), new AbortController().signal)
    expect(parts).toEqual([
      ...prompt.map((delta) => ({ type: 'text', delta })),
      { type: 'finish', reason: 'stop', usage: { input: 5, output: 300, reasoning: 0, cache: { read: 0, write: 0 } } },
    ])
    const long = { ...request, messages: [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'x'.repeat(1024 * 1024) }] }] }
    await expect(adapter?.generate(long, () => undefined, new AbortController().signal)).rejects.toMatchObject({
      name: 'ProviderError',
      overflow: true,
      retryable: false,
    })
  })

  test('receives events', async () => {
    const { instance, tool } = await started('echo')
    instance.contributions.events?.deliver({ id: 'evt_1', type: 'session.created', sequence: 4, properties: { a: 1 } })
    expect(JSON.parse(await tool('inside'))).toMatchObject({
      events: [{ id: 'evt_1', type: 'session.created', sequence: 4, properties: { a: 1 } }],
    })
  })

  test('may be written with the package ndjson', async () => {
    const { tool } = await started('speaks-ndjson')
    expect(await tool('shout', { text: 'hey' })).toBe('HEY')
  })
})

describe('a start', () => {
  test.each([
    ['crashes-at-start', 'exited with code 3. The last line of its log: the licence file is missing'],
    ['speaks-old-protocol', 'protocol: Invalid input: expected "svc-plugin/2"'],
    ['declares-nonsense', 'tools[1].description'],
  ])('of %s fails with a reason and leaves nothing running', async (fixture, reason) => {
    await expect(start(fixture)).rejects.toThrow(reason)
    expect(processes.alive).toBe(0)
  })

  test('of a program that does not exist names it', async () => {
    await expect(start('echo', { program: '/nowhere/plugin' })).rejects.toThrow('The program "/nowhere/plugin" cannot be started')
  })

  test('is cancelled by its signal', async () => {
    const stop = new AbortController()
    const cancelled = start('slow-init', {}, stop.signal)
    await until('it runs', () => processes.alive === 1)
    stop.abort()
    await expect(cancelled).rejects.toThrow('The start was cancelled.')
    expect(processes.alive).toBe(0)
  })
})

describe('a failure', () => {
  test('of the process is told once and fails the call', async () => {
    const { instance, tool } = await started('crashes-in-call')
    await expect(tool('crash')).rejects.toThrow('plugin process exited')
    expect(await instance.failed).toBe('The plugin process exited with code 7.')
    await instance.gone
  })

  test('is a flood', async () => {
    const { instance, problems } = await started('floods-stdout')
    expect(await instance.failed).toMatch(/more than 1000 frames in one second/)
    await instance.gone
    expect(problems.at(-1)).toMatchObject({ code: 'flood' })
  })

  test('is a child that does not read', async () => {
    const { instance, tool } = await started('never-reads')
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => tool('deaf', { text: 'x'.repeat(900_000) })))
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true)
    expect(await instance.failed).toMatch(/does not read its input/)
    await instance.gone
  })

  test('is more memory than allowed, while a call waits', async () => {
    const { instance, tool } = await started('grows', { watch: { processBytes: 192 * 1024 * 1024 } })
    await expect(tool('grow')).rejects.toThrow(/MiB of memory/)
    expect(await instance.failed).toMatch(/it may use 192 MiB/)
    await instance.gone
  })
})

describe('retirement', () => {
  test('ends a process that listens by itself, and its failure is not told', async () => {
    const { instance, tool } = await started('leaves-grandchild')
    const pid = Number(await tool('pid'))
    expect(isRunning(pid)).toBe(true)
    instance.retire()
    await instance.gone
    expect(isRunning(pid)).toBe(false)
    expect(await Promise.race([instance.failed, Promise.resolve('not told')])).toBe('not told')
  })

  test('leaves a process that stays to be killed', async () => {
    const { instance } = await started('ignores-shutdown')
    instance.retire()
    expect(processes.alive).toBe(1)
    instance.kill()
    await instance.gone
  })

  test('drops what comes late', async () => {
    const { instance, tool, problems } = await started('late-frame')
    const stop = new AbortController()
    const call = tool('late', {}, stop.signal)
    stop.abort(new Error('stopped'))
    await expect(call).rejects.toThrow('stopped')
    await until('the late answer came', () => instance.droppedFrames === 1)
    instance.retire()
    await instance.gone
    expect(instance.droppedFrames).toBe(3)
    expect(problems.map(({ code }) => code)).toEqual(['late-frame', 'late-frame', 'foreign-frame'])
    expect(published.filter(({ type }) => type.endsWith('late'))).toEqual([])
  })

  test('refuses who lies about the owner before anything else', async () => {
    const { tool, problems } = await started('lies-about-owner')
    expect(await tool('lie')).toBe('plugin reverse request has the wrong owner')
    expect(problems).toMatchObject([{ code: 'foreign-frame' }])
  })
})
