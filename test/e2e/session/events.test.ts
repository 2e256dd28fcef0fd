import { connect } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createGate, finish, type Gate, hold, reply, text, toolCall } from '../../fixtures/model-server.js'
import { type House, openHouse, type Room } from '../server/house.js'
import { makePlace } from '../server/place.js'
import { openScene, type Server } from '../server/server.js'
import type { InspectorRecord, InspectorTrace } from '../../../src/protocol/system/inspector.js'
import { type AnyEvent, openStream, type Stream } from '../server/stream.js'
import { rebuild, textOf } from '../server/transcript.js'

let house: House
let room: Room
let gates: Gate[]
let server: Server
let sessionId: string

const words = (from: number, count: number) => Array.from({ length: count }, (_, index) => `w${from + index} `)

beforeAll(async () => {
  house = await openHouse()
})
beforeEach(async () => {
  gates = [createGate(), createGate()]
  const [first, second] = gates
  if (first === undefined || second === undefined) throw new Error('no gates')
  room = await house.room([
    reply(text(...words(0, 200)), toolCall({ id: 'c1', name: 'read', input: { filePath: 'README.md' } }), finish('tool_calls')),
    reply(text(...words(200, 100)), hold(first), text(...words(300, 300)), hold(second), text('the end'), finish('stop')),
    reply(text('child answer'), finish('stop')),
  ])
  server = room.server
  ;({ id: sessionId } = await server.createSession())
})
afterEach(async () => {
  for (const gate of gates) gate.open()
  await room.close()
})
afterAll(() => house.close())

const delta = (word: string) => (event: AnyEvent) => event.type === 'message.part.delta' && event.data.delta.includes(word)
const ids = (stream: Stream) => stream.received.flatMap(({ id }) => (id === undefined ? [] : [id]))

/** The whole durable log, read until it is live and the marker session has been seen. */
async function wholeLog(): Promise<Stream> {
  const log = await server.stream({ since: 0, limit: 7 })
  const marker = await server.createSession({ title: 'marker' })
  await log.waitFor((event) => event.type === 'session.created' && event.data.sessionID === marker.id)
  return log
}

function expectIncreasing(stream: Stream): void {
  const seen = ids(stream)
  expect(seen.every((id, index) => index === 0 || id > (seen[index - 1] ?? 0))).toBe(true)
  const sequences = stream.events.map(({ sequence }) => sequence)
  expect(sequences.every((sequence, index) => index === 0 || sequence >= (sequences[index - 1] ?? 0))).toBe(true)
  for (const { id, name, event } of stream.received) {
    expect(name).toBe(event.type)
    expect([event.sequence, undefined]).toContain(id)
  }
}

describe('the event stream', () => {
  test('replay meets live in the middle of a run without gap or duplicate', async () => {
    const witness = await server.stream({ since: 0 })
    await server.prompt(sessionId, { prompt: 'talk' })
    const pages = [server.stream({ since: 0, limit: 1 }), server.stream({ since: 0, limit: 3 })]
    await witness.waitFor(delta('w250 '))
    const middle = await server.stream({ since: 0, limit: 5 })
    const cursor = witness.events.at(-1)?.sequence ?? 0
    const resumed = await server.stream({ lastEventId: cursor })
    gates[0]?.open()
    const streams = [witness, ...(await Promise.all(pages)), middle, resumed]
    await middle.waitFor(delta('w450 '))
    gates[1]?.open()
    await Promise.all(streams.map((stream) => stream.idle(sessionId)))

    const log = await wholeLog()
    const durable = log.events.filter(({ type }) => type !== 'message.part.delta').map(({ sequence }) => sequence)
    const lastOf = (stream: Stream) => ids(stream).at(-1) ?? 0
    for (const stream of streams) {
      expectIncreasing(stream)
      const begin = stream === resumed ? cursor : 0
      expect(ids(stream).filter((id) => durable.includes(id))).toEqual(durable.filter((id) => id > begin && id <= lastOf(stream)))
    }
    const messages = await server.messages(sessionId)
    for (const stream of [witness, middle]) expect(rebuild(stream.events, sessionId)).toEqual(messages)
    expect(rebuild(log.events, sessionId)).toEqual(messages)
    // What was broadcast while both were live is the same for both.
    const joined = ids(resumed)[0] ?? 0
    expect(ids(resumed)).toEqual(ids(witness).filter((id) => id >= joined))
  })

  test('a late joiner gets the text so far, and the deltas after it complete it', async () => {
    const witness = await server.stream({ tail: true })
    await server.prompt(sessionId, { prompt: 'talk' })
    await witness.waitFor(delta('w299 '))
    const late = await server.stream({ tail: true })
    const baseline = await late.waitFor((event) => event.type === 'message.part.updated' && event.data.part.type === 'text')
    expect(baseline).toMatchObject({ data: { part: { text: words(200, 100).join('') } } })
    expect(late.received.filter(({ event }) => event.sequence <= baseline.sequence).map(({ id }) => id)).toEqual(
      late.events.filter(({ sequence }) => sequence <= baseline.sequence).map(() => undefined),
    )
    expect(late.events.some((event) => event.type === 'session.execution.updated')).toBe(true)
    for (const gate of gates) gate.open()
    await late.idle(sessionId)
    const last = (await server.messages(sessionId)).at(-1)
    expect(textOf(last)).toBe([...words(200, 400), 'the end'].join(''))
    const deltas = late.events.flatMap((event) => (event.type === 'message.part.delta' ? [event.data.delta] : [])).join('')
    expect(words(200, 100).join('') + deltas).toBe(textOf(last))
    expect(rebuild(late.events, sessionId)).toEqual([last])
    expectIncreasing(late)
  })

  test('a reader that takes nothing is cut as lagged, and no other is', async ({ onTestFinished }) => {
    // Of its own: the records of all readers are counted.
    const scene = openScene(makePlace())
    onTestFinished(() => scene.close())
    const server = await scene.start()
    const { id: sessionId } = await server.createSession()
    const records = async () => ((await server.call('GET', '/v2/inspector/trace')).body as InspectorTrace).records
    const looking = await openStream(server.url, {}, {}, '/v2/inspector/events')
    const quick = await server.stream({ tail: true })
    const slow = connect(Number(new URL(server.url).port), '127.0.0.1').pause()
    slow.write(`GET /v2/events?tail=true HTTP/1.1\r\nHost: ${new URL(server.url).host}\r\n\r\n`)
    const isReader = ({ actor, type }: InspectorRecord) => type === 'start' && actor?.machine === 'subscription'
    await expect.poll(async () => (await records()).filter(isReader).length).toBe(2)
    const readers = (await records()).filter(isReader).map(({ actorId }) => actorId)
    const text = 'x'.repeat(1000 * 1024)
    for (let at = 0; at < 20; at++) await server.prompt(sessionId, { prompt: text, noReply: true })
    const marker = await server.createSession({ title: 'marker' })
    await quick.waitFor((event) => event.type === 'session.created' && event.data.sessionID === marker.id)
    const told = await records()
    const lives = readers.map((id) => told.flatMap(({ actorId, after }) => (actorId === id && after ? [after.join()] : [])))
    expect(lives).toEqual([['live'], ['live', 'lagged']])
    slow.destroy()
    looking.close()
    await looking.ended.catch(() => undefined)
  })

  test('a stream of one session receives its family, also a child made later, and nothing else', async () => {
    for (const gate of gates) gate.open()
    const family = await server.stream({ tail: true, sessionId })
    const stranger = await server.createSession({ title: 'stranger' })
    await server.prompt(sessionId, { prompt: 'talk' })
    await family.idle(sessionId)
    const child = await server.createSession({ parentId: sessionId })
    await family.waitFor((event) => event.type === 'session.created' && event.data.sessionID === child.id)
    const ofChild = await server.stream({ tail: true, sessionId: child.id })
    await server.prompt(child.id, { prompt: 'and you?' })
    await family.idle(child.id)
    await ofChild.idle(child.id)
    await server.call('PATCH', `/v2/sessions/${stranger.id}`, { title: 'a stranger' })
    await server.call('PATCH', `/v2/sessions/${sessionId}`, { title: 'the root' })
    await ofChild.waitFor((event) => event.type === 'session.updated' && event.data.info.title === 'the root')

    expect(rebuild(family.events, child.id)).toEqual(await server.messages(child.id))
    expect(new Set(family.events.map(({ subject }) => subject?.id))).toEqual(new Set([sessionId, child.id]))
    const busy = family.events.find((event) => event.type === 'session.status' && event.data.sessionID === child.id)
    expect(busy).toMatchObject({ data: { parentSessionID: sessionId, sourceSessionID: child.id } })
    const replayed = await server.stream({ since: 0, sessionId: child.id, limit: 2 })
    await replayed.waitFor((event) => event.type === 'session.updated' && event.data.info.title === 'the root')
    expect(new Set(replayed.events.map(({ subject }) => subject?.id))).toEqual(new Set([sessionId, child.id]))
    expect(rebuild(replayed.events, child.id)).toEqual(await server.messages(child.id))
  })

  test('cursors: since wins over Last-Event-ID, the future is refused, nonsense is refused', async () => {
    const log = await wholeLog()
    const newest = log.events.at(-1)?.sequence ?? 0
    const both = await server.stream({ since: 0, lastEventId: newest })
    await both.waitFor(({ sequence }) => sequence === newest)
    expect(ids(both)).toEqual(ids(log))
    for (const query of ['since=-1', 'since=abc', 'limit=x', 'tail=maybe', `since=${newest + 1000}`]) {
      const answer = await server.call('GET', `/v2/events?${query}`)
      expect([query, answer.status, answer.body]).toEqual([query, 400, expect.objectContaining({ code: 'request.invalid' })])
    }
  })
})
