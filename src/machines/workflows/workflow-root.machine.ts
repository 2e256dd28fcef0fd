/**
 * One configuration directory under watch: whether it is there, and when what is reported of it is looked at (subsystems a.2).
 *
 * I1 What is reported is due once nothing was for `debounce`, and at the latest after `debounceMost`.
 * I2 A directory that is not there is asked after when the folders above tell that it may be; one that cannot be watched, or of which nothing
 *    is told, every `appearance`. What is found there is due for a look.
 */
import { emit, setup } from 'xstate'
import { LIMITS } from '../../protocol/limits.js'
import { requiredPromise } from '../required.js'

/** `deaf`: it is there and cannot be watched. `awaited`: it is not there, and `stirred` tells when it may be; `absent`: nothing tells. */
export type Found = 'watched' | 'deaf' | 'awaited' | 'absent'

export interface RootInput {
  /** Its own among the directories that are watched. */
  readonly key: string
}

type RootEvent =
  /** Something may have changed. */
  | { readonly type: 'touched' }
  /** A look has tried to watch the directory. */
  | { readonly type: 'covered'; readonly isWatched: boolean }
  /** It may be gone, or another one. */
  | { readonly type: 'lost' }
  /** It may be there now, or the folders above are others. */
  | { readonly type: 'stirred' }
  | { readonly type: 'stop.requested' }

type RootWord =
  /** What was touched is to be looked at now. */
  | { readonly type: 'due' }
  /** It is there, and was not before; `found` tells of every time that it was asked and was there. */
  | { readonly type: 'appeared' }
  | { readonly type: 'found' }

const found = (as: Found) => ({ type: 'isFound', params: ({ event }: { event: { output: Found } }) => ({ is: event.output, as }) }) as const
const isWatched = { type: 'isWatched', params: ({ event }: { event: { isWatched: boolean } }) => event.isWatched } as const

export const workflowRootMachine = setup({
  types: { input: {} as RootInput, context: {} as RootInput, events: {} as RootEvent, emitted: {} as RootWord },
  actors: {
    /** Looks whether the directory is there, and watches it. */
    find: requiredPromise<Found, RootInput>('find'),
  },
  guards: {
    isFound: (_, { is, as }: { is: Found; as: Found }) => is === as,
    isWatched: (_, is: boolean) => is,
  },
  actions: {
    tellDue: emit({ type: 'due' }),
    tellAppeared: emit({ type: 'appeared' }),
    tellFound: emit({ type: 'found' }),
  },
  delays: {
    debounce: LIMITS.workflows.debounce,
    debounceMost: LIMITS.workflows.debounceMost,
    appearance: LIMITS.workflows.appearance,
  },
}).createMachine({
  id: 'workflow-root',
  context: ({ input }) => input,
  initial: 'open',
  states: {
    open: {
      type: 'parallel',
      on: { 'stop.requested': { target: 'stopped' } },
      states: {
        directory: {
          initial: 'unseen',
          states: {
            /** Nobody has looked yet. */
            unseen: { on: { covered: [{ guard: isWatched, target: 'watched' }, { target: 'absent' }] } },
            watched: { on: { lost: { target: 'absent' }, covered: [{ guard: isWatched }, { target: 'absent' }] } },
            absent: {
              on: { covered: { guard: isWatched, target: 'watched' } },
              initial: 'asking',
              states: {
                /** Until the folders above tell. */
                listening: { on: { stirred: { target: 'asking' } } },
                /** Nothing tells. */
                waiting: { after: { appearance: { target: 'asking' } } },
                asking: {
                  on: { stirred: { target: 'asking', reenter: true } },
                  invoke: {
                    id: 'find',
                    src: 'find',
                    input: ({ context }) => context,
                    onDone: [
                      { guard: found('watched'), target: '#workflow-root.open.directory.watched', actions: ['tellAppeared', 'tellFound'] },
                      { guard: found('deaf'), target: '#workflow-root.open.directory.deaf', actions: ['tellAppeared', 'tellFound'] },
                      { guard: found('awaited'), target: 'listening' },
                      { target: 'waiting' },
                    ],
                    onError: { target: 'waiting' },
                  },
                },
              },
            },
            /** Asking is all there is. */
            deaf: {
              on: { covered: { guard: isWatched, target: 'watched' } },
              initial: 'waiting',
              states: {
                waiting: { after: { appearance: { target: 'asking' } } },
                asking: {
                  invoke: {
                    id: 'findAgain',
                    src: 'find',
                    input: ({ context }) => context,
                    onDone: [
                      { guard: found('watched'), target: '#workflow-root.open.directory.watched', actions: 'tellFound' },
                      { guard: found('deaf'), target: 'waiting', actions: 'tellFound' },
                      { target: '#workflow-root.open.directory.absent' },
                    ],
                    onError: { target: 'waiting' },
                  },
                },
              },
            },
          },
        },
        changes: {
          initial: 'quiet',
          states: {
            quiet: { on: { touched: { target: 'touched' } } },
            touched: {
              after: { debounceMost: { target: 'quiet', actions: 'tellDue' } },
              initial: 'settling',
              states: {
                settling: {
                  after: { debounce: { target: '#workflow-root.open.changes.quiet', actions: 'tellDue' } },
                  on: { touched: { target: 'settling', reenter: true } },
                },
              },
            },
          },
        },
      },
    },
    stopped: { type: 'final' },
  },
})
