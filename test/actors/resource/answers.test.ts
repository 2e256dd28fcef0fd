// Holds plugin-protocol §4.7.
import { expect, it } from 'vitest'
import type { CommandService } from '../../../src/ports/contributions.js'
import { createServiceAnswers } from '../../../src/actors/resource/contributed/answers.js'
import type { PluginCommand } from '../../../src/protocol/plugin/plugin-services.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { createFakeView, registered } from '../../fakes/plugins.js'
import { gate } from '../../fakes/service.js'

const { serviceAge, serviceWait } = LIMITS.plugins

function setup(...calls: readonly (() => Promise<readonly PluginCommand[]>)[]) {
  const effects = createFakeEffects()
  const services = calls.map((call, index): CommandService => ({ id: `service-${index}`, priority: -index, call }))
  const viewOf = () => createFakeView({ commands: services.map((service, index) => registered(`test.plugin${index}`, service)) })
  const answers = createServiceAnswers(effects)
  const view = viewOf()
  return {
    effects,
    viewOf,
    of: (directory = '/project', seen = view) => answers.of(seen, 'commands', directory),
    latest: () => answers.latest(view, 'commands', '/project'),
  }
}

const command = (name: string): readonly PluginCommand[] => [{ name }]

it('asks every service once, with the directory, and keeps the list', async () => {
  const asked: unknown[] = []
  const { of, viewOf } = setup(async (...request: unknown[]) => {
    asked.push(...request)
    return command('a')
  })
  const list = await of()
  expect(list).toEqual([{ pluginId: 'test.plugin0', serviceId: 'service-0', answer: [{ name: 'a' }] }])
  expect(await of()).toBe(list)
  expect(await of('/project', viewOf())).toBe(list)
  expect(asked).toEqual([{ workspaceId: '/project', directory: '/project', options: {} }])
  await of('/other')
  expect(asked).toHaveLength(2)
})

it('leaves the others when one fails or is late', async () => {
  const { effects, of } = setup(
    () => Promise.reject(new Error('broken')),
    () => new Promise(() => undefined),
    async () => command('c'),
  )
  const list = of()
  await effects.clock.advanceAsync(serviceWait)
  expect((await list).map(({ serviceId }) => serviceId)).toEqual(['service-2'])
  expect((await of()).map(({ serviceId }) => serviceId)).toEqual(['service-2'])
})

it('serves an old answer while it asks anew, and the last good one after a failure', async () => {
  let next: () => Promise<readonly PluginCommand[]> = async () => command('first')
  const { effects, of } = setup(() => next())
  await of()
  const second = gate<readonly PluginCommand[]>()
  next = () => second.promise
  effects.clock.advance(serviceAge)
  expect((await of())[0]?.answer).toEqual([{ name: 'first' }])
  second.open(command('second'))
  await effects.clock.advanceAsync(0)
  expect((await of())[0]?.answer).toEqual([{ name: 'second' }])
  next = () => Promise.reject(new Error('broken'))
  effects.clock.advance(serviceAge)
  await of()
  await effects.clock.advanceAsync(0)
  expect((await of())[0]?.answer).toEqual([{ name: 'second' }])
})

it('can be looked at without waiting', async () => {
  const { effects, latest } = setup(async () => command('a'))
  expect(latest()).toEqual([])
  await effects.clock.advanceAsync(0)
  expect(latest()).toHaveLength(1)
  expect(latest()).toBe(latest())
})
