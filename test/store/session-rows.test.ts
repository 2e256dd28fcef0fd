import { describe, expect, it } from 'vitest'
import type { Store } from '../../src/store/store.js'
import { artifact, execution, memoryStore, permission, queued, session } from './records.js'

function storeWithSessions(): Store {
  const store = memoryStore()
  store.transact('power', () => {
    store.sessions.insert(session('ses_1'))
    store.sessions.insert(session('ses_2'))
  })
  return store
}

describe('queue', () => {
  it('serves the oldest row, of the wanted deliveries if named', () => {
    const store = storeWithSessions()
    const rows = [
      queued('que_3', { delivery: 'continue' }),
      queued('que_2', { delivery: 'steer', created: 9 }),
      queued('que_1', { created: 5 }),
    ]
    store.transact('power', () => rows.forEach((row) => store.queue.append(row)))
    expect(store.queue.list('ses_1')).toEqual(rows.map(({ request: _request, ...head }) => head))
    expect(store.queue.get('que_2')).toEqual(rows[1])
    expect(store.queue.get('que_9')).toBeUndefined()
    expect(store.queue.bytes('ses_1')).toBe(Buffer.byteLength(rows.map(({ request }) => JSON.stringify(request)).join('')))
    expect(store.queue.bytes('ses_2')).toBe(0)
    expect(store.queue.first('ses_1')).toEqual(rows[0])
    expect(store.queue.first('ses_1', ['queue', 'steer'])).toEqual(rows[1])
    expect(store.queue.first('ses_1', ['queue'])).toEqual(rows[2])
    expect(store.queue.first('ses_1', [])).toBeUndefined()
    expect(store.queue.first('ses_2')).toBeUndefined()
    expect(store.queue.count('ses_1')).toBe(3)
  })

  it('finds a prompt by its message id in any session', () => {
    const store = storeWithSessions()
    const row = queued('que_1', { sessionId: 'ses_2' })
    store.transact('power', () => store.queue.append(row))
    expect(store.queue.byMessageId('msg_que_1')).toEqual(row)
    expect(store.queue.byMessageId('msg_other')).toBeUndefined()
  })

  it('forgets removed rows and names the sessions that have some', () => {
    const store = storeWithSessions()
    store.transact('power', () => {
      store.queue.append(queued('que_1', { sessionId: 'ses_2' }))
      store.queue.append(queued('que_2'))
      store.queue.append(queued('que_3', { sessionId: 'ses_2' }))
    })
    expect(store.queue.sessionsWithRows()).toEqual(['ses_2', 'ses_1'])
    store.transact('power', () => store.queue.remove('que_2'))
    expect(store.queue.sessionsWithRows()).toEqual(['ses_2'])
    expect(store.queue.list('ses_1')).toEqual([])
  })
})

describe('runs', () => {
  it('lists runs until they are finished', () => {
    const store = storeWithSessions()
    const run = { id: 'run_1', sessionId: 'ses_1', startedAt: 7 }
    store.transact('process', () => store.runs.begin({ ...run, unattended: true }))
    expect([store.runs.isUnattended(run), store.runs.isUnattended({ ...run, id: 'run_2' })]).toEqual([true, false])
    expect([store.runs.running(), store.runs.end(run)?.status]).toEqual([[run], 'running'])
    store.transact('process', () => store.runs.finish(run, 'error', 9, 'broken'))
    store.transact('process', () => store.runs.finish(run, 'completed', 10))
    expect(store.runs.running()).toEqual([])
    expect([store.runs.end(run), store.runs.isUnattended(run)]).toEqual([{ status: 'error', error: 'broken' }, true])
  })

  it('finds each of them, and the one that started last', () => {
    const store = storeWithSessions()
    const run = (id: string, startedAt: number) => ({ id, sessionId: 'ses_1', startedAt, unattended: false })
    const ended = [run('run_b', 7), run('run_a', 9), run('run_c', 8)]
    store.transact('process', () => {
      for (const each of ended) store.runs.begin(each)
      for (const each of ended) store.runs.finish(each, 'completed', 10)
    })
    expect([store.runs.last('ses_1')?.id, store.runs.latest('ses_1')]).toEqual(['run_a', 'completed'])
    store.transact('process', () => store.runs.begin(run('run_d', 9)))
    expect([store.runs.last('ses_1')?.id, store.runs.latest('ses_1')]).toEqual(['run_d', 'running'])
    expect(store.runs.end(run('run_b', 7))).toEqual({ status: 'completed', error: undefined })
    expect([store.runs.end({ id: 'run_b', sessionId: 'ses_2' }), store.runs.last('ses_2')]).toEqual([undefined, undefined])
  })
})

describe('interactions', () => {
  it('settles a pending request once', () => {
    const store = storeWithSessions()
    store.transact('power', () => store.interactions.insert(permission('per_1')))
    const settle = () => store.transact('power', () => store.interactions.settle('per_1', 'answered', '{"reply":"once"}', 5))
    expect([settle(), settle()]).toEqual([true, false])
    expect(store.interactions.get('per_1')).toEqual(permission('per_1', { state: 'answered', response: '{"reply":"once"}', settled: 5 }))
    expect(store.transact('power', () => store.interactions.settle('per_x', 'withdrawn', undefined, 5))).toBe(false)
    expect(store.interactions.get('per_x')).toBeUndefined()
  })

  it('lists what is pending, oldest first, by session and kind', () => {
    const store = storeWithSessions()
    const question = { id: 'per_3', sessionId: 'ses_2', messageId: 'msg_1', questions: [{ question: 'Why?' }] }
    const rows = [
      permission('per_2', { created: 1 }),
      permission('per_1', { created: 2, sessionId: 'ses_2' }),
      permission('per_3', { created: 3, sessionId: 'ses_2', kind: 'question', request: question }),
      permission('per_4', { created: 4, state: 'withdrawn' }),
    ]
    store.transact('power', () => rows.toReversed().forEach((row) => store.interactions.insert(row)))
    const ids = (filter?: Parameters<Store['interactions']['pending']>[0]) => store.interactions.pending(filter).map((row) => row.id)
    expect(ids()).toEqual(['per_2', 'per_1', 'per_3'])
    expect(ids({ sessionId: 'ses_2' })).toEqual(['per_1', 'per_3'])
    expect(ids({ kind: 'question' })).toEqual(['per_3'])
    expect(ids({ sessionId: 'ses_1', kind: 'question' })).toEqual([])
    expect(store.interactions.get('per_3')).toEqual(rows[2])
  })
})

describe('approvals and todos', () => {
  it('keeps the rules of a project per tenant', () => {
    const store = memoryStore()
    const rule = { permission: 'bash', pattern: 'ls *', action: 'allow' } as const
    store.transact('power', () => {
      store.approvals.put('local', 'global', [])
      store.approvals.put('local', 'global', [rule])
    })
    expect(store.approvals.get('local', 'global')).toEqual([rule])
    expect(store.approvals.get('acme', 'global')).toEqual([])
  })

  it('replaces the todo list of a session', () => {
    const store = storeWithSessions()
    const todo = { content: 'test', status: 'pending', priority: 'high' }
    expect(store.todos.get('ses_1')).toEqual([])
    store.transact('process', () => {
      store.todos.put('ses_1', [])
      store.todos.put('ses_1', [todo])
    })
    expect(store.todos.get('ses_1')).toEqual([todo])
  })
})

describe('executions', () => {
  it('keeps the latest of every root, unfinished first', () => {
    const store = storeWithSessions()
    store.transact('process', () => {
      store.executions.put(execution('ses_1', false))
      store.executions.put(execution('ses_1', true, 2))
      store.executions.put(execution('ses_2', false))
    })
    expect(store.executions.all()).toEqual([execution('ses_2', false), execution('ses_1', true, 2)])
    expect(store.executions.unfinished()).toEqual([execution('ses_2', false)])
    expect(store.executions.get('ses_1')).toEqual(execution('ses_1', true, 2))
    expect(store.executions.get('ses_x')).toBeUndefined()
  })
})

describe('artifacts', () => {
  it('shows a tenant its own, newest first, of one session if named', () => {
    const store = memoryStore()
    const rows = [artifact('art_1', { created: 2 }), artifact('art_2', { created: 3, sessionId: 'ses_9' }), artifact('art_3')]
    store.transact('power', () => {
      for (const row of rows) store.artifacts.insert(row, 'local')
      store.artifacts.insert(artifact('art_4'), 'acme')
    })
    expect(store.artifacts.list('local').map((row) => row.id)).toEqual(['art_2', 'art_1', 'art_3'])
    expect(store.artifacts.list('local', 'ses_9')).toEqual([rows[1]])
    expect(store.artifacts.get('art_1', 'local')).toEqual(rows[0])
    expect(store.artifacts.get('art_1', 'acme')).toBeUndefined()
    expect(store.artifacts.ids()).toEqual(['art_1', 'art_2', 'art_3', 'art_4'])
    store.transact('power', () => store.artifacts.remove('art_1'))
    expect(store.artifacts.get('art_1', 'local')).toBeUndefined()
  })
})
