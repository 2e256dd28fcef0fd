import { expect, test } from 'vitest'
import { InspectedLines, InspectedPlugin } from '../../../src/protocol/system/inspector.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { calls, says, startTestService } from '../../fakes/service.js'
import { playLink } from '../plugin/played-link.js'

test('a link counts frames and bytes both ways, and what it drops', () => {
  const { link, plugin, sent } = playLink()
  void link.call('initialize', { name: 'é' }).catch(() => undefined)
  expect(link.notify('event', {})).toBe(true)
  const bytesOut = sent.map((frame) => Buffer.byteLength(`${JSON.stringify(frame)}\n`)).reduce((sum, size) => sum + size)
  plugin({ id: 1, result: 'ü' }, { id: 9, result: 1 }, 'no frame\n')
  const bytesIn = Buffer.byteLength('{"id":1,"result":"ü"}\n{"id":9,"result":1}\nno frame\n')
  expect(link.counters).toMatchObject({ framesOut: 2, bytesOut, framesIn: 2, bytesIn, dropped: 2 })
})

test('what the child does not take is not counted as sent', () => {
  const { link, refuseInput } = playLink()
  refuseInput()
  expect(link.notify('event', {})).toBe(false)
  expect(link.counters).toMatchObject({ framesOut: 0, bytesOut: 0 })
})

test('the plugins of the inspector tell the frames of each process, whose actor is below its generation, and none of what is no process', async () => {
  const effects = createFakeEffects({ env: { SVC_AGENT_PLUGIN_SANDBOX: 'off' } })
  effects.processes.pipe(() => (child) => {
    child.stderr('it works\n')
    child.onInput(() => child.stdout('{"id":1,"result":{"protocol":"svc-plugin/2"}}\nnoise\n'))
  })
  const service = await startTestService({
    effects,
    config: { plugins: { 'dev.example.played': { options: { serve: ['/bin/sh'] } } } },
  })
  await service.runtime.plugins.list(service.directory)
  const plugins = () => service.runtime.inspector.tree().plugins.map((plugin) => InspectedPlugin.parse(plugin))
  const played = () => plugins().find(({ pluginId }) => pluginId === 'dev.example.played')
  await expect.poll(() => played()?.state).toBe('active')
  expect(played()?.generations).toEqual([
    expect.objectContaining({
      number: 1,
      frames: { framesIn: 1, framesOut: 1, bytesIn: 52, bytesOut: expect.any(Number), dropped: 1, streams: 0 },
    }),
  ])
  expect(played()).toMatchObject({
    requestedCapabilities: ['network'],
    offers: [],
    calls: [{ from: 'host', generation: 1, method: 'initialize', outcome: 'ok' }],
    quotas: [
      { capability: 'network', unit: 'calls', used: 0, per: 'minute' },
      { capability: 'network', unit: 'bytes', used: 0, per: 'minute' },
    ],
  })
  expect(played()?.generations[0]?.brokers).toMatchObject([{ capability: 'network', state: 'granted', calls: 0 }])
  expect(played()?.generations[0]).toMatchObject({ readyAt: effects.clock.now(), leases: 0 })
  const lines = (key = '') => InspectedLines.parse(service.runtime.inspector.lines(key)).lines
  await expect.poll(() => lines(played()?.key)).toEqual([{ at: effects.clock.now(), generation: 1, text: 'it works' }])
  expect(lines('dev.example.other')).toEqual([])
  expect(JSON.stringify(service.runtime.inspector.trace())).not.toContain('it works')
  const native = plugins().find(({ pluginId }) => pluginId === 'test.played')
  expect(native?.generations.map(({ frames }) => frames)).toEqual([undefined])
  const actors = () => service.runtime.inspector.tree().actors
  const generation = played()?.generations[0]?.actorId
  expect(actors().filter(({ kind }) => kind === 'instance')).toMatchObject([
    { parentId: generation, name: 'instance', machine: 'instance', state: ['running.serving'] },
  ])
  await service.stop()
})

test('what runs inside of the server tells of what it offers and of its last calls, with the session and without what was asked', async () => {
  const secret = 'the-quick-brown-secret'
  const service = await startTestService({
    tools: [{ id: 'note', permission: 'read', invoke: async () => ({ title: secret, output: secret }) }],
    steps: [calls({ callId: 'c1', tool: 'note', input: { value: secret } }), says('Done.')],
  })
  const sessionId = await service.session()
  await service.prompt(sessionId, 'go')
  await service.idle(sessionId)
  const plugins = service.runtime.inspector.tree().plugins.map((plugin) => InspectedPlugin.parse(plugin))
  const native = plugins.find(({ offers }) => offers?.some(({ id }) => id === 'note'))
  expect(native?.offers).toContainEqual({ kind: 'tool', id: 'note' })
  expect(native?.calls?.filter(({ name }) => name === 'note')).toEqual([
    expect.objectContaining({ from: 'host', method: 'tool.invoke', sessionId, outcome: 'ok', ms: expect.any(Number) }),
  ])
  expect(JSON.stringify(plugins)).not.toContain(secret)
  await service.stop()
})
