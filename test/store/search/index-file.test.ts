import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { closeIndexFile, openIndexFile } from '../../../src/store/search/index-file.js'

function file(): string {
  const directory = mkdtempSync(join(tmpdir(), 'svc-search-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return join(directory, 'search.sqlite3')
}

/** Opens the file in one start of the system, leaves it by a kill or in order, and opens it in another. */
function isNewAfter(left: 'killed' | 'closed', boots: readonly [string | null, string | null]): boolean {
  const path = file()
  const first = openIndexFile(path, boots[0])
  expect(first.isNew).toBe(true)
  first.handle.exec("insert into docs (message_id, session_id, role, created, text) values ('msg_1', 'ses_1', 'user', 1, 'said')")
  if (left === 'closed') closeIndexFile(first.handle)
  else first.handle.close()
  const second = openIndexFile(path, boots[1])
  onTestFinished(() => void second.handle.close())
  expect(second.handle.prepare('select count(*) from docs').pluck().get()).toBe(second.isNew ? 0 : 1)
  return second.isNew
}

it('is trusted after a kill, and after another start of the system only when it was closed in order', () => {
  expect(isNewAfter('killed', ['a', 'a'])).toBe(false)
  expect(isNewAfter('closed', ['a', 'a'])).toBe(false)
  expect(isNewAfter('closed', ['a', 'b'])).toBe(false)
  expect(isNewAfter('killed', ['a', 'b'])).toBe(true)
})

it('is trusted where starts of the system are not told apart, and waits for the disk there', () => {
  expect(isNewAfter('killed', [null, null])).toBe(false)
  const synchronous = (boot: string | null) => {
    const { handle } = openIndexFile(file(), boot)
    onTestFinished(() => void handle.close())
    return handle.pragma('synchronous', { simple: true })
  }
  expect([synchronous(null), synchronous('a')]).toEqual([1, 0])
})
