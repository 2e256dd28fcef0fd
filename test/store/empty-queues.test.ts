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
