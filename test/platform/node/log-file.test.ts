/** The log is a file of its own, or it is not written: whatever somebody has put in its place. */
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { LIMITS } from '../../../src/protocol/limits.js'
import { createLogFile, logFileOf } from '../../../src/platform/node/log-file.js'

function world() {
  const root = mkdtempSync(join(tmpdir(), 'svc-log-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const path = logFileOf(root)
  mkdirSync(dirname(path), { mode: 0o700 })
  return { path, victim: join(root, 'victim'), write: createLogFile(path) }
}

test('lines are kept, for their owner alone', () => {
  const { path, write } = world()
  write('one\n')
  expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual(['one\n', 0o600])
})

test.each(['link', 'dangling link', 'pipe', 'folder'])(
  'nothing is written to a %s of that name, and what comes later is kept again',
  (what) => {
    const { path, victim, write } = world()
    if (what === 'link') writeFileSync(victim, 'mine')
    if (what.endsWith('link')) symlinkSync(victim, path)
    if (what === 'folder') mkdirSync(path)
    if (what === 'pipe') execFileSync('mkfifo', [path])
    write('lost\n')
    expect(existsSync(victim) ? readFileSync(victim, 'utf8') : undefined).toBe(what === 'link' ? 'mine' : undefined)
    rmSync(path, { recursive: true })
    write('kept\n')
    expect(readFileSync(path, 'utf8')).toBe('kept\n')
  },
)

test('nothing is written through a link in the place of its folder, also when it is put there later', () => {
  const { path, victim, write } = world()
  const folder = dirname(path)
  mkdirSync(victim)
  write('one\n')
  renameSync(folder, `${folder}.old`)
  symlinkSync(victim, folder)
  write('two\n')
  createLogFile(path)('three\n')
  expect(readdirSync(victim)).toEqual([])
  expect(readFileSync(join(`${folder}.old`, 'svc.log'), 'utf8')).toBe('one\ntwo\n')
})

test('is begun anew where its folder was removed', () => {
  const { path, write } = world()
  write('one\n')
  rmSync(dirname(path), { recursive: true })
  write('lost\n')
  write('two\n')
  expect(readFileSync(path, 'utf8')).toBe('two\n')
})

test('two who write one log lose nothing of what two files hold', () => {
  const { path, write } = world()
  const other = createLogFile(path)
  const line = `${'x'.repeat(64 * 1024 - 1)}\n`
  const most = LIMITS.log.fileBytes / line.length
  for (let at = 0; at < most; at++) (at % 2 === 0 ? write : other)(line)
  for (let at = 0; at < most / 2; at++) (at % 2 === 0 ? write : other)(line)
  const both = [`${path}.1`, path].map((each) => (existsSync(each) ? statSync(each).size : 0))
  expect(both[0]).toBeGreaterThan(LIMITS.log.fileBytes)
  expect((both[0] ?? 0) + (both[1] ?? 0)).toBe(1.5 * LIMITS.log.fileBytes)
})
