// Holds threat-model §6.5.
import { describe, expect, it } from 'vitest'
import { ProviderError, type StreamPart } from '../../../src/ports/provider-adapter.js'
import type { AnyEvent } from '../../e2e/server/stream.js'
import { durable, rebuild, textOf } from '../../e2e/server/transcript.js'
import { type PlayedStep, type PlayedTool, says, startTestService, type TestService } from '../../fakes/service.js'

const echo: PlayedTool = { id: 'echo', invoke: async ({ value }) => ({ title: 'Echo', output: `said ${value}` }) }

/** What an attempt can leave behind, by the kind of its parts. */
const LEFT: Record<string, readonly StreamPart[]> = {
  'nothing but the beginning of the step': [],
  text: [{ type: 'text', delta: 'wrong' }],
  'half of a character': [{ type: 'text', delta: 'wrong \ud83d' }],
  'an open thought': [
    { type: 'reasoning-start', id: 'r' },
    { type: 'reasoning', id: 'r', delta: 'wrong' },
  ],
  'a finished thought': [
    { type: 'reasoning-start', id: 'r' },
    { type: 'reasoning', id: 'r', delta: 'wrong' },
    { type: 'reasoning-end', id: 'r' },
  ],
  'a call whose arguments arrive': [
    { type: 'tool-input-start', callId: 'a', tool: 'echo' },
    { type: 'tool-input', callId: 'a', delta: '{"value":"wr' },
  ],
  'a call that cannot be made': [{ type: 'tool-call', callId: 'a', tool: 'nothing', input: '{}' }],
}
const everything = Object.values(LEFT).flat()

const breaks =
  (parts: readonly StreamPart[]): PlayedStep =>
  (push) => {
    for (const part of parts) push(part)
    throw new ProviderError('broken pipe', { retryable: true })
  }

async function retried(attempts: readonly (readonly StreamPart[])[]): Promise<{ service: TestService; id: string }> {
  const service = await startTestService({ tools: [echo] })
  const id = await service.session()
  service.steps.push(...attempts.map(breaks), says('right'))
  await service.prompt(id, 'go')
  for (const at of attempts.keys()) {
    await service.until(({ type, data }) => type === 'session.status' && data['status'].attempt === at + 1)
    await service.effects.clock.advanceAsync(30_000)
  }
  await service.idle(id)
  return { service, id }
}

describe('a client that merges parts by their ids', () => {
  it.each([...Object.entries(LEFT), ['everything', everything] as const])(
    'sees one answer after an attempt that left %s',
    async (_, left) => {
      const { service, id } = await retried([left, left])
      const events = service.events as unknown as AnyEvent[]
      const messages = service.messages(id)
      expect(rebuild(events, id)).toEqual(messages)
      expect(rebuild(durable(events), id)).toEqual(messages)
      expect(messages[1]?.parts.map(({ type }) => type)).toEqual(['step-start', 'text', 'step-finish'])
      expect(textOf(messages[1])).toBe('right')
    },
  )

  it('is told of what was taken back before it is told of anything of the next attempt', async () => {
    const { service } = await retried([everything])
    const told = service.events.flatMap(({ type, data }) => {
      if (type === 'message.part.updated' && data['part'].type !== 'step-finish') return [`${data['part'].type} of ${data['part'].id}`]
      return type === 'message.part.removed' ? [`removed ${data['partID']}`] : []
    })
    const first = told.findIndex((line) => line.startsWith('removed'))
    const again = told.findLastIndex((line) => line.startsWith('step-start'))
    const before = new Set(told.slice(1, first).map((line) => line.split(' of ')[1]))
    const removed = told.slice(first, again).map((line) => line.replace('removed ', ''))
    expect(removed).toHaveLength(before.size)
    expect(new Set(removed)).toEqual(before)
  })
})
