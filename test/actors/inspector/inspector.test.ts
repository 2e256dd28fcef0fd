// Holds sessions-events §4.5; choice 41.
import { describe, expect, test } from 'vitest'
import type { FrameSink } from '../../../src/ports/facades.js'
import {
  InspectedMachine,
  InspectorFrame,
  type InspectorRecord,
  InspectorTrace,
  InspectorTree,
} from '../../../src/protocol/system/inspector.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { createModel, modelOf, moveTo, readTrace, receive, resync } from '../../../src/programs/page/model.js'
import { calls, gate, says, startTestService, type TestService } from '../../fakes/service.js'

const SECRET = 'a-secret-of-the-user'

/** A viewer that takes what it is sent, or does not. */
function viewer(service: TestService, since?: number) {
  const frames: InspectorFrame[] = []
  let waiting = 0
  const sink: FrameSink = {
    write(frame) {
      const data = /^data: (.*)$/m.exec(new TextDecoder().decode(frame))?.[1] ?? ''
      frames.push(InspectorFrame.parse(JSON.parse(data)))
    },
    room: () => LIMITS.events.replayPageBytes,
    pending: () => waiting,
    drained: () => Promise.resolve(),
    end: () => undefined,
  }
  const subscription = service.runtime.inspector.subscribe(since, sink)
  const records = () => frames.flatMap((frame) => frame.records)
  return { frames, records, close: () => subscription.close(), block: (bytes: number) => (waiting = bytes) }
}

/** Lets everything that waits to be sent be sent. */
const flush = (service: TestService) => service.effects.clock.advance(LIMITS.inspector.batch)

/** The session is idle, and its actor has heard of it. */
async function atRest(service: TestService, sessionId: string): Promise<void> {
  await service.idle(sessionId)
  const state = () => service.runtime.inspector.tree().actors.find(({ id }) => id === `session:${sessionId}`)?.state
  await expect.poll(state).toEqual(['idle'])
}

const transitions = (records: readonly InspectorRecord[], actorId: string) =>
  records.filter((record) => record.type === 'transition' && record.actorId === actorId).map(({ after }) => after?.join())

describe('the tree', () => {
  test('shows the runtime, its plugins, and a session with its run and its effects', async () => {
    const held = gate()
    const service = await startTestService({
      steps: [(push, _signal) => held.promise.then(() => says('hi')(push, new AbortController().signal, {} as never))],
    })
    const sessionId = await service.session()
    await service.prompt(sessionId, SECRET)
    await service.until(({ type, data }) => type === 'session.status' && data['status'].type === 'busy')
    await expect.poll(() => service.requests.length).toBe(1)
    const tree = InspectorTree.parse(service.runtime.inspector.tree())
    const ids = tree.actors.map(({ id }) => id)
    expect(ids).toContain('runtime')
    expect(tree.actors.find(({ id }) => id === `session:${sessionId}`)).toMatchObject({
      kind: 'session',
      machine: 'session',
      state: ['working.running'],
      restarts: 0,
      startedAt: expect.any(Number),
    })
    expect(tree.actors.find(({ id }) => id === `session:${sessionId}/run`)).toMatchObject({
      parentId: `session:${sessionId}`,
      kind: 'run',
      state: ['working.generating'],
    })
    expect(ids.some((id) => id.startsWith('package:test.played@built-in/generation:1'))).toBe(true)
    expect(tree.plugins.find(({ pluginId }) => pluginId === 'test.played')).toMatchObject({
      origin: 'native',
      state: 'active',
      serving: 1,
      generations: [{ number: 1, actorId: 'package:test.played@built-in/generation:1', state: ['serving'] }],
    })
    expect(tree.actors.filter(({ parentId }) => parentId !== undefined && !ids.includes(parentId))).toEqual([])
    held.open()
    await atRest(service, sessionId)
    await service.stop()
  })

  test('comes with the charts of all machines, children included, with guards, delays and final states', async () => {
    const service = await startTestService({ steps: [says('hi')] })
    const sessionId = await service.session()
    await service.prompt(sessionId, 'go')
    await atRest(service, sessionId)
    const machines = service.runtime.inspector.machines().map((machine) => InspectedMachine.parse(machine))
    expect(machines.map(({ id }) => id)).toEqual([
      'compaction',
      'generation',
      'instance',
      'package',
      'run',
      'runtime',
      'session',
      'subscription',
      'title',
      'tool-call',
      'workspace',
    ])
    const session = machines.find(({ id }) => id === 'session')
    expect(session?.delays['idleMemory']).toBe(LIMITS.sessions.idleMemory)
    expect(session?.root).toMatchObject({ path: '', initial: 'looking', type: 'compound' })
    const idle = session?.root.states.find(({ key }) => key === 'idle')
    expect(idle?.transitions).toContainEqual({
      event: 'after idleMemory',
      targets: ['asleep'],
      actions: [],
      delay: LIMITS.sessions.idleMemory,
    })
    expect(idle?.transitions).toContainEqual({ event: 'at once', guard: 'isStopping', targets: ['stopped'], actions: [] })
    expect(session?.root.states.find(({ key }) => key === 'asleep')?.type).toBe('final')
    await service.stop()
  })
})

describe('a viewer', () => {
  test('sees starts, events, transitions and stops in order, without the words of the user', async () => {
    const service = await startTestService({
      steps: [calls({ callId: 'c1', tool: 'echo', input: { value: SECRET } }), says(SECRET)],
      tools: [echo],
    })
    const watching = viewer(service)
    const sessionId = await service.session()
    await service.prompt(sessionId, SECRET)
    await atRest(service, sessionId)
    flush(service)
    const records = watching.records()
    const session = `session:${sessionId}`
    expect(records.map(({ sequence }) => sequence)).toEqual(records.map((_, index) => index + 1))
    const first = records.find(({ actorId }) => actorId === session)
    expect(first).toMatchObject({ type: 'start', after: ['looking'], actor: { kind: 'session' } })
    expect(transitions(records, session)).toEqual(['working.running', 'looking', 'idle'])
    expect(records.find(({ type, actorId }) => type === 'stop' && actorId === `${session}/run`)).toMatchObject({ end: 'done' })
    expect(records.some(({ actorId, type }) => actorId.startsWith(`${session}/run/call:c1`) && type === 'start')).toBe(true)
    expect(records.find(({ event }) => event === 'tool.called')?.shape).toBe('{callId: string(2)}')
    expect(JSON.stringify(records)).not.toContain(SECRET)
    watching.close()
    await service.stop()
  })

  test('opens the inspector and closes it a moment after the last has left: with nobody looking nothing is kept', async () => {
    const service = await startTestService({ steps: [says('one'), says('two')] })
    const sessionId = await service.session()
    await service.prompt(sessionId, 'go')
    await atRest(service, sessionId)
    expect(service.runtime.inspector.trace().records).toEqual([])
    const [one, two] = [viewer(service), viewer(service)]
    await service.prompt(sessionId, 'go')
    await atRest(service, sessionId)
    one.close()
    one.close()
    expect(service.runtime.inspector.trace().records.length).toBeGreaterThan(0)
    two.close()
    expect(service.runtime.inspector.trace().records.length).toBeGreaterThan(0)
    service.effects.clock.advance(LIMITS.inspector.linger)
    expect(service.runtime.inspector.trace().records).toEqual([])
    expect(service.running.counters()['inspectorViewers']).toBe(0)
    await service.stop()
  })

  test('that has just left does not keep a service alive that ends', async () => {
    const service = await startTestService({ steps: [] })
    viewer(service).close()
    expect(service.effects.clock.pendingTimers).toBeGreaterThan(0)
    await service.stop()
    expect(service.effects.clock.pendingTimers).toBe(0)
  })

  test('that does not keep up is sent nothing more, and later what the ring still holds', async () => {
    const service = await startTestService({ steps: [says('one')] })
    const slow = viewer(service)
    slow.block(LIMITS.inspector.viewerBacklog + 1)
    const sessionId = await service.session()
    await service.prompt(sessionId, 'go')
    await atRest(service, sessionId)
    flush(service)
    expect(slow.records()).toEqual([])
    slow.block(0)
    flush(service)
    expect(slow.records().length).toBeGreaterThan(5)
    slow.close()
    await service.stop()
  })

  test('is refused when too many look', async () => {
    const service = await startTestService({ steps: [] })
    const all = Array.from({ length: LIMITS.inspector.viewers }, () => viewer(service))
    expect(() => viewer(service)).toThrow(expect.objectContaining({ code: 'quota.exceeded' }))
    for (const each of all) each.close()
    viewer(service).close()
    await service.stop()
  })
})

describe('a trace', () => {
  test('steps back to its beginning and forward to its end, and meets every recorded state on the way', async () => {
    const service = await startTestService({ steps: [calls({ callId: 'c1', tool: 'echo' }), says('done')], tools: [echo] })
    const watching = viewer(service)
    const before = InspectorTree.parse(service.runtime.inspector.tree())
    const sessionId = await service.session()
    await service.prompt(sessionId, 'go')
    await atRest(service, sessionId)
    const saved = InspectorTrace.parse(JSON.parse(JSON.stringify(service.runtime.inspector.trace())))
    const model = modelOf(readTrace(JSON.stringify(saved)))
    const end = new Map(model.actors)

    moveTo(model, 0)
    const ids = (actors: Iterable<{ id: string }>) => [...actors].map(({ id }) => id).toSorted()
    expect(ids(model.actors.values())).toEqual(ids(before.actors))
    const seen: string[] = []
    for (let step = 1; step <= saved.records.length; step++) {
      const record = saved.records[step - 1]
      const known = model.actors.get(record?.actorId ?? '')?.state
      expect(record?.type === 'transition' ? known : undefined).toEqual(record?.type === 'transition' ? record.before : undefined)
      moveTo(model, step)
      if (record?.actorId === `session:${sessionId}` && record.after !== undefined) seen.push(record.after.join())
    }
    expect(seen).toEqual(['looking', 'working.running', 'looking', 'idle'])
    expect(ids(model.actors.values())).toEqual(ids(end.values()))
    for (const [id, { state }] of model.actors) expect(state).toEqual(end.get(id)?.state)
    watching.close()
    await service.stop()
  })

  test('a page that begins with a tree and follows the stream has the same picture as the server', async () => {
    const service = await startTestService({ steps: [calls({ callId: 'c1', tool: 'echo' }), says('done')], tools: [echo] })
    const watching = viewer(service)
    const model = createModel()
    resync(model, service.runtime.inspector.tree())
    const sessionId = await service.session()
    await service.prompt(sessionId, 'go')
    await atRest(service, sessionId)
    flush(service)
    for (const { records, dropped } of watching.frames) receive(model, records, dropped)
    const states = (actors: Iterable<{ id: string; state: readonly string[] }>) =>
      new Map([...actors].map(({ id, state }) => [id, [...state]]))
    expect(states(model.actors.values())).toEqual(states(service.runtime.inspector.tree().actors))
    watching.close()
    await service.stop()
  })

  test('of another format or version is refused with a sentence', () => {
    expect(() => readTrace('{')).toThrow('not JSON')
    expect(() => readTrace('{"format":"other"}')).toThrow('not a trace of svc')
    expect(() => readTrace('{"format":"svc-inspector-trace","version":2}')).toThrow('another version')
    expect(() => readTrace('{"format":"svc-inspector-trace","version":1,"machines":[]}')).toThrow('no actors')
  })
})

const echo = {
  id: 'echo',
  invoke: async ({ value }: { value: string }) => ({ title: 'echo', output: value }),
}
