import { createActor } from 'xstate'
import { describe, expect, it } from 'vitest'
import { linkMachine } from '../../../src/machines/plugin/link.machine.js'
import { explore, missing } from '../paths.js'

const broken = { type: 'broken', reason: 'it broke a rule' } as const
const ended = { type: 'output.ended', reason: 'it is gone' } as const
const retire = { type: 'retire.requested' } as const

describe('the life of a link', () => {
  it('has every transition covered by generated paths', () => {
    expect(missing(explore(linkMachine, undefined, [retire, broken, ended]))).toEqual([])
  })

  it.each([
    [[broken], ['closed: it broke a rule', 'failed: it broke a rule']],
    [[ended], ['closed: it is gone']],
    [
      [retire, retire, ended],
      ['retired', 'closed: it is gone'],
    ],
    [
      [retire, broken],
      ['retired', 'closed: it broke a rule'],
    ],
  ])('that hears %j tells %j', (events, told) => {
    const words: string[] = []
    const actor = createActor(linkMachine)
    actor.on('retired', () => words.push('retired'))
    actor.on('closed', ({ reason }) => words.push(`closed: ${reason}`))
    actor.on('failed', ({ reason }) => words.push(`failed: ${reason}`))
    actor.start()
    for (const event of events) actor.send(event)
    expect(words).toEqual(told)
    actor.stop()
  })
})
