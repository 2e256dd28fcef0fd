/**
 * The process of one generation of a plugin, from its spawn until nothing of it runs (plugin-protocol §3.6, §4.1, §4.5).
 *
 * I1 However it ends, it is `gone` only when nothing of it runs.
 * I2 A process that ends or breaks a rule while it serves has failed, which is told with the reason once it is known; one that was told
 *    to end has not, whatever it does then.
 * I3 What a process offered when it was last started with the same content is offered before it runs: it starts when it is first called, and
 *    has failed when it cannot be started then.
 * I4 How long `retiring` may take is a matter of its generation, of whatever tier: after `shutdownGrace` it asks for the kill.
 * I5 Frames do not pass here.
 */
import { assign, not, setup } from 'xstate'
import { type Failure, toFailure } from '../../protocol/errors.js'
import { requiredCallback, requiredPromise } from '../required.js'

interface InstanceName {
  readonly instanceId: string
}

export interface InstanceInput extends InstanceName {
  /** What it offers is known without starting it. */
  readonly isKnown: boolean
}

/** How a process ended; what it last said is for a start that fails by it. */
export interface ProcessEnding {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly lastWords: string
}

interface InstanceContext extends InstanceInput {
  /** Why the start failed. */
  readonly failure: Failure | undefined
  /** The first rule it broke. */
  readonly broken: string | undefined
  /** Why it ended by itself while it served. */
  readonly reason: string | undefined
}

export type InstanceEvent =
  | { readonly type: 'start.cancelled' }
  /** Something of what it offers is used. */
  | { readonly type: 'call.made' }
  /** It broke a rule of the protocol or outgrew its limits. */
  | { readonly type: 'rule.broken'; readonly reason: string }
  /** Its output or the process itself has ended, and what it sent before was taken. */
  | { readonly type: 'process.ended'; readonly ending: ProcessEnding }
  /** Nobody new calls it; calls under way go on. */
  | { readonly type: 'drain.requested' }
  | { readonly type: 'retire.requested' }
  | { readonly type: 'kill.requested' }

const subject = ({ context: { instanceId } }: { readonly context: InstanceContext }): InstanceName => ({ instanceId })

export const instanceMachine = setup({
  types: { input: {} as InstanceInput, context: {} as InstanceContext, events: {} as InstanceEvent, tags: {} as 'serving' | 'awake' },
  actors: {
    /** Reports `rule.broken` and `process.ended`; ends what still runs when it is stopped. */
    process: requiredCallback<InstanceName>('process'),
    spawn: requiredPromise<void, InstanceName>('spawn'),
    /** Asks for the contributions and checks their shape. */
    initialize: requiredPromise<void, InstanceName>('initialize'),
    /** Inactive, lease revoked, streams failed, `shutdown` sent, input closed; resolves when nothing of it runs. */
    retire: requiredPromise<void, InstanceName>('retire'),
    /** Ends the group at once, also one that is being spawned; resolves when nothing of it runs and its end was reported. */
    kill: requiredPromise<void, InstanceName>('kill'),
  },
  actions: {
    noteRefusal: assign(({ context }, error: unknown) => refused(context, toFailure(error))),
    refuse: assign(({ context }, message: string) => refused(context, { code: 'plugin.failed', message, retryable: false })),
    noteBroken: assign({ broken: (_, reason: string) => reason }),
    noteReason: assign({ reason: ({ context }, ending: ProcessEnding) => endingText(ending, context.broken) }),
  },
  guards: { hasBroken: ({ context }) => context.broken !== undefined, isKnown: ({ context }) => context.isKnown },
}).createMachine({
  id: 'instance',
  context: ({ input: { instanceId, isKnown } }) => ({ instanceId, isKnown, failure: undefined, broken: undefined, reason: undefined }),
  invoke: { id: 'process', src: 'process', input: subject, onError: '.killing' },
  on: { 'kill.requested': '.killing' },
  initial: 'resting',
  states: {
    resting: {
      tags: ['serving'],
      always: { guard: not('isKnown'), target: 'starting' },
      on: { 'call.made': 'starting', 'retire.requested': 'gone' },
    },
    starting: {
      initial: 'spawning',
      on: {
        'retire.requested': 'killing',
        'start.cancelled': { target: 'killing', actions: { type: 'refuse', params: 'The start was cancelled.' } },
        'rule.broken': { target: 'killing', actions: { type: 'refuse', params: ({ event }) => notStarted(event.reason) } },
        'process.ended': { target: 'killing', actions: { type: 'refuse', params: ({ event }) => notStarted(endedText(event.ending)) } },
      },
      states: {
        spawning: {
          invoke: {
            id: 'spawn',
            src: 'spawn',
            input: subject,
            onDone: 'initializing',
            onError: {
              target: '#instance.gone',
              actions: { type: 'noteRefusal', params: ({ event }: { event: { error: unknown } }) => event.error },
            },
          },
        },
        initializing: {
          invoke: {
            id: 'initialize',
            src: 'initialize',
            input: subject,
            onDone: '#instance.running',
            onError: {
              target: '#instance.killing',
              actions: { type: 'noteRefusal', params: ({ event }: { event: { error: unknown } }) => event.error },
            },
          },
        },
      },
    },
    running: {
      tags: ['serving', 'awake'],
      initial: 'serving',
      on: {
        'rule.broken': { target: 'killing', actions: { type: 'noteBroken', params: ({ event }) => event.reason } },
        'process.ended': { target: 'killing', actions: { type: 'noteReason', params: ({ event }) => event.ending } },
        'retire.requested': 'retiring',
      },
      states: {
        serving: { on: { 'drain.requested': 'draining' } },
        draining: {},
      },
    },
    retiring: { invoke: { id: 'retire', src: 'retire', input: subject, onDone: 'gone', onError: 'killing' } },
    killing: {
      invoke: { id: 'kill', src: 'kill', input: subject, onDone: 'gone', onError: 'gone' },
      on: {
        'kill.requested': {},
        'process.ended': { guard: 'hasBroken', actions: { type: 'noteReason', params: ({ event }) => event.ending } },
      },
    },
    gone: { type: 'final' },
  },
})

/** Who was offered before it was started has failed, and is not refused. */
function refused({ isKnown }: InstanceInput, failure: Failure): Partial<InstanceContext> {
  return isKnown ? { failure, reason: failure.message } : { failure }
}

/** What ended a process. A rule it broke explains more than the kill that followed, its own exit more than a closed input. */
function endingText({ exitCode, signal }: ProcessEnding, broken: string | undefined): string {
  if (exitCode !== null) return `The plugin process exited with code ${exitCode}.`
  if (broken !== undefined) return broken
  return signal === null ? 'The plugin process closed its output.' : `The plugin process was ended by ${signal}.`
}

function notStarted(reason: string): string {
  return `The plugin did not start: ${reason}`
}

function endedText(ending: ProcessEnding): string {
  const { lastWords } = ending
  return `${endingText(ending, undefined)}${lastWords === '' ? '' : ` The last line of its log: ${lastWords}`}`
}
