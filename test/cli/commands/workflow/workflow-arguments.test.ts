import { describe, expect, test } from 'vitest'
import { readArguments } from '../../../../src/cli/arguments.js'
import { helpText } from '../../../../src/cli/help/help.js'

const read = (...args: string[]) => readArguments(['workflow', ...args])
const common = { directory: undefined, json: false }

describe('the command line of svc workflow', () => {
  test('shows ten occurrences from now on unless told otherwise', () => {
    expect(read('preview', 'a.md')).toEqual({
      name: 'workflow',
      options: { action: 'preview', ...common, file: 'a.md', count: 10, from: undefined },
    })
    expect(read('preview', 'a.md', '--count', '3', '--from', '2026-05-04', '--json')).toMatchObject({
      options: { count: 3, from: Date.parse('2026-05-04T00:00Z'), json: true },
    })
    expect(read('preview', 'a.md', '--from', '2026-05-04T09:00:00+02:00')).toMatchObject({
      options: { from: Date.parse('2026-05-04T07:00Z') },
    })
  })

  test('reads the other actions', () => {
    expect(read('list', '--server', 'http://127.0.0.1:1')).toMatchObject({ options: { action: 'list', server: 'http://127.0.0.1:1' } })
    expect(read('validate')).toMatchObject({ options: { action: 'validate', paths: [] } })
    expect(read('validate', 'a', 'b', '--directory', 'w')).toMatchObject({ options: { paths: ['a', 'b'], directory: 'w' } })
    expect(read('run', 'report')).toMatchObject({ options: { action: 'run', id: 'report', server: undefined, waits: false } })
    expect(read('run', 'report', '--wait')).toMatchObject({ options: { action: 'run', waits: true } })
    expect(read('retry', 'report', 'run_1')).toMatchObject({ options: { action: 'retry', id: 'report', run: 'run_1' } })
    expect(read('delete', 'report', '--yes')).toMatchObject({ options: { action: 'delete', id: 'report', yes: true } })
    for (const action of ['show', 'pause', 'activate', 'accept'])
      expect(read(action, 'report')).toMatchObject({ options: { action, id: 'report' } })
    expect(read('runs', 'report', '--limit', '5')).toMatchObject({ options: { action: 'runs', id: 'report', limit: 5 } })
    expect(read('runs', 'report')).toMatchObject({ options: { limit: 50 } })
    expect(read('new', 'report', '--global')).toMatchObject({ options: { action: 'new', id: 'report', global: true } })
  })

  test.each([
    [[], 'svc workflow needs one of list, preview, validate, accept, show, activate, pause, run, retry, delete, runs, new'],
    [
      ['start'],
      'svc workflow needs one of list, preview, validate, accept, show, activate, pause, run, retry, delete, runs, new, not "start"',
    ],
    [['preview'], 'svc workflow preview needs a workflow file'],
    [['run', 'a', 'b'], 'svc workflow run does not know what to do with "b"'],
    [['preview', 'a', '--count', '0'], '--count must be a number from 1 to 1000, not "0"'],
    [
      ['preview', 'a', '--from', 'tomorrow'],
      '--from must be a day such as 2026-05-04 or a moment such as 2026-05-04T09:00:00+02:00, not "tomorrow"',
    ],
    [['runs', 'a', '--limit', '201'], '--limit must be a number from 1 to 200, not "201"'],
    [['list', '--server', 'ftp://x'], '--server must be a URL such as http://127.0.0.1:4096, or host:port, not "ftp://x"'],
  ])('says what is wrong with %j', (args, problem) => {
    expect(read(...args)).toMatchObject({ name: 'usage', problem })
  })

  test('has a help text that names every action', () => {
    expect(read('run', '--help')).toEqual({ name: 'help', topic: 'workflow run' })
    for (const action of ['new', 'validate', 'preview', 'list', 'run', 'runs']) expect(helpText('workflow')).toContain(`  ${action} `)
  })
})
