// Holds sessions-events §4.16.
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createGate, cut, finish, hold, reply, type Script, startModelServer, stay, text, toolCall } from '../../fixtures/model-server.js'
import type { InspectorTree } from '../../../src/protocol/system/inspector.js'
import { type House, openHouse, type Room } from '../server/house.js'
import { makePlace, withModel } from '../server/place.js'
import { descendants, isRunning, type Process, untilNone } from '../server/processes.js'
import { openScene, type Server } from '../server/server.js'
import type { Stream } from '../server/stream.js'
import { rebuild, textOf, toolParts, unfinished } from '../server/transcript.js'

let house: House
const rooms: Room[] = []
beforeAll(async () => {
  house = await openHouse()
})
afterEach(() => Promise.all(rooms.splice(0).map((room) => room.close())))
afterAll(() => house.close())

/** A command with a child and a grandchild, neither of which wants to end. */
const SLEEPERS = `trap '' TERM; sh -c "trap '' TERM; sleep 600 & echo begun >&2; wait" & sleep 600`
const sleeping = reply(
  text('now I wait'),
  toolCall({ id: 'c1', name: 'bash', input: { command: SLEEPERS, description: 'wait' } }),
  finish('tool_calls'),
)

async function enter(script: Script): Promise<Room> {
  const room = await house.room(script)
  rooms.push(room)
  return room
}

async function begin(script: Script) {
  const room = await enter(script)
  return { ...room, ...(await talk(room.server)) }
}

async function talk(server: Server): Promise<{ server: Server; stream: Stream; sessionId: string }> {
  const stream = await server.stream({ tail: true })
  const session = await server.createSession()
  await server.prompt(session.id, { prompt: 'go on' })
  return { server, stream, sessionId: session.id }
}

/** The processes of the command once both sleepers run. */
async function sleepers(server: Server): Promise<Process[]> {
  const sleeps = () => descendants(server.pid).filter(({ command }) => command === 'sleep 600')
  const missing = await untilNone(() => (sleeps().length === 2 ? [] : descendants(process.pid)))
  expect(missing).toEqual([])
  const groups = new Set(sleeps().map(({ group }) => group))
  return descendants(server.pid).filter(({ group }) => groups.has(group))
}

async function abort(server: Server, sessionId: string): Promise<void> {
  expect((await server.call('POST', `/v2/sessions/${sessionId}/abort`)).body).toBe(true)
}

describe('a run that fails inside a command', () => {
  test('ends with the command: the next prompt is not sent to the model before', async () => {
    const broken = createGate()
    const command = toolCall({ id: 'c1', name: 'bash', input: { command: SLEEPERS, description: 'wait' } })
    const another = toolCall({ id: 'c2', name: 'bash', input: {}, index: 1 })
    let running: readonly Process[] = []
    let left: readonly Process[] | undefined
    const { model, server, stream, sessionId } = await begin(({ index }) => {
      if (index === 0) return reply(command, another.slice(0, 1), hold(broken), cut)
      left ??= running.filter(isRunning)
      return reply(text('fine'), finish('stop'))
    })
    running = await sleepers(server)
    await server.prompt(sessionId, { prompt: 'next', delivery: 'queue' })
    broken.open()
    await model.request(1)
    expect(left).toEqual([])
    await stream.idle(sessionId)
    const messages = await server.messages(sessionId)
    expect(messages[1]?.info).toMatchObject({ finish: 'error' })
    expect(toolParts(messages).map(({ callId, state }) => [callId, state.status])).toEqual([
      ['c1', 'error'],
      ['c2', 'error'],
    ])
    expect(textOf(messages.at(-1))).toBe('fine')
  })
})

test('deleting a session ends the request for its title', async () => {
  const isTitle = (body: { readonly messages: readonly { readonly [key: string]: unknown }[] } | undefined) =>
    String(body?.messages[0]?.['content']).startsWith('Write a title')
  const { model, server } = await enter(({ body }) => (isTitle(body) ? reply(text('A'), stay) : reply(text('fine'), finish('stop'))))
  const stream = await server.stream({ tail: true })
  const { id } = await server.createSession({ title: undefined })
  await server.prompt(id, { prompt: 'go on' })
  await stream.idle(id)
  const requests = await Promise.all([model.request(0), model.request(1)])
  const title = requests.find(({ body }) => isTitle(body))
  const titles = async () => {
    const { actors } = (await server.call('GET', '/v2/inspector/tree')).body as InspectorTree
    return actors.filter(({ kind }) => kind === 'title').map(({ parentId, state }) => [parentId, ...state])
  }
  expect(await titles()).toEqual([[`session:${id}`, 'making.generating']])
  expect((await server.call('DELETE', `/v2/sessions/${id}`)).status).toBe(200)
  // A title nobody ends is given up after 30 s.
  expect(await Promise.race([title?.ended, delay(20_000, 'not ended', { ref: false })])).toBe('cut')
  expect(await titles()).toEqual([])
})

describe('aborting a run', () => {
  test('while the model streams: idle at once, the text is kept, the provider hears of it', async () => {
    const { model, server, stream, sessionId } = await begin([reply(text('half an '), text('answer'), stay)])
    await stream.waitFor((event) => event.type === 'message.part.delta' && event.data.delta.endsWith('answer'))
    await abort(server, sessionId)
    expect(await server.statuses()).toEqual({})
    await stream.idle(sessionId)
    const messages = await server.messages(sessionId)
    expect(textOf(messages[1])).toBe('half an answer')
    expect(messages[1]?.info).toMatchObject({ finish: 'error', error: { message: 'Session aborted', interrupted: true } })
    expect(messages[1]?.parts.at(-1)).toMatchObject({ type: 'step-finish', reason: 'aborted', tokens: { input: 0, output: 0 } })
    expect(unfinished(messages)).toEqual([])
    expect(rebuild(stream.events, sessionId)).toEqual(messages)
    expect(await model.requests[0]?.ended).toBe('cut')
    expect((await server.call('POST', `/v2/sessions/${sessionId}/abort`)).body).toBe(false)
  })

  test('inside a command: idle, and its whole process group is gone though it ignores TERM', async () => {
    const { server, stream, sessionId } = await begin([sleeping, reply(text('and again'), finish('stop'))])
    const group = await sleepers(server)
    expect(group.length).toBeGreaterThanOrEqual(3)
    await abort(server, sessionId)
    await stream.idle(sessionId)
    expect(await untilNone(() => group.filter(isRunning))).toEqual([])
    const messages = await server.messages(sessionId)
    const [call] = toolParts(messages)
    expect(call).toMatchObject({ metadata: { interrupted: true }, state: { status: 'error' } })
    expect(unfinished(messages)).toEqual([])
    expect(rebuild(stream.events, sessionId)).toEqual(messages)
    expect(stream.events.filter((event) => event.type === 'session.status' && event.data.status.type === 'idle')).toHaveLength(1)

    const before = stream.events.length
    await server.prompt(sessionId, { prompt: 'still there?' })
    await stream.idle(sessionId, before)
    expect(textOf((await server.messages(sessionId)).at(-1))).toBe('and again')
  })
})

test('a killed server leaves no command behind', async ({ onTestFinished }) => {
  const model = await startModelServer([sleeping])
  const scene = openScene(makePlace())
  onTestFinished(async () => {
    await scene.close()
    await model.close()
  })
  scene.place.configure(withModel(model.url))
  const { server } = await talk(await scene.start())
  const group = await sleepers(server)
  const all = descendants(server.pid)
  await server.kill()
  expect(await untilNone(() => [...group, ...all].filter(isRunning))).toEqual([])
})
