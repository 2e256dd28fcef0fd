import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { MIGRATIONS } from '../../src/store/opening/migrations.js'
import { openStore } from '../../src/store/open.js'
import { Database } from '../../src/store/disk/driver.js'
import { inColumnsOf, layOutState, OLD_SCHEMAS, rowsOf } from '../fixtures/old-states.js'

const made: string[] = []
afterEach(() => made.splice(0).forEach((path) => rmSync(path, { recursive: true, force: true })))

function stateOf(schema: number): string {
  const state = mkdtempSync(join(tmpdir(), 'svc-schema-'))
  made.push(state)
  layOutState(schema, state)
  return state
}

const TOLD = ['sessions', 'messages', 'runs', 'artifacts', 'events', 'todos']

it('has a state of every schema that landed', () => {
  expect(OLD_SCHEMAS).toEqual(MIGRATIONS.map((_, index) => index + 1))
})

it.each(OLD_SCHEMAS)('schema %i goes forward with its rows, and a copy from before is kept for its owner', (schema) => {
  const state = stateOf(schema)
  const path = join(state, 'agent.sqlite3')
  const before = rowsOf(path)
  const store = openStore({ directory: state, now: () => 1 })
  const [session] = store.sessions.list({ tenantId: 'local', limit: 10 })
  expect(session?.json).toContain(`made by schema ${schema}`)
  store.close()
  const copy = join(state, `before-schema-${schema}.sqlite3`)
  const kept = existsSync(copy) ? { rows: rowsOf(copy), mode: statSync(copy).mode & 0o777 } : undefined
  expect(kept).toEqual(schema < MIGRATIONS.length ? { rows: before, mode: 0o600 } : undefined)
  const after = rowsOf(path, TOLD)
  for (const table of TOLD) expect([table, after[table]?.length]).toEqual([table, before[table]?.length])
  expect(inColumnsOf(before['events'], after['events'])).toEqual(before['events'])
  expect(after['artifacts']).toEqual(before['artifacts'])
})

it('leaves the database as it is where the copy cannot be kept, and names path and reason', () => {
  const state = stateOf(4)
  const before = rowsOf(join(state, 'agent.sqlite3'))
  const blocked = join(state, 'before-schema-4.sqlite3', 'folder')
  mkdirSync(blocked, { recursive: true })
  expect(() => openStore({ directory: state, now: () => 1 })).toThrow(
    /could not be copied to .*before-schema-4\.sqlite3 before its schema changes/,
  )
  expect(rowsOf(join(state, 'agent.sqlite3'))).toEqual(before)
})

it('keeps the latest three copies, and refuses a schema that it does not know', () => {
  const state = stateOf(1)
  for (const schema of [1, 2, 3, 4]) {
    rmSync(join(state, 'agent.sqlite3'))
    layOutState(schema, state)
    openStore({ directory: state, now: () => 1 }).close()
  }
  expect(
    readdirSync(state)
      .filter((name) => name.startsWith('before-'))
      .toSorted(),
  ).toEqual([2, 3, 4].map((schema) => `before-schema-${schema}.sqlite3`))
  const database = new Database(join(state, 'agent.sqlite3'))
  database.exec('pragma user_version = 99')
  database.close()
  expect(() => openStore({ directory: state, now: () => 1 })).toThrow('has schema version 99; this svc knows up to')
})
