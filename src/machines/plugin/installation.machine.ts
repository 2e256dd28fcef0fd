/**
 * The installation of one npm package that an entry of the configuration runs (plugin-protocol §9.3).
 *
 * I1 After a failure it is tried again when the package is asked for, `installRetry` later at the earliest.
 */
import { assign, emit, setup } from 'xstate'
import { LIMITS } from '../../protocol/limits.js'
import { messageOf } from '../../protocol/message-of.js'
import { delayOf } from '../../protocol/retry.js'
import { requiredPromise } from '../required.js'

export interface InstallationInput {
  /** As the entry writes it. */
  readonly spec: string
}

interface InstallationContext extends InstallationInput {
  /** Why the last attempt failed. */
  readonly reason: string
}

type InstallationEvent = { readonly type: 'asked' } | { readonly type: 'stop.requested' }

const noteReason = { type: 'noteReason', params: ({ event }: { event: { error: unknown } }) => event.error } as const

export const installationMachine = setup({
  types: {
    input: {} as InstallationInput,
    context: {} as InstallationContext,
    events: {} as InstallationEvent,
    emitted: {} as { readonly type: 'failed'; readonly reason: string },
    tags: {} as 'failed' | 'due' | 'installed',
  },
  actors: {
    /** Installs it when its turn has come; ends with the reason when it cannot. */
    install: requiredPromise<void, InstallationInput>('install'),
  },
  actions: {
    noteReason: assign({ reason: (_, error: unknown) => messageOf(error) }),
    tellReason: emit(({ context: { reason } }) => ({ type: 'failed' as const, reason })),
  },
  delays: { installRetry: delayOf(LIMITS.plugins.installRetry) },
}).createMachine({
  id: 'installation',
  context: ({ input: { spec } }) => ({ spec, reason: '' }),
  initial: 'installing',
  on: { 'stop.requested': { target: '.stopped' } },
  states: {
    installing: {
      invoke: {
        id: 'install',
        src: 'install',
        input: ({ context: { spec } }) => ({ spec }),
        onDone: { target: 'installed' },
        onError: { target: 'failed', actions: [noteReason, 'tellReason'] },
      },
    },
    failed: { tags: ['failed'], after: { installRetry: { target: 'due' } } },
    /** It may be tried again. */
    due: { tags: ['due'], on: { asked: { target: 'installing' } } },
    installed: { tags: ['installed'], type: 'final' },
    stopped: { type: 'final' },
  },
})
