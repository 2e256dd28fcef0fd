// Actors below a machine that is laid out are made here (`child.ts`): nobody who watches can tell them from those of XState.
import { assign, createActor, fromCallback, fromPromise, sendTo, setup, SimulatedClock, stopChild } from 'xstate'
import { describe, expect, it } from 'vitest'
import { fromEffect } from '../../src/kernel/machine/effect.js'
import { laidOut } from '../../src/kernel/machine/laid-out.js'
import { plain } from '../machines/stepped.js'

const HEARD: unknown[] = []

const inner = setup({ actors: { soon: fromEffect(() => 'at once') } }).createMachine({
  id: 'inner',
  initial: 'asking',
  output: () => 'inner ends',
  states: {
    asking: { invoke: { id: 'soon', src: 'soon', onDone: { target: 'waiting' } } },
    waiting: { after: { 50: { target: 'over' } } },
    over: { type: 'final' },
  },
})

const outer = setup({
  types: { context: {} as { readonly told: readonly unknown[] } },
  actors: {
    inner,
    late: fromPromise(async () => 'later'),
    refused: fromPromise(async () => Promise.reject(new Error('refused'))),
    thrown: fromEffect(() => {
      throw new Error('thrown')
    }),
    never: fromPromise(
      ({ signal }) =>
        new Promise(() => {
          signal.addEventListener('abort', () => HEARD.push('aborted'), { once: true })
        }),
    ),
    work: fromCallback<{ type: string }>(({ receive, sendBack }) => {
      receive((event) => {
        HEARD.push(event.type)
        sendBack({ type: 'heard' })
      })
      return () => void HEARD.push('disposed')
    }),
  },
  actions: { note: assign({ told: ({ context }, what: unknown) => [...context.told, what] }) },
}).createMachine({
  id: 'outer',
  context: { told: [] },
  initial: 'late',
  on: { 'xstate.done.actor.*': {}, 'xstate.error.actor.*': {} },
  states: {
    late: {
      invoke: { id: 'late', src: 'late', onDone: { target: 'refused', actions: { type: 'note', params: 'late' } } },
    },
    refused: { invoke: { id: 'refused', src: 'refused', onError: { target: 'thrown', actions: { type: 'note', params: 'refused' } } } },
    thrown: { invoke: { id: 'thrown', src: 'thrown', onError: { target: 'working', actions: { type: 'note', params: 'thrown' } } } },
    working: {
      invoke: [
        { id: 'work', src: 'work' },
        { id: 'never', src: 'never' },
      ],
      entry: sendTo('work', { type: 'begin' }),
      on: { heard: { target: 'within', actions: stopChild('never') } },
    },
    within: {
      invoke: { id: 'inner', src: 'inner', onDone: { target: 'over', actions: { type: 'note', params: 'within' } } },
    },
    over: { type: 'final' },
  },
})

/** All that a watcher is told from the start of a machine to its end, and what its effects have seen. */
async function toldOf(machine: typeof outer): Promise<unknown> {
  HEARD.length = 0
  const records: unknown[] = []
  const clock = new SimulatedClock()
  const actor = createActor(machine, { clock, inspect: (event) => void records.push(...plain(event)) })
  const ended = new Promise<void>((resolve) => void actor.subscribe({ complete: resolve }))
  const waits = new Promise<void>((resolve) => {
    const { unsubscribe } = actor.system.inspect({
      next: (event) => {
        if (event.type !== '@xstate.snapshot' || !('value' in event.snapshot) || event.snapshot.value !== 'waiting') return
        unsubscribe()
        resolve()
      },
    })
  })
  actor.start()
  await waits
  clock.increment(50)
  await ended
  return { records, heard: [...HEARD], told: actor.getSnapshot().context.told }
}

describe('an actor below a machine that is laid out', () => {
  it('ends, fails, is sent to and stopped as one of XState', async () => {
    const wanted = await toldOf(outer)
    const found = await toldOf(laidOut(outer.provide({ actors: { inner: laidOut(inner.provide({})) } })))
    expect(found).toEqual(wanted)
    expect(await toldOf(laidOut(outer.provide({})))).toEqual(wanted) // the machine below is interpreted
    expect(wanted).toMatchObject({ heard: ['begin', 'disposed', 'aborted'], told: ['late', 'refused', 'thrown', 'within'] })
  })

  it('can be watched, and tells that it has ended', async () => {
    const machine = laidOut(inner.provide({ actors: { soon: fromEffect(async () => 'seen') } }))
    const actor = createActor(machine, { clock: new SimulatedClock() }).start()
    const child = actor.getSnapshot().children['soon']
    const ends = new Promise<unknown>((resolve) => child?.subscribe({ next: (snapshot) => resolve(snapshot), complete: () => undefined }))
    expect(await ends).toMatchObject({ status: 'done', output: 'seen' })
    expect(actor.getSnapshot().children).toEqual({})
    actor.stop()
  })
})
