/**
 * One move of a session through its history: files and messages back, or forward again (sessions-events §7).
 *
 * I1 Nothing is touched before everything was compared, and before it is noted durably what is to be done.
 * I2 It ends with all files and messages moved, or with none: what fails in the middle is taken back.
 * I3 One that was cut short, by a kill or a broken disk, is finished or taken back by the next start: `abandoned` keeps its note.
 */
import { assign, setup } from 'xstate'
import { LIMITS } from '../../protocol/limits.js'
import { delayOf } from '../../protocol/retry.js'
import { requiredPromise } from '../required.js'

export interface RestoreInput {
  readonly sessionId: string
  /** It was noted by an earlier process. */
  readonly isRecovery: boolean
}

interface RestoreContext extends RestoreInput {
  readonly faults: number
}

export const restoreMachine = setup({
  types: { input: {} as RestoreInput, context: {} as RestoreContext },
  actors: {
    /** Compares all files with what they should be; rejects when one is something else, or its states are not kept. */
    check: requiredPromise<void, RestoreInput>('check'),
    /** Notes durably what is to be done. */
    note: requiredPromise<void, RestoreInput>('note'),
    /** Brings the files into their new states; rejects when one is neither in its old nor in its new state. */
    write: requiredPromise<void, RestoreInput>('write'),
    /** Moves the messages and tells of them, in steps that can be gone on from; the last removes the note. */
    record: requiredPromise<void, RestoreInput>('record'),
    /** Whether every file of an earlier restore is in its old or in its new state. */
    assess: requiredPromise<boolean, RestoreInput>('assess'),
    /** Brings the files back into their old states; leaves those alone that somebody has changed since. */
    takeBack: requiredPromise<void, RestoreInput>('takeBack'),
    /** Moves back the messages that have moved, and removes the note. */
    forget: requiredPromise<void, RestoreInput>('forget'),
  },
  guards: {
    isRecovery: ({ context }) => context.isRecovery,
    canFinish: (_, isClean: boolean) => isClean,
    mayRetry: ({ context }) => context.faults < LIMITS.undo.retry.tries,
  },
  actions: { countFault: assign({ faults: ({ context }) => context.faults + 1 }) },
  delays: { faultRetry: delayOf(LIMITS.undo.retry) },
}).createMachine({
  id: 'restore',
  context: ({ input }) => ({ ...input, faults: 0 }),
  initial: 'beginning',
  states: {
    beginning: { always: [{ guard: 'isRecovery', target: 'assessing' }, { target: 'checking' }] },
    checking: { invoke: { id: 'check', src: 'check', input: ({ context }) => context, onDone: 'noting', onError: 'refused' } },
    noting: { invoke: { id: 'note', src: 'note', input: ({ context }) => context, onDone: 'forward', onError: 'refused' } },
    assessing: {
      invoke: {
        id: 'assess',
        src: 'assess',
        input: ({ context }) => context,
        onDone: [{ guard: { type: 'canFinish', params: ({ event }) => event.output }, target: 'forward' }, { target: 'backward' }],
        onError: 'abandoned',
      },
    },
    /** Files are written; whatever fails is taken back. */
    forward: {
      initial: 'writing',
      states: {
        writing: {
          invoke: { id: 'write', src: 'write', input: ({ context }) => context, onDone: 'recording', onError: '#restore.backward' },
        },
        recording: {
          invoke: {
            id: 'record',
            src: 'record',
            input: ({ context }) => context,
            onDone: '#restore.restored',
            onError: '#restore.backward',
          },
        },
      },
    },
    backward: {
      initial: 'takingBack',
      states: {
        takingBack: {
          invoke: { id: 'takeBack', src: 'takeBack', input: ({ context }) => context, onDone: 'forgetting', onError: 'pausing' },
        },
        forgetting: {
          invoke: { id: 'forget', src: 'forget', input: ({ context }) => context, onDone: '#restore.takenBack', onError: 'pausing' },
        },
        pausing: {
          entry: 'countFault',
          after: { faultRetry: [{ guard: 'mayRetry', target: 'takingBack' }, { target: '#restore.abandoned' }] },
        },
      },
    },
    restored: { type: 'final' },
    refused: { type: 'final' },
    takenBack: { type: 'final' },
    abandoned: { type: 'final' },
  },
})
