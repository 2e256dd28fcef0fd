// Holds decision 45, decision 42; plugin-protocol §9.4; threat-model W2.
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { insideOf, whyNotInside } from '../../../src/actors/plugin/package/native-part.js'
import { hashPackage } from '../../../src/actors/plugin/package/revision.js'
import type { ChildPipe } from '../../../src/ports/effects.js'
import type { NativeOptions } from '../../../src/ports/native-code.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { writePackage } from '../../fakes/packages.js'

const PIPE = {} as ChildPipe

async function setUp(entry: { sandbox?: boolean } = {}) {
  const effects = createFakeEffects()
  const root = writePackage(join(effects.root, 'copy'), { 'plugin.js': 'export const plugin = {}' })
  const { revision, digest } = await hashPackage(effects, root)
  const opened: NativeOptions[] = []
  const native = {
    open(options: NativeOptions) {
      opened.push(options)
      return PIPE
    },
  }
  const subject = { packageId: 'dev.example.one', entry: { sandbox: entry.sandbox }, revision, digest, root, entrypoint: 'plugin.js' }
  return { effects, root, opened, subject, begin: () => insideOf({ effects, native, serverUrl: () => undefined }, subject) }
}

const opening = (faults: string[]) => ({
  instanceId: 'plugin-instance-1',
  inputBacklog: 1,
  onStdout: () => undefined,
  onStderr: () => undefined,
  onFault: (reason: string) => void faults.push(reason),
})

test('an instance is one of the copy, and what fails in it is logged with who it was', async () => {
  const { effects, root, opened, begin } = await setUp()
  const faults: string[] = []
  expect((await begin()).open?.(opening(faults))).toBe(PIPE)
  expect(opened).toEqual([expect.objectContaining({ pluginId: 'dev.example.one', folder: root, entrypoint: 'plugin.js' })])
  opened[0]?.onFault('it threw')
  opened[0]?.onFatal('it broke')
  expect(faults).toEqual(['it threw'])
  const about = { pluginId: 'dev.example.one', instanceId: 'plugin-instance-1' }
  expect(effects.logs.map(({ level, message, fields }) => [level, message, fields])).toEqual([
    ['error', 'a native plugin has failed, and is retired', expect.objectContaining({ ...about, reason: 'it threw' })],
    ['error', 'a native plugin has broken the server, which ends', expect.objectContaining({ ...about, reason: 'it broke' })],
  ])
})

test('a copy that is another by now is not loaded', async () => {
  const { root, begin } = await setUp()
  await begin()
  chmodSync(join(root, 'plugin.js'), 0o600)
  writeFileSync(join(root, 'plugin.js'), 'export const plugin = { evil: true }')
  await expect(begin()).rejects.toThrow('not that content any more')
})

test.each([
  [undefined, {}, true],
  [undefined, { SVC_AGENT_PLUGIN_SANDBOX: 'auto' }, true],
  [undefined, { SVC_AGENT_PLUGIN_SANDBOX: 'required' }, false],
  [undefined, { SVC_AGENT_AUTH_CONFIG: '/tokens.json' }, false],
  [undefined, { SVC_AGENT_AUTH_CONFIG: '' }, true],
  [true, { SVC_AGENT_PLUGIN_SANDBOX: 'off' }, false],
  [false, { SVC_AGENT_PLUGIN_SANDBOX: 'required' }, true],
  [false, { SVC_AGENT_AUTH_CONFIG: '/tokens.json' }, false],
])('with the sandbox %s in %j it may run: %s', (sandbox, env, may) => {
  expect(whyNotInside({ sandbox }, env) === undefined).toBe(may)
})
