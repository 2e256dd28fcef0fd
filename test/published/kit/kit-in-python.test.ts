/** The library for Python does what the library for Node does (plugin-protocol §11, §15.2). */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { HOST_METHODS } from '../../../src/protocol/plugin/host-methods.js'
import { HOST_CAPABILITIES } from '../../../src/protocol/plugin/plugin.js'
import { lacking } from '../../fakes/machine.js'

const at = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url))
const why = lacking('python3')

test.skipIf(why !== '')(`the library for Python holds its checks${why}`, () => {
  const env = { ...process.env, PYTHONPATH: at('src/published/python'), PYTHONDONTWRITEBYTECODE: '1' }
  const { status, stderr } = spawnSync('python3', ['-B', at('test/published/python/kit_check.py')], { env, encoding: 'utf8' })
  expect([status, stderr]).toEqual([0, expect.stringMatching(/^Ran 12 tests/m)])
  expect(readdirSync(at('src/published/python'))).toEqual(['svc_plugin.py'])
})

test('every function of the host is in the three languages, and every capability has one', () => {
  const lua = readFileSync(at('src/programs/sandbox/lua/host-table.ts'), 'utf8')
  const listed = /'(config_get [a-z_ ]+)'/.exec(lua)?.[1]?.split(' ').toSorted()
  expect(HOST_METHODS.map((each) => each.lua).toSorted()).toEqual(listed)
  for (const { lua: name, method } of HOST_METHODS) expect(`host.${name.replace('_', '.')}`).toBe(method)
  expect([...new Set(HOST_METHODS.map(({ capability }) => capability))].toSorted()).toEqual([...HOST_CAPABILITIES].toSorted())
  const node = readFileSync(at('src/published/kit/host.ts'), 'utf8')
  const python = readFileSync(at('src/published/python/svc_plugin.py'), 'utf8')
  for (const { method } of HOST_METHODS)
    expect([method, node.includes(`'${method}'`), python.includes(`"${method}"`)]).toEqual([method, true, true])
})
