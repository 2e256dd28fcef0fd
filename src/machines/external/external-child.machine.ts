/**
 * The session in which a subagent of an external agent is shown, for as long as the turn that it is part of (subsystems l.4).
 *
 * I1 It is answered by one run, which is fed by the turn; it begins when the run takes what was told meanwhile.
 * I2 However it is over - the agent says so, the turn ends, somebody stops it - it ends with its run, and takes nothing afterwards.
 * I3 What was over before its run began is still shown: the run begins, and ends at once.
 * I4 What is told never enters this machine.
 */
import { assign, type ErrorActorEvent, setup } from 'xstate'
import { requiredPromise } from '../required.js'

export interface ChildInput {
  readonly title: string
}

export interface ChildOutput {
  readonly end: 'completed' | 'failed' | 'stopped'
  /** Why it failed, as a sentence. */
  readonly failure: string | undefined
}

interface ChildContext extends ChildInput {
  readonly end: ChildOutput['end'] | undefined
  readonly failure: string | undefined
}

type ChildEvent =
  /** Its run has begun, and has been given what was told so far. */
  | { readonly type: 'run.began' }
  | { readonly type: 'run.aborted' }
  /** As the agent says, or because the turn is over. */
  | { readonly type: 'child.over'; readonly end: ChildOutput['end']; readonly failure?: string | undefined }
  | ErrorActorEvent

const title = ({ context }: { context: ChildContext }): ChildInput => ({ title: context.title })

export const externalChildMachine = setup({
  types: { input: {} as ChildInput, context: {} as ChildContext, output: {} as ChildOutput, events: {} as ChildEvent },
  actors: {
    /** Makes its session, and admits the prompt of its run. */
    open: requiredPromise<void, ChildInput>('open'),
    /** Resolves when nothing runs in its session any more. */
    settled: requiredPromise<void, ChildInput>('settled'),
    /** Stops its run. */
    stop: requiredPromise<void, ChildInput>('stop'),
  },
  actions: {
    noteFailure: assign({
      end: 'failed' as const,
      failure: (_, { error }: { error: unknown }) => (error instanceof Error ? error.message : String(error)),
    }),
    noteOver: assign({
      end: (_, { end }: { end: ChildOutput['end']; failure: string | undefined }) => end,
      failure: (_, { failure }) => failure,
    }),
    noteStopped: assign({ end: 'stopped' as const }),
  },
  guards: {
    isOver: ({ context: { end } }) => end !== undefined,
    isStopped: ({ context: { end } }) => end === 'stopped',
    stops: (_, end: ChildOutput['end']) => end === 'stopped',
  },
}).createMachine({
  id: 'external-child',
  context: ({ input }) => ({ ...input, end: undefined, failure: undefined }),
  output: ({ context: { end = 'completed', failure } }) => ({ end, failure }),
  initial: 'opening',
  states: {
    opening: {
      tags: ['opening'],
      on: {
        'run.began': [{ guard: 'isStopped', target: 'stopping' }, { guard: 'isOver', target: 'ended' }, { target: 'playing' }],
        'child.over': { actions: { type: 'noteOver', params: ({ event: { end, failure } }) => ({ end, failure }) } },
      },
      invoke: {
        id: 'open',
        src: 'open',
        input: title,
        onDone: [{ guard: 'isStopped', target: 'stopping' }, { target: 'waiting' }],
        onError: { target: 'ended', actions: { type: 'noteFailure', params: ({ event }) => event } },
      },
    },
    /** For its run, which may be over before it takes anything. */
    waiting: {
      invoke: {
        id: 'settled',
        src: 'settled',
        input: title,
        onDone: { target: 'ended', actions: 'noteStopped' },
        onError: { target: 'ended', actions: 'noteStopped' },
      },
      on: {
        'run.began': [{ guard: 'isOver', target: 'ended' }, { target: 'playing' }],
        'child.over': [
          { guard: { type: 'stops', params: ({ event }) => event.end }, target: 'stopping', actions: 'noteStopped' },
          { actions: { type: 'noteOver', params: ({ event: { end, failure } }) => ({ end, failure }) } },
        ],
      },
    },
    playing: {
      tags: ['playing'],
      on: {
        'run.aborted': { target: 'ended', actions: 'noteStopped' },
        'child.over': [
          { guard: { type: 'stops', params: ({ event }) => event.end }, target: 'stopping', actions: 'noteStopped' },
          { target: 'ended', actions: { type: 'noteOver', params: ({ event: { end, failure } }) => ({ end, failure }) } },
        ],
      },
    },
    stopping: { invoke: { id: 'stop', src: 'stop', input: title, onDone: 'ended', onError: 'ended' }, on: { 'run.aborted': 'ended' } },
    ended: { type: 'final' },
  },
})
