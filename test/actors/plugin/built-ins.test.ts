import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { defineTool, type NativePlugin } from '../../../src/ports/plugin.js'
import { TRUSTED_CALLER } from '../../../src/protocol/caller.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import * as z from 'zod'
import { PLAYED_CONFIG } from '../../../src/published/testing/steps.js'
import type { Effects } from '../../../src/ports/effects.js'
import { createNodeFiles } from '../../../src/platform/node/files/node-files.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { calls, gate, says, startTestService, type TestService } from '../../fakes/service.js'

const ID = 'dev.svc.switchable'
const OPERATION = 'v2.switchable'

/** A plugin that tells what becomes of it; `stop` and the operation wait for whatever the test releases. */
function switchable(more: Partial<NativePlugin> = {}) {
  const log: string[] = []
  const entered = gate()
  const answer = gate<string>()
  const stopped = gate()
  const plugin: NativePlugin = {
    id: ID,
    name: 'Switchable',
    capability: { id: 'svc.switchable', apiPrefix: '/v2/switchable' },
    start() {
      log.push('start')
      const operation = () => {
        entered.open()
        return answer.promise
      }
      return { operations: { [OPERATION]: operation } }
    },
    async stop() {
      log.push('stop')
      await stopped.promise
    },
    ...more,
  }
  return { plugin, log, entered, answer, stopped }
}

const configure = (service: Pick<TestService, 'effects'>, plugins: object | string) =>
  writeFileSync(
    join(service.effects.paths.config, 'config.json'),
    typeof plugins === 'string' ? plugins : JSON.stringify({ ...PLAYED_CONFIG, plugins }),
  )
const call = (service: TestService, directory = service.directory) =>
  service.runtime.plugins.call(OPERATION, { directory, signal: new AbortController().signal } as never)
const listed = async (service: TestService, directory = service.directory) => {
  const manifest = (await service.runtime.plugins.list(directory)).find(({ id }) => id === ID)
  const capability = (await service.runtime.system.capabilities(directory)).find(({ id }) => id === 'svc.switchable')
  return {
    plugin: { enabled: manifest?.enabled, active: manifest?.active, reason: manifest?.reason, generation: manifest?.generation },
    capability: { enabled: capability?.enabled, reason: capability?.reason },
  }
}
const off = (reason: string) => ({
  plugin: { enabled: false, active: false, reason, generation: undefined },
  capability: { enabled: false, reason },
})
const on = (generation: number) => ({
  plugin: { enabled: true, active: true, reason: undefined, generation },
  capability: { enabled: true, reason: undefined },
})
const OFF = off('disabled by installation config')

describe('a built-in plugin', () => {
  it('follows its switch when the watch of the configuration was lost and nobody asks, without a look from time to time', async () => {
    const files = createNodeFiles()
    const listeners = new Set<(paths: readonly string[]) => void>()
    const watch: Effects['files']['watch'] = async (directory, onChange) => {
      if (directory !== effects.paths.config) return undefined
      listeners.add(onChange)
      return () => void listeners.delete(onChange)
    }
    const effects = createFakeEffects({ files: { ...files, watch } })
    const tell = (path: string) => {
      const told = [...listeners]
      if (path === effects.paths.config) listeners.clear() // its last word
      for (const each of told) each([path])
    }
    const { plugin, log, stopped } = switchable()
    stopped.open()
    const service = await startTestService({ effects, plugins: [plugin] })
    expect(log).toEqual(['start'])
    tell(effects.paths.config)
    await expect.poll(() => listeners.size).toBe(1)
    configure(service, { [ID]: false })
    tell(join(effects.paths.config, 'config.json'))
    await expect.poll(() => log).toEqual(['start', 'stop'])
  })

  it('that is off when the service starts is never started, is listed as off, and answers that it is not there', async () => {
    const { plugin, log } = switchable()
    const service = await startTestService({ plugins: [plugin], config: { plugins: { [ID]: { enabled: false } } } })
    expect(await listed(service)).toEqual(OFF)
    await expect(call(service)).rejects.toMatchObject({ code: 'feature.not_implemented' })
    expect(log).toEqual([])
    configure(service, {})
    await expect.poll(() => listed(service)).toEqual(on(1))
    expect(log).toEqual(['start'])
  })

  it('keeps nothing of a session that was deleted while it was off, or stopped: what else it has stays', async () => {
    const { plugin } = switchable({ sessionRows: { mine: 'id', ours: 'group' } })
    const service = await startTestService({ plugins: [plugin], config: { plugins: { [ID]: false } } })
    const [gone, stays] = [await service.session(), await service.session()]
    service.store.transact('process', () => {
      for (const id of [gone, stays]) {
        service.store.pluginRows.put(ID, 'mine', { id, group: '', sort: 0, data: null })
        service.store.pluginRows.put(ID, 'ours', { id: `of ${id}`, group: id, sort: 0, data: null })
        service.store.pluginRows.put(ID, 'other', { id, group: id, sort: 0, data: null })
      }
    })
    await service.runtime.sessions.delete(TRUSTED_CALLER, gone)
    const left = (kind: string) => service.store.pluginRows.list(ID, kind).map(({ id }) => id)
    expect([left('mine'), left('ours'), left('other').toSorted()]).toEqual([[stays], [`of ${stays}`], [gone, stays].toSorted()])
  })

  it('that is switched off takes no more calls, ends, and finishes those it has; on again, it is another generation', async () => {
    const { plugin, log, entered, answer, stopped } = switchable()
    const service = await startTestService({ plugins: [plugin] })
    const underWay = call(service)
    await entered.promise
    configure(service, { [ID]: false })
    expect(await listed(service)).toEqual(OFF)
    await expect(call(service)).rejects.toMatchObject({ code: 'feature.not_implemented' })
    expect(log).toEqual(['start', 'stop'])
    expect(service.effects.logs.map(({ message }) => message)).toContain('a built-in plugin is switched off')
    configure(service, {})
    await service.runtime.plugins.list(service.directory)
    answer.open('here')
    expect(await underWay).toBe('here')
    expect(log).toEqual(['start', 'stop'])
    stopped.open()
    await expect.poll(() => listed(service)).toEqual(on(2))
    expect(log).toEqual(['start', 'stop', 'start'])
    expect(await call(service)).toBe('here')
  })

  it('has its tools aborted when they take longer to finish than they may', async () => {
    const plugin: NativePlugin = {
      id: ID,
      name: 'Switchable',
      start: () => ({
        tools: [
          defineTool({
            id: 'waits',
            description: 'Waits for its end.',
            input: z.strictObject({ value: z.string() }),
            permission: 'waits',
            needs: async () => [],
            invoke: (_, { signal }) =>
              new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')))),
          }),
        ],
      }),
    }
    const service = await startTestService({ plugins: [plugin], steps: [calls({ callId: 'call_1', tool: 'waits' }), says('Well.')] })
    const session = await service.session()
    await service.prompt(session, 'wait')
    await service.until(({ type, data }) => type === 'message.part.updated' && data['part'].state?.status === 'running')
    configure(service, { [ID]: false })
    await service.runtime.plugins.list(service.directory)
    await service.effects.clock.advanceAsync(LIMITS.plugins.offDrain)
    await service.idle(session)
    const states = service.messages(session).flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool' ? [part['state']] : [])))
    expect(states).toMatchObject([{ status: 'error', error: `The plugin ${ID} was switched off.` }])
    expect(service.requests.at(-1)?.tools.map(({ id }) => id)).not.toContain('waits')
  })

  it('that needs a capability which is off is off too, and says so', async () => {
    const { plugin } = switchable({ requires: ['svc.base'] })
    const base: NativePlugin = {
      id: 'dev.svc.base',
      name: 'Base',
      capability: { id: 'svc.base', apiPrefix: '/v2/base' },
      start: () => ({}),
    }
    const service = await startTestService({ plugins: [plugin, base], config: { plugins: { 'dev.svc.base': false } } })
    expect(await listed(service)).toEqual(off('it needs svc.base, which is off'))
    const capabilities = await service.runtime.system.capabilities(service.directory)
    expect(capabilities.filter(({ source }) => source === 'plugin').map(({ id, enabled, requires }) => [id, enabled, requires])).toEqual([
      ['svc.switchable', false, ['svc.base']],
      ['svc.base', false, undefined],
    ])
    configure(service, {})
    await expect.poll(() => listed(service)).toEqual(on(1))
  })

  it('is switched off by a workspace for that workspace alone, also before anybody looked at it', async () => {
    const { plugin, log, answer } = switchable()
    const service = await startTestService({ plugins: [plugin] })
    const narrow = join(service.directory, 'narrow')
    mkdirSync(join(narrow, '.svc'), { recursive: true })
    writeFileSync(join(narrow, '.svc/config.json'), JSON.stringify({ plugins: { [ID]: false } }))
    answer.open('here')
    await expect(call(service, narrow)).rejects.toMatchObject({
      code: 'feature.not_implemented',
      message: expect.stringContaining('switched off by this workspace') as string,
    })
    expect(await listed(service, narrow)).toEqual(off('switched off by this workspace'))
    expect([await call(service), await listed(service), log]).toEqual(['here', on(1), ['start']])
  })

  it('is not started by a configuration that cannot be read, and is once it can', async () => {
    const effects = createFakeEffects()
    const { plugin, log } = switchable()
    mkdirSync(effects.paths.config, { recursive: true })
    writeFileSync(join(effects.paths.config, 'svc.json'), '{ "plugins": {')
    const service = await startTestService({ effects, plugins: [plugin] })
    expect((await listed(service)).capability).toMatchObject({
      enabled: false,
      reason: expect.stringContaining('the configuration of the installation cannot be read: ') as string,
    })
    expect(log).toEqual([])
    writeFileSync(join(effects.paths.config, 'svc.json'), '{}')
    await expect.poll(() => listed(service)).toEqual(on(1))
  })
})
