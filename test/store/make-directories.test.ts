import { mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makeDirectories, makeDirectoriesSync } from '../../src/store/disk/make-directories.js'

let place: string
beforeEach(() => (place = mkdtempSync(join(tmpdir(), 'svc-folders-'))))
afterEach(() => rmSync(place, { recursive: true }))

describe.each([
  ['at once', async (path: string, mode?: number) => makeDirectoriesSync(path, mode)],
  ['in time', makeDirectories],
])('folders that are made %s', (_, make) => {
  test('have what is missing above them, and may be there already', async () => {
    const path = join(place, 'a', 'b', 'c')
    await make(path, 0o700)
    await make(path, 0o700)
    expect([path, join(place, 'a')].map((each) => statSync(each).mode & 0o777)).toEqual([0o700, 0o700])
    symlinkSync(path, join(place, 'link'))
    await make(join(place, 'link', 'd'))
    expect(statSync(join(path, 'd')).isDirectory()).toBe(true)
  })

  test('are refused where a file stands, in their place or above', async () => {
    writeFileSync(join(place, 'file'), '')
    await expect(make(join(place, 'file'))).rejects.toMatchObject({ code: 'EEXIST' })
    await expect(make(join(place, 'file', 'a', 'b'))).rejects.toMatchObject({ code: 'ENOTDIR' })
  })

  // Node's own way runs for ever there, and holds a thread.
  test('are refused where the system takes none, soon', async () => {
    await expect(make('/proc/svc-none')).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(make('/proc/svc-none/a/b')).rejects.toMatchObject({ code: 'ENOENT' })
  })
})
