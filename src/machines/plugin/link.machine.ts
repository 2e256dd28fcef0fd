/**
 * The conversation with one plugin process: open, taken out of service, over (plugin-protocol §3.6, §4).
 *
 * I1 The first failure of an open link is told once; one of a link that is retired ends it and is told to nobody.
 */
import { emit, setup } from 'xstate'

type LinkEvent =
  | { readonly type: 'retire.requested' }
  /** A rule was broken, or the plugin does not read. */
  | { readonly type: 'broken'; readonly reason: string }
  /** The output of the plugin is over. */
  | { readonly type: 'output.ended'; readonly reason: string }

type LinkWord = { readonly type: 'retired' } | { readonly type: 'closed' | 'failed'; readonly reason: string }

const tell = { type: 'tellClosed', params: ({ event }: { event: { reason: string } }) => event.reason } as const
const tellFailure = { type: 'tellFailed', params: ({ event }: { event: { reason: string } }) => event.reason } as const

export const linkMachine = setup({
  types: { events: {} as LinkEvent, emitted: {} as LinkWord, tags: {} as 'open' | 'retired' | 'closed' },
  actions: {
    tellRetired: emit({ type: 'retired' }),
    tellClosed: emit((_, reason: string) => ({ type: 'closed' as const, reason })),
    tellFailed: emit((_, reason: string) => ({ type: 'failed' as const, reason })),
  },
}).createMachine({
  id: 'link',
  initial: 'open',
  states: {
    open: {
      tags: ['open'],
      on: {
        'retire.requested': { target: 'retired' },
        broken: { target: 'closed', actions: [tell, tellFailure] },
        'output.ended': { target: 'closed', actions: tell },
      },
    },
    /** Nothing new begins; what was called before is still answered. */
    retired: {
      tags: ['retired'],
      entry: 'tellRetired',
      on: { broken: { target: 'closed', actions: tell }, 'output.ended': { target: 'closed', actions: tell } },
    },
    closed: { tags: ['closed'], type: 'final' },
  },
})
