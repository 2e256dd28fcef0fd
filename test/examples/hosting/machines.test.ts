/** Charts of the hosting example: the worker of a workspace, and the lease of a controller. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type AnyStateMachine, type AnyStateNode, createActor, type EventFromLogic, fromPromise, SimulatedClock } from 'xstate'
import { LEASE_PARTS, leaseMachine } from '../../../examples/hosting/src/machines/lease.machine.js'
import { type Finding, type Step, StepError, WORKER_DELAYS, workerMachine } from '../../../examples/hosting/src/machines/worker.machine.js'

type Effect = keyof (typeof workerMachine)['implementations']['actors']
type Answers = Partial<Record<Effect, readonly unknown[]>>

/** Plays the chart: each effect takes its next answer, an error is thrown; what is asked for beyond them never comes. */
function play(answers: Answers) {
  const clock = new SimulatedClock()
  const asked: string[] = []
  const left = new Map(Object.entries(answers).map(([name, list]) => [name, [...(list ?? [])]]))
  const effect = (name: Effect) =>
    fromPromise<never, undefined>(() => {
      asked.push(name)
      const list = left.get(name)
      if (list === undefined || list.length === 0) return new Promise<never>(() => undefined)
      const answer = list.shift()
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer as never)
    })
  const actors = Object.fromEntries(
    (['decide', 'run', 'verify', 'inspect', 'stop', 'advance', 'destroy'] as const).map((name) => [name, effect(name)]),
  )
  const actor = createActor(workerMachine.provide({ actors }), { clock, input: { inspectAfter: INSPECT } })
  actor.start()
  return {
    actor,
    clock,
    asked,
    send: (event: EventFromLogic<typeof workerMachine>) => actor.send(event),
    /** Everything that can happen without time passing has happened. */
    async settled() {
      for (let turn = 0; turn < 50; turn++) await Promise.resolve()
      return actor.getSnapshot().value
    },
  }
}

const INSPECT = 1000
const fenced = new StepError('fenced', 'another has it')
const unusable = new StepError('unusable', 'somebody else')
const step = (wanted: Step) => ({ decide: [wanted] })

describe('the worker of a workspace', () => {
  test('is used after it was asked who it is, and not before', async () => {
    const { actor, asked, settled } = play({ ...step('run'), run: [{ isReady: true }] })
    expect(await settled()).toBe('verifying')
    expect(actor.getSnapshot().hasTag('awake')).toBe(false)
    expect(asked).toEqual(['decide', 'run', 'verify'])
  })

  test('is looked at again and again while it comes up, and then slept between two inspections', async () => {
    const { clock, asked, settled } = play({
      ...step('run'),
      run: [{ isReady: false }, { isReady: true }],
      verify: [undefined],
      inspect: ['well'],
    })
    expect(await settled()).toBe('starting')
    clock.increment(WORKER_DELAYS.poll)
    expect(await settled()).toBe('awake')
    clock.increment(INSPECT)
    expect(await settled()).toBe('awake')
    expect(asked).toEqual(['decide', 'run', 'run', 'verify', 'inspect'])
  })

  test.each<[Finding, string]>([
    ['gone', 'advance'],
    ['expiring', 'advance'],
    ['idle', 'stop'],
    ['asked', 'decide'],
  ])('that is found %s: %s', async (finding, effect) => {
    const { clock, asked, settled } = play({ ...step('run'), run: [{ isReady: true }], verify: [undefined], inspect: [finding] })
    await settled()
    clock.increment(INSPECT)
    await settled()
    expect(asked.at(-1)).toBe(effect)
  })

  test('that is silent for a while is busy; for long, it is replaced', async () => {
    const silences = Array.from({ length: 11 }, () => 'silent')
    const { clock, asked, settled } = play({ ...step('run'), run: [{ isReady: true }], verify: [undefined], inspect: silences })
    for (let look = 0; look < 10; look++) {
      expect(await settled()).toBe('awake')
      clock.increment(INSPECT)
    }
    expect(await settled()).toBe('awake')
    clock.increment(INSPECT)
    expect(await settled()).toBe('replacing')
    expect(asked.filter((name) => name === 'inspect')).toHaveLength(11)
  })

  test('that never comes up is replaced after growing pauses', async () => {
    const { clock, asked, settled } = play({ decide: ['run', 'run'], run: [unusable, unusable], advance: [undefined, undefined] })
    expect(await settled()).toBe('pausing')
    expect(asked).toEqual(['decide', 'run', 'advance', 'run', 'advance'])
    clock.increment(WORKER_DELAYS.backoff.first * WORKER_DELAYS.backoff.factor)
    expect(await settled()).toBe('running')
  })

  test('that is somebody else is replaced by the next generation', async () => {
    const { asked, settled } = play({ ...step('run'), run: [{ isReady: true }], verify: [unusable], advance: [undefined] })
    expect(await settled()).toBe('running')
    expect(asked).toEqual(['decide', 'run', 'verify', 'advance', 'run'])
  })

  test.each<[string, Answers]>([
    ['decide', { decide: [fenced] }],
    ['run', { ...step('run'), run: [fenced] }],
    ['verify', { ...step('run'), run: [{ isReady: true }], verify: [fenced] }],
    ['stop', { ...step('stop'), stop: [fenced] }],
    ['advance', { ...step('replace'), advance: [fenced] }],
    ['destroy', { ...step('destroy'), destroy: [fenced] }],
  ])('is left when another owns it, as %s notices', async (_, answers) => {
    const { actor, settled } = play(answers)
    expect(await settled()).toBe('left')
    expect(actor.getSnapshot().status).toBe('done')
  })

  test('that fails is tried again after growing pauses, and at once when somebody asks', async () => {
    const broken = new Error('no answer')
    const { clock, asked, settled, send } = play({ decide: [broken, broken, 'run'] })
    expect(await settled()).toBe('backing')
    clock.increment(WORKER_DELAYS.backoff.first)
    expect(await settled()).toBe('backing')
    clock.increment(WORKER_DELAYS.backoff.first)
    expect(await settled()).toBe('backing')
    send({ type: 'intent.changed' })
    expect(await settled()).toBe('running')
    expect(asked).toEqual(['decide', 'decide', 'decide', 'run'])
  })

  test.each<Step>(['rest', 'destroy'])('has nothing to do any more after %s', async (wanted) => {
    const { actor, settled } = play({ ...step(wanted), destroy: [undefined] })
    expect(await settled()).toBe('resting')
    expect(actor.getSnapshot().status).toBe('done')
  })
})

const LASTS = 5000
const RENEW = LEASE_PARTS.renew * LASTS
const AGAIN = LEASE_PARTS.again * LASTS

describe('the lease of a controller', () => {
  function hold(renewals: readonly (boolean | Error)[]) {
    const clock = new SimulatedClock()
    const asked: string[] = []
    const left = [...renewals]
    const machine = leaseMachine.provide({
      actors: {
        join: fromPromise(() => {
          asked.push('join')
          return Promise.resolve(`name-${asked.filter((each) => each === 'join').length}`)
        }),
        renew: fromPromise<boolean, { readonly holder: string }>(({ input }) => {
          asked.push(`renew ${input.holder}`)
          const next = left.shift()
          return next instanceof Error ? Promise.reject(next) : next === undefined ? new Promise(() => undefined) : Promise.resolve(next)
        }),
        leave: fromPromise<void, { readonly holder: string }>(({ input }) => {
          asked.push(`leave ${input.holder}`)
          return Promise.resolve()
        }),
      },
    })
    const actor = createActor(machine, { clock, input: { controller: 'one', lasts: LASTS } })
    actor.start()
    const settled = async () => {
      for (let turn = 0; turn < 50; turn++) await Promise.resolve()
      return { holder: actor.getSnapshot().context.holder, drives: actor.getSnapshot().hasTag('driving') }
    }
    return { actor, clock, asked, settled }
  }

  test('is renewed in time', async () => {
    const { clock, asked, settled } = hold([true, true])
    expect(await settled()).toEqual({ holder: 'name-1', drives: true })
    clock.increment(RENEW)
    await settled()
    clock.increment(RENEW)
    expect(await settled()).toEqual({ holder: 'name-1', drives: true })
    expect(asked).toEqual(['join', 'renew name-1', 'renew name-1'])
  })

  test('that has ended is lost, and the next has another name', async () => {
    const { clock, settled } = hold([false])
    await settled()
    clock.increment(RENEW)
    expect(await settled()).toEqual({ holder: 'name-2', drives: true })
  })

  test('that cannot be renewed is doubted, and lost when it may have ended', async () => {
    const down = new Error('the database is away')
    const { clock, settled } = hold(Array.from({ length: 100 }, () => down))
    await settled()
    clock.increment(RENEW)
    expect(await settled()).toEqual({ holder: 'name-1', drives: true })
    for (let waited = RENEW; waited < LASTS; waited += AGAIN) {
      clock.increment(AGAIN)
      await settled()
    }
    expect(await settled()).toEqual({ holder: 'name-2', drives: true })
  })

  test('is given back at the end', async () => {
    const { actor, asked, settled } = hold([])
    await settled()
    actor.send({ type: 'stop.requested' })
    expect(await settled()).toEqual({ holder: undefined, drives: false })
    expect(asked).toEqual(['join', 'leave name-1'])
  })
})

describe('docs/hosting.md', () => {
  const page = readFileSync(new URL('../../../docs/hosting.md', import.meta.url), 'utf8')

  test.each<[string, AnyStateMachine]>([
    ['worker', workerMachine],
    ['lease', leaseMachine],
  ])('draws the chart of %s as it is', (name, machine) => {
    const drawn = new RegExp(`<!-- chart ${name} -->\\n\`\`\`mermaid\\n([^\`]*)`).exec(page)?.[1] ?? ''
    const arrows = [...drawn.matchAll(/^\s*(\w+) --> (\w+)$/gm)].map(([, from, to]) => `${from} --> ${to}`)
    // What leads out of every state is said beside the drawing.
    const all = arrowsOf(machine.root).filter((arrow) => !arrow.startsWith(`${name} -->`))
    expect(arrows.toSorted()).toEqual([...new Set(all)].toSorted())
  })
})

function arrowsOf(node: AnyStateNode): string[] {
  const leaving = [...[...node.transitions.values()].flat(), ...(node.always ?? [])]
  const own = leaving.flatMap(({ target }) => (target ?? []).map((to) => `${node.key} --> ${to.key}`))
  return [...own, ...Object.values(node.states).flatMap(arrowsOf)]
}
