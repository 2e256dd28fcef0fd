/**
 * One run of a workflow: from a claimed occurrence to a session that has settled; before that, for a repeated run, the wait for
 * its attempt (subsystems a.10, a.11).
 *
 * I1 A run is executed once, by the process that claimed it; what an earlier process left unfinished is only brought to its end.
 * I2 Whatever happens, it ends with a status. Where that cannot be written it is tried again, until the service stops: then it is `unrecorded`,
 *    and the next start ends it.
 * I3 No attempt begins once the service begins to stop: a run that waits for one is `parked`, and its row waits on.
 * I4 What has completed has completed, though it was to be cut.
 *
 * It has no report (`report.ts`): no session waits to hear of it, its end stands in its row and in an event. And what was cut is not tried again
 * (I2), because the end of the service, or its start, waits for it.
 */
import { assign, setup } from 'xstate'
import { toFailure } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import { delayOf } from '../../protocol/retry.js'
import { requiredCallback, requiredPromise } from '../required.js'

export interface WorkflowRunInput {
  readonly runId: string
  /** As its row is: claimed just now, waiting for its attempt, or left unfinished by an earlier process. */
  readonly from: 'claimed' | 'waiting' | 'left'
  readonly isStopping: boolean
}

/** Why it is ended before its time. */
export type Cut = 'left' | 'stopping' | 'switched-off' | 'replaced'

/** What became of its session. */
export type RunOutcome = { readonly ok: true } | { readonly ok: false; readonly error: string }

export interface RunEnd {
  readonly status: 'completed' | 'failed' | 'interrupted' | 'replaced'
  readonly error: string | undefined
}

interface WorkflowRunContext {
  readonly runId: string
  readonly from: WorkflowRunInput['from']
  readonly cut: Cut | undefined
  readonly end: RunEnd | undefined
}

export type WorkflowRunEvent =
  /** The service begins to stop; what runs may still complete. */
  | { readonly type: 'service.stopping' }
  | { readonly type: 'stop.requested' }
  /** Its row says already that a newer run took its place. */
  | { readonly type: 'replaced' }
  /** Of `reclaim`, in the turn of its commit: the attempt is claimed, not possible yet, or given up and recorded as failed. */
  | { readonly type: 'attempt.claimed' }
  | { readonly type: 'attempt.postponed' }
  | { readonly type: 'attempt.refused' }

/** For effects. */
export interface RunRef {
  readonly runId: string
}

const RESTARTED = 'The server was stopped before the run had ended.'
const INTERRUPTED: Readonly<Record<Cut, string | undefined>> = {
  left: RESTARTED,
  stopping: RESTARTED,
  'switched-off': 'Scheduled workflows were switched off before the run had ended.',
  replaced: undefined,
}

const ref = ({ context: { runId } }: { context: WorkflowRunContext }): RunRef => ({ runId })
const outcome = { params: ({ event }: { event: { output: RunOutcome } }) => event.output } as const
const fault = { params: ({ event }: { event: { error: unknown } }) => toFailure(event.error).message } as const
const failed = [
  { guard: 'isCut', target: '#workflow-run.ending', actions: 'endCut' },
  { target: '#workflow-run.ending', actions: { type: 'endFailed', ...fault } },
] as const

export const workflowRunMachine = setup({
  types: {
    input: {} as WorkflowRunInput,
    context: {} as WorkflowRunContext,
    events: {} as WorkflowRunEvent,
    tags: {} as 'underWay' | 'unrecorded',
  },
  actors: {
    /** Resolves when the wall clock has reached the moment of the attempt. */
    untilDue: requiredPromise<void, RunRef>('untilDue'),
    /** Reads the file again and claims the attempt, when there is room; reports `attempt.*` once. */
    reclaim: requiredCallback<RunRef>('reclaim'),
    /** Finds the directory and the prompt. */
    prepare: requiredPromise<void, RunRef>('prepare'),
    /** The session and the row that says whose run it is, in one commit. */
    createSession: requiredPromise<void, RunRef>('createSession'),
    /** Under a message id that makes a second submission impossible. */
    submitPrompt: requiredPromise<void, RunRef>('submitPrompt'),
    /** Waits until the session has settled. */
    followSession: requiredPromise<RunOutcome, RunRef>('followSession'),
    /**
     * Ends what is left of the session of a run that was cut, and records the end with the attempt that follows from it, in one
     * commit and at once; a row that has ended otherwise stays.
     */
    conclude: requiredPromise<void, RunRef & { end: RunEnd; cut: Cut | undefined }>('conclude'),
  },
  guards: {
    isLeft: ({ context }) => context.from === 'left',
    isWaiting: ({ context }) => context.from === 'waiting',
    isOk: (_, { ok }: RunOutcome) => ok,
    isCut: ({ context }) => context.cut !== undefined,
    /** The start of the service, or its end, waits for the run. */
    isWaitedFor: ({ context }) => context.cut !== undefined && context.cut !== 'replaced',
    endedAs: ({ context }, status: RunEnd['status']) => context.end?.status === status,
  },
  actions: {
    /** The first reason counts, unless another run took its place. */
    noteCut: assign({ cut: ({ context }, cut: Cut) => (cut === 'replaced' ? cut : (context.cut ?? cut)) }),
    noteLeaving: assign({ cut: 'stopping' }),
    endCompleted: assign({ end: { status: 'completed', error: undefined } }),
    endFailed: assign({ end: (_, error: string) => ({ status: 'failed' as const, error }) }),
    endCut: assign({ end: ({ context }) => cutEnd(context) }),
  },
  delays: { claimRetry: delayOf(LIMITS.workflows.claimRetry) },
}).createMachine({
  id: 'workflow-run',
  context: ({ input: { runId, from, isStopping } }) => ({ runId, from, cut: isStopping ? 'stopping' : undefined, end: undefined }),
  initial: 'rebuilding',
  states: {
    /** Its row says where it goes on. */
    rebuilding: {
      always: [
        { guard: 'isWaiting', target: 'retry-waiting' },
        { guard: 'isLeft', target: 'ending', actions: [{ type: 'noteCut', params: 'left' }, 'endCut'] },
        { target: 'working' },
      ],
    },
    'retry-waiting': {
      initial: 'sleeping',
      on: { 'service.stopping': { target: 'parked' }, 'stop.requested': { target: 'parked' } },
      states: {
        sleeping: {
          invoke: { id: 'untilDue', src: 'untilDue', input: ref, onDone: { target: 'reclaiming' }, onError: { target: 'pausing' } },
        },
        reclaiming: {
          invoke: { id: 'reclaim', src: 'reclaim', input: ref, onError: { target: 'pausing' } },
          on: {
            'attempt.claimed': { target: '#workflow-run.working' },
            'attempt.postponed': { target: 'pausing' },
            'attempt.refused': { target: '#workflow-run.failed' },
          },
        },
        pausing: { after: { claimRetry: { target: 'reclaiming' } } },
      },
    },
    working: {
      tags: ['underWay'],
      initial: 'queued',
      on: {
        'service.stopping': { actions: { type: 'noteCut', params: 'stopping' } },
        'stop.requested': { target: 'ending', actions: [{ type: 'noteCut', params: 'switched-off' }, 'endCut'] },
        replaced: { target: 'ending', actions: [{ type: 'noteCut', params: 'replaced' }, 'endCut'] },
      },
      states: {
        /** There is nothing of it but its row. */
        queued: { invoke: { id: 'prepare', src: 'prepare', input: ref, onDone: { target: 'starting' }, onError: failed } },
        starting: { invoke: { id: 'createSession', src: 'createSession', input: ref, onDone: { target: 'submitted' }, onError: failed } },
        /** The prompt is handed over, and not yet admitted. */
        submitted: { invoke: { id: 'submitPrompt', src: 'submitPrompt', input: ref, onDone: { target: 'running' }, onError: failed } },
        running: {
          invoke: {
            id: 'followSession',
            src: 'followSession',
            input: ref,
            onDone: [
              { guard: { type: 'isOk', ...outcome }, target: '#workflow-run.ending', actions: 'endCompleted' },
              { guard: 'isCut', target: '#workflow-run.ending', actions: 'endCut' },
              {
                target: '#workflow-run.ending',
                actions: { type: 'endFailed', params: ({ event }) => (event.output.ok ? '' : event.output.error) },
              },
            ],
            onError: failed,
          },
        },
      },
    },
    ending: {
      tags: ['underWay'],
      initial: 'recording',
      states: {
        recording: {
          invoke: {
            id: 'conclude',
            src: 'conclude',
            input: ({ context }) => ({ runId: context.runId, end: context.end ?? cutEnd(context), cut: context.cut }),
            onDone: [
              { guard: { type: 'endedAs', params: 'completed' }, target: '#workflow-run.completed' },
              { guard: { type: 'endedAs', params: 'failed' }, target: '#workflow-run.failed' },
              { guard: { type: 'endedAs', params: 'replaced' }, target: '#workflow-run.replaced' },
              { target: '#workflow-run.interrupted' },
            ],
            onError: [{ guard: 'isWaitedFor', target: '#workflow-run.unrecorded' }, { target: 'pausing' }],
          },
          on: {
            'service.stopping': { actions: 'noteLeaving' },
            'stop.requested': { actions: 'noteLeaving' },
          },
        },
        pausing: {
          after: { claimRetry: { target: 'recording' } },
          on: {
            'service.stopping': { target: 'recording', actions: 'noteLeaving' },
            'stop.requested': { target: 'recording', actions: 'noteLeaving' },
          },
        },
      },
    },
    completed: { type: 'final' },
    failed: { type: 'final' },
    interrupted: { type: 'final' },
    replaced: { type: 'final' },
    unrecorded: { tags: ['unrecorded'], type: 'final' },
    parked: { type: 'final' },
  },
})

function cutEnd({ cut }: WorkflowRunContext): RunEnd {
  if (cut === 'replaced') return { status: 'replaced', error: undefined }
  return { status: 'interrupted', error: INTERRUPTED[cut ?? 'stopping'] }
}
