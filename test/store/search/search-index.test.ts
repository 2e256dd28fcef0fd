// Holds subsystems i.
import { appendFileSync, mkdtempSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { LIMITS } from '../../../src/protocol/limits.js'
import { openIndexFile } from '../../../src/store/search/index-file.js'
import { openHandle } from '../../../src/store/opening/database.js'
import { openStore } from '../../../src/store/open.js'
import type { Store } from '../../../src/store/store.js'
import { session, text, user } from '../records.js'
import { catchUp, find, say, storeWith, tell } from './corpus.js'

const SAID = [
  { id: 'msg_1', text: 'The retry backoff of the queue is two seconds, doubling' },
  { id: 'msg_2', text: 'function parseHttpRequest(max_header_size) { return HTTPServer2.listen() }' },
  { id: 'msg_3', text: '我们今天讨论了数据库的检索系统' },
  { id: 'msg_4', text: 'Die Straße ist naß, der Café-Besitzer grüßt' },
  { id: 'msg_5', text: 'Мы обсуждали производительность поиска' },
  { id: 'msg_6', text: 'the doubling of the queue happened before a retry of the backoff', sessionId: 'ses_2' },
  { id: 'msg_7', text: '検索エンジンと데이터베이스' },
]

const directories: string[] = []
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true })
})

function stored(): { readonly store: () => Store; readonly path: string } {
  const directory = mkdtempSync(join(tmpdir(), 'svc-search-'))
  directories.push(directory)
  return { store: () => openStore({ directory, now: () => 1_000 }), path: join(directory, 'search.sqlite3') }
}

it('reads an answer once it is over, or has said something, and not as it begins', () => {
  const store = storeWith(SAID)
  catchUp(store)
  const told = (info: object, part?: object) => {
    tell(store, 'message.updated', { info: { id: 'msg_a', role: 'assistant', ...info } })
    if (part !== undefined) tell(store, 'message.part.updated', { part: { messageId: 'msg_a', type: 'text', ...part } })
    catchUp(store)
    return find(store, 'marzipan')
  }
  store.transact('process', () => say(store, { id: 'msg_a', text: 'marzipan' }))
  const begun = store.transact('process', () => told({ time: { created: 1 } }, { text: '', time: { start: 1 } }))
  const ended = store.transact('process', () => told({ time: { created: 1, completed: 2 } }))
  expect([begun, ended]).toEqual([[], ['msg_a']])
})

describe('what is found', () => {
  const store = storeWith(SAID)
  catchUp(store)

  it.each([
    ['a word', 'doubling', ['msg_1', 'msg_6']],
    ['words as they stand together first', 'retry backoff', ['msg_1', 'msg_6']],
    ['a part of an identifier', 'http', ['msg_2']],
    ['the last part of one', 'request', ['msg_2']],
    ['parts that are joined by underscores', 'maxHeaderSize', ['msg_2']],
    ['what stands inside of words', 'eaderSi', []],
    ['the beginning of a word', 'doubl', ['msg_6', 'msg_1']],
    ['characters in the middle', 'ackof', ['msg_6', 'msg_1']],
    ['a letter too few', 'bakoff', ['msg_1', 'msg_6']],
    ['neighbours exchanged', 'doulbing', ['msg_1', 'msg_6']],
    ['a mistyped identifier', 'parseHtpRequest', ['msg_2']],
    ['two Chinese characters', '检索', ['msg_3']],
    ['a longer run of them', '检索系统', ['msg_3']],
    ['one of them', '库', ['msg_3']],
    ['Japanese', '検索', ['msg_7']],
    ['Korean', '데이터', ['msg_7']],
    ['accents left out', 'cafe', ['msg_4']],
    ['ss for ß', 'strasse', ['msg_4']],
    ['Russian, mistyped', 'произвдительность', ['msg_5']],
    ['signs of the query language as text', '"retry" AND (NOT *', ['msg_1', 'msg_6']],
    ['nothing but signs', '"*()', []],
    ['a word nobody said', 'xylophonist', []],
  ])('%s', (_what, query, expected) => {
    const hits = find(store, query)
    expect(hits.slice(0, expected.length).toSorted()).toEqual([...expected].toSorted())
    expect(hits.length > 0).toBe(expected.length > 0)
  })

  it('puts the phrase before the words apart', () => {
    expect(find(store, 'retry backoff')).toEqual(['msg_1', 'msg_6'])
  })

  it('is kept to the sessions that are named', () => {
    expect(find(store, 'retry backoff', 10, ['ses_2'])).toEqual(['msg_6'])
    expect(find(store, 'ackof', 10, ['ses_2'])).toEqual(['msg_6'])
    expect(find(store, 'retry', 10, [])).toEqual([])
  })

  it('answers no more than is asked for', () => {
    expect(find(store, 'retry', 1)).toHaveLength(1)
    expect(find(store, 'retry', 0)).toEqual([])
  })
})

describe('what changes', () => {
  it('is read message by message, however many events tell of each', () => {
    const store = storeWith(SAID)
    catchUp(store)
    store.transact('process', () => {
      for (let index = 0; index < 900; index++)
        tell(store, 'message.part.updated', { part: { messageId: `msg_${(index % 7) + 1}`, type: 'text' } })
      for (let index = 0; index < 90; index++) tell(store, 'message.part.updated', { part: { messageId: `msg_t${index}`, type: 'tool' } })
    })
    expect(catchUp(store)).toBe(Math.ceil(990 / LIMITS.search.events))
  })

  it('takes no more of long events in one step than there is time for', () => {
    const store = storeWith(SAID)
    catchUp(store)
    const text = 'x'.repeat(LIMITS.search.eventBytes / 2)
    store.transact('process', () => {
      for (let index = 0; index < 6; index++) tell(store, 'message.part.updated', { part: { messageId: 'msg_1', type: 'text', text } })
    })
    expect(catchUp(store)).toBe(3)
  })

  it('takes no more text in one step than there is time for, and merges in steps of their own', () => {
    const text = 'a retry of it '.repeat(LIMITS.search.stepText / 14 + 1)
    const store = storeWith(Array.from({ length: 5 }, (_, at) => ({ id: `msg_${at}`, text })))
    expect(catchUp(store)).toBe(1 + 5 + 1 + 1)
    store.transact('process', () => {
      for (let at = 5; at < 8; at++) {
        say(store, { id: `msg_${at}`, text })
        tell(store, 'message.updated', { info: { id: `msg_${at}` } })
      }
    })
    // With the eighth run words and grams have enough to be merged; of spelling there is one.
    expect(catchUp(store)).toBe(3 + 1 + 2)
    expect(find(store, 'retry')).toHaveLength(8)
  })

  it('follows the events: said, changed, undone, shown again, deleted', () => {
    const store = storeWith(SAID.slice(0, 2))
    catchUp(store)
    const told = (type: string, data: object) => {
      store.transact('process', () => tell(store, type, data))
      catchUp(store)
    }
    store.transact('process', () => say(store, { id: 'msg_new', text: 'a giraffe' }))
    expect(find(store, 'giraffe')).toEqual([])
    told('message.part.updated', { part: { messageId: 'msg_new' } })
    expect(find(store, 'giraffe')).toEqual(['msg_new'])
    const giraffe = { id: 'prt_msg_new', sessionId: 'ses_1', messageId: 'msg_new', type: 'text' } as const
    store.transact('process', () => void store.messages.putPart({ ...giraffe, text: 'an antelope' }))
    told('message.part.updated', { part: { messageId: 'msg_new' } })
    expect([find(store, 'giraffe'), find(store, 'antelope')]).toEqual([[], ['msg_new']])
    store.transact('process', () => store.messages.conceal('ses_1', { messageID: 'msg_new' }))
    expect(store.search.isShown('msg_new')).toBe(false)
    told('message.removed', { messageID: 'msg_new' })
    expect(find(store, 'antelope')).toEqual([])
    store.transact('process', () => store.messages.conceal('ses_1', undefined))
    told('message.updated', { info: { id: 'msg_new' } })
    expect(find(store, 'antelope')).toEqual(['msg_new'])
    store.transact('process', () => store.sessions.delete('ses_1'))
    told('session.deleted', {})
    expect([find(store, 'antelope'), store.search.size()]).toEqual([[], 0])
  })

  it('reads a session that comes with its messages', () => {
    const store = storeWith([])
    catchUp(store)
    const many = Array.from({ length: 100 }, (_, at) => ({ id: `msg_${at}`, text: `copy ${at}`, sessionId: 'ses_2' }))
    store.transact('process', () => {
      for (const each of many) say(store, each)
      tell(store, 'session.created', {}, 'ses_2')
    })
    catchUp(store)
    expect(store.search.size()).toBe(100)
  })

  it('leaves out what nobody has said', () => {
    const store = storeWith([])
    store.transact('process', () => {
      say(store, { id: 'msg_1', text: 'visible' })
      store.messages.putPart({ id: 'prt_s', sessionId: 'ses_1', messageId: 'msg_1', type: 'text', text: 'hidden', synthetic: true })
    })
    catchUp(store)
    expect([find(store, 'visible'), find(store, 'hidden')]).toEqual([['msg_1'], []])
  })
})

it('has nothing to do for sessions that begin, and reads those that come with messages', () => {
  const store = storeWith(SAID)
  catchUp(store)
  store.transact('process', () => {
    for (let at = 0; at < 20; at++) {
      store.sessions.insert(session(`ses_new_${at}`))
      tell(store, 'session.created', {}, `ses_new_${at}`)
    }
  })
  expect(catchUp(store)).toBe(0)
  store.transact('process', () => {
    store.sessions.insert(session('ses_fork'))
    say(store, { id: 'msg_fork', text: 'a quokka', sessionId: 'ses_fork' })
    tell(store, 'session.created', {}, 'ses_fork')
  })
  catchUp(store)
  expect(find(store, 'quokka')).toEqual(['msg_fork'])
  store.transact('process', () => {
    store.sessions.delete('ses_fork')
    tell(store, 'session.deleted', {}, 'ses_fork')
  })
  catchUp(store)
  expect(find(store, 'quokka')).toEqual([])
})

describe('the file', () => {
  it('goes on where it was left, and is to be discarded when the events are gone', () => {
    const { store: open } = stored()
    const first = storeWith(SAID, open())
    catchUp(first)
    first.close()
    const second = open()
    expect([second.search.open().isNew, catchUp(second), find(second, 'doubling')]).toEqual([false, 0, ['msg_1', 'msg_6']])
    second.transact('process', () => {
      say(second, { id: 'msg_9', text: 'a tapir' })
      tell(second, 'message.updated', { info: { id: 'msg_9' } })
      tell(second, 'session.status', {})
    })
    while (second.prune({ before: 1e12, maxRows: 0, maxBytes: 0, batch: 100, auditRows: 10 }));
    expect([second.search.step(), find(second, 'doubling')]).toEqual(['damaged', ['msg_1', 'msg_6']])
    second.search.discard()
    expect(catchUp(second)).toBeGreaterThan(0)
    expect(find(second, 'tapir')).toEqual(['msg_9'])
    second.close()
  })

  it('has steps that follow each other in one commit, up to some text, and what an orderly end finds uncommitted', () => {
    const { store: open, path } = stored()
    const store = storeWith([], open())
    catchUp(store)
    const long = 'a retry of it '.repeat(LIMITS.search.stepText / 14 + 1)
    let said = 0
    const sayMore = (count: number) =>
      store.transact('process', () => {
        for (const last = said + count; said < last; said++) {
          say(store, { id: `msg_${said}`, text: long })
          tell(store, 'message.updated', { info: { id: `msg_${said}` } })
        }
      })
    /** As somebody finds it who comes after a kill. */
    const kept = () => {
      const handle = openHandle(path)
      const count = Number(handle.prepare('select count(*) from docs').pluck().get())
      handle.close()
      return count
    }
    sayMore(3)
    expect([store.search.step(), store.search.step(), kept(), store.search.size()]).toEqual(['more', 'more', 0, 2])
    catchUp(store)
    expect(kept()).toBe(3)
    sayMore(20)
    for (let steps = 0; kept() === 3; steps++) expect([store.search.step(), steps < 20]).toEqual(['more', true])
    expect([kept(), (kept() - 3) * long.length >= LIMITS.search.commitText]).toEqual([3 + 16, true])
    while (store.search.size() === kept()) expect(store.search.step()).toBe('more')
    const had = store.search.size()
    store.close()
    expect(kept()).toBe(had)
    const again = open()
    expect([catchUp(again) > 0, again.search.size()]).toEqual([true, 23])
    again.close()
  })

  it('stays small in runs to look into, merged beside the steps, however often it is written', () => {
    const { store: open, path } = stored()
    const store = storeWith([], open())
    catchUp(store)
    for (let at = 0; at < 300; at++) {
      store.transact('process', () => {
        say(store, { id: `msg_${at}`, text: `turn ${at} of many` })
        tell(store, 'message.updated', { info: { id: `msg_${at}` } })
      })
      catchUp(store)
    }
    expect(find(store, 'turn 299')[0]).toBe('msg_299')
    store.close()
    const { handle } = openIndexFile(path)
    for (const table of ['words', 'grams', 'spelling'])
      expect(Number(handle.prepare(`select count(distinct segid) from ${table}_idx`).pluck().get())).toBeLessThan(30)
    handle.close()
  })

  it('is kept up and searched when the thread beside it cannot open it', async () => {
    const { store: open, path } = stored()
    const store = storeWith([], open())
    catchUp(store)
    renameSync(path, `${path}.away`)
    for (let at = 0; at < 250; at++) {
      store.transact('process', () => {
        say(store, { id: `msg_${at}`, text: `turn ${at}` })
        tell(store, 'message.updated', { info: { id: `msg_${at}` } })
      })
      catchUp(store)
      await new Promise(setImmediate)
    }
    expect([store.search.size(), find(store, 'turn 249')[0]]).toEqual([250, 'msg_249'])
    renameSync(`${path}.away`, path)
    store.close()
    const again = open()
    expect([again.search.open().isNew, catchUp(again), find(again, 'turn 249')[0]]).toEqual([false, 0, 'msg_249'])
    again.close()
  })

  it.each([
    ['no database', (path: string) => writeFileSync(path, 'this is no database at all, and long enough to be told from one '.repeat(20))],
    ['cut', (path: string) => truncateSync(path, Math.floor(statSync(path).size / 2))],
    ['another version', (path: string) => writeFileSync(path, '')],
    ['longer than it was', (path: string) => appendFileSync(path, 'more')],
    ['overwritten in the middle', (path: string) => overwrite(path)],
  ])('is made anew when it is damaged: %s', (_what, damage) => {
    const { store: open, path } = stored()
    const first = storeWith(SAID, open())
    catchUp(first)
    first.close()
    damage(path)
    const second = open()
    recover(second)
    expect(find(second, 'doubling').toSorted()).toEqual(['msg_1', 'msg_6'])
    expect(second.messages.all('ses_1')).toHaveLength(6)
    second.close()
  })
})

function overwrite(path: string): void {
  const { size } = statSync(path)
  truncateSync(path, 4096)
  appendFileSync(path, Buffer.alloc(size - 4096, 0x5a))
}

/** As the machine does it: what is damaged is discarded once. */
function recover(store: Store): void {
  store.search.open()
  for (let discarded = 0; ; ) {
    const step = store.search.step()
    if (step === 'damaged') {
      if (discarded++ > 0) throw new Error('damaged again')
      store.search.discard()
      store.search.open()
    }
    if (step === 'done') return
  }
}

describe('how much is kept', () => {
  const words = (n: number) => ({ id: `msg_${n}`, text: `common word${n}` })
  const sayAt = (store: Store, n: number, created: number) => {
    const { id, text: said } = words(n)
    store.transact('process', () => {
      store.messages.append({ ...user(id, 'ses_1'), time: { created } }, [{ ...text(`prt_${id}`, id, said), sessionId: 'ses_1' }])
      tell(store, 'message.updated', { sessionID: 'ses_1', info: { id, role: 'user' } })
    })
  }

  const kept = (store: Store) => find(store, 'common', 100).toSorted()
  const messages = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => `msg_${from + index}`)

  it('of too much text the oldest goes, and is not taken in again; what is said goes on to be found', () => {
    const store = storeWith([])
    for (let n = 10; n < 60; n++) sayAt(store, n, n)
    catchUp(store)
    expect(kept(store)).toEqual(messages(10, 59))
    // Each is 13 bytes.
    store.search.keep({ bytes: 13 * 20, since: 0 })
    catchUp(store)
    expect([store.search.size(), kept(store)]).toEqual([20, messages(40, 59)])
    store.transact('process', () => tell(store, 'session.deleted', { sessionID: 'ses_1' }))
    catchUp(store)
    expect(kept(store)).toEqual(messages(40, 59))
    sayAt(store, 60, 60)
    catchUp(store)
    expect(kept(store)).toEqual(messages(41, 60))
  })

  it('nothing that was said too long ago is in it', () => {
    const store = storeWith([])
    store.search.keep({ bytes: 1000, since: 15 })
    for (let n = 10; n < 20; n++) sayAt(store, n, n)
    catchUp(store)
    expect(kept(store)).toEqual(messages(15, 19))
    store.search.keep({ bytes: 1000, since: 18 })
    catchUp(store)
    expect(kept(store)).toEqual(messages(18, 19))
  })
})
