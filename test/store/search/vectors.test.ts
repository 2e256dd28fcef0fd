// Holds choice 35.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openStore } from '../../../src/store/open.js'
import type { Store } from '../../../src/store/store.js'
import { catchUp, say, storeWith, tell, wholeOf } from './corpus.js'

const SAID = [
  { id: 'msg_1', text: 'red' },
  { id: 'msg_2', text: 'blue' },
  { id: 'msg_3', text: 'blue sea', sessionId: 'ses_2' },
]
const vectorOf = (text: string) => Float32Array.from([text.includes('red') ? 1 : 0, text.includes('blue') ? 1 : 0, 0.01])
const near = ({ search }: Store, text: string, sessions?: readonly string[]) =>
  (wholeOf(search.parts('qqqq', 10, sessions, vectorOf(text))) ?? []).map(({ messageId }) => messageId)

function embedAll({ search }: Store, of = vectorOf): string[] {
  const texts = search.unembedded(10)
  if (texts.length > 0) search.putVectors(texts.map(({ key, text }) => ({ key, vector: of(text) })))
  return texts.map(({ text }) => text)
}

function directory(): string {
  const made = mkdtempSync(join(tmpdir(), 'svc-search-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

it('finds by vectors what is there, and only in the sessions that are asked for', () => {
  const store = storeWith(SAID)
  catchUp(store)
  expect(store.search.unembedded(10)).toEqual([])
  expect(store.search.useVectors('a/one')).toBe(undefined)
  expect(embedAll(store)).toEqual(['blue sea', 'blue', 'red'])
  expect(store.search.unembedded(10)).toEqual([])
  expect(near(store, 'red')).toEqual(['msg_1'])
  expect(near(store, 'blue').toSorted()).toEqual(['msg_2', 'msg_3'])
  expect(near(store, 'blue', ['ses_2'])).toEqual(['msg_3'])
})

it('has neither words nor a vector of what is gone, and a new vector for what is changed', () => {
  const store = storeWith(SAID)
  catchUp(store)
  store.search.useVectors('a/one')
  embedAll(store)
  store.transact('process', () => {
    store.messages.remove('msg_3')
    store.messages.removeParts('msg_2')
    store.messages.remove('msg_2')
    say(store, { id: 'msg_2', text: 'red by now' })
    tell(store, 'message.removed', { messageID: 'msg_3' }, 'ses_2')
    tell(store, 'message.updated', { info: { id: 'msg_2' } })
  })
  catchUp(store)
  expect(near(store, 'blue')).toEqual([])
  expect(embedAll(store)).toEqual(['red by now'])
  expect(near(store, 'red').toSorted()).toEqual(['msg_1', 'msg_2'])
})

it('forgets the vectors of another model, and of another length, and keeps them over a restart', () => {
  const place = directory()
  const open = () => openStore({ directory: place, now: () => 1 })
  const first = storeWith(SAID, open())
  catchUp(first)
  first.search.useVectors('a/one')
  embedAll(first)
  first.close()
  const second = open()
  catchUp(second)
  expect([second.search.useVectors('a/one'), embedAll(second), near(second, 'red')]).toEqual([undefined, [], ['msg_1']])
  second.close()
  const third = open()
  onTestFinished(() => third.close())
  catchUp(third)
  expect([third.search.useVectors('a/two'), near(third, 'red')]).toEqual([undefined, []])
  expect(embedAll(third, () => Float32Array.from([1, 0]))).toHaveLength(3)
  expect(() => third.search.putVectors([{ key: 1, vector: new Float32Array(0) }])).toThrow('1 to')
})

it('begins anew with everything else when the file is discarded', () => {
  const store = storeWith(SAID)
  catchUp(store)
  store.search.useVectors('a/one')
  embedAll(store)
  store.search.discard()
  catchUp(store)
  expect(near(store, 'red')).toEqual([])
  store.search.useVectors('a/one')
  expect(embedAll(store)).toHaveLength(3)
  expect(near(store, 'red')).toEqual(['msg_1'])
})
