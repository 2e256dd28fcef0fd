import { describe, expect, it } from 'vitest'
import { createDocumentFile } from '../../src/kernel/document-file.js'

type Names = readonly string[]

function opened(text?: string, locks?: string[]) {
  const file = { text, version: 0 }
  const told = { reads: 0, malformed: 0 }
  const put = (next: string) => Object.assign(file, { text: next, version: file.version + 1 })
  const document = createDocumentFile<Names>({
    empty: [],
    parse(value) {
      if (!Array.isArray(value)) throw new Error(`no list: ${JSON.stringify(value)}`)
      return value.map(String)
    },
    files: {
      stat: async () => (file.text === undefined ? undefined : { identity: String(file.version) }),
      async read() {
        told.reads++
        return new TextEncoder().encode(file.text)
      },
      writeAtomic: async (_path, next, { mode }) => void put(mode === 0o600 ? next : 'for everybody'),
    },
    path: '/names.json',
    most: 1000,
    write: (names) => JSON.stringify(names),
    ...(locks !== undefined && {
      lock: async () => {
        locks.push('taken')
        return () => void locks.push('let go')
      },
    }),
    onMalformed: () => void told.malformed++,
    malformed: () => new Error('malformed'),
    full: () => new Error('full'),
  })
  return { document, file, told, put }
}

const add = (name: string) => (names: Names) => [[...names, name], names.length] as const

describe('a file that holds a document', () => {
  it('is empty when it is not there or has no text, and read again only when it is another one', async () => {
    expect(await opened().document.read()).toEqual([])
    expect(await opened(' \n').document.read()).toEqual([])
    const { document, told, put } = opened('["a"]')
    expect([await document.read(), await document.read(), told.reads]).toEqual([['a'], ['a'], 1])
    put('["b"]')
    expect([await document.read(), told.reads]).toEqual([['b'], 2])
  })

  it('is changed one after another, and not written when nothing changes', async () => {
    const { document, file } = opened()
    expect(await Promise.all(['a', 'b', 'c'].map((name) => document.change(add(name))))).toEqual([0, 1, 2])
    expect(file.text).toBe('["a","b","c"]')
    const { version } = file
    expect(await document.change((names) => [names, 'same'])).toBe('same')
    expect(file.version).toBe(version)
    await expect(
      document.change(() => {
        throw new Error('no')
      }),
    ).rejects.toThrow('no')
    expect(await document.change(add('d'))).toBe(3)
  })

  it('is changed under the lock of all who change it, as it is then', async () => {
    const locks: string[] = []
    const { document, told } = opened('["a"]', locks)
    await document.read()
    await document.change(add('b'))
    expect([locks, told.reads]).toEqual([['taken', 'let go'], 2])
  })

  it.each(['{"secret":1}', 'secret'])('is no document, told once and never written over: %s', async (text) => {
    const { document, file, told } = opened(text)
    expect([await document.read(), await document.read(), told.malformed]).toEqual([undefined, undefined, 1])
    await expect(document.change(add('a'))).rejects.toThrow(/^malformed$/)
    expect(file.text).toBe(text)
  })

  it('never grows beyond what is read of it, and what is in it stays', async () => {
    const { document, file } = opened()
    const most = 'é'.repeat(498)
    await document.change(add(most))
    expect(new TextEncoder().encode(file.text).length).toBe(1000)
    await expect(document.change(add('b'))).rejects.toThrow('full')
    expect(await document.read()).toEqual([most])
    await document.change(() => [['b'], undefined])
    expect(file.text).toBe('["b"]')
  })
})
