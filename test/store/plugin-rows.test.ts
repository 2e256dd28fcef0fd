import { describe, expect, it } from 'vitest'
import { openStore } from '../../src/store/open.js'

const open = () => openStore({ directory: ':memory:', now: () => 1 })
const row = (id: string, sort: number, group = '') => ({ id, group, sort, data: { id } })

describe('rows of plugins', () => {
  it('are kept apart by plugin and kind, and listed by their number', () => {
    const { pluginRows, transact, close } = open()
    transact('process', () => {
      pluginRows.put('a', 'run', row('two', 2, 'x'))
      pluginRows.put('a', 'run', row('one', 1, 'x'))
      pluginRows.put('a', 'run', row('other', 3, 'y'))
      pluginRows.put('a', 'claim', row('one', 1))
      pluginRows.put('b', 'run', row('one', 1, 'x'))
    })
    expect(pluginRows.list('a', 'run').map(({ id }) => id)).toEqual(['one', 'two', 'other'])
    expect(pluginRows.list('a', 'run', { group: 'x', order: 'desc', limit: 1 })).toEqual([row('two', 2, 'x')])
    expect(pluginRows.get('b', 'run', 'two')).toBeUndefined()
    close()
  })

  it('are added once: the second insert of an id has no effect and says so', () => {
    const { pluginRows, transact, close } = open()
    expect(transact('process', () => pluginRows.insert('a', 'claim', row('slot', 1)))).toBe(true)
    expect(transact('process', () => pluginRows.insert('a', 'claim', row('slot', 2)))).toBe(false)
    expect(pluginRows.get('a', 'claim', 'slot')).toEqual(row('slot', 1))
    transact('process', () => pluginRows.delete('a', 'claim', 'slot'))
    expect(transact('process', () => pluginRows.insert('a', 'claim', row('slot', 3)))).toBe(true)
    close()
  })

  it('go with what they are of, by their id or their group, and no others', () => {
    const { pluginRows, transact, close } = open()
    transact('process', () => {
      pluginRows.put('a', 'task', row('ses', 1))
      pluginRows.put('a', 'task', row('other', 2, 'ses'))
      pluginRows.put('a', 'job', row('one', 1, 'ses'))
      pluginRows.put('a', 'job', row('two', 2, 'ses'))
      pluginRows.put('b', 'job', row('one', 1, 'ses'))
    })
    expect(transact('process', () => pluginRows.disown('a', 'task', 'id', 'ses'))).toEqual(['ses'])
    expect(transact('process', () => pluginRows.disown('a', 'job', 'group', 'ses')).toSorted()).toEqual(['one', 'two'])
    expect(['task', 'job'].flatMap((kind) => pluginRows.list('a', kind)).map(({ id }) => id)).toEqual(['other'])
    expect(pluginRows.list('b', 'job')).toHaveLength(1)
    close()
  })

  it('vanish with the transaction that fails', () => {
    const { pluginRows, transact, close } = open()
    const fail = () =>
      transact('process', () => {
        pluginRows.put('a', 'run', row('one', 1))
        throw new Error('no')
      })
    expect(fail).toThrow('no')
    expect(pluginRows.list('a', 'run')).toEqual([])
    close()
  })
})
