// Holds sessions-events §6, §6.6.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Session } from '../../../src/protocol/session/session.js'
import {
  createGate,
  finish,
  type Gate,
  hold,
  type ModelServer,
  type ModelServerRequest,
  refusal,
  type Reply,
  reply,
  startModelServer,
  stay,
  text,
} from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { openScene, type Scene, type Server } from '../server/server.js'
import type { AnyEvent, Stream } from '../server/stream.js'
import { rebuild, textOf, unfinished } from '../server/transcript.js'

let scene: Scene
let model: ModelServer
/** Every conversation is one of its own on the same server, which the last test kills. */
let shared: Server
/** Tokens the model takes; what it is told of them is `CONFIGURED`. */
let window: number
/** What the next summary does after its first words. */
let summarising: (() => Reply) | undefined

const CONFIGURED = { context: 40_000, output: 4000 }
const FACT = /fact-\d+-[a-z]+/g
const isSummary = ({ body }: ModelServerRequest) => JSON.stringify(body?.messages).includes('<conversation>')
const factsIn = (value: unknown) => [...new Set(JSON.stringify(value).match(FACT) ?? [])]
/** How this model counts: words and signs. */
const tokensOf = (value: unknown) => (JSON.stringify(value).match(/\w+|[^\w\s]/g) ?? []).length

/** Answers with what it can see of the conversation, and refuses what is larger than its window. */
function answer(request: ModelServerRequest): Reply {
  const { messages, tools } = request.body ?? { messages: [] }
  const tokens = tokensOf(messages) + tokensOf(tools ?? [])
  if (tokens > window) return refusal(400, `This model's maximum context length is ${window} tokens, and the request has ${tokens}.`)
  const usage = { prompt_tokens: tokens, completion_tokens: 100, total_tokens: tokens + 100 }
  const facts = factsIn(messages)
  if (!isSummary(request)) return reply(text(`I know ${facts.length} facts: ${facts.join(' ')}`.slice(0, 900)), finish('stop', usage))
  const special = summarising?.()
  summarising = undefined
  return special ?? reply(text('## Critical context\n', facts.join(' '), '\nEnd.'), finish('stop', usage))
}

const WORDS = ['heron', 'otter', 'maple', 'comet', 'ember']
const factOf = (turn: number) => `fact-${turn}-${WORDS[turn % WORDS.length]}`
const turnText = (turn: number, words = 400) => `Remember ${factOf(turn)}. ${'The water was low and clear. '.repeat(words / 6)}`

beforeEach(() => {
  window = CONFIGURED.context
  summarising = undefined
})
beforeAll(async () => {
  model = await startModelServer(answer)
  scene = openScene(makePlace())
  const config = withModel(model.url) as { provider: { test: { models: { scripted: { limit: object } } } } }
  config.provider.test.models.scripted.limit = CONFIGURED
  scene.place.configure(config)
  shared = await scene.start()
})
afterAll(async () => {
  await scene.close()
  await model.close()
})

async function ask(server: Server, sessionId: string, prompt: string): Promise<void> {
  await server.prompt(sessionId, { prompt })
  expect((await server.call('POST', `/v2/sessions/${sessionId}/wait`)).status).toBe(204)
}

async function begin(turns: number, words?: number): Promise<{ server: Server; stream: Stream; sessionId: string }> {
  const server = shared
  const stream = await server.stream({ tail: true })
  const { id: sessionId } = await server.createSession()
  for (let turn = 0; turn < turns; turn++) await ask(server, sessionId, turnText(turn, words))
  return { server, stream, sessionId }
}

const told = (stream: Stream, type: AnyEvent['type']) => stream.events.filter((event) => event.type === type)
const summaries = () => model.requests.filter(isSummary).length
const sessionOf = (server: Server, id: string) => server.get<Session & { summary?: { text: string } }>(`/v2/sessions/${id}`)

describe('a conversation of sixty turns', () => {
  test('compacts itself, answers from summary and tail, and never outgrows the window', async () => {
    const { server, stream, sessionId } = await begin(60, 900)
    await stream.waitFor(() => told(stream, 'session.compacted').length >= 2)
    expect(summaries()).toBe(told(stream, 'session.compacted').length)
    await ask(server, sessionId, 'What do you know?')
    const last = model.requests.findLast((request) => !isSummary(request))
    const known = factsIn(last?.body?.messages)
    expect(known.toSorted()).toEqual(Array.from({ length: 60 }, (_, turn) => factOf(turn)).toSorted())
    const sizes = model.requests.map(({ body }) => tokensOf(body?.messages) + tokensOf(body?.tools ?? []))
    expect(Math.max(...sizes)).toBeLessThan(CONFIGURED.context - CONFIGURED.output)
    const messages = await server.messages(sessionId)
    expect(unfinished(messages)).toEqual([])
    expect(messages.filter(({ info }) => info.role === 'assistant' && info.error !== undefined)).toEqual([])
    expect(messages.filter(({ info }) => info.role === 'user' && info.agent !== 'svc')).toHaveLength(61)
    await stream.idle(sessionId)
    await expect.poll(() => rebuild(stream.events, sessionId)).toEqual(messages)
  })
})

describe('a request that is too large for the model', () => {
  test('is compacted and sent once more: the answer is that of one run', async () => {
    const { server, stream, sessionId } = await begin(6, 2000)
    window = 14_000
    const [before, from] = [model.requests.length, stream.events.length]
    await ask(server, sessionId, 'What do you know?')
    expect(model.requests.slice(before).map(isSummary)).toEqual([false, true, false])
    const messages = await server.messages(sessionId)
    expect(textOf(messages.at(-1))).toContain('I know 6 facts')
    expect(messages.filter(({ info }) => info.role === 'assistant' && info.error !== undefined)).toEqual([])
    await stream.idle(sessionId, from)
    await expect.poll(() => rebuild(stream.events, sessionId)).toEqual(messages)
  })

  test('ends the run when no compaction can make it fit, after two calls', async () => {
    const { server, sessionId } = await begin(6, 2000)
    window = 100
    const before = model.requests.length
    await ask(server, sessionId, 'What do you know?')
    expect(model.requests.slice(before).map(isSummary)).toEqual([false, true])
    expect((await server.messages(sessionId)).at(-1)?.info).toMatchObject({
      error: { message: expect.stringContaining('maximum context length') },
    })
    window = CONFIGURED.context
    await ask(server, sessionId, 'And now?')
    expect(textOf((await server.messages(sessionId)).at(-1))).toContain('I know 6 facts')
  })
})

describe('a compaction somebody asks for', () => {
  const begun: AnyEvent['type'] = 'session.next.compaction.delta'
  const stuck = () => reply(text('## Critical context\n', 'half of'), stay)

  test('answers when it is done; the next prompt is answered from the summary', async () => {
    const { server, sessionId } = await begin(5)
    expect((await server.call('POST', `/v2/sessions/${sessionId}/compact`)).status).toBe(204)
    expect(await sessionOf(server, sessionId)).toMatchObject({ summary: { text: expect.stringContaining(factOf(2)) } })
    await ask(server, sessionId, 'What do you know?')
    expect(textOf((await server.messages(sessionId)).at(-1))).toContain('I know 5 facts')
    const sent = JSON.stringify(model.requests.at(-1)?.body?.messages)
    expect(sent.includes(`Remember ${factOf(0)}`)).toBe(false)
    expect((await server.call('POST', `/v2/sessions/${sessionId}/summarize`, {})).body).toBe(true)
  })

  test('is aborted like a run: 409, and nothing has changed', async () => {
    const { server, stream, sessionId } = await begin(5)
    summarising = stuck
    const answer = server.call('POST', `/v2/sessions/${sessionId}/compact`)
    await stream.waitFor(({ type }) => type === begun)
    expect((await server.call('POST', `/v2/sessions/${sessionId}/compact`)).status).toBe(409)
    expect((await server.call('POST', `/v2/sessions/${sessionId}/abort`)).body).toBe(true)
    expect(await answer).toMatchObject({ status: 409, body: { code: 'resource.conflict', message: expect.stringContaining('aborted') } })
    expect(await model.requests.at(-1)?.ended).toBe('cut')
    expect(await server.statuses()).toEqual({})
    const session = await sessionOf(server, sessionId)
    expect([session.summary, session.time.compacting]).toEqual([undefined, undefined])
    const messages = await server.messages(sessionId)
    expect(unfinished(messages)).toEqual([])
    await ask(server, sessionId, 'What do you know?')
    expect(JSON.stringify(model.requests.at(-1)?.body?.messages).includes(`Remember ${factOf(0)}`)).toBe(true)
  })

  test('leaves the old or the new history when the server is killed, whenever that is', async () => {
    const first = await begin(5)
    const { sessionId } = first
    let { server, stream } = first
    const instants: readonly ((gate: Gate) => Promise<unknown>)[] = [
      () => stream.waitFor(({ type }) => type === 'session.next.compaction.started', stream.events.length),
      () => stream.waitFor(({ type }) => type === begun, stream.events.length),
      async (gate) => {
        await stream.waitFor(({ type }) => type === begun, stream.events.length)
        gate.open()
      },
      (gate) => {
        gate.open()
        return stream.waitFor(({ type }) => type === 'session.next.compaction.ended', stream.events.length)
      },
    ]
    const ends: string[] = []
    for (const instant of instants) {
      const gate = createGate()
      summarising = () =>
        reply(
          text('## Critical context\n', Array.from({ length: 5 }, (_, turn) => factOf(turn)).join(' ')),
          hold(gate),
          text('\nEnd.'),
          finish('stop'),
        )
      const reached = instant(gate)
      const asked = server.call('POST', `/v2/sessions/${sessionId}/compact`).catch(() => undefined)
      await reached
      await server.kill()
      await asked
      gate.open()
      server = await scene.start()
      stream = await server.stream({ tail: true })
      const { summary, time } = await sessionOf(server, sessionId)
      const messages = await server.messages(sessionId)
      expect(time.compacting).toBeUndefined()
      expect(unfinished(messages)).toEqual([])
      expect(await server.statuses()).toEqual({})
      const whole = messages.filter(({ info }) => info.role === 'assistant' && info.mode === 'compaction' && info.error === undefined)
      expect(whole.map(textOf)).toEqual(summary === undefined ? [] : [summary.text])
      ends.push(summary === undefined ? 'old' : 'new')
      await ask(server, sessionId, 'What do you know?')
      const sent = JSON.stringify(model.requests.at(-1)?.body?.messages)
      expect(factsIn(sent)).toHaveLength(5)
      expect(sent.includes('What was said before is summarised')).toBe(summary !== undefined)
    }
    expect([ends[0], ends[1], ends.at(-1)]).toEqual(['old', 'old', 'new'])
  })
})
