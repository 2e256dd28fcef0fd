/**
 * One delegated task: a prompt to a session of its own, followed until nothing of it goes on, and reported to the session that
 * delegated it (sessions-events §10.12; subsystems k).
 *
 * I1 Its prompt has one message id, so it is admitted once, however often `queued` is entered. While nothing can be written it is tried again.
 * I2 What came of it is recorded before it is told; telling it and noting that it was told are one commit of `tell`.
 * I3 Work that comes before the record is followed as well, and admitted before where that has failed; work that comes later begins the task anew,
 *    and what is owed stays owed.
 * I4 A service that stops leaves it as its row is; the next start goes on from there and executes nothing again.
 */
import { assign, setup } from 'xstate'
import { toFailure } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import { delayOf } from '../../protocol/retry.js'
import { ENDS, LEAVING, untilDone } from '../report.js'
import { requiredPromise } from '../required.js'

export interface TaskInput {
  readonly taskId: string
  /** As its row is. */
  readonly from: 'queued' | 'running' | 'reporting'
  /** Of what is owed, when it is to be reported. */
  readonly ok: boolean
}

/** What came of it. */
export type TaskOutcome =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly error: string; readonly text: string }

/** `told`: whoever waits has it; `owed`: it is still to be told; `busy`: its session is at work again; `more`: a prompt was not admitted yet. */
export type Recorded = 'told' | 'owed' | 'busy' | 'more'

export interface TaskRef {
  readonly taskId: string
}

interface TaskContext {
  readonly taskId: string
  readonly from: TaskInput['from']
  readonly outcome: TaskOutcome | undefined
  readonly ok: boolean
}

export type TaskEvent =
  /** More work has come for it, under another message id. */
  | { readonly type: 'resume.requested' }
  | { readonly type: 'stop.requested' }
  /** Its session, or the one it was to be told, is no more; so is its row. */
  | { readonly type: 'session.gone' }
  | { readonly type: 'service.stopping' }

const ref = ({ context: { taskId } }: { context: TaskContext }): TaskRef => ({ taskId })
const outcome = { type: 'noteOutcome', params: ({ event }: { event: { output: TaskOutcome } }) => event.output } as const
const fault = {
  type: 'noteOutcome',
  params: ({ event }: { event: { error: unknown } }): TaskOutcome => ({ ok: false, error: toFailure(event.error).message, text: '' }),
} as const
const recorded = (as: Recorded) =>
  ({ type: 'isRecorded', params: ({ event }: { event: { output: Recorded } }) => ({ is: event.output, as }) }) as const

export const taskMachine = setup({
  types: { input: {} as TaskInput, context: {} as TaskContext, events: {} as TaskEvent, tags: {} as 'working' | 'owing' },
  actors: {
    /** Admits the prompt of the task, and notes that it runs. */
    submit: requiredPromise<void, TaskRef>('submit'),
    /** Resolves once nothing of its session runs, waits or is worked on. */
    follow: requiredPromise<TaskOutcome, TaskRef>('follow'),
    /** Records what came of it, unless more has come. */
    record: requiredPromise<Recorded, TaskRef & { outcome: TaskOutcome }>('record'),
    /** Resolves once it was told, alone or together with its siblings. */
    tell: requiredPromise<void, TaskRef>('tell'),
    /** Ends everything of its session and below, and records that. */
    end: requiredPromise<void, TaskRef>('end'),
  },
  guards: {
    isFrom: ({ context }, from: TaskInput['from']) => context.from === from,
    isRecorded: (_, { is, as }: { is: Recorded; as: Recorded }) => is === as,
    isOk: ({ context }) => context.ok,
    /** The disk fails, and may not a moment later. */
    isUnwritten: (_, error: unknown) => toFailure(error).code === 'store.unavailable',
  },
  actions: {
    noteOutcome: assign({ outcome: (_, found: TaskOutcome) => found, ok: (_, found: TaskOutcome) => found.ok }),
  },
  delays: { retry: delayOf(LIMITS.subagents.retry) },
}).createMachine({
  id: 'task',
  context: ({ input: { taskId, from, ok } }) => ({ taskId, from, outcome: undefined, ok }),
  initial: 'rebuilding',
  on: LEAVING,
  states: {
    rebuilding: {
      always: [
        { guard: { type: 'isFrom', params: 'queued' }, target: 'queued' },
        { guard: { type: 'isFrom', params: 'running' }, target: 'running' },
        { target: 'reporting.telling' },
      ],
    },
    queued: {
      tags: ['working'],
      initial: 'submitting',
      on: { 'stop.requested': { target: 'stopping' } },
      states: {
        submitting: {
          invoke: {
            id: 'submit',
            src: 'submit',
            input: ref,
            onDone: { target: '#task.running' },
            onError: [
              { guard: { type: 'isUnwritten', params: ({ event }: { event: { error: unknown } }) => event.error }, target: 'pausing' },
              { target: '#task.reporting', actions: fault },
            ],
          },
        },
        pausing: { after: { retry: { target: 'submitting' } } },
      },
    },
    running: {
      tags: ['working'],
      invoke: {
        id: 'follow',
        src: 'follow',
        input: ref,
        onDone: { target: 'reporting', actions: outcome },
        onError: { target: 'reporting', actions: fault },
      },
      on: { 'stop.requested': { target: 'stopping' } },
    },
    reporting: {
      initial: 'recording',
      on: { 'stop.requested': { target: 'stopping' } },
      states: {
        ...untilDone(
          ['recording', 'pausing'],
          {
            src: 'record',
            input: ({ context: { taskId, outcome: found } }: { context: TaskContext }) => ({ taskId, outcome: found ?? NOTHING }),
            onDone: [
              { guard: recorded('busy'), target: '#task.running' },
              { guard: recorded('more'), target: '#task.queued' },
              { guard: recorded('owed'), target: 'telling' },
              { target: 'told' },
            ],
          },
          { tags: ['working'] },
        ),
        /** Until its siblings have ended, too. */
        ...untilDone(
          ['telling', 'waiting'],
          { src: 'tell', input: ref, onDone: { target: 'told' } },
          { tags: ['owing'], on: { 'resume.requested': { target: '#task.queued' } } },
        ),
        told: { always: [{ guard: 'isOk', target: '#task.delivered' }, { target: '#task.failed' }] },
      },
    },
    stopping: {
      tags: ['working'],
      initial: 'ending',
      states: untilDone(['ending', 'pausing'], { src: 'end', input: ref, onDone: { target: '#task.stopped' } }),
    },
    ...ENDS,
  },
})

const NOTHING: TaskOutcome = { ok: false, error: 'the task has no outcome', text: '' }
