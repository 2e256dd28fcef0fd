import { describe, expect, it } from 'vitest'
import { TRUSTED_CALLER } from '../../../src/protocol/caller.js'
import type { GenerateRequest } from '../../../src/ports/provider-adapter.js'
import { checkTrace } from '../../../src/published/testing/replay/check-trace.js'
import { recordedActors, replay } from '../../../src/published/testing/replay/replay.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { lives } from '../../fakes/lives.js'
import { gate, type PlayedStep, says, startTestService, type TestService } from '../../fakes/service.js'

interface Asked {
  readonly text: string
  readonly signal: AbortSignal
  answer(title: string): void
}

const promptOf = ({ messages }: GenerateRequest) => {
  const content = messages.findLast((message) => message.role === 'user')?.content[0]
  return content?.type === 'text' ? content.text : ''
}

/** A service whose model holds back every title; the titles it was asked for, in order, and a way to await them. */
async function startService(options: Parameters<typeof startTestService>[0] = {}) {
  const service = await startTestService(options)
  const asked: Asked[] = []
  let noted = gate()
  /** Requests the model was at work on at once, at most. */
  const slots = { taken: 0, most: 0 }
  const step: PlayedStep = async (...request) => {
    slots.most = Math.max(slots.most, ++slots.taken)
    try {
      return await answer(...request)
    } finally {
      slots.taken--
    }
  }
  const answer: PlayedStep = (push, signal, request) => {
    const [first] = request.messages
    if (first?.role !== 'system' || !first.text.startsWith('Write a title')) return says('ok')(push, signal, request)
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')))
      const answer = (title: string) => resolve(says(title)(push, signal, request))
      asked.push({ text: promptOf(request), signal, answer })
      noted.open()
      noted = gate()
    })
  }
  const untilAsked = async (count: number) => {
    while (asked.length < count) await noted.promise
  }
  const prompt = async (text: string) => {
    const id = await service.session({ title: undefined })
    service.steps.push(step, step)
    await service.prompt(id, text)
    await service.idle(id)
    return id
  }
  return { service, asked, untilAsked, prompt, step, slots }
}

const titleOf = (service: TestService, id: string) => service.runtime.sessions.get(id).title

describe('a title in the making', () => {
  it('is an actor below its session: it waits for its turn, generates, and is recorded', async () => {
    const { service, asked, untilAsked, prompt } = await startService()
    const seen = lives(service)
    const id = await prompt('hello')
    await untilAsked(1)
    asked[0]?.answer('Greeting')
    await service.until(({ type, data }) => type === 'session.updated' && data['info'].title === 'Greeting')
    await expect.poll(() => seen(`session:${id}/title:`)).toEqual([['making.waiting', 'making.generating', 'recorded', '(done)']])
  })

  it('is withdrawn when its session stops, which replays', async () => {
    const { service, untilAsked, prompt } = await startService({ inspectPayloads: true })
    const seen = lives(service)
    const id = await prompt('hello')
    await untilAsked(1)
    await service.runtime.sessions.delete(TRUSTED_CALLER, id)
    expect(seen(`session:${id}/title:`)).toEqual([['making.waiting', 'making.generating', 'withdrawn', '(done)']])
    const trace = service.runtime.inspector.trace()
    expect(checkTrace(trace)).toEqual([])
    const replayed = recordedActors(trace).map((actor) => replay(trace, actor))
    expect(replayed.filter(({ actor }) => actor.startsWith(`session:${id}`)).map(({ machine, state }) => [machine, ...state])).toEqual([
      ['session', 'stopped'],
      ['run', 'finished'],
      ['title', 'withdrawn'],
    ])
  })

  it('never keeps an answer waiting where the model has one slot: it comes after the run, and goes when another begins', async () => {
    const { service, asked, untilAsked, prompt, step, slots } = await startService()
    const id = await prompt('hello')
    await untilAsked(1)
    expect(slots.taken).toBe(1)
    service.steps.push(step)
    await service.prompt(id, 'and now?')
    await service.idle(id)
    expect(asked[0]?.signal.aborted).toBe(true)
    expect(slots).toEqual({ taken: 0, most: 1 })
    expect(titleOf(service, id)).toBe('hello')
  })

  it('ends with its session when that is deleted', async () => {
    const { service, asked, untilAsked, prompt } = await startService()
    const id = await prompt('hello')
    await untilAsked(1)
    await service.runtime.sessions.delete(TRUSTED_CALLER, id)
    expect(asked[0]?.signal.aborted).toBe(true)
    expect(service.running.counters()).toMatchObject({ awakeSessions: 0 })
  })

  it('ends with its session when the service stops', async () => {
    const { service, asked, untilAsked, prompt } = await startService()
    await prompt('hello')
    await untilAsked(1)
    await service.stop()
    expect(asked[0]?.signal.aborted).toBe(true)
  })

  it('is given up when the model is too slow', async () => {
    const { service, asked, untilAsked, prompt } = await startService()
    const id = await prompt('hello')
    await untilAsked(1)
    await service.effects.clock.advanceAsync(LIMITS.titles.timeout)
    expect(asked[0]?.signal.aborted).toBe(true)
    expect(titleOf(service, id)).toBe('hello')
  })

  it('is one of at most four, and the others wait for their turn', async () => {
    const { service, asked, untilAsked, prompt } = await startService()
    const ids: string[] = []
    for (const name of 'abcdefg') ids.push(await prompt(name))
    await untilAsked(4)
    await service.effects.clock.advanceAsync(1)
    expect(asked.map(({ text }) => text)).toEqual('abcd'.split(''))
    asked[1]?.answer('Bee')
    await untilAsked(5)
    await service.runtime.sessions.delete(TRUSTED_CALLER, ids[5] ?? '')
    asked[0]?.answer('Ay')
    await untilAsked(6)
    expect(asked.map(({ text }) => text)).toEqual('abcdeg'.split(''))
    await service.effects.clock.advanceAsync(1)
    expect(ids.slice(0, 2).map((id) => titleOf(service, id))).toEqual(['Ay', 'Bee'])
  })
})
