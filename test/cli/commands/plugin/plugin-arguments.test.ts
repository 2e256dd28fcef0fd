import { describe, expect, test } from 'vitest'
import { readArguments } from '../../../../src/cli/arguments.js'
import { helpText } from '../../../../src/cli/help/help.js'

const read = (...args: string[]) => readArguments(['plugin', ...args])
const common = { directory: undefined, json: false }

describe('the command line of svc plugin', () => {
  test('makes a Lua package for the workspace unless told otherwise', () => {
    expect(read('init', 'dev.example.hello')).toEqual({
      name: 'plugin',
      options: { action: 'init', ...common, id: 'dev.example.hello', language: 'lua', scope: 'workspace' },
    })
    expect(read('init', 'dev.example.hello', '--language', 'python', '--scope', 'user', '--directory', 'w', '--json')).toEqual({
      name: 'plugin',
      options: { action: 'init', directory: 'w', json: true, id: 'dev.example.hello', language: 'python', scope: 'user' },
    })
  })

  test('reads what is approved, for whom and how it is confirmed', () => {
    expect(read('trust', 'a.b', '--capabilities', 'network,workspace-read', '--source', 'user', '--session', 'ses_1', '--yes')).toEqual({
      name: 'plugin',
      options: {
        action: 'trust',
        ...common,
        id: 'a.b',
        capabilities: ['network', 'workspace-read'],
        source: 'user',
        scopeId: 'ses_1',
        yes: true,
      },
    })
  })

  test('reads the other actions', () => {
    expect(read('list')).toMatchObject({ options: { action: 'list', server: undefined } })
    expect(read('doctor', 'a.b', '--server', 'http://127.0.0.1:1')).toMatchObject({
      options: { action: 'doctor', id: 'a.b', server: 'http://127.0.0.1:1' },
    })
    expect(read('init', 'a.b', '--language', 'ts')).toMatchObject({ options: { language: 'typescript' } })
    expect(read('disable', 'a.b')).toMatchObject({ options: { action: 'disable', id: 'a.b' } })
    expect(read('enable', 'a.b')).toMatchObject({ options: { action: 'enable', id: 'a.b' } })
  })

  test.each([
    [[], 'svc plugin needs one of init, list, trust, configure, dev, test, untrust, remove, restore, disable, enable, doctor'],
    [['remove'], 'svc plugin remove needs the id of a plugin, such as dev.example.hello'],
    [['test', 'a.b', 'c', '{'], expect.stringContaining('the input of a tool is JSON')],
    [['trust'], 'svc plugin trust needs the id of a plugin, such as dev.example.hello'],
    [['init', 'a.b', 'c.d'], 'svc plugin init does not know what to do with "c.d"'],
    [['init', 'a.b', '--language', 'perl'], '--language must be lua, typescript, javascript, python, ts, js or py, not "perl"'],
    [['list', '--server', 'ftp://x'], '--server must be a URL such as http://127.0.0.1:4096, or host:port, not "ftp://x"'],
    [
      ['trsut', 'a.b'],
      'svc plugin needs one of init, list, trust, configure, dev, test, untrust, remove, restore, disable, enable, doctor, not "trsut"; did you mean trust?',
    ],
  ])('says what is wrong with %j', (args, problem) => {
    expect(read(...args)).toMatchObject({ name: 'usage', problem })
  })

  test('has a help text that names every action', () => {
    expect(read('trust', '--help')).toEqual({ name: 'help', topic: 'plugin trust' })
    for (const action of ['init', 'list', 'trust', 'disable', 'enable', 'doctor']) expect(helpText('plugin')).toContain(`  ${action} `)
  })
})
