// Holds threat-model N3.
import { describe, expect, it } from 'vitest'
import { signInMachine } from '../../../src/machines/sign-in/sign-in.machine.js'
import { explore, missing } from '../paths.js'

const done = (actorId: string, output?: unknown) => ({ type: `xstate.done.actor.${actorId}`, output, actorId })
const error = (actorId: string) => ({ type: `xstate.error.actor.${actorId}`, error: new Error('broken'), actorId })
const refusal = { type: 'answer.refused', reason: 'no' }
const explored = explore(
  signInMachine,
  { attemptId: 'attempt_1', at: 'vendor', kind: 'browser', lifetime: 1000 },
  [
    { type: 'answer.arrived' },
    refusal,
    { type: 'answer.late' },
    { type: 'cancel.requested' },
    done('offer', { url: 'https://vendor.example', instructions: 'go there' }),
    done('exchange'),
    ...['offer', 'hear', 'exchange'].map(error),
    { type: 'xstate.after.lifetime.sign-in.open' },
  ],
  { key: ({ context }: { readonly context: { readonly offer: unknown; readonly reason: unknown } }) => [context.offer, context.reason] },
)

describe('the machine of a sign-in', () => {
  it('has every transition covered by generated paths', () => expect(missing(explored)).toEqual([]))

  it('ends in one of four ways, tells why it was refused, and takes one answer', () => {
    for (const { value, status, context } of explored.snapshots) {
      const isOver = ['connected', 'refused', 'expired', 'cancelled'].includes(String(value))
      expect(status === 'done').toBe(isOver)
      expect(context.reason !== undefined).toBe(value === 'refused')
    }
    for (const path of explored.paths) expect(path.filter((type) => type === 'answer.arrived').length).toBeLessThan(2)
  })
})
