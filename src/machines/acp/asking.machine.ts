/**
 * One thing that a session asks, put to the person in front of the editor (subsystems n, ACP bridge).
 *
 * I1 It is put once, whatever many prompts of the editor wait for it.
 * I2 When the last of them leaves (it is settled elsewhere, or its prompt has ended), it is taken back, and nothing is answered.
 */
import { assign, setup } from 'xstate'
import { requiredCallback } from '../required.js'

export interface AskingInput {
  readonly requestId: string
}

interface AskingContext extends AskingInput {
  /** Prompts that wait for the answer. */
  readonly waiting: number
  readonly isAnswered: boolean
}

type AskingEvent = { readonly type: 'prompt.joined' } | { readonly type: 'prompt.left' } | { readonly type: 'person.answered' }

export const askingMachine = setup({
  types: {
    input: {} as AskingInput,
    context: {} as AskingContext,
    output: {} as { readonly isAnswered: boolean },
    events: {} as AskingEvent,
  },
  actors: {
    /** Asks the editor, and takes it back when it is stopped; reports `person.answered`. What is answered it keeps. */
    ask: requiredCallback<AskingInput>('ask'),
  },
  guards: { isLast: ({ context: { waiting } }) => waiting <= 1 },
  actions: {
    join: assign({ waiting: ({ context }) => context.waiting + 1 }),
    leave: assign({ waiting: ({ context }) => context.waiting - 1 }),
    noteAnswer: assign({ isAnswered: true }),
  },
}).createMachine({
  id: 'asking',
  context: ({ input }) => ({ ...input, waiting: 1, isAnswered: false }),
  output: ({ context: { isAnswered } }) => ({ isAnswered }),
  initial: 'asked',
  states: {
    asked: {
      invoke: { src: 'ask', input: ({ context: { requestId } }) => ({ requestId }) },
      on: {
        'prompt.joined': { actions: 'join' },
        'prompt.left': [{ guard: 'isLast', target: 'ended' }, { actions: 'leave' }],
        'person.answered': { target: 'ended', actions: 'noteAnswer' },
      },
    },
    ended: { type: 'final' },
  },
})
