/**
 * One run: prepare a request, generate, let tool calls settle, close the step, repeat; between steps the conversation may be compacted.
 *
 * I1 Tokens never enter this machine: it hears of a step only that a call was made, that the stream finished
 *    or that it failed.
 * I2 A failed step is repeated only while none of its calls was started.
 * I3 After `abort.requested` or a failure the calls under way are aborted and waited for: the run ends when all have settled, at the
 *    latest after `abortDeadline`, plus one commit.
 * I4 A conversation is compacted at most once before a step and once after it; a compaction that fails leaves the run as it was.
 * I5 A request that was too large is made anew once, after a compaction that succeeded.
 * I6 A run whose end could not be recorded ends as `unrecorded`; whoever started it records the end later.
 */
import { assign, type DoneActorEvent, type ErrorActorEvent, enqueueActions, sendTo, setup } from 'xstate'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import { type CompactionOutput, type CompactionReason, compactionMachine } from './compaction.machine.js'
import { requiredCallback, requiredPromise } from '../required.js'
import { failedAttempt, type FailedAttempt, mayRetry, retryDelay, type StepFailure, type StepRetry } from './retry.js'
import { type Due, isDue, type Prepared, type StepEnd, type StepPlan } from './step-plan.js'
import { type ToolCallOutput, toolCallMachine } from './tool-call.machine.js'

export interface RunInput {
  readonly sessionId: string
  readonly runId: string
  readonly policy?: StepRetry
  /** The run was aborted before it began. */
  readonly aborted?: boolean
}

export interface RunOutput {
  readonly end: 'finished' | 'failed' | 'aborted' | 'unrecorded'
  /** What is to be recorded of an end that is not yet; absent = it was aborted. */
  readonly failure?: StepFailure
}

interface RunContext {
  readonly sessionId: string
  readonly runId: string
  readonly policy: StepRetry
  /** Number of the step under way, from 1. */
  readonly step: number
  /** Failed attempts of this step. */
  readonly attempt: number
  readonly waiting: readonly string[]
  readonly active: readonly string[]
  readonly callsStarted: number
  /** The step before was cut: the model is asked to continue. */
  readonly wasCut: boolean
  /** Steps in a row that were followed up without a tool call or a steering prompt. */
  readonly continued: number
  /** The latest steering prompt that joined. */
  readonly answers: string | undefined
  /** Tokens of the latest request, or of the one that is to be made. */
  readonly tokens: number
  readonly failure: StepFailure | undefined
  /** Requests of this step that were too large. */
  readonly overflows: number
  /** Why the conversation was compacted before what is under way, and what that is; there it is not compacted again. */
  readonly compaction: { readonly reason: CompactionReason; readonly next: 'preparing' | 'closing' } | undefined
  /** Automatic compactions of this run that failed. */
  readonly compactionFaults: number
  /** How the run ends, once it does. */
  readonly end: RunOutput['end']
}

type RunEvent =
  | { readonly type: 'abort.requested' }
  | { readonly type: 'tool.called'; readonly callId: string }
  | { readonly type: 'generation.finished' }
  | { readonly type: 'generation.failed'; readonly failure: StepFailure }
  | DoneActorEvent<ToolCallOutput>
  | ErrorActorEvent

const CALL = 'call:'
/** As which a request fails that was larger than the model's window. */
export const OVERFLOW = 'context.overflow'

const FAULT: StepFailure = { code: 'server.internal', message: 'The step could not be carried out.', retryable: false }

function mayCompact({ compaction, compactionFaults }: RunContext): boolean {
  return compaction === undefined && compactionFaults < LIMITS.compaction.faults
}

function faultOf(error: unknown): StepFailure {
  return error instanceof SvcError ? { code: error.code, message: error.message, retryable: false } : FAULT
}

export const runMachine = setup({
  types: { input: {} as RunInput, output: {} as RunOutput, context: {} as RunContext, events: {} as RunEvent },
  actors: {
    /** Builds what the model is sent and opens the assistant message. */
    prepare: requiredPromise<Prepared, StepPlan & { runId: string }>('prepare'),
    /** Streams one step; reports `tool.called`, then `generation.finished` or `generation.failed`. */
    generate: requiredCallback<{ runId: string; attempt: number }>('generate'),
    toolCall: toolCallMachine,
    compaction: compactionMachine,
    /**
     * Closes the step unless it is closed. Unless the conversation is due to be compacted, drains steering prompts, and records the run
     * as finished when no step follows.
     */
    closeStep: requiredPromise<StepEnd | Due, { runId: string; step: number; continued: number; mayCompact: boolean }>('closeStep'),
    /** Tells that the model has ended its answer, while its calls go on. */
    endStreaming: requiredPromise<void, { runId: string }>('endStreaming'),
    /** Publishes the `retry` status. */
    announceRetry: requiredPromise<void, { runId: string } & FailedAttempt>('announceRetry'),
    /** Records the step and the run as failed, or as aborted when there is no failure; every open part ends. */
    recordEnd: requiredPromise<void, { runId: string; answers: string | undefined; failure: StepFailure | undefined }>('recordEnd'),
  },
  guards: {
    wasAborted: ({ context }) => context.end === 'aborted',
    mayRetry: ({ context }, failure: StepFailure) => mayRetry(context.policy, failure, context.attempt, context.callsStarted),
    isDue: (_, isDue: boolean) => isDue,
    followUp: (_, end: StepEnd | Due) => !isDue(end) && end.follows,
    mayRecover: ({ context }, failure: StepFailure) => failure.code === OVERFLOW && context.overflows === 0 && context.callsStarted === 0,
    /** It was aborted, its end is not recorded, or what was too large is as large as it was. */
    mayNotGoOn: ({ context }, { end }: CompactionOutput) =>
      context.end === 'aborted' || end === 'unrecorded' || (context.compaction?.reason === 'overflow' && end !== 'compacted'),
    wasPreparing: ({ context }) => context.compaction?.next === 'preparing',
    hasRoom: ({ context }) => context.active.length < LIMITS.run.concurrentTools,
    callsSettled: ({ context }) => context.active.length === 0 && context.waiting.length === 0,
    isCall: (_, actorId: string) => actorId.startsWith(CALL),
  },
  actions: {
    beginStep: assign(({ context }) => ({
      step: context.step + 1,
      attempt: 0,
      callsStarted: 0,
      overflows: 0,
      compaction: undefined,
      failure: undefined,
    })),
    noteStep: assign(({ context }, end: StepEnd | Due) =>
      isDue(end)
        ? {}
        : { wasCut: end.wasCut, continued: end.isContinuation ? context.continued + 1 : 0, answers: end.answers ?? context.answers },
    ),
    noteTokens: assign(({ context }, step: StepEnd | Due) => (isDue(step) ? { tokens: step.tokens } : { tokens: context.tokens })),
    noteFailure: assign({ failure: (_, failure: StepFailure) => failure }),
    clearCompaction: assign({ compaction: undefined, failure: undefined }),
    noteCompaction: assign({ compaction: (_, compaction: RunContext['compaction']) => compaction }),
    countOverflow: assign({ overflows: ({ context }) => context.overflows + 1, attempt: 0 }),
    countCompaction: assign({
      compactionFaults: ({ context }, { end }: CompactionOutput) => context.compactionFaults + (end === 'failed' ? 1 : 0),
    }),
    abortCompaction: sendTo('compaction', { type: 'abort.requested' }),
    countAttempt: assign({ attempt: ({ context }) => context.attempt + 1 }),
    noteFault: assign(({ context }, { error }: { error: unknown }) => ({
      failure: context.failure ?? faultOf(error),
      end: 'failed' as const,
    })),
    startCall: enqueueActions(({ context, enqueue }, callId: string) => {
      enqueue.spawnChild('toolCall', { id: `${CALL}${callId}`, input: { runId: context.runId, callId } })
      enqueue.assign({ active: [...context.active, callId], callsStarted: context.callsStarted + 1 })
    }),
    queueCall: assign({ waiting: ({ context }, callId: string) => [...context.waiting, callId] }),
    endCall: enqueueActions(({ context, enqueue }, actorId: string) => {
      const callId = actorId.slice(CALL.length)
      if (!context.active.includes(callId)) return
      enqueue.stopChild(actorId)
      const active = context.active.filter((id) => id !== callId)
      const [next, ...waiting] = context.waiting
      if (next === undefined) {
        enqueue.assign({ active })
        return
      }
      enqueue.spawnChild('toolCall', { id: `${CALL}${next}`, input: { runId: context.runId, callId: next } })
      enqueue.assign({ active: [...active, next], waiting, callsStarted: context.callsStarted + 1 })
    }),
    abortCalls: enqueueActions(({ context, enqueue }) => {
      enqueue.assign({ waiting: [] })
      for (const callId of context.active) enqueue(sendTo(`${CALL}${callId}`, { type: 'abort.requested' }))
    }),
    noteUnrecorded: assign(({ context: { end, failure } }) => ({
      end: 'unrecorded' as const,
      failure: end === 'aborted' ? undefined : (failure ?? FAULT),
    })),
    endAs: assign({ end: (_, end: RunOutput['end']) => end }),
  },
  delays: {
    retryDelay: ({ context }) => retryDelay(context.policy, context.failure ?? FAULT, context.attempt - 1),
    abortDeadline: LIMITS.run.abort,
    settlesSoon: LIMITS.run.settlesSoon,
  },
}).createMachine({
  id: 'run',
  context: ({ input }) => ({
    sessionId: input.sessionId,
    runId: input.runId,
    policy: input.policy ?? LIMITS.run.retry,
    step: 0,
    attempt: 0,
    waiting: [],
    active: [],
    callsStarted: 0,
    wasCut: false,
    continued: 0,
    answers: undefined,
    tokens: 0,
    failure: undefined,
    overflows: 0,
    compaction: undefined,
    compactionFaults: 0,
    end: input.aborted === true ? 'aborted' : 'failed',
  }),
  initial: 'working',
  output: ({ context: { end, failure } }) => ({ end, ...(end === 'unrecorded' && failure !== undefined && { failure }) }),
  on: {
    'xstate.done.actor.*': {
      guard: { type: 'isCall', params: ({ event }) => event.actorId },
      actions: { type: 'endCall', params: ({ event }) => event.actorId },
    },
    'xstate.error.actor.*': {
      guard: { type: 'isCall', params: ({ event }) => event.actorId },
      actions: { type: 'endCall', params: ({ event }) => event.actorId },
    },
  },
  states: {
    working: {
      initial: 'starting',
      on: { 'abort.requested': { target: 'ending', actions: { type: 'endAs', params: 'aborted' } } },
      states: {
        starting: {
          always: [
            { guard: 'wasAborted', target: '#run.ending.recording' },
            { target: 'preparing', actions: 'beginStep' },
          ],
        },
        preparing: {
          invoke: {
            id: 'prepare',
            src: 'prepare',
            input: ({ context }) => ({
              runId: context.runId,
              step: context.step,
              answers: context.answers,
              wasCut: context.wasCut,
              mayCompact: mayCompact(context),
            }),
            onDone: [
              {
                guard: { type: 'isDue', params: ({ event }) => event.output.isDue },
                target: '#run.compacting',
                actions: [
                  { type: 'noteTokens', params: ({ event }) => event.output },
                  { type: 'noteCompaction', params: { reason: 'auto', next: 'preparing' } },
                ],
              },
              { target: 'generating', actions: [{ type: 'noteTokens', params: ({ event }) => event.output }, 'clearCompaction'] },
            ],
            onError: { target: '#run.ending', actions: { type: 'noteFault', params: ({ event }) => ({ error: event.error }) } },
          },
        },
        generating: {
          tags: ['streaming'],
          invoke: {
            id: 'generate',
            src: 'generate',
            input: ({ context }) => ({ runId: context.runId, attempt: context.attempt }),
            onError: { target: '#run.ending', actions: { type: 'noteFault', params: ({ event }) => ({ error: event.error }) } },
          },
          on: {
            'tool.called': [
              { guard: 'hasRoom', actions: { type: 'startCall', params: ({ event }) => event.callId } },
              { actions: { type: 'queueCall', params: ({ event }) => event.callId } },
            ],
            'generation.finished': [{ guard: 'callsSettled', target: '#run.closing' }, { target: 'settling' }],
            'generation.failed': [
              {
                guard: { type: 'mayRecover', params: ({ event }) => event.failure },
                target: '#run.compacting',
                actions: [
                  { type: 'noteFailure', params: ({ event }) => event.failure },
                  { type: 'noteCompaction', params: { reason: 'overflow', next: 'preparing' } },
                  'countOverflow',
                ],
              },
              {
                guard: { type: 'mayRetry', params: ({ event }) => event.failure },
                target: 'backingOff',
                actions: [{ type: 'noteFailure', params: ({ event }) => event.failure }, 'countAttempt'],
              },
              { target: '#run.ending', actions: { type: 'noteFailure', params: ({ event }) => event.failure } },
            ],
          },
        },
        settling: {
          always: { guard: 'callsSettled', target: '#run.closing' },
          initial: 'soon',
          states: {
            soon: { after: { settlesSoon: { target: 'long' } } },
            /** Calls take their time: what the model took is told before they have settled. */
            long: {
              invoke: { id: 'endStreaming', src: 'endStreaming', input: ({ context }) => ({ runId: context.runId }), onError: {} },
            },
          },
        },
        backingOff: {
          tags: ['retrying'],
          invoke: {
            id: 'announceRetry',
            src: 'announceRetry',
            input: ({ context }) => ({
              runId: context.runId,
              ...failedAttempt(context.policy, context.failure ?? FAULT, context.attempt),
            }),
            onError: { target: '#run.ending' },
          },
          after: { retryDelay: { target: 'generating' } },
        },
      },
    },
    /** Afterwards the run goes on where it was. */
    compacting: {
      invoke: {
        id: 'compaction',
        src: 'compaction',
        input: ({ context }) => ({
          runId: context.runId,
          reason: context.compaction?.reason ?? 'auto',
          tokens: context.tokens,
          policy: context.policy,
        }),
        onDone: [
          { guard: { type: 'mayNotGoOn', params: ({ event }) => event.output }, target: 'ending' },
          {
            guard: 'wasPreparing',
            target: 'working.preparing',
            actions: { type: 'countCompaction', params: ({ event }) => event.output },
          },
          { target: 'closing', actions: { type: 'countCompaction', params: ({ event }) => event.output } },
        ],
        onError: { target: 'ending', actions: { type: 'noteFault', params: ({ event }) => ({ error: event.error }) } },
      },
      on: { 'abort.requested': { actions: [{ type: 'endAs', params: 'aborted' }, 'abortCompaction'] } },
    },
    closing: {
      invoke: {
        id: 'closeStep',
        src: 'closeStep',
        input: ({ context }) => ({
          runId: context.runId,
          step: context.step,
          continued: context.continued,
          mayCompact: mayCompact(context),
        }),
        onDone: [
          {
            guard: { type: 'isDue', params: ({ context, event }) => context.end === 'aborted' && isDue(event.output) },
            target: 'ending',
          },
          {
            guard: { type: 'isDue', params: ({ event }) => isDue(event.output) },
            target: 'compacting',
            actions: [
              { type: 'noteTokens', params: ({ event }) => event.output },
              { type: 'noteCompaction', params: { reason: 'auto', next: 'closing' } },
            ],
          },
          {
            guard: { type: 'followUp', params: ({ event }) => event.output },
            target: 'working',
            actions: { type: 'noteStep', params: ({ event }) => event.output },
          },
          { target: 'finished', actions: { type: 'endAs', params: 'finished' } },
        ],
        onError: { target: 'ending', actions: { type: 'noteFault', params: ({ event }) => ({ error: event.error }) } },
      },
      on: { 'abort.requested': { actions: { type: 'endAs', params: 'aborted' } } },
    },
    /** How it ends is decided: its calls are aborted, then the end is recorded. */
    ending: {
      initial: 'aborting',
      states: {
        aborting: {
          entry: 'abortCalls',
          always: { guard: 'callsSettled', target: 'recording' },
          after: { abortDeadline: { target: 'recording' } },
        },
        recording: {
          invoke: {
            id: 'recordEnd',
            src: 'recordEnd',
            input: ({ context }) => ({
              runId: context.runId,
              answers: context.answers,
              failure: context.end === 'aborted' ? undefined : (context.failure ?? FAULT),
            }),
            onDone: [{ guard: 'wasAborted', target: '#run.aborted' }, { target: '#run.failed' }],
            onError: { target: '#run.failed', actions: 'noteUnrecorded' },
          },
        },
      },
    },
    finished: { type: 'final' },
    failed: { type: 'final' },
    aborted: { type: 'final' },
  },
})
