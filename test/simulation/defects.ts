/** Defects that are planted to see that the invariants find them: what stands around the runtime is exchanged, nothing of it is in the program. */
import type { Runtime } from '../../src/ports/facades.js'
import { TRUSTED_CALLER } from '../../src/protocol/caller.js'
import type { Store } from '../../src/store/store.js'
import type { Defect } from './life.js'

const sessionsOf = (change: (sessions: Runtime['sessions']) => Partial<Runtime['sessions']>): Defect => ({
  runtime: (runtime) => ({ ...runtime, sessions: { ...runtime.sessions, ...change(runtime.sessions) } }),
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
  'a cursor that skips one': () => ({
    runtime: (runtime) => ({
      ...runtime,
      events: {
        ...runtime.events,
        subscribe: (caller, query, sink) =>
          runtime.events.subscribe(
            caller,
            { ...query, ...(query.after !== undefined && query.after > 0 && { after: query.after + 1 }) },
            sink,
          ),
      },
    }),
  }),
  'a queue without a bound': () => tablesOf('queue', () => ({ bytes: () => 0 })),
  'an event that is sent twice': () => {
    const isDue = every(40)
    return {
      runtime: (runtime) => ({
        ...runtime,
        events: {
          ...runtime.events,
          subscribe: (caller, query, sink) =>
            runtime.events.subscribe(caller, query, {
              ...sink,
              write(frame) {
                sink.write(frame)
                if (isDue()) sink.write(frame)
              },
            }),
        },
      }),
    }
  },
  'runs that a start does not end': () => tablesOf('runs', () => ({ running: () => [] })),
  'answers that a start does not close': () => tablesOf('messages', () => ({ unfinished: () => [] })),
  'prompts that a start does not take up': () => tablesOf('queue', () => ({ sessionsWithRows: () => [] })),
}

/** The methods of a table that are exchanged. */
function tablesOf<Name extends 'queue' | 'messages' | 'interactions' | 'runs'>(
  name: Name,
  change: (table: Store[Name]) => Partial<Store[Name]>,
): Defect {
  return { store: (store) => ({ ...store, [name]: { ...store[name], ...change(store[name]) } }) }
}
