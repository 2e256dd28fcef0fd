// Holds subsystems f.1; threat-model N4.
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { createNames } from '../../../src/plugins/mcp/offer/names.js'
import { readArguments } from '../../../src/plugins/mcp/offer/prompts.js'
import { commandLine, serverFault, substituteVariables } from '../../../src/protocol/mcp/mcp-config.js'

test('arguments of a prompt are taken in order, by name, and the last takes the rest', () => {
  const prompt = { arguments: [{ name: 'city' }, { name: 'state' }, { name: 'note' }] }
  expect(readArguments(prompt, 'Boston MA mind the "ice cream" here')).toEqual({
    city: 'Boston',
    state: 'MA',
    note: 'mind the ice cream here',
  })
  expect(readArguments(prompt, `state=MA 'New York' x=1`)).toEqual({ state: 'MA', city: 'New York', note: 'x=1' })
  expect(readArguments(prompt, '')).toEqual({})
  expect(readArguments({}, 'ignored')).toEqual({})
})

test('ids of tools do not depend on what else there is, unless two would be one', () => {
  const names = createNames((text) => Buffer.from(text).toString('hex').padEnd(64, '0'))
  expect(names.idOf('a', 'read')).toBe('mcp__a__read')
  expect(names.idOf('a', 'read')).toBe('mcp__a__read')
  expect(names.idOf('a', 'b__c')).toBe('mcp__a__b__c')
  expect(names.idOf('a', 'b c')).toBe('mcp__a__b_c')
  expect(names.idOf('a', 'b_c')).toMatch(/^mcp__a__b_c_[0-9a-f]{8}$/)
})

test('a rule about the tools of one server is about no tool of another, whatever both are called', () => {
  const names = createNames((text) => createHash('sha256').update(text).digest('hex'))
  const servers = ['a', 'b', 'a__b', 'a_', 'a__', 'a_b', 'a.b', '_a', '__a', 'a-b', 'a__b_', 'mcp__a', '_', '__', '.']
  const tools = ['c', 'b__c', '_c', '__c', 'b___c', '_b__c', 'b_c']
  const idsOf = (server: string) => tools.map((tool) => names.idOf(server, tool))
  const beginnings = servers.map((server) => {
    const [first = ''] = idsOf(server)
    return { server, beginning: `mcp__${first.slice('mcp__'.length).split('__')[0] ?? ''}__` }
  })
  for (const { server, beginning } of beginnings)
    expect(servers.filter((other) => idsOf(other).some((id) => id.startsWith(beginning)))).toEqual([server])
  expect(beginnings.slice(0, 3).map(({ beginning }) => beginning)).toEqual([
    'mcp__a__',
    'mcp__b__',
    expect.stringMatching(/^mcp__a_b-\w{8}__$/),
  ])
})

test('a server that is configured wrongly says what is wrong', () => {
  expect(serverFault('files', { type: 'local', command: ['x'] })).toBeUndefined()
  expect(serverFault('files', { enabled: false })).toBeUndefined()
  expect(serverFault('a b', { type: 'local', command: ['x'] })).toContain('its name must have')
  expect(serverFault('files', { type: 'local', command: [' '] })).toBe('"command": must name a program')
  expect(serverFault('files', { type: 'remote', url: 'ftp://x' })).toContain('"url": must be an http or https address')
  expect(serverFault('files', { type: 'remote', url: 'https://me:secret@x' })).toContain('"url"')
  expect(serverFault('files', { command: ['x'] })).toContain('"type"')
  const oauth = (more: object) => serverFault('web', { type: 'remote', url: 'https://x/mcp', oauth: more })
  const robot = { grant: 'client_credentials', clientId: 'robot', issuer: 'https://login.example' }
  expect(oauth({ ...robot, clientSecret: 's' })).toBeUndefined()
  expect(oauth(robot)).toContain('either "clientSecret" or "privateKey"')
  expect(oauth({ ...robot, clientSecret: 's', privateKey: 'k' })).toContain('either "clientSecret" or "privateKey"')
  expect(oauth({ clientMetadataUrl: 'https://x' })).toContain('an https address with a path')
})

test('command lines are split once, and variables replaced where there are some', () => {
  expect(commandLine({ command: 'npx -y server', args: ['/a b'] })).toEqual(['npx', '-y', 'server', '/a b'])
  expect(substituteVariables({ a: 'x{env:ONE}{env:NONE}', b: '{file:x}' }, { ONE: '1' })).toEqual({ a: 'x1', b: '{file:x}' })
})
