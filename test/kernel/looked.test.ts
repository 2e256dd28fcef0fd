import { createActor, fromPromise } from 'xstate'
import { describe, expect, it } from 'vitest'
import { ask, leave, lookedAnew } from '../../src/kernel/looked.js'
import { reached } from '../../src/kernel/reached.js'
import { lookMachine } from '../../src/machines/look/look.machine.js'

/** Looks that end when the test says so, and who was answered. */
function looker() {
  const ends: { done(): void; fail(): void }[] = []
  const look = () => new Promise<void>((resolve, reject) => ends.push({ done: resolve, fail: () => reject(new Error('broken')) }))
  const ref = createActor(lookMachine.provide({ actors: { look: fromPromise(look) } }), { input: { what: 'here' } }).start()
  const answered: string[] = []
  const asks = (name: string) => lookedAnew(ref).then(() => answered.push(name))
  return { ends, ref, answered, asks }
}

describe('who asks for a look', () => {
  it('gets one that began afterwards, and shares it with all who asked meanwhile', async () => {
    const { ends, answered, asks } = looker()
    const first = asks('first')
    const later = ['second', 'third'].map(asks)
    expect(ends).toHaveLength(1)
    ends[0]?.done()
    await first
    expect(answered).toEqual(['first'])
    expect(ends).toHaveLength(2)
    ends[1]?.done()
    await Promise.all(later)
    expect(answered).toEqual(['first', 'second', 'third'])
    expect(ends).toHaveLength(2)
  })

  it('is answered by a look that fails, and gets another the next time', async () => {
    const { ends, ref, asks } = looker()
    const first = asks('first')
    ends[0]?.fail()
    await first
    expect(ref.getSnapshot().context.fault).toEqual(new Error('broken'))
    const second = asks('second')
    ends[1]?.done()
    await second
    expect(ref.getSnapshot().context).toEqual({ what: 'here', begun: 2, ended: 2, fault: undefined })
  })

  it('waits for the end of a look under way that is the last, and for nothing after that', async () => {
    const { ends, ref, answered, asks } = looker()
    const waiting = ['first', 'second'].map(asks)
    leave(ref)
    leave(ref)
    expect(answered).toEqual([])
    ends[0]?.done()
    await Promise.all(waiting)
    await reached(ref)
    ask(ref)
    await asks('late')
    expect(ends).toHaveLength(1)
  })
})
