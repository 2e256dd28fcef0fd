import { describe, expect, it } from 'vitest'
import { SvcError } from '../../../src/protocol/errors.js'
import { openStore } from '../../../src/store/open.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { calls, gate, says, startTestService } from '../../fakes/service.js'

const USAGE = { input: 1, output: 1, reasoning: 0, cache: { read: 0, write: 0 } }
/** A service whose store refuses every commit for which `disk.refuses` answers true, as a full disk does. */
async function startOnDisk(tools: Parameters<typeof startTestService>[0] = {}) {
  const effects = createFakeEffects()
  const disk: { refuses: () => boolean; refused: number } = { refuses: () => false, refused: 0 }
  const store = openStore({
    directory: ':memory:',
    now: () => effects.clock.now(),
    failpoint() {
      if (!disk.refuses()) return
      disk.refused++
      throw new SvcError('store.unavailable', 'The disk is full.')
    },
  })
  const service = await startTestService({ ...tools, effects, store })
  return { service, disk }
}

/** Lets the admission of a prompt pass, then refuses as long as `refuses` says. */
const afterAdmission = (refuses: () => boolean) => {
  let passed = 0
  return () => passed++ > 0 && refuses()
}

const once = () => {
  let left = 1
  return () => left-- > 0
}

type Service = Awaited<ReturnType<typeof startOnDisk>>['service']

const kinds = (service: Service, id: string) => service.events.filter(({ data }) => data['sessionID'] === id).map(({ type }) => type)

function expectSettled(service: Service, id: string): void {
  expect(
    service.runtime.sessions.status({
      subject: '',
      tenantId: 'local',
      authenticated: false,
      operator: false,
      directoryPrefixes: undefined,
    }),
  ).toEqual({})
  expect(service.store.runs.running()).toEqual([])
  expect(service.store.messages.unfinished()).toEqual([])
  expect(service.store.executions.unfinished()).toEqual([])
  expect(service.store.queue.count(id)).toBe(0)
  expect(service.running.counters()).toMatchObject({ liveMessages: 0 })
  const sequences = service.events.map(({ sequence }) => sequence)
  expect(sequences).toEqual([...new Set(sequences)].toSorted((a, b) => a - b))
}

describe('while the store refuses to commit', () => {
  it('a prompt is refused and leaves nothing behind', async () => {
    const { service, disk } = await startOnDisk()
    const id = await service.session()
    const before = kinds(service, id)
    disk.refuses = () => true
    await expect(service.prompt(id, { prompt: 'hi', messageId: 'msg_1' })).rejects.toMatchObject({ code: 'store.unavailable' })
    expect(kinds(service, id)).toEqual(before)
    expectSettled(service, id)
    disk.refuses = () => false
    service.steps.push(says('fine'))
    await service.prompt(id, { prompt: 'hi', messageId: 'msg_1' })
    await service.idle(id)
    expect(service.messages(id).map(({ info }) => info.role)).toEqual(['user', 'assistant'])
  })

  it('a prompt that is stored but not yet synced is not acknowledged, keeps its place and runs once when the store is back', async () => {
    const { service, disk } = await startOnDisk()
    const id = await service.session()
    service.steps.push(says('late'))
    disk.refuses = afterAdmission(() => true)
    await expect(service.prompt(id, { prompt: 'hi', messageId: 'msg_late' })).rejects.toMatchObject({ code: 'store.unavailable' })
    await service.effects.clock.advanceAsync(100)
    expect(disk.refused).toBeGreaterThan(0)
    expect(service.store.queue.count(id)).toBe(1)
    expect(service.messages(id)).toEqual([])
    await service.effects.clock.advanceAsync(10_000)
    const refused = disk.refused
    expect(refused).toBeLessThan(12)
    disk.refuses = () => false
    await service.effects.clock.advanceAsync(15_000)
    await service.idle(id)
    await service.prompt(id, { prompt: 'hi', messageId: 'msg_late' })
    await service.idle(id)
    expect(service.requests).toHaveLength(1)
    expect(service.messages(id).map(({ info }) => info.role)).toEqual(['user', 'assistant'])
    expect(service.events.filter(({ type }) => type === 'session.error')).toEqual([])
    expectSettled(service, id)
  })

  it('one refused claim is made good by the next look', async () => {
    const { service, disk } = await startOnDisk()
    const id = await service.session()
    service.steps.push(says('one'))
    const isContextTold = () => kinds(service, id).includes('session.context.updated')
    const isRefused = once()
    disk.refuses = () => isContextTold() && isRefused()
    await service.prompt(id, 'first')
    await service.effects.clock.advanceAsync(250)
    await service.idle(id)
    expect(disk.refused).toBe(1)
    expect(service.messages(id)).toHaveLength(2)
    expectSettled(service, id)
  })

  it('a step that cannot be opened fails its run, and the session goes on', async () => {
    const { service, disk } = await startOnDisk()
    const id = await service.session()
    service.steps.push(says('never'), says('fine'))
    let armed = true
    disk.refuses = () => {
      const opening = service.store.runs.running().length > 0 && service.store.messages.unfinished().length > 0
      return armed && opening && !(armed = false)
    }
    await service.prompt(id, 'hi')
    await service.idle(id)
    expect(disk.refused).toBe(1)
    expect(service.messages(id).map(({ info }) => info.role)).toEqual(['user'])
    expect(service.events.filter(({ type }) => type === 'session.error')).toMatchObject([
      { data: { error: { message: 'The disk is full.', details: { cause: 'store.unavailable' } } } },
    ])
    expectSettled(service, id)
    await service.prompt(id, 'again')
    await service.idle(id)
    expect(service.messages(id).at(-1)?.info).toMatchObject({ finish: 'stop' })
  })

  it('a step that cannot be closed is closed later with all its text, once', async () => {
    const { service, disk } = await startOnDisk()
    const id = await service.session()
    const full = gate()
    service.steps.push(async (push) => {
      push({ type: 'text', delta: 'whole answer' })
      await full.promise
      push({ type: 'finish', reason: 'stop', usage: USAGE })
    }, says('next'))
    await service.prompt(id, 'one')
    await service.until(({ type }) => type === 'message.part.delta')
    disk.refuses = () => true
    full.open()
    await service.effects.clock.advanceAsync(3000)
    expect(service.messages(id)[1]?.info).not.toHaveProperty('finish')
    disk.refuses = () => false
    await service.prompt(id, 'two')
    await service.effects.clock.advanceAsync(15_000)
    await service.idle(id)
    const [, first, , second] = service.messages(id)
    expect(first).toMatchObject({ info: { finish: 'error', error: { message: 'The disk is full.' } } })
    expect(first?.parts.map((part) => (part.type === 'text' ? part.text : part.type))).toEqual([
      'step-start',
      'whole answer',
      'step-finish',
    ])
    expect(second?.info).toMatchObject({ finish: 'stop' })
    const closes = service.events.filter(
      ({ type, data }) => type === 'message.updated' && data['info'].id === first?.info.id && data['info'].finish !== undefined,
    )
    expect(closes).toHaveLength(1)
    expectSettled(service, id)
  })

  it('a finished tool call that cannot be recorded yet is recorded with the end of its run', async () => {
    const done = gate()
    const tool = {
      id: 'slow',
      async invoke() {
        await done.promise
        return { title: 'Slow', output: 'done' }
      },
    }
    const { service, disk } = await startOnDisk({ tools: [tool] })
    const id = await service.session()
    service.steps.push(calls({ callId: 'a', tool: 'slow' }), says('after'))
    await service.prompt(id, 'go')
    await service.until(({ type, data }) => type === 'message.part.updated' && data['part'].state?.status === 'running')
    await service.effects.clock.advanceAsync(0)
    disk.refuses = () => true
    done.open()
    await service.effects.clock.advanceAsync(1000)
    disk.refuses = () => false
    await service.effects.clock.advanceAsync(15_000)
    await service.idle(id)
    const messages = service.messages(id)
    expect(messages).toHaveLength(2)
    expect(messages[1]?.info).toMatchObject({ finish: 'tool-calls' })
    expect(messages[1]?.parts.find(({ type }) => type === 'tool')).toMatchObject({ state: { status: 'completed', output: 'done' } })
    expect(service.events.filter(({ type }) => type === 'session.error')).toHaveLength(1)
    expectSettled(service, id)
  })

  it('an abort still ends the work at once, and the end is recorded when the store is back', async () => {
    const { service, disk } = await startOnDisk()
    const id = await service.session()
    let stopped = false
    service.steps.push((push, signal) => {
      push({ type: 'text', delta: 'half' })
      return new Promise((_, reject) =>
        signal.addEventListener('abort', () => {
          stopped = true
          reject(new Error('aborted'))
        }),
      )
    })
    await service.prompt(id, 'go')
    await service.until(({ type }) => type === 'message.part.delta')
    disk.refuses = () => true
    const aborted = service.runtime.sessions.abort(id)
    await service.effects.clock.advanceAsync(1000)
    expect(await aborted).toBe(true)
    expect(stopped).toBe(true)
    disk.refuses = () => false
    await service.effects.clock.advanceAsync(15_000)
    await service.idle(id)
    expect(service.messages(id)[1]).toMatchObject({
      info: { finish: 'error', error: { message: 'Session aborted', interrupted: true } },
      parts: [{}, { text: 'half' }, { reason: 'aborted' }],
    })
    expectSettled(service, id)
  })

  it('a pending request that cannot be withdrawn is withdrawn with the end of its run', async () => {
    const ask = { id: 'ask', invoke: async () => ({ title: '', output: '' }) }
    const needs = () => [{ permission: 'ask', patterns: ['x'], title: 'Ask' }]
    const { service, disk } = await startOnDisk({ tools: [{ ...ask, needs }], config: { permission: { ask: 'ask' } } })
    const id = await service.session()
    service.steps.push(calls({ callId: 'a', tool: 'ask' }))
    await service.prompt(id, 'go')
    await service.until(({ type }) => type === 'permission.asked')
    disk.refuses = () => true
    const aborted = service.runtime.sessions.abort(id)
    await service.effects.clock.advanceAsync(1000)
    await aborted
    expect(service.store.interactions.pending()).toHaveLength(1)
    disk.refuses = () => false
    await service.effects.clock.advanceAsync(15_000)
    await service.idle(id)
    expect(service.store.interactions.pending()).toEqual([])
    expect(service.events.filter(({ type }) => type === 'permission.replied')).toMatchObject([{ data: { reply: 'cancelled' } }])
    expectSettled(service, id)
  })

  it('streamed text waits for its row and is stored later', async () => {
    const { service, disk } = await startOnDisk()
    const id = await service.session()
    const release = gate()
    service.steps.push(async (push) => {
      push({ type: 'text', delta: 'so far' })
      await release.promise
      push({ type: 'finish', reason: 'stop', usage: USAGE })
    })
    await service.prompt(id, 'go')
    await service.until(({ type }) => type === 'message.part.delta')
    disk.refuses = () => true
    await service.effects.clock.advanceAsync(1000)
    disk.refuses = () => false
    expect(service.messages(id)[1]?.parts[1]).toMatchObject({ text: '' })
    await service.effects.clock.advanceAsync(1000)
    expect(service.messages(id)[1]?.parts[1]).toMatchObject({ text: 'so far' })
    release.open()
    await service.idle(id)
  })
})

it('a stopped service writes nothing more, whatever still happens', async () => {
  const { service } = await startOnDisk()
  const id = await service.session()
  service.steps.push((push) => {
    push({ type: 'text', delta: 'half' })
    return new Promise(() => undefined)
  })
  await service.prompt(id, 'go')
  await service.until(({ type }) => type === 'message.part.delta')
  service.running.kill()
  await service.effects.clock.advanceAsync(200)
  await service.running.ended
  const written = service.events.length
  await service.effects.clock.advanceAsync(60_000)
  expect(service.events).toHaveLength(written)
})
