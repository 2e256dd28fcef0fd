/**
 * One goal of a session that is pursued: it follows what the session does, and decides after each run whether another one is begun
 * (subsystems j).
 *
 * I1 A run is begun in one commit with the note that it was: however often `deciding` is entered, also by another process, once for each end.
 * I2 Nothing is decided here while anything of the session runs, waits or is worked on; a session that rests is left alone. What the commit
 *    that ends a run has decided of its goal comes as an event, or as a session that goes on.
 * I3 A service that stops leaves the goal as its row is; the next start goes on from there.
 *
 * It has no report (`report.ts`): what is told is not how it ended but that the session is to go on, and what could not be recorded is not
 * tried again but decided anew, because the session may have worked meanwhile.
 */
import { assign, setup } from 'xstate'
import { LIMITS } from '../../protocol/limits.js'
import { delayOf } from '../../protocol/retry.js'
import { requiredPromise } from '../required.js'

export interface GoalInput {
  readonly sessionId: string
}

/** `continued`: a run was begun, or one is under way; `rested`: no run has ended since; `gone`: there is nothing to pursue any more. */
export type Decided = 'continued' | 'rested' | 'paused' | 'blocked' | 'gone'

interface GoalContext extends GoalInput {
  /** The session has done something while it was decided. */
  readonly isStirred: boolean
}

export type GoalEvent =
  /** The session began or ended something. */
  | { readonly type: 'session.stirred' }
  /** The model says that it is reached. */
  | { readonly type: 'goal.completed' }
  /** The model says that it cannot be reached. */
  | { readonly type: 'goal.blocked' }
  | { readonly type: 'goal.paused' }
  /** It was cleared, or its session was deleted; so is its row. */
  | { readonly type: 'goal.cleared' }
  | { readonly type: 'service.stopping' }

const input = ({ context: { sessionId } }: { context: GoalContext }): GoalInput => ({ sessionId })
const decided = (as: Decided) =>
  ({ type: 'isDecided', params: ({ event }: { event: { output: Decided } }) => ({ is: event.output, as }) }) as const

export const goalMachine = setup({
  types: { input: {} as GoalInput, context: {} as GoalContext, events: {} as GoalEvent },
  actors: {
    /** Resolves once nothing of the session runs, waits or is worked on. */
    follow: requiredPromise<void, GoalInput>('follow'),
    /** Begins the next run, or records why there is none. */
    decide: requiredPromise<Decided, GoalInput>('decide'),
  },
  guards: {
    isStirred: ({ context }) => context.isStirred,
    isDecided: (_, { is, as }: { is: Decided; as: Decided }) => is === as,
  },
  actions: { noteStir: assign({ isStirred: true }), clearStir: assign({ isStirred: false }) },
  delays: { retry: delayOf(LIMITS.goals.retry) },
}).createMachine({
  id: 'goal',
  context: ({ input: { sessionId } }) => ({ sessionId, isStirred: false }),
  initial: 'following',
  on: {
    'goal.completed': { target: '.complete' },
    'goal.blocked': { target: '.blocked' },
    'goal.paused': { target: '.paused' },
    'goal.cleared': { target: '.cleared' },
    'service.stopping': { target: '.parked' },
  },
  states: {
    following: {
      invoke: { id: 'follow', src: 'follow', input, onDone: { target: 'deciding' }, onError: { target: 'waiting' } },
    },
    deciding: {
      entry: 'clearStir',
      invoke: {
        id: 'decide',
        src: 'decide',
        input,
        onDone: [
          { guard: decided('continued'), target: 'following' },
          { guard: decided('rested'), target: 'resting' },
          { guard: decided('paused'), target: 'paused' },
          { guard: decided('blocked'), target: 'blocked' },
          { target: 'cleared' },
        ],
        onError: { target: 'waiting' },
      },
      on: { 'session.stirred': { actions: 'noteStir' } },
    },
    /** Until the session does something: a goal begins nothing by itself. */
    resting: {
      always: { guard: 'isStirred', target: 'following' },
      on: { 'session.stirred': { target: 'following' } },
    },
    /** What was decided could not be recorded. */
    waiting: { after: { retry: { target: 'following' } } },
    complete: { type: 'final' },
    blocked: { type: 'final' },
    paused: { type: 'final' },
    cleared: { type: 'final' },
    parked: { type: 'final' },
  },
})
