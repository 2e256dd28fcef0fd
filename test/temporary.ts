/**
 * A file of tests has a folder of its own for what is temporary, which is removed with what it still watches. svc listens to the folders above
 * the one it works in (`src/platform/watched`): were one folder for all, each would hear all others, and everything that came before it in its
 * process: hundreds of watches, each called for each of those folders. It lies in memory where the configuration of the tests says so.
 */
import fs, { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect } from 'vitest'

/** What a sandbox shows is tried with folders as people have them. */
const ON_DISK = /\/test\/platform\/confinement\//
const WATCHED = Symbol.for('svc.test.watched')
const watched = (Reflect.get(process, WATCHED) as Set<fs.FSWatcher> | undefined) ?? hearWatches()
const before = process.env['TMPDIR']
const isOnDisk = ON_DISK.test(expect.getState().testPath ?? '')
const folder = realpathSync(mkdtempSync(join((isOnDisk ? undefined : process.env['SVC_TEST_TEMPORARY']) ?? tmpdir(), 'svc-')))
// Some tests act as a user without privileges.
chmodSync(folder, 0o755)
process.env['TMPDIR'] = folder

afterAll(() => {
  for (const watcher of watched) watcher.close()
  watched.clear()
  if (before === undefined) delete process.env['TMPDIR']
  else process.env['TMPDIR'] = before
  rmSync(folder, { recursive: true, force: true, maxRetries: 2 })
})

/** Files share a process, so it is done once. */
function hearWatches(): Set<fs.FSWatcher> {
  const all = new Set<fs.FSWatcher>()
  const { watch } = fs
  Reflect.set(fs, 'watch', (...given: Parameters<typeof watch>) => {
    const watcher = watch(...given)
    all.add(watcher)
    return watcher.once('close', () => all.delete(watcher))
  })
  syncBuiltinESMExports()
  Reflect.set(process, WATCHED, all)
  return all
}
