// Holds sessions-events §5: what waits is found, whatever was remembered of its queue.
import { expect, it } from 'vitest'
import { memoryStore, queued, session } from './records.js'

function storeWithSession() {
  const store = memoryStore()
  const row = queued('que_1')
  store.transact('process', () => store.sessions.insert(session(row.sessionId)))
  return { store, row }
}

it('a queue that was empty has what came since', () => {
  const { store, row } = storeWithSession()
  expect([store.queue.list(row.sessionId), store.queue.first(row.sessionId)]).toEqual([[], undefined])
  store.transact('process', () => store.queue.append(row))
  expect([store.queue.first(row.sessionId), store.queue.count(row.sessionId), store.queue.oldest(row.sessionId)]).toEqual([row, 1, row.id])
})

it('a queue that was empty in a change that failed has what it had', () => {
  const { store, row } = storeWithSession()
  store.transact('process', () => store.queue.append(row))
  const fail = () =>
    store.transact('process', () => {
      store.queue.remove(row.id)
      expect([store.queue.list(row.sessionId), store.queue.size(row.sessionId)]).toEqual([[], 0])
      throw new Error('no')
    })
  expect(fail).toThrow('no')
  expect([store.queue.list(row.sessionId).length, store.queue.size(row.sessionId), store.queue.first(row.sessionId)]).toEqual([1, 1, row])
})

it('what waits is told as it is stored, with few rows and with many', () => {
  const { store, row } = storeWithSession()
  const { sessionId } = row
  const ids = Array.from({ length: 20 }, (_, at) => `que_${at + 1}`)
  store.queue.list(sessionId)
  for (const id of ids) store.transact('process', () => store.queue.append(queued(id)))
  expect(store.queue.list(sessionId).map(({ id }) => id)).toEqual(ids)
  for (const id of ids.slice(0, 17)) store.transact('process', () => store.queue.remove(id))
  store.queue.list(sessionId)
  store.transact('process', () => store.queue.setHeld('que_18', true))
  expect(store.queue.list(sessionId).map(({ id, held }) => [id, held])).toEqual([
    ['que_18', true],
    ['que_19', false],
    ['que_20', false],
  ])
  expect([store.queue.oldest(sessionId), store.queue.first(sessionId)?.id]).toEqual(['que_19', 'que_19'])
  expect([store.queue.first(sessionId, ['continue']), store.queue.count(sessionId), store.queue.size(sessionId)]).toEqual([undefined, 2, 3])
})

it('a session that is made again after it was deleted has nothing of what waited', () => {
  const { store, row } = storeWithSession()
  store.queue.list(row.sessionId)
  store.transact('process', () => store.queue.append(row))
  store.transact('process', () => store.sessions.delete(row.sessionId))
  store.transact('process', () => store.sessions.insert(session(row.sessionId)))
  expect([store.queue.list(row.sessionId), store.queue.count(row.sessionId)]).toEqual([[], 0])
})

it('what passes is listed and found until it is removed, beside what is stored, and nothing of it is left', () => {
  const { store, row } = storeWithSession()
  const { sessionId } = row
  const passing = { ...queued('que_2'), held: false }
  store.transact('process', () => {
    store.queue.append(row)
    store.queue.pass(passing)
    expect([store.queue.list(sessionId).map(({ id }) => id), store.queue.get('que_2'), store.queue.count(sessionId)]).toEqual([
      ['que_1', 'que_2'],
      passing,
      2,
    ])
    store.queue.remove('que_2')
    expect([store.queue.list(sessionId).map(({ id }) => id), store.queue.get('que_2')]).toEqual([['que_1'], undefined])
  })
  expect([store.queue.count(sessionId), store.queue.get('que_1'), store.queue.byMessageId(passing.request.messageId)]).toEqual([
    1,
    row,
    undefined,
  ])
  const fail = () =>
    store.transact('process', () => {
      store.queue.pass(passing)
      throw new Error('no')
    })
  expect(fail).toThrow('no')
  expect([store.queue.list(sessionId).map(({ id }) => id), store.queue.get('que_2')]).toEqual([['que_1'], undefined])
})
