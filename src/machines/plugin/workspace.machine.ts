/**
 * One workspace in use and the plugins it may have: when it is looked at, and when it is forgotten (plugin-protocol §3.5).
 *
 * I1 One look at a time; what changes meanwhile leads to one more look, and so does a look that failed.
 * I2 A look happens when something changed. One that is `due` happens when the workspace is used next.
 * I3 A workspace that nobody used for `idleTeardown` is forgotten; so is a session that was visited only and not for as long.
 */
import { assign, emit, enqueueActions, setup, stateIn } from 'xstate'
import { LIMITS } from '../../protocol/limits.js'
import { delayOf } from '../../protocol/retry.js'
import { requiredCallback, requiredPromise } from '../required.js'

export interface WorkspaceInput {
  readonly directory: string
}

export interface Looked {
  /** Plugin directories that are not watched: because they do not exist, or because they cannot be. */
  readonly unwatched: readonly string[]
  /** There are packages with an instance for each session. */
  readonly perSession: boolean
}

/** The end of a session is told by `session.ended`, unless it is a visit. */
export interface SessionUse {
  readonly sessionId: string
  readonly isVisit: boolean
}

interface WorkspaceContext extends WorkspaceInput, Looked {
  /** Sessions that are awake or were visited. */
  readonly sessions: readonly string[]
  /** Those of them that were visited only. */
  readonly visits: readonly string[]
}

type WorkspaceEvent =
  | { readonly type: 'used'; readonly session: SessionUse | undefined }
  | { readonly type: 'session.ended'; readonly sessionId: string }
  /** By a timer of this machine. */
  | { readonly type: 'visit.expired'; readonly sessionId: string }
  | { readonly type: 'look.requested' }
  /** Something that the plugins of the workspace depend on. */
  | { readonly type: 'files.changed' }
  | { readonly type: 'watch.lost'; readonly root: string }
  | { readonly type: 'stop.requested' }

const noteUse = { type: 'noteUse', params: ({ event }: { event: { session: SessionUse | undefined } }) => event.session } as const
const sessionId = { params: ({ event }: { event: { sessionId: string } }) => event.sessionId } as const
const noteLook = { type: 'noteLook', params: ({ event }: { event: { output: Looked } }) => event.output } as const

export const workspaceMachine = setup({
  types: {
    input: {} as WorkspaceInput,
    context: {} as WorkspaceContext,
    events: {} as WorkspaceEvent,
    /** Nobody visits the session any more. */
    emitted: {} as { readonly type: 'session.idle'; readonly sessionId: string },
    tags: {} as 'due' | 'looking' | 'idle',
  },
  actors: {
    /** Holds the watches of the plugin directories; reports `files.changed` and `watch.lost`. */
    watches: requiredCallback<WorkspaceInput>('watches'),
    /** Watches what is not watched yet, then looks and tells the packages. */
    look: requiredPromise<Looked, WorkspaceInput>('look'),
  },
  guards: {
    isVacant: ({ context }) => context.sessions.length === 0,
    isOccupied: ({ context }) => context.sessions.length > 0,
    isLooking: stateIn({ tracked: { files: 'looking' } }),
    isOutdated: stateIn({ tracked: { files: { looking: 'outdated' } } }),
  },
  actions: {
    noteUse: enqueueActions(({ context: { sessions, visits }, enqueue }, session: SessionUse | undefined) => {
      if (session === undefined) return
      const { sessionId: id, isVisit } = session
      const isKnown = sessions.includes(id)
      if (isVisit && isKnown && !visits.includes(id)) return
      const others = visits.filter((other) => other !== id)
      enqueue.cancel(visitOf(id))
      enqueue.assign({ sessions: isKnown ? sessions : [...sessions, id], visits: isVisit ? [...others, id] : others })
      if (isVisit) enqueue.raise({ type: 'visit.expired', sessionId: id }, { id: visitOf(id), delay: 'idleTeardown' })
    }),
    forgetSession: enqueueActions(({ context: { sessions, visits }, enqueue }, id: string) => {
      enqueue.cancel(visitOf(id))
      enqueue.assign({ sessions: sessions.filter((other) => other !== id), visits: visits.filter((other) => other !== id) })
    }),
    tellIdle: emit((_, id: string) => ({ type: 'session.idle' as const, sessionId: id })),
    noteLook: assign((_, { unwatched, perSession }: Looked) => ({ unwatched, perSession })),
    noteLoss: assign({ unwatched: ({ context }, root: string) => [...context.unwatched, root] }),
  },
  delays: {
    debounce: LIMITS.plugins.lookDebounce,
    freshness: LIMITS.plugins.relook,
    recheck: delayOf(LIMITS.plugins.recheck),
    idleTeardown: LIMITS.plugins.idleTeardown,
  },
}).createMachine({
  id: 'workspace',
  context: ({ input: { directory } }) => ({ directory, sessions: [], visits: [], unwatched: [], perSession: false }),
  initial: 'tracked',
  states: {
    tracked: {
      type: 'parallel',
      invoke: { id: 'watches', src: 'watches', input: ({ context: { directory } }) => ({ directory }) },
      on: {
        'stop.requested': { target: 'stopped' },
        'watch.lost': { actions: { type: 'noteLoss', params: ({ event }) => event.root } },
      },
      states: {
        files: {
          initial: 'unused',
          on: { 'look.requested': { target: '.looking' }, 'files.changed': { target: '.dirty' } },
          states: {
            /** Nobody has looked yet. */
            unused: { tags: ['due'], on: { 'files.changed': {} } },
            looking: {
              tags: ['looking'],
              invoke: {
                id: 'look',
                src: 'look',
                input: ({ context: { directory } }) => ({ directory }),
                onDone: [
                  { guard: 'isOutdated', target: 'looking', reenter: true, actions: noteLook },
                  { target: 'watched', actions: noteLook },
                ],
                onError: { target: 'failing' },
              },
              initial: 'current',
              states: {
                current: { on: { 'files.changed': { target: 'outdated' }, 'look.requested': { target: 'outdated' } } },
                /** Something changed since the look began. */
                outdated: { on: { 'files.changed': {}, 'look.requested': {} } },
              },
            },
            watched: { after: { freshness: { target: 'stale' } } },
            /** A watch may have missed something. */
            stale: { tags: ['due'] },
            dirty: { tags: ['due'], after: { debounce: { target: 'looking' } }, on: { 'files.changed': {} } },
            /** The last look failed. */
            failing: { after: { recheck: { target: 'dirty' } } },
          },
        },
        sessions: {
          initial: 'none',
          states: {
            none: {
              always: { guard: 'isOccupied', target: 'some' },
              after: {
                idleTeardown: [{ guard: 'isLooking', target: 'none', reenter: true }, { target: '#workspace.idle' }],
              },
              on: { used: { target: 'none', reenter: true, actions: noteUse } },
            },
            some: {
              always: { guard: 'isVacant', target: 'none' },
              on: {
                used: { actions: noteUse },
                'session.ended': { actions: { type: 'forgetSession', ...sessionId } },
                'visit.expired': {
                  actions: [
                    { type: 'forgetSession', ...sessionId },
                    { type: 'tellIdle', ...sessionId },
                  ],
                },
              },
            },
          },
        },
      },
    },
    /** Forgotten; what ran for it is retired. */
    idle: { tags: ['idle'], type: 'final' },
    stopped: { type: 'final' },
  },
})

function visitOf(sessionId: string): string {
  return `visit:${sessionId}`
}
