/** Defects that are planted to see that the invariants find them: what stands around the runtime is exchanged, nothing of it is in the program. */
import type { Runtime } from '../../src/ports/facades.js'
import { TRUSTED_CALLER } from '../../src/protocol/caller.js'
import type { Store } from '../../src/store/store.js'
import { GOAL_DEFECTS } from './defects-goals.js'
import { LODGER_DEFECTS } from './defects-lodger.js'
import { OUTSIDE_DEFECTS } from './defects-outside.js'
import { TENANT_DEFECTS } from './defects-tenants.js'
import { UNFITTED_DEFECTS } from './defects-unfitted.js'
import { WORK_DEFECTS } from './defects-work.js'
import type { Defect } from './life.js'

const sessionsOf = (change: (sessions: Runtime['sessions']) => Partial<Runtime['sessions']>): Defect => ({
  runtime: (runtime) => ({ ...runtime, sessions: { ...runtime.sessions, ...change(runtime.sessions) } }),
})

const eventsOf = (subscribe: (events: Runtime['events']) => Runtime['events']['subscribe']): Defect => ({
  runtime: (runtime) => ({ ...runtime, events: { ...runtime.events, subscribe: subscribe(runtime.events) } }),
})

/** Answers true once in so many calls. */
function every(times: number): () => boolean {
  let calls = 0
  return () => ++calls % times === 0
}

/** Each by its name: made anew for every history, as some of them count. */
export const DEFECTS: Readonly<Record<string, () => Defect>> = {
  'a sync that is missing': () => ({ losesSyncs: true }),
  'told before the commit, which then fails': () => {
    const isDue = every(9)
    return {
      store: (store) => ({
        ...store,
        transact(durability, change) {
          if (durability === 'power' || !isDue()) return store.transact(durability, change)
          let told: { readonly result: ReturnType<typeof change> } | undefined
          try {
            return store.transact(durability, () => {
              told = { result: change() }
              throw new Error('the commit fails')
            })
          } catch (error) {
            if (told === undefined) throw error
            return told.result
          }
        },
      }),
    }
  },
  'an abort that is lost': () => {
    const isDue = every(2)
    return sessionsOf((sessions) => ({
      abort: async (id, queue) => (isDue() ? sessions.status(TRUSTED_CALLER)[id] !== undefined : sessions.abort(id, queue)),
    }))
  },
  'a prompt that is claimed twice': () => {
    const isDue = every(3)
    return tablesOf('queue', (queue) => ({
      remove(id) {
        if (!isDue()) queue.remove(id)
      },
    }))
  },
  'a part that is left open': () =>
    tablesOf('messages', (messages) => ({
      putPart: (part) =>
        messages.putPart(
          part.type === 'tool' && part.state.status === 'error'
            ? { ...part, state: { status: 'running', input: {}, time: { start: 0 } } as never }
            : part,
        ),
    })),
  // It is told and not kept: the next start ends the request again.
  'an answer that is accepted twice': () => tablesOf('interactions', () => ({ settle: () => true })),
  'a cursor that skips one': () =>
    eventsOf(
      (events) => (caller, query, sink) =>
        events.subscribe(caller, { ...query, ...(query.after !== undefined && query.after > 0 && { after: query.after + 1 }) }, sink),
    ),
  'a queue without a bound': () => tablesOf('queue', () => ({ bytes: () => 0 })),
  'an event that is sent twice': () => {
    const isDue = every(40)
    return written((write, frame) => {
      write(frame)
      if (isDue()) write(frame)
    })
  },
  'an event that is left out': () => {
    const isDue = every(20)
    return written((write, frame) => {
      if (!isDue()) write(frame)
    })
  },
  'a frame that comes late': () => {
    const isDue = every(20)
    let late: Uint8Array | undefined
    return written((write, frame) => {
      if (late === undefined && isDue()) return void (late = frame)
      write(frame)
      if (late !== undefined) write(late)
      late = undefined
    })
  },
  'a page of the log that lacks its first': () => ({
    store: (store) => ({
      ...store,
      events: { ...store.events, after: (sequence, ...more) => store.events.after(sequence, ...more).slice(sequence > 0 ? 1 : 0) },
    }),
  }),
  'a prompt that is acknowledged and not admitted': () => {
    const isDue = every(2)
    return sessionsOf((sessions) => ({
      async submitPrompt(...given) {
        if (!isDue()) await sessions.submitPrompt(...given)
      },
    }))
  },
  'a refusal that counts as an answer': () => ({
    runtime: (runtime) => ({
      ...runtime,
      interactions: {
        ...runtime.interactions,
        replyPermission: (id, answer, ...more) => runtime.interactions.replyPermission(id, { ...answer, reply: 'once' }, ...more),
      },
    }),
  }),
  'a prompt that is admitted again': () => tablesOf('queue', () => ({ byMessageId: () => undefined })),
  'messages that are taken back and stay': () => tablesOf('messages', () => ({ conceal: () => undefined })),
  'a run whose end is lost': () => tablesOf('runs', () => ({ finish: () => undefined })),
  'a request that is withdrawn and stays': () =>
    tablesOf('interactions', (interactions) => ({
      settle: (id, state, response, at) => state === 'withdrawn' || interactions.settle(id, state, response, at),
    })),
  'an answer that does not wait for its sync': () => ({
    store: (store) => ({
      ...store,
      async sync() {
        store.sync().catch(() => undefined)
      },
    }),
  }),
  'a commit that fails and is told as done': () => ({
    store: (store) => ({
      ...store,
      transact(durability, change) {
        let told: { readonly result: ReturnType<typeof change> } | undefined
        try {
          return store.transact(durability, () => (told = { result: change() }).result)
        } catch (error) {
          if (told === undefined) throw error
          return told.result
        }
      },
    }),
  }),
  'runs that a start does not end': () => tablesOf('runs', () => ({ running: () => [] })),
  'answers that a start does not close': () => tablesOf('messages', () => ({ unfinished: () => [] })),
  'prompts that a start does not take up': () => tablesOf('queue', () => ({ sessionsWithRows: () => [] })),
  ...WORK_DEFECTS,
  ...UNFITTED_DEFECTS,
  ...LODGER_DEFECTS,
  ...TENANT_DEFECTS,
  ...OUTSIDE_DEFECTS,
  ...GOAL_DEFECTS,
}

/** How frames reach a reader. */
function written(pass: (write: (frame: Uint8Array) => void, frame: Uint8Array) => void): Defect {
  return eventsOf(
    (events) => (caller, query, sink) =>
      events.subscribe(caller, query, { ...sink, write: (frame) => pass((each) => sink.write(each), frame) }),
  )
}

/** The methods of a table that are exchanged. */
function tablesOf<Name extends 'queue' | 'messages' | 'interactions' | 'runs'>(
  name: Name,
  change: (table: Store[Name]) => Partial<Store[Name]>,
): Defect {
  return { store: (store) => ({ ...store, [name]: { ...store[name], ...change(store[name]) } }) }
}
