import { describe, expect, test } from 'vitest'
import { checkTrace } from '../../../src/published/testing/replay/check-trace.js'
import { recordedActors, replay } from '../../../src/published/testing/replay/replay.js'
import { readTrace } from '../../../src/protocol/system/trace-text.js'
import type { InspectorRecord, InspectorTrace } from '../../../src/protocol/system/inspector.js'
import { calls, type PlayedStep, says, startTestService } from '../../fakes/service.js'

const sink = { write: () => undefined, pending: () => 0, room: () => 0, drained: () => Promise.resolve(), end: () => undefined }
const echo = { id: 'echo', invoke: async () => ({ title: 'echo', output: 'said' }) }
const fails: PlayedStep = () => {
  throw new Error('the model is away')
}
const RUN = /^session:[^/]+\/run$/

/** What the inspector saves after one prompt that was answered so; read back as a test would read it. */
async function record(steps: PlayedStep[], { inspectPayloads = true, lookLate = false } = {}): Promise<InspectorTrace> {
  const service = await startTestService({ steps, tools: [echo], inspectPayloads })
  const { inspector } = service.runtime
  if (!lookLate) inspector.subscribe(undefined, sink)
  const sessionId = await service.session()
  await service.prompt(sessionId, 'go')
  const atRest = async () => {
    await service.idle(sessionId)
    const state = () => inspector.tree().actors.find(({ id }) => id === `session:${sessionId}`)?.state
    await expect.poll(state).toEqual(['idle'])
  }
  await atRest()
  if (lookLate) {
    inspector.subscribe(undefined, sink)
    service.steps.push(says('again'))
    await service.prompt(sessionId, 'again')
    await atRest()
  }
  const trace = readTrace(JSON.stringify(inspector.trace()))
  await service.stop()
  return trace
}

const actorOf = (trace: InspectorTrace, pattern: RegExp) => {
  const found = recordedActors(trace).find(({ actor }) => pattern.test(actor))
  if (found === undefined) throw new Error(`nobody like ${pattern.source}`)
  return found
}
const states = (trace: InspectorTrace, actor: string) =>
  trace.records.flatMap(({ actorId, type, after }) => (actorId === actor && type === 'transition' ? [after?.join()] : []))
const changed = (trace: InspectorTrace, change: (record: InspectorRecord) => InspectorRecord): InspectorTrace => ({
  ...trace,
  records: trace.records.map(change),
})

describe('an actor that was recorded with payloads', () => {
  test('goes through the recorded states again, whatever its kind', async () => {
    const trace = await record([calls({ callId: 'c1', tool: 'echo' }, { callId: 'c2', tool: 'echo' }), says('done')])
    const actors = recordedActors(trace)
    expect(actors.map(({ machine }) => machine).toSorted()).toEqual(['run', 'session', 'tool-call', 'tool-call', 'workspace'])
    for (const each of actors) {
      const { initial, steps, state } = replay(trace, each)
      const passed = [initial, ...steps.map(({ after }) => after)].map((paths) => paths.join())
      const moves = passed.filter((path, index) => index > 0 && path !== passed[index - 1])
      expect(moves).toEqual(states(trace, each.actor))
      expect(state.join()).toBe(passed.at(-1))
    }
    const run = replay(trace, actorOf(trace, RUN))
    expect(run).toMatchObject({ machine: 'run', life: 1, state: ['finished'], done: true, output: { end: 'finished' } })
    expect(run.steps.map(({ event }) => event)).toContain('xstate.done.actor.call:c1')
    expect(replay(trace, actorOf(trace, /call:c1$/)).output).toEqual({ callId: 'c1', end: 'completed' })
  })

  test('whose effects failed goes the same way with the recorded errors and failures', async () => {
    const trace = await record([fails])
    const { state, output, steps } = replay(trace, actorOf(trace, RUN))
    expect({ state, output }).toEqual({ state: ['failed'], output: { end: 'failed' } })
    expect(steps.find(({ event }) => event === 'generation.failed')).toMatchObject({
      before: ['working.generating'],
      after: ['ending.recording'],
    })
  })

  test('differs, in words, when the machine of today goes another way', async () => {
    const trace = await record([says('done')])
    const { actor } = actorOf(trace, RUN)
    const other = changed(trace, (each) =>
      each.actorId === actor && each.event === 'generation.finished' && each.type === 'transition'
        ? { ...each, after: ['working.backingOff'] }
        : each,
    )
    const cause = trace.records.find(({ actorId, event }) => actorId === actor && event === 'generation.finished')?.sequence
    expect(() => replay(other, { actor })).toThrow(
      `${actor} (run) differs at record ${cause}, "generation.finished": the recorded actor was in "working.backingOff" then; the machine of today is in "closing".`,
    )
    const longer = changed(trace, (each) => (each.actorId === actor && each.type === 'start' ? { ...each, after: ['resting'] } : each))
    expect(() => replay(longer, { actor })).toThrow(
      /differs at record \d+, its start: .* "resting" then; the machine of today is in "working.preparing"/,
    )
  })

  test('differs when an event that changed the state is said to have changed nothing', async () => {
    const trace = await record([says('done')])
    const { actor } = actorOf(trace, RUN)
    const records = trace.records.filter(
      ({ actorId, type, event }) => !(actorId === actor && type === 'transition' && event === 'generation.finished'),
    )
    expect(() => replay({ ...trace, records }, { actor })).toThrow('was in "working.generating" then; the machine of today is in "closing"')
  })

  test('is found by its life when it lived more than once under its id', async () => {
    const trace = await record([says('done')])
    const { actor } = actorOf(trace, RUN)
    expect(() => replay(trace, { actor, life: 2 })).toThrow(`The trace holds 1 life of ${actor}, and not number 2.`)
    const twice = { ...trace, records: [...trace.records, ...trace.records] }
    expect(recordedActors(twice).filter((each) => each.actor === actor)).toEqual([
      { actor, life: 1, machine: 'run' },
      { actor, life: 2, machine: 'run' },
    ])
    expect(replay(twice, { actor, life: 2 }).done).toBe(true)
  })
})

describe('what cannot be replayed says why', () => {
  test('no payloads: how to record them', async () => {
    const trace = await record([says('done')], { inspectPayloads: false })
    const { actor } = actorOf(trace, RUN)
    expect(() => replay(trace, { actor })).toThrow(/has no payload.*svc serve --inspect-payloads.*checkTrace/)
  })

  test('an actor that is older than the inspector, an effect, and nobody', async () => {
    const trace = await record([says('done')], { lookLate: true })
    const session = trace.actors.find(({ kind }) => kind === 'session')?.id ?? ''
    expect(() => replay(trace, { actor: session })).toThrow(
      /The start of session:.* is not in the trace: it was older than the inspector\. Start/,
    )
    expect(() => replay({ ...trace, dropped: 7 }, { actor: session })).toThrow('or it is among the 7 records that were dropped')
    expect(() => replay(trace, { actor: `${session}/run/prepare` })).toThrow('is an effect: it has no states to replay.')
    expect(() => replay(trace, { actor: 'session:none' })).toThrow('The trace holds nothing of an actor session:none.')
  })

  test('a payload that was cut, and a machine that is no more', async () => {
    const trace = await record([says('done')])
    const { actor } = actorOf(trace, RUN)
    const cut = changed(trace, (each) => (each.payload === undefined ? each : { ...each, payload: `${each.payload.slice(0, 5)}…` }))
    expect(() => replay(cut, { actor })).toThrow(/the input of its start of .*, was cut when it was recorded \(6 characters\)/)
    const renamed = changed(trace, (each) =>
      each.actor?.machine === 'run' ? { ...each, actor: { ...each.actor, machine: 'sprint' } } : each,
    )
    expect(() => replay(renamed, { actor })).toThrow('ran the machine "sprint", which this version of svc does not have')
    expect(checkTrace(renamed)[0]?.message).toBe('This version of svc has no machine "sprint".')
  })

  test('a text that is no trace', () => {
    expect(() => readTrace('{')).toThrow('this is not JSON')
    expect(() => readTrace('{"format":"svc-inspector-trace","version":2}')).toThrow('not a trace that this version of svc reads')
  })
})

describe('a trace without payloads', () => {
  test('is checked against the charts of today', async () => {
    const trace = await record([calls({ callId: 'c1', tool: 'echo' }), says('done')], { inspectPayloads: false })
    expect(checkTrace(trace)).toEqual([])
    const late = await record([fails], { inspectPayloads: false, lookLate: true })
    expect(checkTrace(late)).toEqual([])
  })

  test('is told where a chart does not lead to what was recorded', async () => {
    const trace = await record([says('done')], { inspectPayloads: false })
    const { actor } = actorOf(trace, RUN)
    const wrong = changed(trace, (each) => {
      if (each.actorId !== actor) return each
      if (each.type === 'start') return { ...each, after: ['closing'] }
      return each.type === 'transition' && each.event === 'generation.finished' ? { ...each, after: ['working.backingOff'] } : each
    })
    expect(checkTrace(wrong).map((finding) => [finding.actor, finding.message])).toEqual([
      [actor, '"run" does not start in "closing".'],
      [actor, '"run" does not go from "working.generating" to "working.backingOff" on "generation.finished".'],
    ])
  })
})
