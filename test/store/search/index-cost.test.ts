// Holds what indexing costs beside turns, counted: what makes it dearer has to raise a number here, and what has become less lowers it.
import { expect, it } from 'vitest'
import { LIMITS } from '../../../src/protocol/limits.js'
import { counted } from '../../fakes/counted.js'
import { memoryStore } from '../records.js'
import { catchUp, say, storeWith, tell } from './corpus.js'

const WORDS = 'the retry of a queue that is emptied by one worker doubles whenever its backoff parseHttpRequest has two seconds'.split(' ')
/** About as long as 200 tokens. */
const LONG = Array.from({ length: 9 }, () => WORDS.join(' ')).join('. ')

/** Statements, commits and steps that `turns` cost which are caught up with together, and others have gone before. */
async function costOf(turns: number) {
  const store = storeWith([], memoryStore())
  let said = 0
  const turn = () => {
    const [asked, answer] = [`msg_${said++}`, `msg_${said++}`]
    say(store, { id: asked, text: `please answer number ${said}` })
    tell(store, 'message.updated', { info: { id: asked, role: 'user' } })
    tell(store, 'message.part.updated', { part: { messageId: asked, type: 'text', text: 'asked' } })
    tell(store, 'message.updated', { info: { id: answer, role: 'assistant', time: { created: 1 } } })
    tell(store, 'message.part.updated', { part: { messageId: answer, type: 'step-start' } })
    tell(store, 'message.part.updated', { part: { messageId: answer, type: 'text', text: '', time: { start: 1 } } })
    say(store, { id: answer, text: `${LONG} ${said}` })
    tell(store, 'message.part.updated', { part: { messageId: answer, type: 'text', text: LONG, time: { start: 1, end: 2 } } })
    tell(store, 'message.part.updated', { part: { messageId: answer, type: 'step-finish' } })
    tell(store, 'message.updated', { info: { id: answer, role: 'assistant', time: { created: 1, completed: 2 } } })
  }
  const gathered = () =>
    store.transact('process', () => {
      for (let at = 0; at < turns; at++) turn()
    })
  gathered()
  catchUp(store)
  gathered()
  let steps = 0
  const { statements, commits } = await counted(async () => void (steps = catchUp(store)))
  store.close()
  return { statements, commits, steps }
}

it('of one turn that nothing follows', async () => {
  expect(await costOf(1)).toEqual({ statements: 37, commits: 2, steps: 2 }) // the second commit finds nothing to merge
})

it('of those that have gathered: less for each, in one commit', async () => {
  const turns = Math.floor(LIMITS.search.backlogText / LONG.length)
  expect(turns).toBe(31)
  expect(await costOf(turns)).toEqual({ statements: 471, commits: 2, steps: 18 })
})

it('is done once the event was read that it was asked for, and what came before, whatever follows', () => {
  const store = storeWith([])
  catchUp(store)
  const said = (from: number, to: number) =>
    store.transact('process', () => {
      for (let at = from; at < to; at++) {
        say(store, { id: `msg_${at}`, text: `number ${at}` })
        tell(store, 'message.updated', { info: { id: `msg_${at}` } })
      }
    })
  said(0, 10)
  const upTo = store.search.head()
  said(10, 40)
  const steps = Array.from({ length: 9 }, () => store.search.step(upTo)) // some merge
  expect(steps).toContain('done')
  expect(store.search.size()).toBe(2 * LIMITS.search.step)
  catchUp(store)
  expect(store.search.size()).toBe(40)
  store.close()
})
