/**
 * One conversation: idle, looking for work, running it, looking again. A compaction that somebody asked for is work, too.
 *
 * I1 At most one run or compaction at a time; the next is claimed only after the one before has ended.
 * I2 `woken` carries no content: a lost or doubled wake does no harm, because looking reads the queue.
 * I3 An idle session leaves memory after `idleMemory`; its rows rebuild it on the next wake.
 * I4 While the store cannot be written the session pauses, longer each time, and tries again: a run's end is
 *    recorded and queued prompts are claimed as soon as that is possible.
 * I5 A title is made when its run has ended as it should, so that it keeps no answer waiting and asks nobody who has just refused; it is
 *    withdrawn when another run begins or the session's actor ends.
 */
import { assign, type DoneActorEvent, type ErrorActorEvent, enqueueActions, not, raise, sendTo, setup, stopChild } from 'xstate'
import { LIMITS } from '../../protocol/limits.js'
import { delayOf } from '../../protocol/retry.js'
import { type CompactionInput, type CompactionOutput, compactionMachine } from './compaction.machine.js'
import { requiredPromise } from '../required.js'
import type { StepFailure, StepRetry } from './retry.js'
import { type RunInput, type RunOutput, runMachine } from './run.machine.js'
import { titleMachine } from './title.machine.js'

export interface SessionInput {
  readonly sessionId: string
  /** How failed steps are repeated; the default policy when absent. */
  readonly policy?: StepRetry
}

/** What looking found: nothing, something that needed no run, a claimed run, or a compaction by the id of its run. */
export type Work =
  | { readonly kind: 'none' }
  | { readonly kind: 'settled' }
  | { readonly kind: 'run'; readonly runId: string; readonly wantsTitle: boolean }
  | { readonly kind: 'compaction'; readonly runId: string }

interface SessionContext {
  readonly sessionId: string
  readonly policy: StepRetry
  readonly runId: string | undefined
  /** The conversation is to have a title once the run has ended. */
  readonly wantsTitle: boolean
  /** How a run ended whose end is not recorded; absent = it was aborted. */
  readonly failure: StepFailure | undefined
  /** An abort that arrived while a run was being claimed. */
  readonly abortPending: boolean
  /** A wake that arrived while looking or running. */
  readonly wakePending: boolean
  /** Failed attempts to look or to record in a row. */
  readonly faults: number
  readonly stopping: boolean
}

type SessionEvent =
  | { readonly type: 'woken' }
  | { readonly type: 'abort.requested' }
  | { readonly type: 'stop.requested' }
  | DoneActorEvent
  | ErrorActorEvent

const TITLE = 'title:'

const CRASH: StepFailure = { code: 'server.internal', message: 'The run ended unexpectedly.', retryable: false }

export const sessionMachine = setup({
  types: { input: {} as SessionInput, context: {} as SessionContext, events: {} as SessionEvent },
  actors: {
    /** Claims the oldest queued prompt durably; afterwards nothing of it can run twice. */
    claimWork: requiredPromise<Work, { sessionId: string }>('claimWork'),
    run: runMachine,
    compaction: compactionMachine,
    title: titleMachine,
    /** Records the end of a run that crashed or whose end could not be recorded; as aborted when there is no failure. */
    recordCrash: requiredPromise<void, { sessionId: string; runId: string | undefined; failure: StepFailure | undefined }>('recordCrash'),
  },
  guards: {
    foundRun: (_, work: Work) => work.kind === 'run',
    foundNothing: (_, work: Work) => work.kind === 'none',
    foundCompaction: (_, work: Work) => work.kind === 'compaction',
    isUnrecorded: (_, output: RunOutput | CompactionOutput) => output.end === 'unrecorded',
    hasFinished: (_, { end }: RunOutput) => end === 'finished',
    hasRun: ({ context }) => context.runId !== undefined,
    isStopping: ({ context }) => context.stopping,
    isTitle: (_, actorId: string) => actorId.startsWith(TITLE),
    isWakePending: ({ context }) => context.wakePending,
  },
  actions: {
    noteWake: assign({ wakePending: true }),
    clearWake: assign({ wakePending: false }),
    noteAbort: assign({ abortPending: true }),
    clearAbort: assign({ abortPending: false }),
    noteStop: assign({ stopping: true }),
    noteRun: assign({
      runId: (_, work: Work) => ('runId' in work ? work.runId : undefined),
      wantsTitle: (_, work: Work) => work.kind === 'run' && work.wantsTitle,
    }),
    beginTitle: enqueueActions(({ context: { sessionId, runId, wantsTitle }, enqueue }) => {
      if (runId === undefined || !wantsTitle) return
      enqueue.spawnChild('title', { id: `${TITLE}${runId}`, input: { sessionId, runId } })
    }),
    endTitle: stopChild((_, actorId: string) => actorId),
    withdrawTitles: enqueueActions(({ self, enqueue }) => {
      for (const id of Object.keys(self.getSnapshot().children)) if (id.startsWith(TITLE)) enqueue.sendTo(id, { type: 'stop.requested' })
    }),
    noteFailure: assign({ failure: (_, failure: StepFailure | undefined) => failure }),
    clearRun: assign({ runId: undefined, failure: undefined }),
    countFault: assign({ faults: ({ context }) => context.faults + 1 }),
    clearFaults: assign({ faults: 0 }),
    abortCompaction: sendTo('compaction', { type: 'abort.requested' }),
    abortRun: sendTo('run', { type: 'abort.requested' }),
    abortWork: raise({ type: 'abort.requested' }),
  },
  delays: {
    idleMemory: LIMITS.sessions.idleMemory,
    faultRetry: ({ context }) => delayOf(LIMITS.sessions.fault, context.faults),
  },
}).createMachine({
  id: 'session',
  context: ({ input }) => ({
    sessionId: input.sessionId,
    policy: input.policy ?? LIMITS.run.retry,
    runId: undefined,
    wantsTitle: false,
    failure: undefined,
    abortPending: false,
    wakePending: false,
    faults: 0,
    stopping: false,
  }),
  initial: 'looking',
  on: {
    'xstate.done.actor.*': {
      guard: { type: 'isTitle', params: ({ event }) => event.actorId },
      actions: { type: 'endTitle', params: ({ event }) => event.actorId },
    },
    'xstate.error.actor.*': {
      guard: { type: 'isTitle', params: ({ event }) => event.actorId },
      actions: { type: 'endTitle', params: ({ event }) => event.actorId },
    },
  },
  states: {
    idle: {
      tags: ['settled'],
      always: [
        { guard: 'isStopping', target: 'stopped' },
        { guard: 'isWakePending', target: 'looking' },
      ],
      on: { woken: { target: 'looking' }, 'stop.requested': { target: 'stopped' } },
      after: { idleMemory: { target: 'asleep' } },
    },
    looking: {
      entry: ['clearWake', 'clearRun'],
      invoke: {
        id: 'claimWork',
        src: 'claimWork',
        input: ({ context }) => ({ sessionId: context.sessionId }),
        onDone: [
          {
            guard: { type: 'foundRun', params: ({ event }) => event.output },
            target: 'working.running',
            actions: [{ type: 'noteRun', params: ({ event }) => event.output }, 'withdrawTitles', 'clearFaults'],
          },
          {
            guard: { type: 'foundCompaction', params: ({ event }) => event.output },
            target: 'working.compacting',
            actions: [{ type: 'noteRun', params: ({ event }) => event.output }, 'clearFaults'],
          },
          {
            guard: { type: 'foundNothing', params: ({ event }) => event.output },
            target: 'idle',
            actions: ['clearFaults', 'clearAbort'],
          },
          { guard: 'isStopping', target: 'stopped' },
          { target: 'looking', reenter: true, actions: ['clearFaults', 'clearAbort'] },
        ],
        onError: [{ guard: 'isStopping', target: 'stopped' }, { target: 'pausing' }],
      },
      on: {
        woken: { actions: 'noteWake' },
        'abort.requested': { actions: 'noteAbort' },
        'stop.requested': { actions: 'noteStop' },
      },
    },
    working: {
      tags: ['running'],
      initial: 'running',
      exit: 'clearAbort',
      on: {
        woken: { actions: 'noteWake' },
        'stop.requested': { actions: ['noteStop', 'abortWork'] },
      },
      states: {
        running: {
          invoke: {
            id: 'run',
            src: 'run',
            input: ({ context }): RunInput => ({
              sessionId: context.sessionId,
              runId: context.runId ?? '',
              policy: context.policy,
              aborted: context.abortPending || context.stopping,
            }),
            onDone: [
              {
                guard: { type: 'isUnrecorded', params: ({ event }) => event.output },
                target: '#session.recovering',
                actions: { type: 'noteFailure', params: ({ event }) => event.output.failure },
              },
              { guard: 'isStopping', target: '#session.stopped' },
              { guard: { type: 'hasFinished', params: ({ event }) => event.output }, target: '#session.looking', actions: 'beginTitle' },
              { target: '#session.looking' },
            ],
            onError: { target: '#session.recovering', actions: { type: 'noteFailure', params: CRASH } },
          },
          on: { 'abort.requested': { actions: 'abortRun' } },
        },
        compacting: {
          invoke: {
            id: 'compaction',
            src: 'compaction',
            input: ({ context }): CompactionInput => ({
              runId: context.runId ?? '',
              reason: 'manual',
              policy: context.policy,
              aborted: context.abortPending || context.stopping,
            }),
            onDone: [
              {
                guard: { type: 'isUnrecorded', params: ({ event }) => event.output },
                target: '#session.recovering',
                actions: { type: 'noteFailure', params: ({ event }) => event.output.failure },
              },
              { guard: 'isStopping', target: '#session.stopped' },
              { target: '#session.looking' },
            ],
            onError: { target: '#session.recovering', actions: { type: 'noteFailure', params: CRASH } },
          },
          on: { 'abort.requested': { actions: 'abortCompaction' } },
        },
      },
    },
    recovering: {
      invoke: {
        id: 'recordCrash',
        src: 'recordCrash',
        input: ({ context: { sessionId, runId, failure } }) => ({ sessionId, runId, failure }),
        onDone: [{ guard: 'isStopping', target: 'stopped' }, { target: 'looking' }],
        onError: [{ guard: 'isStopping', target: 'stopped' }, { target: 'pausing' }],
      },
      on: { 'stop.requested': { actions: 'noteStop' } },
    },
    pausing: {
      entry: 'countFault',
      after: { faultRetry: [{ guard: 'hasRun', target: 'recovering' }, { target: 'looking' }] },
      on: {
        woken: [{ guard: 'hasRun', target: 'recovering' }, { target: 'looking' }],
        'abort.requested': { guard: not('hasRun'), actions: 'noteAbort' },
        'stop.requested': { target: 'stopped' },
      },
    },
    asleep: { type: 'final', entry: 'withdrawTitles' },
    stopped: { type: 'final', entry: 'withdrawTitles' },
  },
})
