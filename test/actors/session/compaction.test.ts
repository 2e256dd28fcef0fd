import { describe, expect, it } from 'vitest'
import { type GenerateRequest, ProviderError } from '../../../src/ports/provider-adapter.js'
import type { NativeHost, NativePlugin } from '../../../src/ports/plugin.js'
import type { StreamPart } from '../../../src/ports/provider-adapter.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import type { Message, Part } from '../../../src/protocol/message/message.js'
import { calls, gate, type PlayedStep, type PlayedTool, says, startTestService, type TestService } from '../../fakes/service.js'

const usage = (input: number) => ({ input, output: 10, reasoning: 0, cache: { read: 0, write: 0 } })
/** Says it, and reports that the request had this many tokens. */
const reports =
  (text: string, input: number): PlayedStep =>
  (push) => {
    push({ type: 'text', delta: text })
    push({ type: 'finish', reason: 'stop', usage: usage(input) })
  }
const callsAndReports =
  (callId: string, input: number): PlayedStep =>
  (push) => {
    push({ type: 'tool-call', callId, tool: 'echo', input: JSON.stringify({ value: callId }) })
    push({ type: 'finish', reason: 'tool-calls', usage: usage(input) })
  }
const overflow: PlayedStep = () => {
  throw new ProviderError('This is more than the context length.', { retryable: false, overflow: true })
}
const SUMMARY = `## Goal\nKeep the word kingfisher.\n${'It goes on. '.repeat(30)}`
/** About this many tokens of prose. */
const prose = (tokens: number) => 'heron '.repeat(tokens)
const echo: PlayedTool = { id: 'echo', invoke: async ({ value }) => ({ title: 'Echo', output: `said ${value}` }) }

const isSummaryRequest = (request: GenerateRequest) => JSON.stringify(request.messages).includes('<conversation>')
const textIn = (request: GenerateRequest | undefined) => JSON.stringify(request?.messages)
/** Whether the model was told these words; said so, because a difference of whole requests is no reading. */
const shows = (request: GenerateRequest | undefined, words: string) => textIn(request).includes(words)
const compacted = (service: TestService) => service.events.filter(({ type }) => type === 'session.compacted')
const ended = (service: TestService) => service.events.filter(({ type }) => type === 'session.next.compaction.ended')
const partTypes = (message: Message | undefined) => message?.parts.map(({ type }) => type)

async function grown(config: Record<string, unknown> = {}): Promise<{ service: TestService; id: string }> {
  const service = await startTestService({ tools: [echo], config })
  const id = await service.session()
  service.steps.push(says('A kingfisher, noted.'))
  await service.prompt(id, `Remember the word kingfisher. ${prose(20_000)}`)
  await service.idle(id)
  return { service, id }
}

describe('a conversation that grows', () => {
  it('is compacted before the first step of a run, and goes on with summary and tail', async () => {
    const { service, id } = await grown()
    service.steps.push(reports('yes', 47_000))
    await service.prompt(id, `more ${prose(25_000)}`)
    await service.idle(id)
    expect(compacted(service)).toEqual([])
    service.steps.push(says(SUMMARY), says('it was kingfisher'))
    await service.prompt(id, `which word? ${prose(30_000)}`)
    await service.idle(id)
    expect(service.requests).toHaveLength(4)
    const [, , summary, last] = service.requests
    expect(summary).toMatchObject({ tools: [], messages: [{ role: 'system' }, { role: 'user' }] })
    expect(shows(summary, 'Remember the word kingfisher')).toBe(true)
    expect(shows(last, 'Keep the word kingfisher')).toBe(true)
    expect(shows(last, 'Remember the word kingfisher')).toBe(false)
    expect(last?.messages.find(({ role }) => role !== 'system')?.role).toBe('user')
    expect(service.store.sessions.get(id)).toMatchObject({ summary: { kind: 'model', text: SUMMARY.trim() } })
    expect(service.store.sessions.get(id)?.time.compacting).toBeUndefined()
  })

  it('tells its compaction in order', async () => {
    const { service, id } = await grown()
    service.steps.push(says(SUMMARY), says('ok'))
    const from = service.events.length
    await service.prompt(id, `next ${prose(60_000)}`)
    await service.idle(id)
    const told = service.events.slice(from).map(({ type }) => type)
    const begin = told.indexOf('session.next.compaction.started') - 3
    const shown = told.slice(begin, told.indexOf('session.compacted') + 1).filter((type, at, all) => type !== all[at - 1])
    expect(shown).toEqual([
      'session.updated',
      'message.updated',
      'message.part.updated',
      'session.next.compaction.started',
      'message.updated',
      'message.part.updated',
      'session.execution.updated',
      ...Array.from({ length: told.filter((type) => type === 'session.next.compaction.delta').length }, () => [
        'message.part.delta',
        'session.next.compaction.delta',
      ]).flat(),
      'message.updated',
      'message.part.updated',
      'session.execution.updated',
      'session.updated',
      'session.next.compaction.ended',
      'session.compacted',
    ])
    const [mark, summary] = service.messages(id).slice(3)
    expect(mark).toMatchObject({ info: { role: 'user', agent: 'svc' }, parts: [{ type: 'compaction', reason: 'auto', summary: false }] })
    expect(summary).toMatchObject({
      info: { role: 'assistant', agent: 'svc', mode: 'compaction', parentId: mark?.info.id, finish: 'stop' },
    })
    expect(partTypes(summary)).toEqual(['compaction', 'text', 'step-finish'])
    expect(ended(service)).toMatchObject([
      { data: { kind: 'model', status: 'completed', text: SUMMARY.trim(), messageID: summary?.info.id } },
    ])
  })

  it('is compacted after a step by what the model reports, before the next follow-up', async () => {
    const { service, id } = await grown()
    service.steps.push(callsAndReports('a', 70_000), says(SUMMARY), says('done'))
    await service.prompt(id, 'go')
    await service.idle(id)
    expect(service.requests.map(isSummaryRequest)).toEqual([false, false, true, false])
    expect(shows(service.requests[3], 'said a')).toBe(true)
    expect(shows(service.requests[3], 'Keep the word kingfisher')).toBe(true)
  })

  it('is compacted again only by what has come since, and the summary before is brought up to date', async () => {
    const { service, id } = await grown()
    service.steps.push(says(SUMMARY), says('ok'))
    await service.prompt(id, `next ${prose(60_000)}`)
    await service.idle(id)
    service.steps.push(says(`${SUMMARY} And the heron.`), says('ok'))
    await service.prompt(id, `then ${prose(60_000)}`)
    await service.idle(id)
    const second = service.requests.filter(isSummaryRequest)[1]
    expect(shows(second, '<summary-so-far>')).toBe(true)
    expect(shows(second, 'Remember the word kingfisher')).toBe(false)
    expect(compacted(service)).toHaveLength(2)
    expect(textIn(service.requests.at(-1)).match(/What was said before is summarised/g)).toHaveLength(1)
  })

  it('sends the same beginning with every step after a compaction', async () => {
    const { service, id } = await grown()
    service.steps.push(says(SUMMARY), calls({ callId: 'a', tool: 'echo' }), calls({ callId: 'b', tool: 'echo' }), says('done'))
    await service.prompt(id, `next ${prose(60_000)}`)
    await service.idle(id)
    const [first, second, third] = service.requests.slice(2).map(({ messages }) => messages)
    expect(second?.slice(0, first?.length)).toEqual(first)
    expect(third?.slice(0, second?.length)).toEqual(second)
  })

  it('is left alone where compaction is switched off', async () => {
    const { service, id } = await grown({ compaction: { auto: false } })
    service.steps.push(reports('fine', 90_000))
    await service.prompt(id, `next ${prose(60_000)}`)
    await service.idle(id)
    expect(service.requests.filter(isSummaryRequest)).toEqual([])
    service.steps.push(overflow)
    await service.prompt(id, 'and now')
    await service.idle(id)
    expect(service.messages(id).at(-1)?.info).toMatchObject({ error: { message: 'This is more than the context length.' } })
    service.steps.push(says(SUMMARY))
    await service.runtime.sessions.compact(id, new AbortController().signal)
    expect(compacted(service)).toHaveLength(1)
  })

  it('follows the agent before the model before the root', async () => {
    const { service, id } = await grown({
      compaction: { auto: false },
      agent: { build: { compaction: { auto: true, 'threshold-percent': 30 } } },
    })
    service.steps.push(says(SUMMARY), says('ok'))
    await service.prompt(id, `next ${prose(15_000)}`)
    await service.idle(id)
    expect(compacted(service)).toHaveLength(1)
  })
})

describe('a compaction that does not help', () => {
  it('is not begun again before the conversation has grown, and says so', async () => {
    const service = await startTestService({ tools: [echo], config: { compaction: { 'threshold-percent': 10, keep: { tokens: 0 } } } })
    const id = await service.session({})
    const huge = { system: prose(12_000) }
    service.steps.push(says(SUMMARY), ...['a', 'b', 'c'].map((callId) => callsAndReports(callId, 15_000)), reports('done', 15_000))
    await service.prompt(id, { prompt: prose(3000), ...huge })
    await service.idle(id)
    expect(service.requests.filter(isSummaryRequest)).toHaveLength(1)
    expect(ended(service)).toMatchObject([
      { data: { status: 'over', note: expect.stringContaining('not compacted again before it has grown') } },
    ])
    expect(service.effects.logs.filter(({ message }) => message.includes('too little in it to compact'))).not.toEqual([])
    expect(service.messages(id).at(-1)?.info).toMatchObject({ finish: 'stop' })
  })

  it('asks for its summary again when the model fails for a moment, and keeps nothing of what had been written', async () => {
    const { service, id } = await grown()
    const breaking: PlayedStep = (push) => {
      push({ type: 'text', delta: 'Half a summary, long enough to count as one. '.repeat(10) })
      throw new ProviderError('overloaded', { retryable: true, retryAfterMs: 5000 })
    }
    service.steps.push(breaking, breaking, says(SUMMARY), says('done'))
    await service.prompt(id, `next ${prose(60_000)}`)
    const idle = service.idle(id)
    for (let waited = 0; waited < 2; waited++) {
      const asked = 2 + waited
      await expect.poll(() => service.requests.length).toBe(asked)
      await service.effects.clock.advanceAsync(4999)
      expect(service.requests).toHaveLength(asked)
      await service.effects.clock.advanceAsync(1)
    }
    await idle
    expect(service.requests.filter(isSummaryRequest)).toHaveLength(3)
    expect(compacted(service)).toMatchObject([{ data: { summary: { text: SUMMARY.trim() } } }])
    expect(JSON.stringify(service.messages(id))).not.toContain('Half a summary')
  })

  it('that fails leaves the run as it was, and is tried a bounded number of times', async () => {
    const { service, id } = await grown()
    const broken: PlayedStep = () => {
      throw new ProviderError('out of order', { retryable: false })
    }
    const failing = (callId: string) => [broken, callsAndReports(callId, 70_000)]
    service.steps.push(...failing('a'), broken, callsAndReports('b', 70_000), callsAndReports('c', 70_000), reports('done', 70_000))
    await service.prompt(id, `next ${prose(60_000)}`)
    await service.idle(id)
    expect(service.requests.filter(isSummaryRequest)).toHaveLength(LIMITS.compaction.faults)
    expect(ended(service)).toHaveLength(LIMITS.compaction.faults)
    expect(ended(service)[0]?.data).toMatchObject({
      kind: 'error',
      status: 'error',
      error: { message: expect.stringContaining('out of order') },
    })
    expect(service.messages(id).at(-1)?.parts).toContainEqual(expect.objectContaining({ type: 'text', text: 'done' }))
    expect(shows(service.requests.at(-1), 'Remember the word kingfisher')).toBe(true)
  })
})

it('that fails after the last step does not make the run a failed one', async () => {
  let host: NativeHost | undefined
  const plugin: NativePlugin = {
    id: 'dev.svc.workflows',
    name: 'Asks for the outcome',
    start(given) {
      host = given
      return {}
    },
  }
  const service = await startTestService({ plugins: [plugin] })
  const id = await service.session()
  service.steps.push(reports('done', 90_000), overflow)
  await service.prompt(id, prose(20_000))
  await service.idle(id)
  expect(service.messages(id).at(-1)?.info).toMatchObject({ mode: 'compaction', finish: 'error' })
  expect(host?.sessions?.outcome(id)).toEqual({ ok: true, text: 'done' })
})

describe('a request that is too large for the model', () => {
  it('is made anew once after a compaction, under another message', async () => {
    const { service, id } = await grown()
    service.steps.push(overflow, says(SUMMARY), says('recovered'))
    await service.prompt(id, { prompt: 'and now', messageId: 'msg_now' })
    await service.idle(id)
    expect(service.requests.map(isSummaryRequest)).toEqual([false, false, true, false])
    const messages = service.messages(id)
    expect(messages.at(-1)).toMatchObject({ info: { parentId: 'msg_now', finish: 'stop' } })
    expect(messages.filter(({ info }) => info.role === 'assistant' && info.error !== undefined)).toEqual([])
    expect(service.events.filter(({ type }) => type === 'message.removed')).toHaveLength(1)
    expect(shows(service.requests[3], 'and now')).toBe(true)
  })

  it('ends the run when it is too large again, after two calls of the model', async () => {
    const { service, id } = await grown()
    service.steps.push(overflow, says(SUMMARY), overflow)
    await service.prompt(id, 'and now')
    await service.idle(id)
    expect(service.requests).toHaveLength(4)
    expect(service.messages(id).at(-1)?.info).toMatchObject({
      finish: 'error',
      error: { message: 'This is more than the context length.' },
    })
  })

  it('ends the run when the compaction fails as well', async () => {
    const { service, id } = await grown()
    service.steps.push(overflow, overflow)
    await service.prompt(id, 'and now')
    await service.idle(id)
    expect(service.requests).toHaveLength(3)
    expect(service.messages(id).filter(({ info }) => info.role === 'assistant' && info.error !== undefined)).toHaveLength(2)
  })

  it('is made smaller although the model told a larger window than it has', async () => {
    const { service, id } = await grown()
    service.steps.push(overflow, says(SUMMARY), says('recovered'))
    await service.prompt(id, `and now ${prose(20_000)}`)
    await service.idle(id)
    const [, refused, summary, retried] = service.requests
    const length = (request: GenerateRequest | undefined) => textIn(request).length
    expect(length(summary)).toBeLessThan(length(refused) * 0.6)
    expect(length(retried)).toBeLessThan(length(refused) * 0.4)
  })
})

describe('a compaction somebody asks for', () => {
  const signal = new AbortController().signal

  it('owns the run of its session: who asks meanwhile is refused, prompts wait', async () => {
    const { service, id } = await grown()
    const held = gate()
    service.steps.push(async (push: (part: StreamPart) => void) => {
      push({ type: 'text', delta: SUMMARY })
      await held.promise
      push({ type: 'finish', reason: 'stop', usage: usage(10) })
    }, says('and on'))
    const compacting = service.runtime.sessions.compact(id, signal)
    await service.until(({ type }) => type === 'session.next.compaction.delta')
    expect(service.store.sessions.get(id)?.time.compacting).toEqual(expect.any(Number))
    await expect(service.runtime.sessions.compact(id, signal)).rejects.toMatchObject({ code: 'resource.conflict' })
    await service.prompt(id, 'next')
    expect(service.requests).toHaveLength(2)
    held.open()
    await compacting
    await service.idle(id)
    expect(shows(service.requests[2], 'Keep the word kingfisher')).toBe(true)
    const activity = service.events.findLast(({ type }) => type === 'session.execution.updated')
    expect(activity?.data['snapshot']).toMatchObject({ finished: true, activeSegments: {} })
  })

  it('can be aborted: the conversation is what it was', async () => {
    const { service, id } = await grown()
    service.steps.push((push, aborted) => {
      push({ type: 'text', delta: SUMMARY })
      return new Promise((_, reject) => aborted.addEventListener('abort', () => reject(new Error('aborted'))))
    })
    const compacting = service.runtime.sessions.compact(id, signal)
    const refused = compacting.catch((error: unknown) => error)
    await service.until(({ type }) => type === 'session.next.compaction.delta')
    expect(await service.runtime.sessions.abort(id)).toBe(true)
    expect(await refused).toMatchObject({ code: 'resource.conflict', message: expect.stringContaining('aborted') })
    expect(service.messages(id).at(-1)?.info).toMatchObject({ finish: 'error', error: { interrupted: true } })
    expect(service.store.sessions.get(id)).not.toHaveProperty('summary')
    service.steps.push(says('still here'))
    await service.prompt(id, 'next')
    await service.idle(id)
    expect(shows(service.requests.at(-1), 'Remember the word kingfisher')).toBe(true)
  })

  it('is undone by deleting the message of its summary, and goes with a fork that has it', async () => {
    const { service, id } = await grown()
    service.steps.push(says('later'))
    await service.prompt(id, 'and then')
    await service.idle(id)
    service.steps.push(says(SUMMARY))
    await service.runtime.sessions.compact(id, signal)
    const [first] = service.messages(id)
    const whole = await service.runtime.sessions.fork(id, {})
    const part = await service.runtime.sessions.fork(id, { messageId: first?.info.id ?? '' })
    const [mark, written] = service.messages(whole.id).slice(-2)
    expect(whole).toMatchObject({ summary: { text: SUMMARY.trim(), messageID: mark?.info.id, throughMessageID: written?.info.id } })
    expect(part).not.toHaveProperty('summary')
    const through = service.messages(id).at(-1)?.info.id ?? ''
    service.runtime.sessions.deleteMessage(id, through)
    expect(service.store.sessions.get(id)).not.toHaveProperty('summary')
    service.steps.push(says('again'), says('again'))
    for (const each of [id, whole.id]) {
      await service.prompt(each, 'what was the word?')
      await service.idle(each)
    }
    const [undone, forked] = service.requests.slice(-2)
    expect([shows(undone, 'Remember the word'), shows(undone, 'Keep the word')]).toEqual([true, false])
    expect(shows(forked, 'Keep the word')).toBe(true)
  })

  it('ends with an orderly stop, as aborted', async () => {
    const { service, id } = await grown()
    service.steps.push((push, aborted) => {
      push({ type: 'text', delta: SUMMARY })
      return new Promise((_, reject) => aborted.addEventListener('abort', () => reject(new Error('aborted'))))
    })
    const compacting = service.runtime.sessions.compact(id, signal).catch((error: unknown) => error)
    await service.until(({ type }) => type === 'session.next.compaction.delta')
    await service.stop()
    expect(await compacting).toMatchObject({ code: 'resource.conflict' })
    expect(ended(service)).toMatchObject([{ data: { status: 'error', error: { message: 'The compaction was cancelled.' } } }])
  })

  it('that the model fails is an error of the call', async () => {
    const { service, id } = await grown()
    service.steps.push(overflow)
    await expect(service.runtime.sessions.compact(id, signal)).rejects.toMatchObject({ code: 'provider.failed' })
    await service.idle(id)
    expect(service.store.sessions.get(id)?.time.compacting).toBeUndefined()
  })

  it('has nothing to do in a session without messages', async () => {
    const service = await startTestService()
    const id = await service.session()
    await service.runtime.sessions.compact(id, signal)
    expect(service.messages(id)).toEqual([])
    expect(service.requests).toEqual([])
    await service.idle(id)
  })

  it('comes to its end whenever it is asked for, while the session looks for work too', async () => {
    const service = await startTestService()
    const id = await service.session()
    for (let turns = 0; turns < 12; turns += 1) {
      await service.runtime.sessions.compact(id, signal)
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve()
    }
    await service.idle(id)
    expect(service.events.filter(({ type, data }) => type === 'session.error' || data['error'] !== undefined)).toEqual([])
  })

  it('is written by the model of the agent for it', async () => {
    const { service, id } = await grown({ agent: { compaction: { model: 'played/one', prompt: 'You shorten.', temperature: 0.1 } } })
    service.steps.push(says(SUMMARY))
    await service.runtime.sessions.compact(id, signal)
    expect(service.requests[1]).toMatchObject({ temperature: 0.1, messages: [{ role: 'system', text: 'You shorten.' }, {}] })
  })

  it('takes what a silent model has written so far', async () => {
    const { service, id } = await grown()
    service.steps.push((push, aborted) => {
      push({ type: 'text', delta: SUMMARY })
      return new Promise((_, reject) => aborted.addEventListener('abort', () => reject(new Error('aborted'))))
    })
    const compacting = service.runtime.sessions.compact(id, signal)
    await service.until(({ type }) => type === 'session.next.compaction.delta')
    await service.effects.clock.advanceAsync(LIMITS.compaction.stall)
    await compacting
    expect(service.store.sessions.get(id)).toMatchObject({ summary: { text: SUMMARY.trim() } })
  })
})

it('does not show old outputs of tools any more, and keeps them', async () => {
  const long: PlayedTool = { id: 'echo', invoke: async ({ value }) => ({ title: '', output: `${value} ${prose(9000)}` }) }
  const service = await startTestService({ tools: [long], config: { compaction: { auto: false } } })
  const id = await service.session()
  for (let turn = 0; turn < 10; turn++) {
    service.steps.push(calls({ callId: `c${turn}`, tool: 'echo' }), says('ok'))
    await service.prompt(id, `turn ${turn}`)
    await service.idle(id)
  }
  const outputs = service.messages(id).flatMap(({ parts }) => parts.filter((part): part is Part & { type: 'tool' } => part.type === 'tool'))
  const gone = outputs.filter(({ state }) => state.status === 'completed' && 'compacted' in (state.metadata as object))
  expect(gone.map(({ callId }) => callId)).toEqual(['c0', 'c1', 'c2'])
  expect(gone[0]?.state).toMatchObject({ output: expect.stringContaining('c0 heron') })
  expect(shows(service.requests.at(-1), 'c0 heron')).toBe(false)
  expect(shows(service.requests.at(-1), 'c3 heron')).toBe(true)
})
