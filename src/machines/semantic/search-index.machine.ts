/**
 * The index of what was said, from nothing opened to being up with the events (subsystems i).
 *
 * I1 A change that comes while it catches up leads to one more look behind it; so does the end of a rebuild. Where a look is due anyway
 *    (tag `due`) nobody has to tell of a change.
 * I2 Who searches has what was said before it once `settled` follows its `used`: it is looked behind the last commit again, once more where
 *    that had begun before, and a change that comes meanwhile waits for others, as it would without a search.
 * I3 While changes follow each other they gather, so that turns are not kept up by it: until none has come for a moment, too many wait
 *    (`filled`), or the first has waited long enough.
 * I4 What is damaged is discarded and made anew once; damaged again before it was current, it rests first.
 */
import { assign, setup } from 'xstate'
import { LIMITS } from '../../protocol/limits.js'
import { delayOf } from '../../protocol/retry.js'
import { requiredPromise } from '../required.js'

interface SearchIndexContext {
  readonly wasDiscarded: boolean
  /** Something changed while it caught up. */
  readonly isBehind: boolean
  /** Somebody searched while it caught up with what was said before. */
  readonly isUsed: boolean
}

export type CaughtUp = 'current' | 'damaged'

type SearchIndexEvent =
  /** Something was said, changed or removed. */
  | { readonly type: 'changed' }
  /** So much waits that a search would have too much to catch up with. */
  | { readonly type: 'filled' }
  /** Somebody searches. */
  | { readonly type: 'used' }
  | { readonly type: 'stop.requested' }

const params = ({ event }: { event: { output: CaughtUp } }) => event.output
const onDamage = [
  { guard: { type: 'isDamagedAgain', params }, target: 'failed' },
  { guard: { type: 'isDamaged', params }, target: 'discarding' },
] as const

export const searchIndexMachine = setup({
  types: { context: {} as SearchIndexContext, events: {} as SearchIndexEvent, tags: {} as 'settled' | 'due' | 'gathers' | 'reads' },
  actors: {
    /** Opens the file, or makes it; answers whether it begins from nothing. */
    open: requiredPromise<{ readonly isNew: boolean }, undefined>('open'),
    /**
     * Reads in small steps what there is as it begins, or finds the file not to be what was written. It ends however much is said meanwhile.
     */
    catchUp: requiredPromise<CaughtUp, undefined>('catchUp'),
    /** Removes the file. */
    discard: requiredPromise<void, undefined>('discard'),
  },
  guards: {
    isNew: (_, { isNew }: { isNew: boolean }) => isNew,
    isDamaged: (_, as: CaughtUp) => as === 'damaged',
    isBehind: ({ context }) => context.isBehind,
    isUsed: ({ context }) => context.isUsed,
    isDamagedAgain: ({ context }, as: CaughtUp) => as === 'damaged' && context.wasDiscarded,
  },
  actions: {
    noteDiscard: assign({ wasDiscarded: true }),
    forgive: assign({ wasDiscarded: false }),
    noteChange: assign({ isBehind: true }),
    noteUse: assign({ isUsed: true }),
    clear: assign({ isBehind: false, isUsed: false }),
  },
  delays: {
    rest: LIMITS.search.rest,
    gathering: LIMITS.search.gathering,
    longest: LIMITS.search.longest,
    retry: delayOf(LIMITS.search.retry),
  },
}).createMachine({
  id: 'search-index',
  context: { wasDiscarded: false, isBehind: false, isUsed: false },
  initial: 'resting',
  on: { 'stop.requested': '.stopped' },
  states: {
    resting: { on: { changed: 'opening', used: 'opening' }, after: { rest: 'opening' } },
    opening: {
      tags: 'due',
      invoke: {
        id: 'open',
        src: 'open',
        input: undefined,
        onDone: [{ guard: { type: 'isNew', params: ({ event }) => event.output }, target: 'rebuilding' }, { target: 'catchingUp' }],
        onError: 'failed',
      },
    },
    rebuilding: {
      tags: 'due',
      invoke: { id: 'rebuild', src: 'catchUp', input: undefined, onDone: [...onDamage, { target: 'catchingUp' }], onError: 'failed' },
    },
    catchingUp: {
      tags: 'reads',
      entry: 'clear',
      invoke: {
        id: 'catchUp',
        src: 'catchUp',
        input: undefined,
        onDone: [
          ...onDamage,
          { guard: 'isUsed', target: 'catchingUp', reenter: true },
          { guard: 'isBehind', target: 'gathering' },
          { target: 'current' },
        ],
        onError: 'failed',
      },
      on: { changed: { actions: 'noteChange' }, used: { actions: 'noteUse' } },
    },
    current: { tags: 'settled', entry: 'forgive', on: { changed: 'gathering', used: 'catchingUp' } },
    gathering: {
      tags: ['settled', 'gathers'],
      entry: 'clear',
      on: { used: 'catchingUp', filled: 'catchingUp' },
      after: { longest: 'catchingUp' },
      initial: 'quiet',
      states: {
        quiet: { on: { changed: 'busy' }, after: { gathering: '#search-index.catchingUp' } },
        /** More has changed; one change tells as much as many, so that nothing is set again for each. */
        busy: { tags: 'due', after: { gathering: 'quiet' } },
      },
    },
    discarding: {
      entry: 'noteDiscard',
      invoke: { id: 'discard', src: 'discard', input: undefined, onDone: 'opening', onError: 'failed' },
    },
    failed: { tags: 'settled', after: { retry: 'opening' } },
    stopped: { type: 'final' },
  },
})
