// Holds threat-model §6.6.4.
/** Notes of who uses a state directory, where it takes none and gives none back. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { hasUsers, notePresence, noteUse, readPresence } from '../../src/server/presence.js'
import { openDoor } from '../../src/server/door.js'

let state = ''
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'svc-presence-'))
})
afterEach(() => rmSync(state, { recursive: true }))

const HERE = { pid: process.pid, url: 'http://127.0.0.1:1', kind: 'serve' } as const

/** What cannot be removed as a file, whoever asks. */
const block = (name: string) => mkdirSync(join(state, name), { recursive: true })

it('a note is there until it is taken away', () => {
  const forget = notePresence(state, HERE)
  expect(readPresence(state)).toEqual(HERE)
  forget()
  expect(readPresence(state)).toBeUndefined()
  const leave = noteUse(state)
  expect(hasUsers(state)).toBe(true)
  leave()
  expect(hasUsers(state)).toBe(false)
})

it('a note that cannot be written or taken away ends neither a start nor a stop', async () => {
  block('server.json')
  notePresence(state, HERE)()
  expect(existsSync(join(state, 'server.json'))).toBe(true)

  writeFileSync(join(state, 'users'), '')
  noteUse(state)()
  rmSync(join(state, 'users'))
  block(`users/${process.pid}`)
  noteUse(state)()
  rmSync(join(state, 'users'), { recursive: true })
  block('users/99999999')
  expect(hasUsers(state)).toBe(false)

  block('server.sock')
  const close = await openDoor({ state, token: 'a token', isAgents: () => false })
  close()
})
