import { expect, test } from 'vitest'
import { createActor, setup } from 'xstate'
import { chartOf } from '../../src/kernel/machine/chart.js'
import { laidOut } from '../../src/kernel/machine/laid-out.js'

const told: string[] = []
const machine = setup({ actions: { tell: () => void told.push('nobody'), leave: () => void told.push('left') } }).createMachine({
  id: 'lamp',
  initial: 'off',
  states: { off: { on: { switched: { target: 'on', actions: 'tell' } } }, on: { on: { switched: { target: 'off', actions: 'leave' } } } },
})

test.each([
  ['by the interpreter', <T>(same: T) => same],
  ['by its layout', laidOut],
])('what is given effects does these %s, over a chart that all have in common', (_, stepped) => {
  const made = ['one', 'two'].map((name) => stepped(chartOf(machine).provide({ actions: { tell: () => void told.push(name) } })))
  const [one, two] = made.map((each) => createActor(each).start())
  told.length = 0
  one?.send({ type: 'switched' })
  expect([one?.getSnapshot().value, two?.getSnapshot().value]).toEqual(['on', 'off'])
  two?.send({ type: 'switched' })
  one?.send({ type: 'switched' })
  createActor(machine).start().send({ type: 'switched' })
  expect(told).toEqual(['one', 'two', 'left', 'nobody'])
  expect(made.every(({ root }) => root === machine.root)).toBe(true)
})
