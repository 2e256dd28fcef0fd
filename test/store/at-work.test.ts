import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { Database } from '../../src/store/disk/driver.js'
import { openStore } from '../../src/store/open.js'
import { MIGRATIONS, migrate } from '../../src/store/opening/migrations.js'
import type { Store } from '../../src/store/store.js'
import { assistant, execution, session, user } from './records.js'

const startedAt = 5
const run = (id: string, sessionId: string) => ({ id, sessionId, startedAt, unattended: true })
const told = (store: Store) => ({
  messages: store.messages.unfinished().map(({ id }) => id),
  runs: store.runs.running().map(({ id }) => id),
  executions: store.executions.unfinished().map(({ rootSessionId }) => rootSessionId),
})

/** Two sessions with something open and something that has ended, and one where nothing is open. */
function atWork(): Store {
  const store = openStore({ directory: ':memory:', now: () => 1 })
  store.transact('process', () => {
    for (const id of ['ses_1', 'ses_2']) {
      store.sessions.insert(session(id))
      const done = assistant(`msg_${id}_done`, 2, id)
      for (const info of [user(`msg_${id}_user`, id), done, assistant(`msg_${id}_open`, undefined, id)]) store.messages.append(info, [])
      store.runs.begin(run(`run_${id}_done`, id))
      store.runs.finish(run(`run_${id}_done`, id), 'completed', 6)
      store.runs.begin(run(`run_${id}_open`, id))
      store.executions.put(execution(id, false))
    }
    store.sessions.insert(session('ses_3'))
    store.executions.put(execution('ses_3', true))
  })
  return store
}

it('is what a start asks for, and nothing that has ended', () => {
  expect(told(atWork())).toEqual({
    messages: ['msg_ses_1_open', 'msg_ses_2_open'],
    runs: ['run_ses_1_open', 'run_ses_2_open'],
    executions: ['ses_1', 'ses_2'],
  })
})

it('loses what ends, and gets back what is resumed', () => {
  const store = atWork()
  store.transact('process', () => {
    store.messages.updateInfo(assistant('msg_ses_1_open', 2, 'ses_1'))
    store.runs.finish(run('run_ses_1_open', 'ses_1'), 'interrupted', 7)
    store.executions.put(execution('ses_1', true))
  })
  const second = { messages: ['msg_ses_2_open'], runs: ['run_ses_2_open'], executions: ['ses_2'] }
  expect(told(store)).toEqual(second)
  store.transact('process', () => {
    store.messages.updateInfo(assistant('msg_ses_1_open', undefined, 'ses_1'))
    store.executions.put(execution('ses_1', false))
    store.executions.put(execution('ses_1', false, 2))
  })
  expect(told(store)).toEqual({ ...second, messages: ['msg_ses_1_open', 'msg_ses_2_open'], executions: ['ses_1', 'ses_2'] })
})

it('loses messages that are removed, and everything of a session that is deleted', () => {
  const store = atWork()
  store.transact('process', () => {
    store.messages.remove('msg_ses_1_open')
    store.sessions.delete('ses_2')
  })
  expect(told(store)).toEqual({ messages: [], runs: ['run_ses_1_open'], executions: ['ses_1'] })
})

it('says nothing of a transaction that is undone', () => {
  const store = atWork()
  const before = told(store)
  const undone = () =>
    store.transact('process', () => {
      store.runs.finish(run('run_ses_1_open', 'ses_1'), 'completed', 7)
      store.messages.remove('msg_ses_1_open')
      throw new Error('undone')
    })
  expect(undone).toThrow('undone')
  expect([told(store), store.runs.last('ses_1')?.status]).toEqual([before, 'running'])
})

it('is brought along from a store of before, with the runs that have ended', () => {
  const directory = mkdtempSync(join(tmpdir(), 'svc-at-work-'))
  const old = new Database(join(directory, 'agent.sqlite3'))
  migrate(
    old,
    1,
    MIGRATIONS.slice(
      0,
      MIGRATIONS.findIndex(({ name }) => name === 'what is at work'),
    ),
  )
  old.exec(`
    insert into sessions (id, tenant_id, directory, archived, updated, search_key, summary, json) values ('ses_1', 'local', '/', 0, 1, '', '{}', '{}');
    insert into messages (id, session_id, position, open, info) values ('msg_1', 'ses_1', 0, 0, '{}'), ('msg_2', 'ses_1', 1, 1, '{}');
    insert into runs (id, session_id, status, started_at, finished_at, error, unattended) values
      ('run_1', 'ses_1', 'error', 1, 2, 'broken', 0), ('run_2', 'ses_1', 'running', 3, null, null, 1);
    insert into executions (root_session_id, finished, json) values ('ses_1', 0, '${JSON.stringify(execution('ses_1', false))}');`)
  old.close()
  const store = openStore({ directory, now: () => 2 })
  try {
    expect(told(store)).toEqual({ messages: ['msg_2'], runs: ['run_2'], executions: ['ses_1'] })
    expect(store.runs.isUnattended({ id: 'run_2', sessionId: 'ses_1' })).toBe(true)
    expect(store.runs.end({ id: 'run_1', sessionId: 'ses_1' })).toEqual({ status: 'error', error: 'broken' })
    store.transact('process', () => store.runs.finish({ id: 'run_2', sessionId: 'ses_1' }, 'interrupted', 9))
    expect([told(store).runs, store.runs.last('ses_1')]).toMatchObject([[], { id: 'run_2', status: 'interrupted', unattended: true }])
  } finally {
    store.close()
    rmSync(directory, { recursive: true })
  }
})
