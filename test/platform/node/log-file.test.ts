/** The log is a file of its own, or it is not written: whatever somebody has put in its place. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
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
