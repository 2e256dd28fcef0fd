// Holds subsystems d.9.
import { type AnyEventObject, createActor, fromCallback, fromPromise, SimulatedClock } from 'xstate'
import { describe, expect, it } from 'vitest'
import { workerMachine } from '../../../src/machines/worker/worker.machine.js'
import { explore, missing } from '../paths.js'

const turns = async () => {
  for (let turn = 0; turn < 10; turn++) await new Promise<void>((resolve) => void setImmediate(resolve))
}
const never = () => new Promise<never>(() => undefined)

/** A worker with effects that end when the test says so. */
async function worker({ starts = true, exitCode = 0 }: { starts?: boolean; exitCode?: 0 | 1 } = {}) {
  const clock = new SimulatedClock()
  const began: string[] = []
  let quiet: () => void = () => undefined
  const actors = {
    start: fromPromise<void, void>(async () => {
      began.push('start')
      if (!starts) throw new Error('the port is taken')
    }),
    watch: fromCallback<AnyEventObject, void>(() => void began.push('watch')),
    quiet: fromPromise<void, void>(() => {
      began.push('quiet')
      return new Promise<void>((resolve) => (quiet = resolve))
    }),
    stop: fromPromise<0 | 1, void>(async () => {
      began.push('stop')
      return exitCode
    }),
  }
  const actor = createActor(workerMachine.provide({ actors }), { clock, input: { patience: 15_000 } }).start()
  await turns()
  const wait = async (ms: number) => {
    clock.increment(ms)
    await turns()
  }
  return { actor, began, wait, quiet: () => quiet(), output: () => actor.getSnapshot().output, tags: () => [...actor.getSnapshot().tags] }
}

describe('a worker', () => {
  it('that is told to stop lets runs end, and stops then', async () => {
    const { actor, began, quiet, output, tags } = await worker()
    expect([began, tags()]).toEqual([['start', 'watch'], []])
    actor.send({ type: 'stop.requested' })
    await turns()
    expect([began.at(-1), tags()]).toEqual(['quiet', ['draining', 'ending']])
    quiet()
    await turns()
    expect([began.at(-1), output()]).toEqual(['stop', { why: 'stopped', exitCode: 0 }])
  })

  it('waits for runs no longer than it has: its patience after a stop, and what is left before its expiry', async () => {
    const stopped = await worker()
    stopped.actor.send({ type: 'stop.requested' })
    await stopped.wait(14_999)
    expect(stopped.began.at(-1)).toBe('quiet')
    await stopped.wait(1)
    expect(stopped.output()).toEqual({ why: 'stopped', exitCode: 0 })
    const expiring = await worker()
    expiring.actor.send({ type: 'expiry.near', window: 3000 })
    await expiring.wait(3000)
    expect(expiring.output()).toEqual({ why: 'expired', exitCode: 0 })
  })

  it('is gone at its expiry although it was told to stop before', async () => {
    const { actor, wait, output } = await worker()
    actor.send({ type: 'stop.requested' })
    await wait(1000)
    actor.send({ type: 'expiry.near', window: 2000 })
    await wait(1999)
    expect(output()).toBeUndefined()
    await wait(1)
    expect(output()).toEqual({ why: 'expired', exitCode: 0 })
  })

  it('ends with its service, and with the exit code of what became of it', async () => {
    const { actor, output } = await worker()
    actor.send({ type: 'service.ended', exitCode: 1 })
    expect(output()).toEqual({ why: 'ended', exitCode: 1 })
    expect((await worker({ starts: false })).output()).toEqual({ why: 'ended', exitCode: 1 })
    const failing = await worker({ exitCode: 1 })
    failing.actor.send({ type: 'expiry.near', window: 0 })
    await failing.wait(0)
    expect(failing.output()).toEqual({ why: 'expired', exitCode: 1 })
  })

  it('takes every way of its drawing', () => {
    const done = (actorId: string, output?: unknown) => ({ type: `xstate.done.actor.${actorId}`, output, actorId })
    const error = (actorId: string) => ({ type: `xstate.error.actor.${actorId}`, error: new Error('broken'), actorId })
    const explored = explore(
      workerMachine.provide({
        actors: {
          start: fromPromise<void, void>(never),
          quiet: fromPromise<void, void>(never),
          stop: fromPromise<0 | 1, void>(never),
          watch: fromCallback<AnyEventObject, void>(() => undefined),
        },
      }),
      { patience: 15_000 },
      [
        { type: 'stop.requested' },
        { type: 'expiry.near', window: 5 } as never,
        { type: 'service.ended', exitCode: 0 } as never,
        { type: 'xstate.after.window.worker.alive.draining' },
        done('start'),
        done('quiet'),
        done('stop', 0),
        ...['start', 'quiet', 'stop'].map(error),
      ],
    )
    expect(missing(explored)).toEqual([])
  })
})
