// Holds decision 45; plugin-protocol §3.4.
import { expect, test } from 'vitest'
import { instanceOf } from '../../../src/programs/native/factory.js'

const context = { pluginId: 'dev.example.one', instanceId: 'plugin-instance-1', signal: new AbortController().signal }
const descriptor = { id: 'dev.example.one', apiVersion: 2 }
const contributions = { tools: [] }
const made = async (instance: unknown) => instanceOf({ default: { descriptor, create: () => instance } }, context)

test('a module that exports a plugin needs no factory', async () => {
  const plugin = { tools: [] }
  expect((await instanceOf({ plugin }, context)).plugin).toBe(plugin)
  expect((await instanceOf({ default: plugin }, context)).plugin).toBe(plugin)
})

test('a factory makes an instance, which is started once and shut down once', async () => {
  const said: unknown[] = []
  const factory = {
    descriptor,
    create(given: unknown): object {
      said.push(this === factory, given)
      return {
        contributions,
        async start(this: unknown) {
          said.push(Reflect.has(this as object, 'contributions'))
        },
        shutdown: () => said.push('shutdown'),
      }
    },
  }
  const instance = await instanceOf({ default: factory, plugin: {} }, context)
  expect(instance.plugin).toBe(contributions)
  await Promise.all([instance.shutdown(), instance.shutdown()])
  expect(said).toEqual([true, context, true, 'shutdown'])
})

test.each<[string, Readonly<Record<string, unknown>>, string]>([
  ['no plugin', { other: 1 }, 'exports neither'],
  [
    'another package',
    { default: { descriptor: { ...descriptor, id: 'dev.example.two' }, create: () => undefined } },
    'is for the package dev.example.two',
  ],
  [
    'another interface',
    { default: { descriptor: { ...descriptor, apiVersion: 3 }, create: () => undefined } },
    'native API 3; this server has 2',
  ],
  ['no descriptor', { default: { create: () => undefined } }, 'is for the package undefined'],
  ['no instance', { default: { descriptor, create: () => ({}) } }, 'no instance with "contributions"'],
])('what is for %s is refused', async (_what, exported, reason) => {
  await expect(instanceOf(exported, context)).rejects.toThrow(reason)
})

test('an instance is ready, or degraded with a reason that is shown; nothing else serves', async () => {
  const start = (answer: unknown) => made({ contributions, start: async () => answer })
  for (const ready of [undefined, 'ready', { readiness: 'ready' }]) expect((await start(ready)).plugin).toEqual(contributions)
  expect((await start({ readiness: 'degraded', reason: 'half' })).plugin.problems).toEqual(['degraded: half'])
  for (const other of ['starting', 'failed', { readiness: 'failed', reason: 'no disk' }, {}])
    await expect(start(other)).rejects.toThrow(/^it says that it is (?:starting|failed(?:: no disk)?|undefined)$/)
})
