/**
 * One compaction of a conversation: its messages are opened, a model writes the summary, the end is recorded.
 *
 * I1 Tokens never enter this machine: it hears that the model still writes, at most once a second, and how it ended.
 * I2 Until `record` has committed nothing counts as compacted; every other end leaves the conversation as it was.
 * I3 What was opened is recorded, however it ends. An end that could not be recorded is `unrecorded`: whoever started it records it later.
 * I4 A summary that fails as something that may pass is asked for again, as often and as late as a step of a run; a silent model is not.
 */
import { assign, setup } from 'xstate'
import { type Failure, toFailure } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import { requiredCallback, requiredPromise } from '../required.js'
import { mayRetry, retryDelay, type StepFailure, type StepRetry } from './retry.js'

/** `overflow`: the model refused a request as too large. */
export type CompactionReason = 'auto' | 'overflow' | 'manual'

export interface CompactionInput {
  readonly runId: string
  readonly reason: CompactionReason
  /** Of the request that it is for; absent = for none. */
  readonly tokens?: number
  /** It was aborted before it began. */
  readonly aborted?: boolean
  /** When a summary that failed is asked for again. */
  readonly policy?: StepRetry
}

export interface CompactionOutput {
  /** `nothing`: there was nothing to compact, so nothing was opened. */
  readonly end: 'compacted' | 'nothing' | 'failed' | 'aborted' | 'unrecorded'
  /** What is to be recorded of an end that is not yet; absent = it was aborted. */
  readonly failure?: Failure
}

interface CompactionContext {
  readonly runId: string
  readonly reason: CompactionReason
  readonly tokens: number | undefined
  readonly policy: StepRetry
  /** Failed attempts. */
  readonly attempt: number
  readonly failure: StepFailure | undefined
  readonly end: CompactionOutput['end']
}

type CompactionEvent =
  | { readonly type: 'abort.requested' }
  /** The model has written something. */
  | { readonly type: 'summary.heard' }
  | { readonly type: 'summary.finished' }
  | { readonly type: 'summary.failed'; readonly failure: StepFailure }

const SILENT: Failure = { code: 'provider.failed', message: 'The model wrote no summary.', retryable: true }
const STALLED: Failure = { code: 'provider.failed', message: 'The model fell silent in the middle of the summary.', retryable: true }

export const compactionMachine = setup({
  types: {
    input: {} as CompactionInput,
    output: {} as CompactionOutput,
    context: {} as CompactionContext,
    events: {} as CompactionEvent,
  },
  actors: {
    /** Chooses what is summarised and stores the open messages; false = there is nothing to compact, and nothing is open. Stores nothing once it is left. */
    open: requiredPromise<boolean, { runId: string; reason: CompactionReason; tokens: number | undefined }>('open'),
    /** Streams the summary; reports `summary.heard`, then `summary.finished` or `summary.failed`. */
    summarise: requiredCallback<{ runId: string; attempt: number }>('summarise'),
    /** Stores what was written as the summary; false = it is too little to be one, and nothing was stored. */
    record: requiredPromise<boolean, { runId: string; failure: Failure | undefined }>('record'),
    /** Records that it failed, or was aborted when there is no failure. */
    recordEnd: requiredPromise<void, { runId: string; failure: Failure | undefined }>('recordEnd'),
  },
  guards: {
    wasAborted: ({ context }) => context.end === 'aborted',
    isTrue: (_, answer: boolean) => answer,
    mayRetry: ({ context }, failure: StepFailure) => mayRetry(context.policy, failure, context.attempt, 0),
  },
  actions: {
    endAs: assign({ end: (_, end: CompactionOutput['end']) => end }),
    noteFailure: assign({ failure: (_, failure: StepFailure) => failure }),
    countAttempt: assign({ attempt: ({ context }) => context.attempt + 1, failure: undefined }),
    noteFault: assign({ failure: (_, { error }: { error: unknown }) => toFailure(error) }),
  },
  delays: {
    stall: LIMITS.compaction.stall,
    retry: ({ context: { policy, failure, attempt } }) => (failure === undefined ? 0 : retryDelay(policy, failure, attempt)),
  },
}).createMachine({
  id: 'compaction',
  context: ({ input }) => ({
    runId: input.runId,
    reason: input.reason,
    tokens: input.tokens,
    policy: input.policy ?? LIMITS.run.retry,
    attempt: 0,
    failure: undefined,
    end: input.aborted === true ? 'aborted' : 'failed',
  }),
  initial: 'starting',
  output: ({ context: { end, failure } }) => ({ end, ...(end === 'unrecorded' && failure !== undefined && { failure }) }),
  states: {
    starting: { always: [{ guard: 'wasAborted', target: 'ending' }, { target: 'opening' }] },
    opening: {
      invoke: {
        id: 'open',
        src: 'open',
        input: ({ context: { runId, reason, tokens } }) => ({ runId, reason, tokens }),
        onDone: [
          {
            guard: { type: 'isTrue', params: ({ event }) => !event.output },
            target: 'unchanged',
            actions: { type: 'endAs', params: 'nothing' },
          },
          { target: 'summarising' },
        ],
        onError: { target: 'ending', actions: { type: 'noteFault', params: ({ event }) => ({ error: event.error }) } },
      },
      on: { 'abort.requested': { target: 'ending', actions: { type: 'endAs', params: 'aborted' } } },
    },
    summarising: {
      invoke: {
        id: 'summarise',
        src: 'summarise',
        input: ({ context: { runId, attempt } }) => ({ runId, attempt }),
        onError: { target: 'ending', actions: { type: 'noteFault', params: ({ event }) => ({ error: event.error }) } },
      },
      initial: 'listening',
      states: {
        listening: {
          after: { stall: { target: '#compaction.recording', actions: { type: 'noteFailure', params: STALLED } } },
          on: { 'summary.heard': { target: 'listening', reenter: true } },
        },
      },
      on: {
        'summary.finished': { target: 'recording' },
        'summary.failed': [
          {
            guard: { type: 'mayRetry', params: ({ event }) => event.failure },
            target: 'waiting',
            actions: { type: 'noteFailure', params: ({ event }) => event.failure },
          },
          { target: 'recording', actions: { type: 'noteFailure', params: ({ event }) => event.failure } },
        ],
        'abort.requested': { target: 'ending', actions: { type: 'endAs', params: 'aborted' } },
      },
    },
    waiting: {
      after: { retry: { target: 'summarising', actions: 'countAttempt' } },
      on: { 'abort.requested': { target: 'ending', actions: { type: 'endAs', params: 'aborted' } } },
    },
    recording: {
      invoke: {
        id: 'record',
        src: 'record',
        input: ({ context: { runId, failure } }) => ({ runId, failure }),
        onDone: [{ guard: { type: 'isTrue', params: ({ event }) => event.output }, target: 'compacted' }, { target: 'ending' }],
        onError: { target: 'ending', actions: { type: 'noteFault', params: ({ event }) => ({ error: event.error }) } },
      },
    },
    ending: {
      invoke: {
        id: 'recordEnd',
        src: 'recordEnd',
        input: ({ context: { runId, end, failure } }) => ({ runId, failure: end === 'aborted' ? undefined : (failure ?? SILENT) }),
        onDone: { target: 'unchanged' },
        onError: { target: 'unchanged', actions: { type: 'endAs', params: 'unrecorded' } },
      },
    },
    compacted: { type: 'final', entry: { type: 'endAs', params: 'compacted' } },
    unchanged: { type: 'final' },
  },
})
