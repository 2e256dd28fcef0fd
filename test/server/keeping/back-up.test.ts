import { existsSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { backUp, type BackupOptions } from '../../../src/server/keeping/back-up.js'
import { readArchive, writeArchive } from '../../../src/server/keeping/archive.js'
import { restore } from '../../../src/server/keeping/restore.js'
import { Database } from '../../../src/store/disk/driver.js'
import { INCOMING } from '../../../src/store/opening/exchange.js'
import { MIGRATIONS } from '../../../src/store/opening/migrations.js'
import { acquireLock } from '../../../src/store/opening/lock.js'
import { openStore } from '../../../src/store/open.js'
import { rowsOf } from '../../fixtures/old-states.js'
import { filesOf, type Kept, makeKept } from './fixture.js'

const NOW = Date.UTC(2026, 4, 4)
const open: Kept[] = []
afterEach(() => open.splice(0).forEach((kept) => kept.close()))

function kept(schema?: number): Kept {
  const made = makeKept(schema)
  open.push(made)
  return made
}

function backUpOf({ root, state, config }: Kept, options: Partial<BackupOptions> = {}) {
  return backUp({
    file: join(root, 'backup.tar'),
    state,
    config,
    credentials: false,
    replace: false,
    version: '1.2.3',
    now: NOW,
    ...options,
  })
}

const restoreTo = ({ state, config }: Kept, file: string, replace = false) => restore({ file, state, config, replace, now: NOW })
const backupOf = ({ root }: Kept) => join(root, 'backup.tar')
const membersOf = (file: string) => [...readArchive(file)].map(({ path }) => path)

describe('a backup', () => {
  it('holds rows, uploads and configuration, and no credentials unless they are asked for', async () => {
    const from = kept(9)
    const { manifest, leftOut } = await backUpOf(from)
    expect(leftOut).toEqual([])
    expect(manifest).toMatchObject({
      version: '1.2.3',
      made: '2026-05-04T00:00:00.000Z',
      credentials: false,
      counts: { schema: 9, artifacts: 2 },
    })
    expect(membersOf(backupOf(from))).not.toContain('state/auth.json')
    expect(statSync(backupOf(from)).mode & 0o777).toBe(0o600)
    expect(readdirSync(from.root).toSorted()).toEqual(['backup.tar', 'config', 'state'])
    await backUpOf(from, { replace: true, credentials: true })
    expect(membersOf(backupOf(from))).toContain('state/auth.json')
    const to = kept()
    rmSync(to.config, { recursive: true })
    rmSync(join(to.state, 'auth.json'))
    restoreTo(to, backupOf(from))
    expect(filesOf(join(to.state, 'artifacts'))).toEqual(filesOf(join(from.state, 'artifacts')))
    expect(filesOf(to.config)).toEqual(filesOf(from.config))
    expect(rowsOf(join(to.state, 'agent.sqlite3'))).toEqual(rowsOf(join(from.state, 'agent.sqlite3')))
    expect(readdirSync(to.state).toSorted()).toEqual(['agent.lock.sqlite3', 'agent.sqlite3', 'artifacts', 'auth.json'])
  })

  it('is of one moment while another process writes, and names no upload that was deleted meanwhile', async () => {
    const from = kept(9)
    const store = openStore({ directory: from.state, now: () => NOW })
    try {
      const [gone] = store.artifacts.ids()
      rmSync(join(from.state, 'artifacts', 'local', gone ?? ''))
      const { manifest } = await backUpOf(from)
      expect(manifest.counts.artifacts).toBe(1)
      expect(store.artifacts.ids()).toHaveLength(2)
    } finally {
      store.close()
    }
    const to = kept()
    restoreTo(to, backupOf(from), true)
    expect(rowsOf(join(to.state, 'agent.sqlite3'), ['artifacts'])['artifacts']).toHaveLength(1)
  })

  it('refuses a name that is taken, a place inside of what it is of, and a state nobody has used', async () => {
    const from = kept(9)
    writeFileSync(backupOf(from), 'mine')
    await expect(backUpOf(from)).rejects.toThrow(`${backupOf(from)} is there already: name another file, or say --replace.`)
    expect(readFileSync(backupOf(from), 'utf8')).toBe('mine')
    await expect(backUpOf(from, { file: join(from.state, 'tool-output', 'x.tar') })).rejects.toThrow('A backup cannot lie in')
    await expect(backUpOf(kept())).rejects.toThrow('There is nothing to back up')
  })

  it('tells links, which it leaves out, and damage of an upload', async () => {
    const from = kept(9)
    symlinkSync('/etc', join(from.config, 'elsewhere'))
    expect((await backUpOf(from)).leftOut).toEqual([join(from.config, 'elsewhere')])
    const [upload = ''] = readdirSync(join(from.state, 'artifacts', 'local'))
    writeFileSync(join(from.state, 'artifacts', 'local', upload), 'other')
    await expect(backUpOf(from, { replace: true })).rejects.toThrow('is damaged: it is not what was uploaded')
    expect(existsSync(`${backupOf(from)}.partial`)).toBe(false)
  })
})

describe('a restore', () => {
  it('changes nothing where the archive is cut, changed, or none', async () => {
    const from = kept(9)
    await backUpOf(from)
    const to = kept(3)
    const before = filesOf(to.state)
    const whole = readFileSync(backupOf(from))
    const damaged = join(to.root, 'damaged.tar')
    const refused = (bytes: Uint8Array) => {
      writeFileSync(damaged, bytes)
      expect(() => restoreTo(to, damaged, true)).toThrow('is no whole backup of svc, and nothing was changed')
    }
    for (let part = 0; part < 12; part++) refused(whole.subarray(0, Math.floor((whole.length * part) / 12)))
    for (let part = 1; part < 12; part++) {
      const flipped = Buffer.from(whole)
      const at = Math.floor((whole.length * part) / 12)
      flipped[at] = (flipped[at] ?? 0) ^ 1
      refused(flipped)
    }
    const { 'agent.lock.sqlite3': _lock, ...after } = filesOf(to.state)
    expect(after).toEqual(before)
    expect(existsSync(join(to.state, INCOMING))).toBe(false)
  })

  it('asks before it sets aside what is there, which stays, credentials in their place', async () => {
    const from = kept(9)
    await backUpOf(from)
    const to = kept(5)
    const rows = rowsOf(join(to.state, 'agent.sqlite3'))
    expect(() => restoreTo(to, backupOf(from))).toThrow(`${to.state} is not empty`)
    const { aside } = restoreTo(to, backupOf(from), true)
    const [stateAside = '', configAside = ''] = aside
    expect(aside).toEqual([
      join(to.state, 'before-restore-2026-05-04T00-00-00-000Z'),
      join(to.config, 'before-restore-2026-05-04T00-00-00-000Z'),
    ])
    expect(rowsOf(join(stateAside, 'agent.sqlite3'))).toEqual(rows)
    expect(readdirSync(configAside).toSorted()).toEqual(['config.json', 'plugins'])
    expect(readFileSync(join(to.state, 'auth.json'), 'utf8')).toContain('secret')
    expect(rowsOf(join(to.state, 'agent.sqlite3'))).toEqual(rowsOf(join(from.state, 'agent.sqlite3')))
  })

  it('is refused while a server uses the state, and for a database of a newer svc', async () => {
    const from = kept(9)
    const database = new Database(join(from.state, 'agent.sqlite3'))
    await backUpOf(from)
    const to = kept()
    const lock = acquireLock(to.state)
    expect(() => restoreTo(to, backupOf(from), true)).toThrow('Another svc server is already using the state directory')
    lock.release()
    database.exec('pragma user_version = 99')
    database.close()
    await expect(backUpOf(from, { replace: true })).rejects.toThrow(
      `has schema version 99; this svc knows up to ${MIGRATIONS.length}. Start the newer svc that wrote it`,
    )
  })

  it('takes no name that leads out of its place', () => {
    const to = kept()
    for (const path of ['state/../../x', 'state//x', 'state/agent.lock.sqlite3', 'elsewhere/x', '/etc/x']) {
      const writer = writeArchive(join(to.root, 'bad.tar'))
      writer.addText(path, 'x')
      writer.finish()
      expect(() => restoreTo(to, join(to.root, 'bad.tar'), true)).toThrow('is no name of a file of a backup')
    }
    truncateSync(join(to.root, 'bad.tar'), 0)
    expect(() => restoreTo(to, join(to.root, 'bad.tar'), true)).toThrow('it ends before it is whole')
  })
})
