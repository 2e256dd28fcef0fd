// Holds plugin-protocol §2.4, §4.8: a package is held to its manifest where it is tested, too.
import { expect, test } from 'vitest'
import { undeclared } from '../../../../src/cli/commands/plugin/test/declared.js'
import { PackageManifest } from '../../../../src/protocol/plugin/plugin.js'

function target(more: object) {
  const { agent } = PackageManifest.parse({ id: 'dev.example.one', agent: { runtime: 'lua', entrypoint: 'agent.lua', ...more } })
  if (agent === null) throw new Error('it has no agent')
  return agent
}
const fetching = (url: string, alias?: string) => ({
  operation: 'fetch',
  input: { url, ...(alias !== undefined && { credential: { alias } }) },
})
const secrets = [{ alias: 'token', purpose: 'to ask', hosts: ['one.example'] }]
const whole = target({ capabilities: ['network', 'secret-use'], network: { hosts: ['one.example', 'two.example'] }, secrets })

test.for([
  ['a capability', target({}), 'host.workspace.read', { path: 'a' }, '"workspace-read"'],
  ['a host', whole, 'host.network.request', fetching('https://three.example/'), 'three.example is not one of the hosts'],
  ['a secret', whole, 'host.network.request', fetching('https://one.example/', 'other'), 'declares no secret "other"'],
  ['a secret for that host', whole, 'host.network.request', fetching('https://two.example/', 'token'), 'for two.example'],
  [
    'the use of secrets',
    target({ capabilities: ['network'], secrets }),
    'host.network.request',
    fetching('https://one.example/', 'token'),
    '"secret-use"',
  ],
  ['an operation', whole, 'host.network.request', { operation: 'fetsh', input: {} }, 'fetsh'],
  [
    'an input',
    whole,
    'host.network.request',
    { operation: 'fetch', input: { adress: 'https://one.example/' } },
    'the input is not valid: ',
  ],
  ['a name of an operation', whole, 'host.network.request', { input: {} }, 'no "operation"'],
] as const)('refuses %s that the manifest does not have', ([, manifest, method, params, why]) => {
  expect(undeclared(manifest, method, params)).toContain(why)
})

test('lets through what it has, and what is no method of the host', () => {
  expect(undeclared(whole, 'host.network.request', fetching('https://one.example/', 'token'))).toBeUndefined()
  expect(undeclared(target({ capabilities: ['network'] }), 'host.network.request', fetching('https://any.example/'))).toBeUndefined()
  expect(undeclared(whole, 'host.network.request', { operation: 'read', input: { opaqueId: 'x' } })).toBeUndefined()
  expect(undeclared(target({}), 'nothing', null)).toBeUndefined()
})
