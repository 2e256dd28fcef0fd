// Holds sessions-events §4.17; choice 5.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Message, SessionQueueInfo, SessionQueueMutation } from '../../../src/protocol/message/message.js'
import {
  createGate,
  finish,
  type Gate,
  hold,
  type ModelServerRequest,
  type Reply,
  reply,
  startModelServer,
  text,
} from '../../fixtures/model-server.js'
import { type House, openHouse, type Room } from '../server/house.js'
import { makePlace, withModel } from '../server/place.js'
import { openScene, type Server } from '../server/server.js'
import type { Stream } from '../server/stream.js'
import { rebuild, textOf, unfinished } from '../server/transcript.js'

let house: House
let room: Room
let gate: Gate
let server: Server
let stream: Stream
let sessionId: string

beforeAll(async () => {
  house = await openHouse()
})
beforeEach(async () => {
  gate = createGate()
  room = await house.room(echo)
  await begin(room.server)
})
afterEach(async () => {
  gate.open()
  await room.close()
})
afterAll(() => house.close())

async function begin(on: Server): Promise<void> {
  server = on
  stream = await server.stream({ tail: true })
  ;({ id: sessionId } = await server.createSession())
}

/** For a test that kills its server. */
async function beginApart() {
  const model = await startModelServer(echo)
  const scene = openScene(makePlace())
  onTestFinished(async () => {
    gate.open()
    await scene.close()
    await model.close()
  })
  scene.place.configure(withModel(model.url))
  await begin(await scene.start())
  return { scene, model }
}

/** Answers the last user message; the very first answer is held in the middle until the gate opens. */
function echo(request: ModelServerRequest): Reply {
  const asked = request.body?.messages.findLast(({ role }) => role === 'user')?.['content']
  const answer = text('re: ', typeof asked === 'string' ? asked : JSON.stringify(asked))
  return request.index === 0 ? reply(text('wait '), hold(gate), answer, finish('stop')) : reply(answer, finish('stop'))
}

const lines = (messages: readonly Message[]) => messages.map((message) => `${message.info.role}: ${textOf(message)}`)
const streaming = () => stream.waitFor((event) => event.type === 'message.part.delta')
const queue = () => server.get<SessionQueueInfo>(`/v2/sessions/${sessionId}/queue`)
const runs = () =>
  new Set(stream.events.flatMap((event) => (event.type === 'session.status' && event.data.runID !== undefined ? [event.data.runID] : [])))

describe('prompts while a run is streaming', () => {
  test('wait up to a bound of their bytes, and are told by their first words however long they are', async () => {
    await server.prompt(sessionId, { prompt: 'first' })
    await streaming()
    const file = { type: 'file', mime: 'text/plain', filename: 'a.txt', url: `data:text/plain;base64,${'A'.repeat(2_900_000)}` }
    const send = async (delivery = 'queue') =>
      server.call('POST', `/v2/sessions/${sessionId}/prompt-async`, { parts: [file], noReply: true, delivery })
    const statuses: number[] = []
    for (let sent = 0; sent < 11; sent++) statuses.push((await send()).status)
    expect(statuses).toEqual(Array.from({ length: 11 }, () => 204))
    const refused = await send()
    expect(refused.status).toBe(429)
    expect(refused.body).toMatchObject({ code: 'quota.exceeded', message: expect.stringContaining('33554432. Send it when') })
    expect((await queue()).items.map(({ text: shown }) => shown)).toEqual(Array.from({ length: 11 }, () => '@a.txt'))
    await server.call('POST', `/v2/sessions/${sessionId}/queue/pop`)
    expect((await send()).status).toBe(204)
    await server.prompt(sessionId, { prompt: `  long\n words ${'x'.repeat(100_000)}`, delivery: 'queue' })
    expect((await queue()).items.at(-1)?.text).toBe(`long words ${'x'.repeat(109)}...`)
    await server.call('DELETE', `/v2/sessions/${sessionId}/queue`)
    expect((await queue()).count).toBe(0)
  })

  test('a steering prompt joins the run, a queued one waits for a run of its own', async () => {
    await server.prompt(sessionId, { prompt: 'first' })
    await streaming()
    await server.prompt(sessionId, { prompt: 'queued', messageId: 'msg_queued', delivery: 'queue' })
    await server.prompt(sessionId, { prompt: 'steer', messageId: 'msg_steer' })
    await server.prompt(sessionId, { prompt: 'async', messageId: 'msg_async', delivery: 'steer' }, 'prompt-async')
    expect(await queue()).toMatchObject({
      count: 3,
      running: true,
      worker: true,
      items: [{ text: 'queued' }, { text: 'steer' }, { text: 'async' }],
    })
    expect(lines(await server.messages(sessionId)).filter((line) => line.startsWith('user'))).toEqual(['user: first'])
    gate.open()
    await stream.idle(sessionId)

    const messages = await server.messages(sessionId)
    expect(lines(messages)).toEqual([
      'user: first',
      'assistant: wait re: first',
      'user: steer',
      'assistant: re: steer',
      'user: queued',
      'assistant: re: queued',
      'user: async',
      'assistant: re: async',
    ])
    expect(runs().size).toBe(3)
    expect(messages.map(({ info }) => (info.role === 'assistant' ? info.parentId : ''))).toEqual([
      '',
      messages[0]?.info.id,
      '',
      'msg_steer',
      '',
      'msg_queued',
      '',
      'msg_async',
    ])
    expect(stream.events.filter((event) => event.type === 'session.status' && event.data.status.type === 'idle')).toHaveLength(1)
    expect(await queue()).toMatchObject({ count: 0, running: false, worker: false, items: [] })
  })

  test('a message id is accepted once, in the queue, in the transcript and after a restart', async () => {
    const { scene, model } = await beginApart()
    await server.prompt(sessionId, { prompt: 'first', messageId: 'msg_first' })
    await streaming()
    const submit = (on: Server, messageId: string, prompt: string) =>
      on.call('POST', `/v2/sessions/${sessionId}/prompt`, { prompt, messageId, delivery: 'queue' })
    const repeated = await Promise.all([1, 2, 3, 4, 5].map(() => submit(server, 'msg_queued', 'queued')))
    expect(repeated.map(({ status }) => status)).toEqual([204, 204, 204, 204, 204])
    expect((await queue()).count).toBe(1)
    const conflict = await submit(server, 'msg_queued', 'other words')
    expect([conflict.status, conflict.body]).toEqual([
      409,
      expect.objectContaining({ code: 'resource.conflict', details: { messageId: 'msg_queued' } }),
    ])
    expect((await submit(server, 'msg_first', 'first')).status).toBe(204)
    gate.open()
    await stream.idle(sessionId)
    expect((await submit(server, 'msg_queued', 'queued')).status).toBe(204)
    expect((await submit(server, 'msg_queued', 'other words')).status).toBe(409)
    const other = await server.createSession()
    const elsewhere = await server.call('POST', `/v2/sessions/${other.id}/prompt`, { prompt: 'queued', messageId: 'msg_queued' })
    expect(elsewhere.status).toBe(409)
    await server.kill()

    const again = await scene.start()
    expect((await submit(again, 'msg_queued', 'queued')).status).toBe(204)
    expect((await submit(again, 'msg_queued', 'other words')).status).toBe(409)
    expect((await again.call('POST', `/v2/sessions/${sessionId}/wait`)).status).toBe(204)
    expect(lines(await again.messages(sessionId))).toEqual([
      'user: first',
      'assistant: wait re: first',
      'user: queued',
      'assistant: re: queued',
    ])
    expect(await again.messages(other.id)).toEqual([])
    expect(model.requests).toHaveLength(2)
  })

  test('queued prompts survive a killed server, keep their order and run once', async () => {
    const { scene, model } = await beginApart()
    await server.prompt(sessionId, { prompt: 'first' })
    await streaming()
    for (const name of ['one', 'two', 'three']) await server.prompt(sessionId, { prompt: name, messageId: `msg_${name}` }, 'prompt-async')
    await server.kill()
    const again = await scene.start()
    const log = await again.stream({ since: 0 })
    await log.idle(sessionId)
    const messages = await again.messages(sessionId)
    const [first, cutOff, ...others] = lines(messages)
    expect(first).toBe('user: first')
    // Text reaches its row within a second; what was streamed after that is lost with the process.
    expect(['assistant: ', 'assistant: wait ']).toContain(cutOff)
    expect(others).toEqual(['user: one', 'assistant: re: one', 'user: two', 'assistant: re: two', 'user: three', 'assistant: re: three'])
    expect(messages[1]?.info).toMatchObject({ finish: 'error', error: { interrupted: true } })
    expect(unfinished(messages)).toEqual([])
    expect(rebuild(log.events, sessionId)).toEqual(messages)
    expect(model.requests).toHaveLength(4)
  })

  test('the queue can be popped from its head and cleared', async () => {
    await server.prompt(sessionId, { prompt: 'first' })
    await streaming()
    for (const name of ['one', 'two', 'three'])
      await server.prompt(sessionId, { prompt: name, messageId: `msg_${name}`, delivery: 'queue' })
    const popped = await server.call('POST', `/v2/sessions/${sessionId}/queue/pop`)
    expect(popped.body).toMatchObject({
      sessionId,
      removed: 1,
      queue: {
        count: 2,
        items: [
          { index: 0, text: 'two' },
          { index: 1, text: 'three' },
        ],
      },
    })
    const cleared = await server.call('DELETE', `/v2/sessions/${sessionId}/queue`)
    expect(cleared.body as SessionQueueMutation).toMatchObject({ removed: 2, queue: { count: 0, items: [] } })
    expect((await server.call('POST', `/v2/sessions/${sessionId}/queue/pop`)).body).toMatchObject({ removed: 0 })
    gate.open()
    await stream.idle(sessionId)
    expect(lines(await server.messages(sessionId))).toEqual(['user: first', 'assistant: wait re: first'])
    const changes = stream.events.flatMap((event) =>
      event.type === 'session.queue.updated' ? [`${event.data.action} ${event.data.request?.messageId ?? event.data.messageID ?? ''}`] : [],
    )
    expect(changes.slice(2)).toEqual(['enqueue msg_one', 'enqueue msg_two', 'enqueue msg_three', 'pop msg_one', 'clear '])
  })

  test('aborting ends the run only; the queue goes on', async () => {
    await server.prompt(sessionId, { prompt: 'first' })
    await streaming()
    await server.prompt(sessionId, { prompt: 'next', delivery: 'queue' })
    expect((await server.call('POST', `/v2/sessions/${sessionId}/abort`)).body).toBe(true)
    await stream.idle(sessionId)
    expect(lines(await server.messages(sessionId))).toEqual(['user: first', 'assistant: wait ', 'user: next', 'assistant: re: next'])
  })

  test('noReply prompts are kept without an answer', async () => {
    await server.prompt(sessionId, { prompt: 'for later', noReply: true })
    expect(await server.statuses()).toEqual({})
    await server.prompt(sessionId, { prompt: 'first' })
    await streaming()
    await server.prompt(sessionId, { prompt: 'a note', noReply: true })
    gate.open()
    await stream.idle(sessionId)
    expect(lines(await server.messages(sessionId))).toEqual(['user: for later', 'user: first', 'assistant: wait re: first', 'user: a note'])
  })
})
