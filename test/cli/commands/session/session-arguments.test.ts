import { describe, expect, test } from 'vitest'
import { readArguments } from '../../../../src/cli/arguments.js'

const read = (line: string) => readArguments(['session', ...line.split(' ')])
const common = { server: undefined, json: false }

describe('svc session', () => {
  test.each([
    ['list', { action: 'list', ...common, directory: undefined, all: false, limit: 20 }],
    ['list --all --limit 5 --json', { action: 'list', ...common, json: true, directory: undefined, all: true, limit: 5 }],
    ['list --dir sub', { action: 'list', ...common, directory: 'sub', all: false, limit: 20 }],
    ['show ses_1', { action: 'show', ...common, id: 'ses_1', messages: 4 }],
    ['show ses_1 --messages 9', { action: 'show', ...common, id: 'ses_1', messages: 9 }],
    ['rename ses_1 the parser', { action: 'rename', ...common, id: 'ses_1', title: 'the parser' }],
    ['fork ses_1', { action: 'fork', ...common, id: 'ses_1', message: undefined }],
    ['fork ses_1 --message msg_1', { action: 'fork', ...common, id: 'ses_1', message: 'msg_1' }],
    ['undo ses_1', { action: 'undo', ...common, id: 'ses_1', message: undefined }],
    ['redo ses_1 --message msg_1', { action: 'redo', ...common, id: 'ses_1', message: 'msg_1' }],
    ['release ses_1', { action: 'release', ...common, id: 'ses_1', message: undefined, all: false }],
    ['release ses_1 --message msg_1', { action: 'release', ...common, id: 'ses_1', message: 'msg_1', all: false }],
    ['release ses_1 --all', { action: 'release', ...common, id: 'ses_1', message: undefined, all: true }],
    ['export', { action: 'export', ...common, id: undefined, directory: undefined, artifacts: false }],
    ['export ses_1', { action: 'export', ...common, id: 'ses_1', directory: undefined, artifacts: false }],
    ['import a.json --dir sub', { action: 'import', ...common, file: 'a.json', directory: 'sub' }],
    ['delete ses_1 --yes', { action: 'delete', ...common, id: 'ses_1', yes: true, keepForks: false }],
    ['delete ses_1 --keep-forks', { action: 'delete', id: 'ses_1', server: undefined, json: false, yes: false, keepForks: true }],
    [
      'delete ses_1 --server http://127.0.0.1:1/',
      { action: 'delete', ...common, server: 'http://127.0.0.1:1', id: 'ses_1', yes: false, keepForks: false },
    ],
  ])('understands "%s"', (line, options) => {
    expect(read(line)).toEqual({ name: 'session', options })
  })

  test.each([
    ['', 'svc session needs one of list, show, rename, fork, undo, redo, release, export, import, delete'],
    ['remove ses_1', 'not "remove"'],
    ['show', 'svc session show needs the id of a session, its short name'],
    ['rename ses_1', 'svc session rename needs the new title'],
    ['fork ses_1 ses_2', 'svc session fork does not know what to do with "ses_2"'],
    ['export ses_1 --dir sub', 'svc session export takes an id or --dir, not both'],
    ['release ses_1 --all --message msg_1', '--all needs no --message'],
    ['import', 'svc session import needs a file'],
    ['list --all --dir sub', '--all needs no --dir'],
    ['list --limit 0', '--limit must be a number from 1 to 200, not "0"'],
    ['show ses_1 --server ftp://localhost', '--server must be a URL'],
  ])('refuses "%s" and says why', (line, problem) => {
    expect(read(line)).toMatchObject({ name: 'usage', problem: expect.stringContaining(problem) as string })
  })
})
