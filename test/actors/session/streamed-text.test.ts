// Holds sessions-events §4.11.
import { describe, expect, it } from 'vitest'
import { nextTurn } from '../../../src/kernel/pause.js'
import { TRUSTED_CALLER } from '../../../src/protocol/caller.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { gate, type PlayedStep, type PlayedTool, says, startTestService } from '../../fakes/service.js'

const USAGE = { input: 1, output: 1, reasoning: 0, cache: { read: 0, write: 0 } }
const finish = (reason = 'stop') => ({ type: 'finish' as const, reason, usage: USAGE })
const echo: PlayedTool = { id: 'echo', invoke: async ({ value }) => ({ title: 'Echo', output: `said ${value}` }) }

describe('text', () => {
  it('never ends inside a character on the wire nor in its row', async () => {
    const service = await startTestService({ tools: [echo] })
    const id = await service.session()
    service.steps.push((push) => {
      push({ type: 'reasoning-start', id: 'r' })
      push({ type: 'reasoning', id: 'r', delta: '🙂'.slice(0, 1) })
      push({ type: 'reasoning', id: 'r', delta: '🙂'.slice(1) })
      push({ type: 'reasoning', id: 'r', delta: '\ud83d' })
      push({ type: 'reasoning-end', id: 'r', metadata: { signature: 's' } })
      push({ type: 'text', delta: 'a🙂'.slice(0, 2) })
      push({ type: 'text', delta: '🙂'.slice(1) + 'b' })
      push({ type: 'text', delta: '\ude42c\ud83d' })
      push({ type: 'tool-call', callId: 'a', tool: 'echo', input: '{"value":"x\\ud83dy"}' })
      push(finish())
    }, says('ok'))
    await service.prompt(id, 'go')
    await service.idle(id)
    const deltas = service.events.flatMap(({ type, data }) => (type === 'message.part.delta' ? [data['delta']] : []))
    expect(deltas.slice(0, 4)).toEqual(['🙂', 'a', '🙂b', '\ufffdc'])
    const [, text, reasoning, tool] = service.messages(id)[1]?.parts ?? []
    expect(text).toMatchObject({ text: 'a🙂b\ufffdc\ufffd' })
    expect(reasoning).toMatchObject({ text: '🙂\ufffd', metadata: { signature: 's' }, time: { end: expect.any(Number) } })
    expect(tool).toMatchObject({ state: { status: 'completed', input: { value: 'x\ufffdy' }, output: 'said x\ufffdy' } })
    for (const { data } of service.events) expect(JSON.stringify(data)).not.toMatch(/\\ud[89a-f]/i)
  })

  it('of more thoughts than a message has parts for belongs to the last of them', async () => {
    const service = await startTestService()
    const id = await service.session()
    const { thoughtsPerStep } = LIMITS.run
    service.steps.push((push) => {
      for (let index = 0; index < thoughtsPerStep + 100; index++) {
        push({ type: 'reasoning-start', id: `r${index}` })
        push({ type: 'reasoning', id: `r${index}`, delta: `${index} ` })
        push({ type: 'text', delta: 'y' })
        push({ type: 'reasoning-end', id: `r${index}` })
      }
      push(finish())
    })
    await service.prompt(id, 'go')
    await service.idle(id)
    const parts = service.messages(id)[1]?.parts ?? []
    const thoughts = parts.flatMap((part) => (part.type === 'reasoning' ? [part] : []))
    expect(thoughts).toHaveLength(thoughtsPerStep)
    expect(thoughts.map(({ text }) => text).join('')).toBe(
      Array.from({ length: thoughtsPerStep + 100 }, (_, index) => `${index} `).join(''),
    )
    expect(thoughts.every(({ time }) => time.end !== undefined)).toBe(true)
    expect(parts[1]).toMatchObject({ text: 'y'.repeat(thoughtsPerStep + 100) })
  })

  it('beyond the bound of one event ends the step as an error', async () => {
    const service = await startTestService()
    const id = await service.session()
    let aborted = false
    service.steps.push(async (push, signal) => {
      await nextTurn()
      for (let at = 0; at < 20; at++) push({ type: 'text', delta: 'x'.repeat(65_536) })
      aborted = signal.aborted
      await new Promise(() => undefined)
    })
    await service.prompt(id, 'go')
    await service.idle(id)
    expect(aborted).toBe(true)
    const [, assistant] = service.messages(id)
    expect(assistant?.info).toMatchObject({ finish: 'error', error: { message: expect.stringContaining('1 MiB') } })
    const text = assistant?.parts[1]
    expect(text?.type === 'text' && text.text.length).toBe(15 * 65_536)
  })

  it('is in its row within a second, without an event', async () => {
    const service = await startTestService()
    const id = await service.session()
    const release = gate()
    service.steps.push(async (push) => {
      push({ type: 'text', delta: 'so' })
      push({ type: 'reasoning-start', id: 'r' })
      push({ type: 'reasoning', id: 'r', delta: 'hm' })
      push({ type: 'text', delta: ' far' })
      await release.promise
      push({ type: 'text', delta: '.' })
      push(finish())
    })
    await service.prompt(id, 'go')
    await service.until(({ type, data }) => type === 'message.part.delta' && data['delta'] === ' far')
    const before = service.events.length
    await service.effects.clock.advanceAsync(1000)
    expect(service.messages(id)[1]?.parts).toMatchObject([{}, { text: 'so far' }, { text: 'hm' }])
    expect(service.events).toHaveLength(before)
    release.open()
    await service.idle(id)
    expect(service.effects.clock.pendingTimers).toBeLessThan(6)
    expect(service.messages(id)[1]?.parts).toMatchObject([{}, { text: 'so far.' }, { text: 'hm' }, {}])
  })
})

/** A step of whichever comes first, the title or an answer; the request of a title is short. */
const titled =
  (title: PlayedStep): PlayedStep =>
  (push, signal, request) =>
    (request.maxOutputTokens === 64 ? title : says('ok'))(push, signal, request)

describe('a title', () => {
  it('is the first line at once, and the model’s own when it comes', async () => {
    const service = await startTestService()
    const id = await service.session({ title: undefined })
    const step = titled(says('"Fixing the <think>deep</think> bug"\nmore'))
    service.steps.push(step, step)
    await service.prompt(id, `\n  ${'long '.repeat(30)}\nsecond`)
    await service.idle(id)
    const titles = service.events.flatMap(({ type, data }) => (type === 'session.updated' ? [data['info'].title] : []))
    expect(titles[0]).toBe(`${'long '.repeat(16)}...`)
    await service.effects.clock.advanceAsync(10)
    expect(service.runtime.sessions.get(id).title).toBe('Fixing the  bug')
  })

  it('given by a person is kept', async () => {
    const service = await startTestService()
    const id = await service.session({ title: undefined })
    const release = gate()
    const step = titled(async (push) => {
      await release.promise
      push({ type: 'text', delta: 'Generated' })
      push(finish())
    })
    service.steps.push(step, step, step)
    await service.prompt(id, 'hello')
    await service.idle(id)
    await service.runtime.sessions.update(TRUSTED_CALLER, id, { title: 'Mine' })
    release.open()
    await service.effects.clock.advanceAsync(10)
    expect(service.runtime.sessions.get(id).title).toBe('Mine')
    await service.prompt(id, 'again')
    await service.idle(id)
    expect(service.requests).toHaveLength(3)
  })
})
