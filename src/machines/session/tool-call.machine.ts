/**
 * One tool call: judge it, ask when a rule says so, execute it, settle.
 *
 * I1 Nothing is executed before every need was allowed; a call is judged again after each answer, at most
 *    `permissionRounds` times.
 * I2 Effects record their own results; the machine carries only which way the call ended.
 * I3 After `abort.requested` the call settles within `abortDeadline`, whatever the tool does.
 */
import { assign, type ErrorActorEvent, sendTo, setup } from 'xstate'
import { LIMITS } from '../../protocol/limits.js'
import { requiredCallback, requiredPromise } from '../required.js'

export interface ToolCallInput {
  readonly runId: string
  readonly callId: string
}

export type Verdict = 'allow' | 'deny' | 'ask'
export type CallEnd = 'completed' | 'failed' | 'denied' | 'aborted'

export interface ToolCallOutput {
  readonly callId: string
  readonly end: CallEnd
}

type ToolCallEvent = { readonly type: 'abort.requested' } | { readonly type: 'execution.settled'; readonly end: CallEnd } | ErrorActorEvent

/** Too many answers were needed, or an effect failed with an error. */
export type Refusal = { readonly reason: 'rounds' } | { readonly reason: 'fault'; readonly error: unknown }

export const toolCallMachine = setup({
  types: {
    input: {} as ToolCallInput,
    output: {} as ToolCallOutput,
    context: {} as { readonly runId: string; readonly callId: string; readonly rounds: number; readonly end: CallEnd },
    events: {} as ToolCallEvent,
  },
  actors: {
    /** Judges what the call needs; a verdict of `deny` has been recorded on the part. Rejects when it cannot be judged. */
    judge: requiredPromise<Verdict, ToolCallInput>('judge'),
    /** Asks the user; false = rejected, and recorded on the part. */
    ask: requiredPromise<boolean, ToolCallInput>('ask'),
    /** Runs the tool; reports `execution.settled` once its result is recorded. */
    execute: requiredCallback<ToolCallInput, { type: 'abort' }>('execute'),
    /** Records a call that ended before or outside its execution. */
    refuse: requiredPromise<void, ToolCallInput & Refusal>('refuse'),
  },
  guards: {
    isAllowed: (_, verdict: Verdict) => verdict === 'allow',
    isDenied: (_, verdict: Verdict) => verdict === 'deny',
    isGranted: (_, granted: boolean) => granted,
    hasRoundsLeft: ({ context }) => context.rounds < LIMITS.run.permissionRounds,
  },
  actions: {
    countRound: assign({ rounds: ({ context }) => context.rounds + 1 }),
    endAs: assign({ end: (_, end: CallEnd) => end }),
    abortExecution: sendTo('execute', { type: 'abort' }),
  },
  delays: { abortDeadline: LIMITS.run.abort },
}).createMachine({
  id: 'tool-call',
  context: ({ input }) => ({ runId: input.runId, callId: input.callId, rounds: 0, end: 'failed' }),
  initial: 'judging',
  output: ({ context }) => ({ callId: context.callId, end: context.end }),
  states: {
    judging: {
      invoke: {
        id: 'judge',
        src: 'judge',
        input: ({ context }) => ({ runId: context.runId, callId: context.callId }),
        onDone: [
          { guard: { type: 'isAllowed', params: ({ event }) => event.output }, target: 'executing' },
          {
            guard: { type: 'isDenied', params: ({ event }) => event.output },
            target: 'settled',
            actions: { type: 'endAs', params: 'denied' },
          },
          { guard: 'hasRoundsLeft', target: 'asking', actions: 'countRound' },
          { target: 'refusing' },
        ],
        onError: { target: 'faulting' },
      },
      on: { 'abort.requested': { target: 'settled', actions: { type: 'endAs', params: 'aborted' } } },
    },
    asking: {
      tags: ['asking'],
      invoke: {
        id: 'ask',
        src: 'ask',
        input: ({ context }) => ({ runId: context.runId, callId: context.callId }),
        onDone: [
          { guard: { type: 'isGranted', params: ({ event }) => event.output }, target: 'judging' },
          { target: 'settled', actions: { type: 'endAs', params: 'denied' } },
        ],
        onError: { target: 'faulting' },
      },
      on: { 'abort.requested': { target: 'settled', actions: { type: 'endAs', params: 'aborted' } } },
    },
    executing: {
      tags: ['executing'],
      initial: 'working',
      invoke: {
        id: 'execute',
        src: 'execute',
        input: ({ context }) => ({ runId: context.runId, callId: context.callId }),
        onError: { target: 'faulting' },
      },
      on: {
        'execution.settled': { target: 'settled', actions: { type: 'endAs', params: ({ event }) => event.end } },
      },
      states: {
        working: { on: { 'abort.requested': { target: 'aborting', actions: 'abortExecution' } } },
        aborting: {
          after: { abortDeadline: { target: '#tool-call.settled', actions: { type: 'endAs', params: 'aborted' } } },
        },
      },
    },
    refusing: {
      invoke: {
        id: 'refuse-rounds',
        src: 'refuse',
        input: ({ context }) => ({ runId: context.runId, callId: context.callId, reason: 'rounds' as const }),
        onDone: { target: 'settled', actions: { type: 'endAs', params: 'denied' } },
        onError: { target: 'settled' },
      },
    },
    faulting: {
      invoke: {
        id: 'refuse-fault',
        src: 'refuse',
        input: ({ context, event }) => ({
          runId: context.runId,
          callId: context.callId,
          reason: 'fault' as const,
          error: 'error' in event ? event.error : undefined,
        }),
        onDone: { target: 'settled' },
        onError: { target: 'settled' },
      },
    },
    settled: { type: 'final' },
  },
})
