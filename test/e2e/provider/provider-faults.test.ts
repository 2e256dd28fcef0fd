import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Message } from '../../../src/protocol/message/message.js'
import {
  bytes,
  cut,
  finish,
  finishReason,
  type ModelServer,
  type ModelServerRequest,
  type Reply,
  refusal,
  reply,
  startModelServer,
  streamError,
  text,
  toolCall,
} from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { openScene, type Scene, type Server } from '../server/server.js'
import type { AnyEvent, Stream } from '../server/stream.js'
import { deltasOf, rebuild, textOf, toolParts, unfinished } from '../server/transcript.js'

const ok = reply(text('all ', 'well'), finish('stop'))
const write = (id: string, name: string, index = 0) =>
  toolCall({ id, name: 'write', input: { filePath: name, content: 'x\n' }, index, pieces: 4 })
const soon = { 'retry-after-ms': '5' }

/** What the provider does, attempt by attempt, for a prompt with this text. */
const SCRIPTS: Readonly<Record<string, readonly Reply[]>> = {
  'a stream that is cut': [reply(text('half a'), cut), ok],
  'a stream that ends without its end': [reply(text('half a')), ok],
  'a stream of garbage': [reply(text('half a'), bytes('data: {"choices": [{\n\n')), ok],
  'an empty stream': [reply(), ok],
  'an error inside the stream': [reply(text('half a'), streamError('the model is overloaded', 503)), ok],
  'a server error': [refusal(500, 'broken', soon), refusal(503, 'still broken', soon), ok],
  'too many requests': [refusal(429, 'slow down', soon), ok],
  'arguments that are cut off': [reply(text('half a'), write('c1', 'cut.txt').slice(0, 3), cut), ok],
  'a refusal inside the stream': [reply(text('half a'), streamError('invalid api key', 401))],
  'a refusal': [refusal(401, 'who are you?')],
  'errors without end': [0, 1, 2, 3].map((attempt) => refusal(500, `broken ${attempt}`, soon)),
  'arguments that are not JSON': [
    reply(toolCall({ id: 'c1', name: 'write', input: '{"filePath": "bad.txt", "content": "x' }), finish('tool_calls')),
    reply(write('c2', 'mended.txt'), finish('tool_calls')),
    ok,
  ],
  'a call after the end': [reply(text('bye'), finishReason('stop'), write('c1', 'late.txt'), finish('stop').slice(1)), ok],
  'arguments of the wrong type': [reply(toolCall({ id: 'c1', name: 'write', input: { filePath: 7 } }), finish('tool_calls')), ok],
  'a tool that does not exist': [reply(toolCall({ id: 'c1', name: 'fly', input: {} }), finish('tool_calls')), ok],
  'a call id that comes twice': [reply(write('c1', 'one.txt', 0), write('c1', 'two.txt', 1), finish('tool_calls')), ok],
}

let scene: Scene
let model: ModelServer
let server: Server
let stream: Stream

// One server for all: no two tests send the same prompt.
beforeAll(async () => {
  const attempts = new Map<string, number>()
  model = await startModelServer((request) => {
    const prompt = promptOf(request)
    const attempt = attempts.get(prompt) ?? 0
    attempts.set(prompt, attempt + 1)
    return SCRIPTS[prompt]?.[attempt] ?? refusal(400, `no attempt ${attempt} of ${prompt}`)
  })
  scene = openScene(makePlace())
  scene.place.configure(withModel(model.url))
  server = await scene.start()
  stream = await server.stream({ tail: true })
})
afterAll(async () => {
  await scene.close()
  await model.close()
})

function promptOf({ body }: ModelServerRequest): string {
  const content = body?.messages.findLast(({ role }) => role === 'user')?.['content']
  return typeof content === 'string' ? content : JSON.stringify(content)
}

interface Outcome {
  readonly messages: readonly Message[]
  readonly events: readonly AnyEvent[]
  readonly retries: readonly (string | undefined)[]
  readonly errors: readonly string[]
}

/** Runs a prompt of each name, all at once, each in a session of its own. */
async function outcomes<Name extends string>(...names: readonly Name[]): Promise<Record<Name, Outcome>> {
  const all = await Promise.all(
    names.map(async (name) => {
      const { id } = await server.createSession({ title: name })
      await server.prompt(id, { prompt: name })
      await stream.idle(id)
      const events = stream.events.filter(({ subject }) => subject?.id === id)
      const messages = await server.messages(id)
      expect([name, unfinished(messages)]).toEqual([name, []])
      expect([name, rebuild(events, id)]).toEqual([name, messages])
      const retries = events.flatMap((event) =>
        event.type === 'session.status' && event.data.status.type === 'retry' ? [event.data.status.message] : [],
      )
      const errors = events.flatMap((event) =>
        event.type === 'session.error' ? [`${event.data.error.code}: ${event.data.error.message}`] : [],
      )
      return [name, { messages, events, retries, errors }] as const
    }),
  )
  return Object.fromEntries(all) as unknown as Record<Name, Outcome>
}

describe('a provider that fails', () => {
  test('is tried again, visibly, and what the failed attempt said is gone', async () => {
    const ended = await outcomes(
      'a stream that is cut',
      'a stream that ends without its end',
      'a stream of garbage',
      'an empty stream',
      'an error inside the stream',
      'too many requests',
      'arguments that are cut off',
    )
    for (const [name, { messages, events, retries, errors }] of Object.entries(ended)) {
      expect([name, messages.map((message) => textOf(message))]).toEqual([name, [name, 'all well']])
      expect([name, retries.length, errors]).toEqual([name, 1, []])
      expect([name, toolParts(messages)]).toEqual([name, []])
      expect([name, messages[1]?.info.role === 'assistant' && messages[1].info.error]).toEqual([name, undefined])
      const again = events.findLastIndex((event) => event.type === 'message.part.updated' && event.data.part.type === 'step-start')
      expect([name, deltasOf(events.slice(again), messages[1]?.info.id ?? '')]).toEqual([name, 'all well'])
    }
    expect(ended['an error inside the stream'].retries[0]).toContain('the model is overloaded')
    expect(ended['too many requests'].retries[0]).toContain('slow down')
    expect(() => scene.place.read('cut.txt')).toThrow('ENOENT')
  })

  test('is tried again as often as needed, and given up after three times', async () => {
    const ended = await outcomes('a server error', 'errors without end')
    expect(ended['a server error'].retries).toEqual([
      expect.stringContaining('answered 500: broken'),
      expect.stringContaining('answered 503: still broken'),
    ])
    expect(textOf(ended['a server error'].messages[1])).toBe('all well')
    const { messages, retries, errors } = ended['errors without end']
    expect(retries).toHaveLength(3)
    expect(errors).toEqual([expect.stringContaining('prompt.failed: Provider "test" answered 500: broken 3')])
    expect(messages[1]?.info).toMatchObject({ finish: 'error', error: { message: expect.stringContaining('broken 3') as string } })
    expect(messages[1]?.parts.at(-1)).toMatchObject({ type: 'step-finish', reason: 'error' })
  })

  test('is not tried again when it refuses; the text so far is kept and the error is shown', async () => {
    const ended = await outcomes('a refusal', 'a refusal inside the stream')
    for (const { retries, errors } of Object.values(ended)) {
      expect(retries).toEqual([])
      expect(errors).toHaveLength(1)
    }
    expect(ended['a refusal'].errors[0]).toContain('answered 401: who are you?')
    expect(ended['a refusal inside the stream'].errors[0]).toContain('invalid api key')
    expect(textOf(ended['a refusal inside the stream'].messages[1])).toBe('half a')
  })
})

describe('calls a model makes badly', () => {
  test('are told to it and never carried out', async () => {
    const ended = await outcomes('arguments of the wrong type', 'a tool that does not exist')
    for (const [name, { messages, errors }] of Object.entries(ended)) {
      expect([name, toolParts(messages).map(({ state }) => state.status)]).toEqual([name, ['error']])
      expect([name, textOf(messages.at(-1)), errors]).toEqual([name, 'all well', []])
    }
    const errorOf = (outcome: Outcome) => toolParts(outcome.messages).map(({ state }) => (state.status === 'error' ? state.error : ''))[0]
    expect(errorOf(ended['arguments of the wrong type'])).toContain('filePath')
    expect(errorOf(ended['a tool that does not exist'])).toContain('There is no tool "fly"')
  })

  test('without whole arguments can be made again, without a retry', async () => {
    const { 'arguments that are not JSON': ended } = await outcomes('arguments that are not JSON')
    expect([ended.retries, ended.errors]).toEqual([[], []])
    expect(toolParts(ended.messages)).toMatchObject([
      { callId: 'c1', state: { status: 'error', error: expect.stringContaining('they are not JSON') as string } },
      { callId: 'c2', state: { status: 'completed' } },
    ])
    expect(() => scene.place.read('bad.txt')).toThrow('ENOENT')
    expect(scene.place.read('mended.txt')).toBe('x\n')
  })

  test('after the end of the answer are not carried out', async () => {
    const { 'a call after the end': ended } = await outcomes('a call after the end')
    expect(toolParts(ended.messages)).toMatchObject([
      { callId: 'c1', state: { status: 'error', error: expect.stringContaining('after the end of the answer') as string } },
    ])
    expect(() => scene.place.read('late.txt')).toThrow('ENOENT')
    expect([textOf(ended.messages.at(-1)), ended.retries, ended.errors]).toEqual(['all well', [], []])
  })

  test('happen once per call id', async () => {
    const { 'a call id that comes twice': ended } = await outcomes('a call id that comes twice')
    expect(toolParts(ended.messages).map(({ callId, state }) => [callId, state.status])).toEqual([['c1', 'completed']])
    expect(scene.place.read('one.txt')).toBe('x\n')
    expect(() => scene.place.read('two.txt')).toThrow('ENOENT')
    expect(textOf(ended.messages.at(-1))).toBe('all well')
  })
})
