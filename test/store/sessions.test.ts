// Holds sessions-events §2, §14.1.
import { describe, expect, it } from 'vitest'
import type { SessionFilter, Store } from '../../src/store/store.js'
import { assistant, execution, memoryStore, permission, queued, session, text, event } from './records.js'

function storeWith(...sessions: ReturnType<typeof session>[]): Store {
  const store = memoryStore()
  store.transact('power', () => {
    for (const each of sessions) store.sessions.insert(each)
  })
  return store
}

function listed(store: Store, filter: Partial<SessionFilter> = {}): string[] {
  return store.sessions.list({ tenantId: 'local', limit: 100, ...filter }).map((row) => row.id)
}

describe('session records', () => {
  it('gives back what was stored, as a value and as the stored text', () => {
    const stored = session('ses_1', { permission: [{ permission: 'bash', pattern: '*', action: 'ask' }], goal: { text: 'ship' } })
    const store = storeWith(stored)
    expect(store.sessions.get('ses_1')).toEqual(stored)
    expect(store.sessions.getJson('ses_1')).toBe(JSON.stringify(stored))
  })

  it('knows nothing of a session that was never stored', () => {
    const store = memoryStore()
    expect(store.sessions.get('ses_x')).toBeUndefined()
    expect(store.sessions.getJson('ses_x')).toBeUndefined()
    expect(store.sessions.parentOf('ses_x')).toBeUndefined()
    expect(store.sessions.family('ses_x')).toEqual([])
  })

  it('finds a session that was looked for before it was there, and not one that was undone', () => {
    const store = memoryStore()
    const undone = () =>
      store.transact('process', () => {
        store.sessions.insert(session('ses_1'))
        expect(store.sessions.get('ses_1')).toBeDefined()
        throw new Error('undone')
      })
    expect(store.sessions.get('ses_1')).toBeUndefined()
    expect(undone).toThrow('undone')
    expect(store.sessions.get('ses_1')).toBeUndefined()
    store.transact('process', () => store.sessions.insert(session('ses_1')))
    expect(store.sessions.get('ses_1')).toEqual(session('ses_1'))
  })

  it('replaces record, summary and filters on update', () => {
    const store = storeWith(session('ses_1'))
    const changed = session('ses_1', { title: 'Neu', directory: '/other', time: { created: 1, updated: 9 } })
    store.transact('process', () => store.sessions.update(changed))
    expect(store.sessions.get('ses_1')).toEqual(changed)
    expect(store.sessions.list({ tenantId: 'local', limit: 1, directory: '/other', search: 'neu' })).toEqual([
      { id: 'ses_1', updated: 9, json: JSON.stringify(changedOrder(changed)) },
    ])
  })

  it('refuses to update a session that does not exist', () => {
    const store = memoryStore()
    expect(() => store.transact('process', () => store.sessions.update(session('ses_x')))).toThrow('Session ses_x does not exist.')
  })

  it('counts the sessions of a tenant', () => {
    const store = storeWith(session('ses_1'), session('ses_2', { svcTenantId: 'local' }), session('ses_3', { svcTenantId: 'acme' }))
    expect([store.sessions.count('local'), store.sessions.count('acme'), store.sessions.count('none')]).toEqual([2, 1, 0])
  })

  it('names a family parents before children', () => {
    const store = storeWith(
      session('ses_9'),
      session('ses_5', { parentId: 'ses_9' }),
      session('ses_7', { parentId: 'ses_9' }),
      session('ses_1', { parentId: 'ses_7' }),
      session('ses_other'),
    )
    expect(store.sessions.family('ses_9')).toEqual(['ses_9', 'ses_5', 'ses_7', 'ses_1'])
    expect(store.sessions.children('ses_9').map((child) => child.id)).toEqual(['ses_5', 'ses_7'])
    expect([store.sessions.parentOf('ses_9'), store.sessions.parentOf('ses_1')]).toEqual([null, 'ses_7'])
  })

  it('takes everything that belongs to a session with it, but not its events', () => {
    const store = storeWith(session('ses_1'), session('ses_2', { parentId: 'ses_1' }))
    store.transact('process', () => {
      store.messages.append(assistant('msg_1'), [text('prt_1', 'msg_1')])
      store.queue.append(queued('que_1'))
      store.runs.begin({ id: 'run_1', sessionId: 'ses_1', startedAt: 1, unattended: false })
      store.interactions.insert(permission('per_1'))
      store.todos.put('ses_1', [{ content: 'a', status: 'pending', priority: 'low' }])
      store.executions.put(execution('ses_1', false))
      store.events.insert(event(1))
    })
    store.transact('power', () => store.sessions.delete('ses_1'))
    expect(store.sessions.get('ses_2')).toBeUndefined()
    expect(store.messages.all('ses_1')).toEqual([])
    expect(store.messages.getPart('prt_1')).toBeUndefined()
    expect(store.queue.count('ses_1')).toBe(0)
    expect(store.runs.running()).toEqual([])
    expect(store.interactions.get('per_1')).toBeUndefined()
    expect(store.todos.get('ses_1')).toEqual([])
    expect(store.executions.all()).toEqual([])
    expect(store.events.after(0, 10)).toEqual([event(1)])
  })
})

describe('session lists', () => {
  const at = (updated: number, more: object = {}) => ({ time: { created: 1, updated, ...more } })

  it('shows the newest first and breaks ties by descending id', () => {
    const store = storeWith(session('ses_a', at(5)), session('ses_c', at(5)), session('ses_b', at(5)), session('ses_d', at(9)))
    expect(listed(store)).toEqual(['ses_d', 'ses_c', 'ses_b', 'ses_a'])
  })

  it('pages by key without gap or repeat', () => {
    const sessions = Array.from({ length: 25 }, (_, i) => session(`ses_${String(i).padStart(2, '0')}`, at(Math.floor(i / 4))))
    const store = storeWith(...sessions)
    const seen: string[] = []
    let after: SessionFilter['after']
    for (let pages = 0; pages < 10; pages++) {
      const page = store.sessions.list({ tenantId: 'local', rootsOnly: true, limit: 4, after })
      seen.push(...page.map((row) => row.id))
      const last = page.at(-1)
      if (last === undefined) break
      after = { updated: last.updated, id: last.id }
    }
    expect(seen).toEqual(sessions.map((each) => each.id).toReversed())
  })

  it('pages roots and those below them in one order, and counts both', () => {
    const below = (i: number) => (i % 3 === 0 ? {} : { parentId: `ses_${String(i - (i % 3)).padStart(2, '0')}` })
    const sessions = Array.from({ length: 25 }, (_, i) =>
      session(`ses_${String(i).padStart(2, '0')}`, { ...below(i), ...at(Math.floor(i / 4)) }),
    )
    const store = storeWith(...sessions)
    const seen: string[] = []
    let after: SessionFilter['after']
    for (;;) {
      const page = store.sessions.list({ tenantId: 'local', directory: '/srv', limit: 4, after })
      seen.push(...page.map((row) => row.id))
      const last = page.at(-1)
      if (last === undefined) break
      after = { updated: last.updated, id: last.id }
    }
    expect(seen).toEqual(sessions.map((each) => each.id).toReversed())
    expect([store.sessions.count('local'), store.sessions.count('acme')]).toEqual([25, 0])
  })

  it('keeps tenants apart', () => {
    const store = storeWith(session('ses_1', { svcTenantId: 'acme' }), session('ses_2'))
    expect(listed(store)).toEqual(['ses_2'])
    expect(listed(store, { tenantId: 'acme' })).toEqual(['ses_1'])
  })

  it('shows children and archived sessions only where they are asked for', () => {
    const store = storeWith(
      session('ses_1', at(1)),
      session('ses_2', { parentId: 'ses_1', ...at(2) }),
      session('ses_3', at(3, { archived: 77 })),
      session('ses_4', at(4, { archived: 0 })),
    )
    expect(listed(store)).toEqual(['ses_4', 'ses_2', 'ses_1'])
    expect(listed(store, { rootsOnly: true })).toEqual(['ses_4', 'ses_1'])
    expect(listed(store, { rootsOnly: true, includeArchived: true })).toEqual(['ses_4', 'ses_3', 'ses_1'])
  })

  it('filters by directory, path and time of change', () => {
    const store = storeWith(
      session('ses_1', { directory: '/a', path: 'sub', ...at(1) }),
      session('ses_2', { directory: '/a', ...at(2) }),
      session('ses_3', { directory: '/ab', path: 'sub', ...at(3) }),
    )
    expect(listed(store, { directory: '/a' })).toEqual(['ses_2', 'ses_1'])
    expect(listed(store, { path: 'sub' })).toEqual(['ses_3', 'ses_1'])
    expect(listed(store, { directory: '/a', path: 'sub', rootsOnly: true })).toEqual(['ses_1'])
    expect(listed(store, { updatedSince: 2 })).toEqual(['ses_3', 'ses_2'])
  })

  it('compares directory prefixes by whole segments', () => {
    const store = storeWith(
      session('ses_1', { directory: '/a', ...at(1) }),
      session('ses_2', { directory: '/a/b', ...at(2) }),
      session('ses_3', { directory: '/ab', ...at(3) }),
      session('ses_4', { directory: '/c', ...at(4) }),
      session('ses_5', { directory: '/', ...at(5) }),
      session('ses_6', { directory: '/a%', ...at(6) }),
    )
    expect(listed(store, { prefixes: ['/a'] })).toEqual(['ses_2', 'ses_1'])
    expect(listed(store, { prefixes: ['/a/b', '/c'] })).toEqual(['ses_4', 'ses_2'])
    expect(listed(store, { prefixes: ['/'] })).toHaveLength(6)
    expect(listed(store, { prefixes: [] })).toEqual([])
  })

  it('searches titles as plain text, without case, in any script', () => {
    const store = storeWith(
      session('ses_1', { title: 'Überprüfe 100% der Tests', ...at(1) }),
      session('ses_2', { title: 'check_list', ...at(2) }),
      session('ses_3', { title: 'checklist', ...at(3) }),
    )
    expect(listed(store, { search: 'ÜBERPRÜFE' })).toEqual(['ses_1'])
    expect(listed(store, { search: 'u\u0308berpru\u0308fe' })).toEqual(['ses_1'])
    expect(listed(store, { search: '0%' })).toEqual(['ses_1'])
    expect(listed(store, { search: '%' })).toEqual(['ses_1'])
    expect(listed(store, { search: 'k_l' })).toEqual(['ses_2'])
    expect(listed(store, { search: 'CHECK' })).toEqual(['ses_3', 'ses_2'])
  })

  it('keeps rules and runtime state out of summaries', () => {
    const full = session('ses_1', {
      workspaceId: 'wrk_1',
      path: 'sub',
      agent: 'build',
      model: { id: 'm', providerId: 'p', variant: 'v' },
      pinned: true,
      svcTenantId: 'local',
      permission: [{ permission: 'bash', pattern: '*', action: 'allow' }],
      catalogActivity: 'running',
      executionID: 'exe_1',
      executionRootSessionID: 'ses_1',
      revert: { messageId: 'msg_1' },
    })
    const [row] = storeWith(full).sessions.list({ tenantId: 'local', limit: 1 })
    expect(JSON.parse(row?.json ?? '')).toEqual({
      id: 'ses_1',
      slug: 'slug-ses_1',
      projectId: 'global',
      workspaceId: 'wrk_1',
      directory: '/srv',
      path: 'sub',
      title: 'Title of ses_1',
      agent: 'build',
      model: { id: 'm', providerId: 'p', variant: 'v' },
      version: '0.1.0',
      time: { created: 1, updated: 1 },
      pinned: true,
      svcTenantId: 'local',
    })
  })
})

function changedOrder({ id, slug, projectId, directory, title, version, time }: ReturnType<typeof session>): object {
  return { id, slug, projectId, directory, title, version, time }
}
