// Holds subsystems a.9.
import { createActor, fromPromise, SimulatedClock, transition } from 'xstate'
import { describe, expect, it } from 'vitest'
import {
  activationMachine,
  type ActivationEvent,
  type ActivationInput,
  type ClaimAnswer,
  type ClaimInput,
} from '../../../src/machines/workflows/activation.machine.js'
import { latestOccurrence } from '../../../src/machines/workflows/schedule/occurrence.js'
import type { WorkflowSchedule } from '../../../src/protocol/workflow/workflow.js'
import { explore, missing } from '../paths.js'

const HOUR = 3_600_000
const START = Date.parse('2026-01-01T00:00Z')
const hourly: WorkflowSchedule = { frequency: 'hourly', interval: 1, timezone: 'UTC', minute: 0 }
const once: WorkflowSchedule = { frequency: 'once', interval: 1, timezone: 'UTC', at: '2026-01-01T03:00:00Z' }

const saved = (hours: number, hash: string, active = true, schedule = hourly): ActivationEvent => ({
  type: 'file.saved',
  at: START + hours * HOUR,
  hash,
  active,
  schedule,
})
const told = (type: 'activate.requested' | 'pause.requested' | 'clock.checked', hours: number): ActivationEvent => ({
  type,
  at: START + hours * HOUR,
})
const lost = (hours: number): ActivationEvent => ({ type: 'file.lost', at: START + hours * HOUR, reason: 'no id' })
const at = (hours: number) => START + hours * HOUR

/** An activation whose claims are answered by the test. */
function start(stored?: ActivationInput['stored'], hours = 0) {
  const claims: (ClaimInput & { answer(given: ClaimAnswer): Promise<void>; fail(): Promise<void> })[] = []
  const clock = new SimulatedClock()
  const machine = activationMachine.provide({
    actors: {
      claim: fromPromise<ClaimAnswer, ClaimInput>(
        ({ input }) =>
          new Promise((resolve, reject) => {
            const settled = (settle: () => void) => {
              settle()
              return new Promise<void>((done) => void setImmediate(done))
            }
            claims.push({
              ...input,
              answer: (given) => settled(() => resolve(given)),
              fail: () => settled(() => reject(new Error('busy'))),
            })
          }),
      ),
    },
  })
  const actor = createActor(machine, { input: { activationId: 'wfa_1', at: at(hours), ...(stored && { stored }) }, clock })
  actor.start()
  return {
    claims,
    clock,
    send: (...events: ActivationEvent[]) => events.forEach((event) => actor.send(event)),
    state: () => actor.getSnapshot().value,
    context: () => actor.getSnapshot().context,
    isActive: () => actor.getSnapshot().hasTag('active'),
    /** The first hour at which it would claim if the clock were looked at then. */
    due() {
      const now = actor.getSnapshot()
      const isDue = (hour: number) => transition(machine, now, { type: 'clock.checked', at: at(hour) })[0].matches('claiming')
      return Array.from({ length: 24 }, (_, step) => Math.floor((now.context.at - START) / HOUR) + step).find(isDue)
    },
  }
}

const claimed = (hours: number): ClaimAnswer => ({ type: 'claimed', at: at(hours) })

describe('an activation', () => {
  it('is inactive until its file says otherwise', () => {
    const one = start()
    expect([one.state(), one.isActive()]).toEqual(['inactive', false])
    one.send(saved(0.5, 'a', false))
    expect(one.state()).toBe('inactive')
    one.send(saved(0.6, 'b'))
    expect([one.state(), one.due()]).toEqual(['waiting', 1])
  })

  it('claims an occurrence once, and waits for the next', async () => {
    const one = start()
    one.send(saved(0.5, 'a'), told('clock.checked', 0.9))
    expect([one.state(), one.claims.length]).toEqual(['waiting', 0])
    one.send(told('clock.checked', 1))
    expect(one.claims[0]).toMatchObject({ activationId: 'wfa_1', scheduledAt: at(1) })
    await one.claims[0]?.answer(claimed(1))
    expect([one.state(), one.due(), one.context().lastScheduledAt]).toEqual(['waiting', 2, at(1)])
    one.send(told('clock.checked', 1.5))
    expect(one.claims).toHaveLength(1)
  })

  it('drops an occurrence that was refused', async () => {
    const one = start()
    one.send(saved(0.5, 'a'), told('clock.checked', 1))
    await one.claims[0]?.answer({ type: 'refused', at: at(1) })
    expect([one.state(), one.due()]).toEqual(['waiting', 2])
  })

  it('runs once, the latest, after it was away for many occurrences', async () => {
    const one = start(
      {
        file: { hash: 'a', active: true, schedule: hourly },
        active: true,
        activatedAt: at(0.5),
        notBefore: at(0.5),
        lastScheduledAt: at(1),
      },
      1000.5,
    )
    expect(one.claims.map(({ scheduledAt }) => scheduledAt)).toEqual([at(1000)])
    await one.claims[0]?.answer(claimed(1000.5))
    expect([one.state(), one.due()]).toEqual(['waiting', 1001])
  })

  it('repeats nothing when the clock goes back', async () => {
    const one = start()
    one.send(saved(0.5, 'a'), told('clock.checked', 3.1))
    await one.claims[0]?.answer(claimed(3.1))
    one.send(told('clock.checked', 0.7), told('clock.checked', 3.2))
    expect([one.state(), one.due(), one.claims.length]).toEqual(['waiting', 4, 1])
  })

  it('runs nothing that was due before it was activated', () => {
    const one = start()
    one.send(saved(3.5, 'a', true, once))
    expect([one.state(), one.isActive(), one.claims.length]).toEqual(['completed', true, 0])
  })

  it('never runs again what runs once, but a new date is a new one', async () => {
    const one = start()
    one.send(saved(0.5, 'a', true, once), told('clock.checked', 3))
    await one.claims[0]?.answer(claimed(3))
    expect(one.state()).toBe('completed')
    one.send(saved(4, 'b', true, once), told('pause.requested', 5), told('activate.requested', 6))
    expect([one.state(), one.claims.length]).toEqual(['completed', 1])
    one.send(saved(7, 'c', true, { ...once, at: '2026-01-01T09:00:00Z' }))
    expect([one.state(), one.due()]).toEqual(['waiting', 9])
  })

  it('counts occurrences of a new schedule from the moment it was written', () => {
    const one = start()
    one.send(saved(0.5, 'a', true, { ...hourly, minute: 59 }), saved(1.5, 'b', true, hourly))
    expect([one.state(), one.due(), one.claims.length]).toEqual(['waiting', 2, 0])
  })

  it('keeps occurrences that are due when only the prompt is another one', () => {
    const one = start()
    one.send(saved(0.5, 'a'), saved(1.1, 'b'))
    expect(one.claims).toMatchObject([{ scheduledAt: at(1) }])
    expect(one.context().file).toMatchObject({ hash: 'b' })
  })

  it('is paused and activated by request until the file changes', () => {
    const one = start()
    one.send(saved(0.5, 'a'), told('pause.requested', 0.6))
    expect(one.state()).toBe('paused')
    one.send(saved(0.7, 'a'))
    expect(one.state()).toBe('paused')
    one.send(saved(0.8, 'b'))
    expect(one.state()).toBe('waiting')
    one.send(saved(0.9, 'c', false))
    expect(one.state()).toBe('inactive')
    one.send(told('activate.requested', 1.5), saved(1.6, 'c', false))
    expect([one.state(), one.due(), one.context().activatedAt]).toEqual(['waiting', 2, at(1.5)])
    one.send(saved(1.7, 'd', false))
    expect(one.state()).toBe('inactive')
  })

  it('is paused while its file is not valid or gone, and then begins anew', () => {
    const one = start()
    one.send(saved(0.5, 'a'), lost(0.6), told('activate.requested', 0.7), told('clock.checked', 1.2))
    expect([one.state(), one.isActive(), one.claims.length]).toEqual(['lost', false, 0])
    one.send(saved(1.5, 'a'))
    expect([one.state(), one.due(), one.claims.length]).toEqual(['waiting', 2, 0])
  })

  it('keeps what was requested over a restart, unless the file changed meanwhile', () => {
    const stored = {
      file: { hash: 'a', active: true, schedule: hourly },
      active: false,
      activatedAt: at(0),
      notBefore: at(0),
      lastScheduledAt: undefined,
    }
    const one = start(stored, 5.5)
    one.send(saved(5.5, 'a'))
    expect(one.state()).toBe('paused')
    one.send(saved(5.5, 'b'))
    expect([one.state(), one.claims.length]).toEqual(['waiting', 0])
    expect(start({ ...stored, file: undefined }).state()).toBe('lost')
  })

  it('claims the new content when the file changed behind its back', async () => {
    const one = start()
    one.send(saved(0.5, 'a'), told('clock.checked', 1), saved(1, 'b'))
    await one.claims[0]?.fail()
    one.clock.increment(1000)
    expect(one.claims[1]).toMatchObject({ scheduledAt: at(1) })
    one.send(lost(1))
    await one.claims[1]?.fail()
    expect(one.state()).toBe('lost')
  })

  it('counts in what was seen of its file before it decides anything', () => {
    const begun = (stored: ActivationInput['stored'], report: ActivationEvent) =>
      createActor(activationMachine, {
        input: { activationId: 'wfa_1', at: at(1.5), stored, report: report as ActivationInput['report'] },
      } as never).getSnapshot()
    expect(begun(undefined, saved(1.5, 'a')).value).toBe('waiting')
    expect(begun(undefined, saved(1.5, 'a', false)).value).toBe('inactive')
    const stored = {
      file: { hash: 'a', active: true, schedule: hourly },
      active: true,
      activatedAt: at(0.5),
      notBefore: at(0.5),
      lastScheduledAt: undefined,
    }
    expect(begun(stored, lost(1.5)).value).toBe('lost')
    expect(begun(stored, saved(1.5, 'b', true, { ...hourly, minute: 30 })).value).toBe('claiming')
    expect(begun(stored, saved(1.5, 'b', true, { ...hourly, minute: 10 })).value).toBe('waiting')
  })

  it('decides on what happens during a claim when the claim is answered', async () => {
    const one = start()
    one.send(saved(0.5, 'a'), told('clock.checked', 1), told('pause.requested', 1), told('clock.checked', 2))
    expect(one.state()).toBe('claiming')
    await one.claims[0]?.answer(claimed(1))
    expect([one.state(), one.context().lastScheduledAt]).toEqual(['paused', at(1)])
  })

  it('tries again a while after a claim that could not be written', async () => {
    const one = start()
    one.send(saved(0.5, 'a'), told('clock.checked', 1))
    await one.claims[0]?.fail()
    expect([one.state(), one.isActive()]).toEqual(['retrying', true])
    one.clock.increment(1000)
    expect(one.claims.map(({ scheduledAt }) => scheduledAt)).toEqual([at(1), at(1)])
  })
})

describe('whatever happens in whatever order', () => {
  const done = (output: ClaimAnswer) => ({ type: 'xstate.done.actor.claim', output, actorId: 'claim' })
  const events = [
    saved(0.5, 'a'),
    saved(1.5, 'b', false),
    saved(2.5, 'c', true, once),
    lost(2.6),
    told('activate.requested', 2.8),
    told('pause.requested', 2.9),
    told('clock.checked', 3),
    told('clock.checked', 0.2),
    { type: 'stop.requested' } as const,
    done(claimed(3)),
    done({ type: 'refused', at: at(3) }),
    { type: 'xstate.error.actor.claim', error: new Error('busy'), actorId: 'claim' },
    { type: 'xstate.after.claimRetry.activation.retrying' },
  ]
  const explored = explore(activationMachine, { activationId: 'wfa_1', at: START }, events, {
    key: ({ context: { file, lost, active, slot, lastScheduledAt, notBefore } }) => [
      file?.hash,
      lost,
      active,
      slot,
      lastScheduledAt,
      notBefore > START,
    ],
    maxStates: 2000,
  })

  it('every transition is covered by generated paths', () => {
    expect(missing(explored)).toEqual([])
    expect(new Set(explored.snapshots.map(({ value }) => value))).toEqual(
      new Set(['inactive', 'paused', 'lost', 'waiting', 'claiming', 'retrying', 'completed', 'stopped']),
    )
  })

  it('only valid content that is active is claimed, for an occurrence that is due and was not passed', () => {
    const active = explored.snapshots.filter(({ status }) => status === 'active')
    const inContext = (of: (context: (typeof active)[number]['context']) => boolean) => active.filter(({ context }) => of(context))
    expect(inContext(({ slot }) => slot !== undefined)).toEqual(active.filter(({ value }) => value === 'claiming'))
    expect(inContext(({ slot, lastScheduledAt }) => slot !== undefined && lastScheduledAt >= slot)).toEqual([])
    expect(inContext(({ slot, at: now }) => slot > Math.max(now, at(3)))).toEqual([])
    const early = ({ slot, file, notBefore }: (typeof active)[number]['context']) =>
      slot >= notBefore && latestOccurrence(file.schedule, slot, slot) !== slot
    expect(inContext((context) => context.active && context.slot !== undefined && early(context))).toEqual([])
    const served = active.filter(({ value, tags }) => tags.has('active') && value !== 'claiming')
    expect(served.filter(({ context }) => !context.active || context.file === undefined)).toEqual([])
  })
})
