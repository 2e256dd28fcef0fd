// Holds plugin-protocol §2.5, §4.8.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createOwnConfigs } from '../../../src/actors/plugin/brokers/own-config.js'
import { createConfigs } from '../../../src/actors/resource/facade/config.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { createFakeEffects } from '../../fakes/effects.js'

const ID = 'dev.example.own'
const allowed = () => undefined

function setUp(document: object) {
  const effects = createFakeEffects()
  mkdirSync(effects.paths.config, { recursive: true })
  const file = join(effects.paths.config, 'config.json')
  writeFileSync(file, JSON.stringify(document))
  const configs = createConfigs({ effects })
  const own = createOwnConfigs(effects, configs)
  const set = (key: string, value: unknown, { signal } = new AbortController()) => own.set(ID, { key, value }, allowed, signal)
  const written = () => JSON.parse(readFileSync(file, 'utf8')) as { plugins: Record<string, { options: { config: unknown } }> }
  return { effects, own, set, written, configOf: () => written().plugins[ID]?.options.config }
}

const entry = (config: unknown) => ({
  model: 'svc/offline',
  plugins: { [ID]: { options: { config, trust: [] } }, other: { enabled: false } },
})

test('one value, a value within a value, a whole config and the end of a value are written, and nothing else is', async () => {
  const { set, written, configOf } = setUp(entry({ keep: true, a: { b: 1, c: 2 } }))
  await set('a.b', [1, { x: 2 }])
  await set('new.deep', 'text')
  expect(configOf()).toEqual({ keep: true, a: { b: [1, { x: 2 }], c: 2 }, new: { deep: 'text' } })
  await set('a.c', null)
  expect(configOf()).toEqual({ keep: true, a: { b: [1, { x: 2 }] }, new: { deep: 'text' } })
  await set('', { only: 1 })
  expect(written()).toEqual(entry({ only: 1 }))
})

test('is refused where it is no config, where it is too large or too often, and where the entry cannot hold it', async () => {
  const { set, own, configOf, effects } = setUp(entry({ a: 1 }))
  for (const key of ['__proto__.x', 'constructor', 'a..b', '.']) await expect(set(key, 1)).rejects.toThrow('is no key of a config')
  await expect(set('a.b', 1)).rejects.toThrow('"b" is not within an object')
  await expect(set('', 'text')).rejects.toThrow('a whole config is an object')
  await expect(set('b', 'x'.repeat(LIMITS.brokers.configBytes))).rejects.toThrow('a config may have')
  await expect(own.set(ID, { key: 'b', value: 1 }, () => 'b is not allowed', new AbortController().signal)).rejects.toThrow(
    'b is not allowed',
  )
  expect(configOf()).toEqual({ a: 1 })
  for (let used = 8; used < LIMITS.brokers.configWrites; used++) await set('a', 1)
  await expect(set('a', 2)).rejects.toThrow('times a minute')
  effects.clock.advance(LIMITS.brokers.minute + 1)
  await set('a', 2)
  expect(configOf()).toEqual({ a: 2 })
  const listed = setUp({ plugin: [[ID, { config: { a: 1 } }]] })
  await expect(listed.set('a', 2)).rejects.toThrow('is not an object under "plugins"')
})

test('is refused where another file of the installation says otherwise', async () => {
  const { set, effects } = setUp(entry({ a: 1 }))
  writeFileSync(join(effects.paths.config, 'svc.json'), JSON.stringify({ plugins: { [ID]: { options: { config: { a: 5 } } } } }))
  await expect(set('a', 2)).rejects.toThrow(`another configuration file of the installation overrides the config of ${ID}`)
})

test('is noticed as a change only when somebody else made it', async () => {
  const { own, set } = setUp(entry({ a: 1 }))
  await set('a', 2)
  await set('a', 3)
  expect(own.noticed(ID, { a: 3 })).toEqual({ a: 1 })
  expect(own.noticed(ID, { a: 2 })).toEqual({ a: 2 })
  expect(own.noticed('dev.example.other', { a: 3 })).toEqual({ a: 3 })
})

test('that waits for its turn is not written for a plugin that has been retired meanwhile', async () => {
  const { set, configOf } = setUp(entry({ a: 1 }))
  const retirement = new AbortController()
  const first = set('a', 2)
  const behindIt = set('b', 3, retirement)
  retirement.abort(new Error('retired'))
  await expect(behindIt).rejects.toThrow('retired')
  await first
  expect(configOf()).toEqual({ a: 2 })
})
