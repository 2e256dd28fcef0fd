import { describe, expect, test } from 'vitest'
import { createLeases } from '../../../src/actors/plugin/brokers/leases.js'
import { startProcess } from '../../../src/actors/plugin/process/process-instance.js'
import { createInstanceIds, type ProcessSpec } from '../../../src/actors/plugin/process/process-spec.js'
import type { PlayedChild } from '../../../src/simulation/child.js'
import { createFakeEffects } from '../../fakes/effects.js'

type Frame = Record<string, unknown>

/** A start of a process that the test plays; `play` gets every frame it reads. */
function setUp(play: (frame: Frame, child: PlayedChild) => void, overrides: Partial<ProcessSpec> = {}) {
  const effects = createFakeEffects()
  const frames: Frame[] = []
  effects.processes.pipe(() => (child) => {
    child.onInput((text) => {
      for (const line of text.split('\n').filter((one) => one !== '')) {
        const frame = JSON.parse(line) as Frame
        frames.push(frame)
        play(frame, child)
      }
    })
  })
  const spec: ProcessSpec = {
    pluginId: 'dev.example.played',
    place: { scope: 'user', scopeId: 'ada' },
    config: undefined,
    timeoutMs: 60_000,
    directory: '/plugins/played',
    program: '/plugins/played/run',
    args: ['--x'],
    env: { PATH: '/bin' },
    capabilities: new Set(),
    eventNamespaces: [],
    ...overrides,
  }
  const host = {
    config: async () => ({}),
    setConfig: async () => undefined,
    publish: async () => undefined,
    protectedFiles: { reasons: async () => [] },
  }
  const start = startProcess(
    { effects, nextInstanceId: createInstanceIds(), host, leases: createLeases({ effects, brokers: new Map() }) },
    spec,
  )
  const run = () => start(2, () => undefined, new AbortController().signal)
  return { effects, frames, run, child: () => effects.processes.children.at(-1) }
}

const reply = (frame: Frame, child: PlayedChild, result: object = { protocol: 'svc-plugin/2' }) =>
  child.stdout(`${JSON.stringify({ id: frame['id'], result })}\n`)

describe('a plugin process', () => {
  test('is started with its arguments and its id, and initialize is its first frame', async () => {
    const { run, frames, child } = setUp(reply)
    const instance = await run()
    expect(child()?.options).toMatchObject({
      command: '/plugins/played/run',
      args: ['--x'],
      cwd: '/plugins/played',
      env: { PATH: '/bin', SVC_PLUGIN_INSTANCE_ID: 'plugin-instance-1' },
      inputBacklog: 8 * 1024 * 1024,
    })
    expect(frames).toEqual([
      {
        id: 1,
        method: 'initialize',
        params: {
          protocol: 'svc-plugin/2',
          pluginId: 'dev.example.played',
          instanceId: 'plugin-instance-1',
          directory: '/plugins/played',
          config: {},
          owner: { pluginId: 'dev.example.played', instanceId: 'plugin-instance-1', registryGeneration: 2, scope: 'user', scopeId: 'ada' },
        },
      },
    ])
    instance.kill()
    await instance.gone
  })

  test('is killed when it does not answer initialize within 8 s, whatever its call budget', async () => {
    const { run, effects, child } = setUp(() => undefined, { timeoutMs: 600_000 })
    const failed = run().catch(String)
    await effects.clock.advanceAsync(7999)
    expect(child()?.ended).toBe(false)
    await effects.clock.advanceAsync(1)
    expect(await failed).toContain(
      'The plugin did not start: Plugin "dev.example.played" did not answer initialize: it timed out after 8000 ms.',
    )
    expect(child()?.ended).toBe(true)
    expect(effects.clock.pendingTimers).toBe(0)
  })

  test('is killed when it takes longer to load than it may, counted from its first byte', async () => {
    const { run, effects } = setUp((_frame, child) => child.stdout('\n'), { watch: { loadBudget: 250 } })
    const failed = run().catch(String)
    await effects.clock.advanceAsync(250)
    expect(await failed).toContain('did not load within 250 ms')
  })

  test('retires in order: waiting requests, shutdown, input; nothing is killed', async () => {
    const { run, frames, child } = setUp((frame, played) => {
      if (frame['method'] === 'initialize') reply(frame, played)
    })
    const instance = await run()
    instance.retire()
    instance.retire()
    await Promise.resolve()
    expect(frames.at(-1)).toEqual({ method: 'shutdown', params: {} })
    expect(frames).toHaveLength(2)
    expect(child()?.inputClosed).toBe(true)
    expect(child()?.ended).toBe(false)
    child()?.end()
    await instance.gone
  })

  test('that has exited is told by its exit, not by the input it no longer reads', async () => {
    const { run, child } = setUp((frame, played) => reply(frame, played, { protocol: 'svc-plugin/2', hooks: ['tool.before'] }))
    const instance = await run()
    child()?.stderr('out of luck\n')
    child()?.end({ exitCode: 9 })
    const call = instance.contributions.hooks?.['tool.before']?.({}, {}, new AbortController().signal)
    await expect(call).rejects.toThrow('plugin process exited')
    expect(await instance.failed).toBe('The plugin process exited with code 9.')
  })
})
