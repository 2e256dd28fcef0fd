/**
 * The title of one conversation, made by the model after its first run (sessions-events §2.8).
 *
 * I1 A turn is held from `turn.taken` until the title has ended, however it ends.
 * I2 A title takes at most `titleTimeout`, its wait for a turn included; without one the conversation keeps the title it has.
 */
import { setup } from 'xstate'
import { LIMITS } from '../../protocol/limits.js'
import { requiredCallback, requiredPromise } from '../required.js'

export interface TitleInput {
  readonly sessionId: string
  /** The run whose prompt the title is made of; it has just ended. */
  readonly runId: string
}

type TitleEvent = { readonly type: 'turn.taken' } | { readonly type: 'turn.refused' } | { readonly type: 'stop.requested' }

export const titleMachine = setup({
  types: { input: {} as TitleInput, context: {} as TitleInput, events: {} as TitleEvent },
  actors: {
    /** Waits for a turn and holds it until it is left; reports `turn.taken`, or `turn.refused` when too many wait. */
    turn: requiredCallback<TitleInput>('turn'),
    /** Asks the model and records what it answers; false = it answered nothing, or somebody has named the conversation. */
    generate: requiredPromise<boolean, TitleInput>('generate'),
  },
  guards: { isRecorded: (_, recorded: boolean) => recorded },
  delays: { titleTimeout: LIMITS.titles.timeout },
}).createMachine({
  id: 'title',
  context: ({ input }) => input,
  initial: 'making',
  states: {
    making: {
      initial: 'waiting',
      invoke: { id: 'turn', src: 'turn', input: ({ context }) => context, onError: 'givenUp' },
      on: { 'turn.refused': 'givenUp', 'stop.requested': 'withdrawn' },
      after: { titleTimeout: 'givenUp' },
      states: {
        waiting: { on: { 'turn.taken': 'generating' } },
        generating: {
          invoke: {
            id: 'generate',
            src: 'generate',
            input: ({ context }) => context,
            onDone: [{ guard: { type: 'isRecorded', params: ({ event }) => event.output }, target: '#title.recorded' }, '#title.givenUp'],
            onError: '#title.givenUp',
          },
        },
      },
    },
    recorded: { type: 'final' },
    givenUp: { type: 'final' },
    withdrawn: { type: 'final' },
  },
})
