/**
 * One turn of an external agent: it is started, its session is opened, what was chosen of it is chosen again, it is prompted, and it is ended
 * (subsystems l.4).
 *
 * I1 However it goes, the agent does nothing more once the turn is over, and is ended before the machine is. One that has answered is held
 *    where it is, and ended when that was told: nobody waits for it.
 * I2 Until it is prompted an agent has `limit`; prompted, it has as long as it takes.
 * I3 What an agent repeats of an opened session is no part of the turn: it is prompted once it is quiet, or has had `drain` to be. One that
 *    repeats nothing is prompted at once.
 * I4 A prompt that is cancelled is waited for, so long as `cancel`. What an agent says just after its answer still counts.
 * I5 Tokens never enter this machine.
 */
import { assign, type ErrorActorEvent, setup } from 'xstate'
import { LIMITS } from '../../protocol/limits.js'
import { requiredPromise } from '../required.js'

export interface TurnInput {
  readonly sessionId: string
}

export interface TurnOutput {
  readonly end: 'finished' | 'failed' | 'aborted'
  /** Why it failed, as a sentence. */
  readonly failure: string | undefined
}

interface TurnContext extends TurnInput, TurnOutput {}

type TurnEvent =
  /** The agent has told something before it was prompted. */
  | { readonly type: 'agent.told' }
  | { readonly type: 'agent.ended'; readonly how: string }
  | { readonly type: 'abort.requested' }
  | ErrorActorEvent

const { setup: LIMIT, quiet, drain, cancel } = LIMITS.external
const ref = ({ context: { sessionId } }: { context: TurnContext }): TurnInput => ({ sessionId })
const toEnding = '#external-turn.ending'

export const externalTurnMachine = setup({
  types: { input: {} as TurnInput, context: {} as TurnContext, output: {} as TurnOutput, events: {} as TurnEvent },
  actors: {
    /** Starts the agent, and agrees on the protocol. */
    begin: requiredPromise<void, TurnInput>('begin'),
    /** Opens the session it had, else a new one, which is noted; whether it may repeat what was said in it. */
    load: requiredPromise<boolean, TurnInput>('load'),
    /** Chooses what was chosen, one after the other. */
    choose: requiredPromise<void, TurnInput>('choose'),
    /** Prompts it; resolves with its answer. */
    prompt: requiredPromise<void, TurnInput>('prompt'),
    /** Resolves when it was told that the turn is over. */
    told: requiredPromise<void, TurnInput>('told'),
    /** Ends the agent and all that it has started. */
    end: requiredPromise<void, TurnInput>('end'),
  },
  actions: {
    noteFailure: assign({
      end: 'failed' as const,
      failure: (_, { error }: { error: unknown }) => (error instanceof Error ? error.message : String(error)),
    }),
    noteSentence: assign({ end: 'failed' as const, failure: (_, sentence: string) => sentence }),
    noteAbort: assign({ end: 'aborted' as const }),
    noteFinished: assign({ end: 'finished' as const }),
    /** Tells the agent to end its prompt. */
    cancel: () => {
      throw new Error('effect "cancel" is not provided')
    },
    /** Lets the agent do nothing more. */
    hold: () => {
      throw new Error('effect "hold" is not provided')
    },
  },
  guards: {
    mayRepeat: (_, repeats: boolean) => repeats,
    wasAborted: ({ context: { end } }) => end === 'aborted',
  },
  delays: { limit: LIMIT, quiet, drain, cancel },
}).createMachine({
  id: 'external-turn',
  context: ({ input }) => ({ ...input, end: 'failed', failure: undefined }),
  output: ({ context: { end, failure } }) => ({ end, failure }),
  initial: 'opening',
  states: {
    opening: {
      tags: ['opening'],
      initial: 'starting',
      after: {
        limit: {
          target: 'ending',
          actions: { type: 'noteSentence', params: `it was not ready for the prompt within ${LIMIT / 1000} s` },
        },
      },
      on: {
        'agent.ended': { target: 'ending', actions: { type: 'noteSentence', params: ({ event }) => event.how } },
        'abort.requested': { target: 'ending', actions: 'noteAbort' },
      },
      states: {
        starting: {
          invoke: {
            id: 'begin',
            src: 'begin',
            input: ref,
            onDone: 'loading',
            onError: { target: toEnding, actions: { type: 'noteFailure', params: ({ event }) => event } },
          },
        },
        loading: {
          invoke: {
            id: 'load',
            src: 'load',
            input: ref,
            onDone: [{ guard: { type: 'mayRepeat', params: ({ event }) => event.output }, target: 'draining' }, { target: 'choosing' }],
            onError: { target: toEnding, actions: { type: 'noteFailure', params: ({ event }) => event } },
          },
        },
        draining: {
          initial: 'listening',
          after: { drain: { target: 'choosing' } },
          states: {
            listening: {
              on: { 'agent.told': { target: 'listening', reenter: true } },
              after: { quiet: { target: '#external-turn.opening.choosing' } },
            },
          },
        },
        choosing: {
          invoke: {
            id: 'choose',
            src: 'choose',
            input: ref,
            onDone: '#external-turn.prompting',
            onError: { target: toEnding, actions: { type: 'noteFailure', params: ({ event }) => event } },
          },
        },
      },
    },
    prompting: {
      initial: 'working',
      invoke: {
        id: 'prompt',
        src: 'prompt',
        input: ref,
        onDone: [
          { guard: 'wasAborted', target: 'ending' },
          { target: 'settling', actions: 'noteFinished' },
        ],
        onError: [
          { guard: 'wasAborted', target: 'ending' },
          { target: 'ending', actions: { type: 'noteFailure', params: ({ event }) => event } },
        ],
      },
      states: {
        working: {
          on: {
            'agent.ended': { target: toEnding, actions: { type: 'noteSentence', params: ({ event }) => event.how } },
            'abort.requested': { target: 'cancelling', actions: 'noteAbort' },
          },
        },
        cancelling: {
          entry: 'cancel',
          on: { 'agent.ended': { target: toEnding } },
          after: { cancel: { target: toEnding } },
        },
      },
    },
    /** It has answered. */
    settling: {
      on: { 'agent.ended': { target: 'ending' }, 'abort.requested': { target: 'ending' } },
      after: { quiet: { target: 'held' } },
    },
    held: {
      tags: ['over'],
      entry: 'hold',
      invoke: { id: 'told', src: 'told', input: ref, onDone: 'leaving', onError: 'leaving' },
    },
    leaving: { tags: ['over'], invoke: { id: 'leave', src: 'end', input: ref, onDone: 'ended', onError: 'ended' } },
    ending: { invoke: { id: 'end', src: 'end', input: ref, onDone: 'ended', onError: 'ended' } },
    ended: { type: 'final' },
  },
})
