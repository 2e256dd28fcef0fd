/**
 * One incarnation of a plugin: start, publish, serve, drain, retire (plugin-protocol §3.4, §3.6).
 *
 * I1 Nothing is seen of a generation before `publish` succeeded; a refused one leaves nothing running.
 * I2 A superseded generation finishes its calls, at most for `drain`, one that is switched off for `offDrain`; a revoked one is
 *    retired at once.
 * I3 Retirement is: revoke, fail streams, `shutdown`, wait `shutdownGrace`, kill the tree. It always ends.
 */
import { type ActorRefFrom, assign, type ErrorActorEvent, enqueueActions, setup } from 'xstate'
import { LIMITS } from '../../protocol/limits.js'
import { type InstanceInput, instanceMachine } from './instance.machine.js'
import { requiredCallback, requiredPromise } from '../required.js'
import { messageOf } from '../../protocol/message-of.js'

export interface GenerationInput {
  /** Key of the package actor, for effects and logs. */
  readonly key: string
  readonly number: number
  readonly revision: string
}

type GenerationEnd = 'refused' | 'failed' | 'retired'

export interface GenerationOutput {
  readonly number: number
  readonly end: GenerationEnd
  readonly reason: string
}

interface GenerationContext extends GenerationInput {
  readonly end: GenerationEnd
  readonly reason: string
  /** It was told to end and had not in time. */
  readonly isOverdue: boolean
}

type GenerationEvent =
  /** It is started as a process, which its effects have ready under this id. */
  | ({ readonly type: 'process.prepared' } & InstanceInput)
  | { readonly type: 'superseded' }
  | { readonly type: 'switched.off' }
  | { readonly type: 'revoked' }
  /** The instance has ended by itself. */
  | { readonly type: 'instance.failed'; readonly reason: string }

/** What the package actor hears while the generation lives; its end is told by its output. */
export type GenerationReport =
  | { readonly type: 'generation.published'; readonly number: number; readonly revision: string }
  | { readonly type: 'generation.unavailable'; readonly number: number; readonly reason: string }

type Subject = Pick<GenerationInput, 'key' | 'number'>

/** The generation as the effect that starts it sees it: whom it tells of a process, and where it finds the actor of it. */
export interface GenerationRef {
  send(event: GenerationEvent): void
  getSnapshot(): { readonly children: { readonly instance?: ActorRefFrom<typeof instanceMachine> | undefined } }
}

export interface StartInput extends GenerationInput {
  readonly generation: GenerationRef
}

export const generationMachine = setup({
  types: {
    input: {} as GenerationInput,
    context: {} as GenerationContext,
    events: {} as GenerationEvent | ErrorActorEvent,
    output: {} as GenerationOutput,
    children: {} as { instance: 'instance' },
  },
  actors: {
    /** Creates and initialises the instance and validates its contributions; leaves nothing running when it rejects or is aborted. */
    start: requiredPromise<void, StartInput>('start'),
    /** The process of it; what is no process has none. */
    instance: instanceMachine,
    /** Publishes everything in one step, or rejects without effect. */
    publish: requiredPromise<void, Subject>('publish'),
    /** Reports `instance.failed` once, if it happens. */
    watch: requiredCallback<Subject>('watch'),
    /** Withdraws, closes the door to new work and resolves when the last lease is returned. */
    drain: requiredPromise<void, Subject>('drain'),
    /** Withdraws, revokes, fails streams, sends `shutdown`; resolves when nothing of the instance runs. */
    retire: requiredPromise<void, Subject>('retire'),
    /** Withdraws what is still published and ends the process tree; resolves when it is gone. */
    kill: requiredPromise<void, Subject & { readonly isOverdue: boolean }>('kill'),
  },
  actions: {
    noteOverdue: assign({ isOverdue: true }),
    noteRefusal: assign({ end: 'refused', reason: (_, error: unknown) => messageOf(error) }),
    noteFailure: assign({ end: 'failed', reason: (_, reason: string) => reason }),
    spawnInstance: enqueueActions(({ enqueue }, input: InstanceInput) => enqueue.spawnChild('instance', { id: 'instance', input })),
    reportPublished: enqueueActions(({ context: { number, revision }, self: { _parent: parent }, enqueue }) => {
      if (parent !== undefined) enqueue.sendTo(parent, { type: 'generation.published', number, revision } satisfies GenerationReport)
    }),
    reportUnavailable: enqueueActions(({ context: { number, reason }, self: { _parent: parent }, enqueue }) => {
      if (parent !== undefined) enqueue.sendTo(parent, { type: 'generation.unavailable', number, reason } satisfies GenerationReport)
    }),
  },
  delays: {
    drainLimit: LIMITS.plugins.drain,
    offLimit: LIMITS.plugins.offDrain,
    shutdownGrace: LIMITS.plugins.shutdownGrace,
    killLimit: LIMITS.plugins.shutdownGrace,
  },
}).createMachine({
  id: 'generation',
  context: ({ input }) => ({ ...input, end: 'retired', reason: '', isOverdue: false }),
  output: ({ context }) => ({ number: context.number, end: context.end, reason: context.reason }),
  on: { 'xstate.error.actor.*': { target: '.killing' } },
  initial: 'starting',
  states: {
    starting: {
      invoke: {
        id: 'start',
        src: 'start',
        input: ({ context: { key, number, revision }, self }) => ({ key, number, revision, generation: self }),
        onDone: { target: 'publishing' },
        onError: { target: 'killing', actions: { type: 'noteRefusal', params: ({ event }: { event: { error: unknown } }) => event.error } },
      },
      on: {
        'process.prepared': {
          actions: { type: 'spawnInstance', params: ({ event: { instanceId, isKnown } }) => ({ instanceId, isKnown }) },
        },
        revoked: { target: 'killing' },
        superseded: { target: 'killing' },
        'switched.off': { target: 'killing' },
      },
    },
    publishing: {
      invoke: {
        id: 'publish',
        src: 'publish',
        input: ({ context }) => subject(context),
        onDone: { target: 'serving' },
        onError: {
          target: 'retiring',
          actions: { type: 'noteRefusal', params: ({ event }: { event: { error: unknown } }) => event.error },
        },
      },
      on: { revoked: { target: 'retiring' }, superseded: { target: 'retiring' }, 'switched.off': { target: 'retiring' } },
    },
    serving: {
      tags: ['serving'],
      entry: 'reportPublished',
      invoke: { id: 'watch', src: 'watch', input: ({ context }) => subject(context), onError: { target: 'killing' } },
      on: {
        superseded: { target: 'draining' },
        'switched.off': { target: 'leaving' },
        revoked: { target: 'retiring' },
        'instance.failed': {
          target: 'killing',
          actions: [{ type: 'noteFailure', params: ({ event }) => event.reason }, 'reportUnavailable'],
        },
      },
    },
    draining: {
      invoke: [
        { id: 'watch', src: 'watch', input: ({ context }) => subject(context), onError: { target: 'killing' } },
        {
          id: 'drain',
          src: 'drain',
          input: ({ context }) => subject(context),
          onDone: { target: 'retiring' },
          onError: { target: 'retiring' },
        },
      ],
      after: { drainLimit: { target: 'retiring' } },
      on: {
        'switched.off': { target: 'leaving' },
        revoked: { target: 'retiring' },
        'instance.failed': { target: 'killing', actions: { type: 'noteFailure', params: ({ event }) => event.reason } },
      },
    },
    /** Draining because it was switched off: what is under way gets less time. */
    leaving: {
      invoke: [
        { id: 'watch', src: 'watch', input: ({ context }) => subject(context), onError: { target: 'killing' } },
        {
          id: 'drain',
          src: 'drain',
          input: ({ context }) => subject(context),
          onDone: { target: 'retiring' },
          onError: { target: 'retiring' },
        },
      ],
      after: { offLimit: { target: 'retiring' } },
      on: {
        revoked: { target: 'retiring' },
        'instance.failed': { target: 'killing', actions: { type: 'noteFailure', params: ({ event }) => event.reason } },
      },
    },
    retiring: {
      invoke: {
        id: 'retire',
        src: 'retire',
        input: ({ context }) => subject(context),
        onDone: { target: 'ended' },
        onError: { target: 'killing', actions: 'noteOverdue' },
      },
      after: { shutdownGrace: { target: 'killing', actions: 'noteOverdue' } },
    },
    killing: {
      invoke: {
        id: 'kill',
        src: 'kill',
        input: ({ context }) => ({ ...subject(context), isOverdue: context.isOverdue }),
        onDone: { target: 'ended' },
        onError: { target: 'ended' },
      },
      after: { killLimit: { target: 'ended' } },
    },
    ended: { type: 'final' },
  },
})

function subject({ key, number }: GenerationContext): Subject {
  return { key, number }
}
