import { describe, expect, test } from 'vitest'
import { readArguments } from '../../../../src/cli/arguments.js'
import { helpText } from '../../../../src/cli/help/help.js'

const read = (...args: string[]) => readArguments(['plugin', ...args])
const common = { directory: undefined, json: false }

describe('the command line of svc plugin', () => {
  test('makes a Lua package for the workspace unless told otherwise', () => {
    expect(read('init', 'dev.example.hello')).toEqual({
      name: 'plugin',
      options: {
        action: 'init',
        ...common,
        target: 'dev.example.hello',
        id: undefined,
        language: 'lua',
        scope: 'workspace',
        kinds: ['tool'],
      },
    })
    const asked = [
      './hello',
      '--id',
      'a.b',
      '--with',
      'route',
      '--with',
      'hook',
      '--language',
      'python',
      '--scope',
      'user',
      '--directory',
      'w',
      '--json',
    ]
    expect(read('init', ...asked)).toEqual({
      name: 'plugin',
      options: {
        action: 'init',
        directory: 'w',
        json: true,
        target: './hello',
        id: 'a.b',
        language: 'python',
        scope: 'user',
        kinds: ['hook', 'route'],
      },
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
        native: false,
        yes: true,
      },
    })
    expect(read('trust', 'a.b', '--native')).toMatchObject({ options: { native: true, yes: false } })
  })

  test('reads the other actions', () => {
    expect(read('list')).toMatchObject({ options: { action: 'list', server: undefined } })
    expect(read('doctor', 'a.b', '--server', 'http://127.0.0.1:1')).toMatchObject({
      options: { action: 'doctor', id: 'a.b', server: 'http://127.0.0.1:1' },
    })
    expect(read('init', 'a.b', '--language', 'ts')).toMatchObject({ options: { language: 'typescript' } })
    expect(read('add', './x', '--path', 'y', '--trust', '--yes')).toMatchObject({
      options: { action: 'add', source: './x', path: 'y', trust: true, yes: true },
    })
    expect(read('update', 'a.b', '--diff')).toMatchObject({
      options: { action: 'update', id: 'a.b', diff: true, force: false, trust: false },
    })
    expect(read('pack', 'x', '--output', 'y.tgz')).toMatchObject({
      options: { action: 'pack', id: 'x', output: 'y.tgz', force: false },
    })
    expect(read('remove', 'a.b', '--keep-data')).toMatchObject({ options: { action: 'remove', id: 'a.b', keepData: true } })
    expect(read('disable', 'a.b')).toMatchObject({ options: { action: 'disable', id: 'a.b' } })
    expect(read('enable', 'a.b')).toMatchObject({ options: { action: 'enable', id: 'a.b' } })
  })

  test.each([
    [
      [],
      'svc plugin needs one of init, add, update, pack, list, trust, configure, dev, test, untrust, remove, restore, disable, enable, doctor',
    ],
    [['remove'], 'svc plugin remove needs the id of a plugin, such as dev.example.hello'],
    [['test', 'a.b', 'c', '{'], expect.stringContaining('the input of a tool is JSON')],
    [['trust'], 'svc plugin trust needs the id of a plugin, such as dev.example.hello'],
    [['add', './x', '--yes'], '--yes goes with --trust: without that nothing is asked'],
    [['init', 'a.b', '--with', 'cake'], '--with must be tool, hook, event, command, agent, context, route, socket or provider, not "cake"'],
    [['test', './a', 'c'], 'one call names its package by the id; a folder is checked as a whole'],
    [['test', 'a.b', '--server', 'http://127.0.0.1:1'], '--server is for one call: name a tool as well'],
    [['init', 'a.b', 'c.d'], 'svc plugin init does not know what to do with "c.d"'],
    [['init', 'a.b', '--language', 'perl'], '--language must be lua, typescript, javascript, python, ts, js or py, not "perl"'],
    [['list', '--server', 'ftp://x'], '--server must be a URL such as http://127.0.0.1:4096, or host:port, not "ftp://x"'],
    [
      ['trsut', 'a.b'],
      'svc plugin needs one of init, add, update, pack, list, trust, configure, dev, test, untrust, remove, restore, disable, enable, doctor, not "trsut"; did you mean trust?',
    ],
  ])('says what is wrong with %j', (args, problem) => {
    expect(read(...args)).toMatchObject({ name: 'usage', problem })
  })

  test('has a help text that names every action', () => {
    expect(read('trust', '--help')).toEqual({ name: 'help', topic: 'plugin trust' })
    for (const action of ['init', 'list', 'trust', 'disable', 'enable', 'doctor']) expect(helpText('plugin')).toContain(`  ${action} `)
  })
})
