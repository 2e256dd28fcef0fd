// Holds threat-model §6.6.4.
import { request } from 'node:http'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { finish, type ModelServer, reply, startModelServer, stay, text, toolCall } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { descendants, isRunning, untilNone } from '../server/processes.js'
import { openScene, type Scene, type Server } from '../server/server.js'
import type { Stream } from '../server/stream.js'
import { connect, createTerminal } from '../terminal/terminals.js'
import { textOf, toolParts, unfinished } from '../server/transcript.js'

let scene: Scene
let model: ModelServer
beforeEach(() => {
  scene = openScene(makePlace())
})
afterEach(async () => {
  await scene.close()
  await model.close()
})

async function begin(replies: Parameters<typeof startModelServer>[0]): Promise<{ server: Server; stream: Stream; sessionId: string }> {
  model = await startModelServer(replies)
  scene.place.configure(withModel(model.url))
  const server = await scene.start()
  const stream = await server.stream({ tail: true })
  const session = await server.createSession()
  await server.prompt(session.id, { prompt: 'go on' })
  return { server, stream, sessionId: session.id }
}

/** Stops the server in order: one that took too long would have ended itself with code 1. */
async function stop(server: Server): Promise<void> {
  expect(await server.stop()).toEqual({ code: 0, signal: null })
}

describe('SIGTERM', () => {
  test('ends a streaming run as interrupted and the program with code 0', async () => {
    const { server, stream, sessionId } = await begin([reply(text('half an answer'), stay)])
    await stream.waitFor((event) => event.type === 'message.part.delta')
    await server.prompt(sessionId, { prompt: 'later', messageId: 'msg_later' }, 'prompt-async')
    await stop(server)
    await stream.ended
    await expect(fetch(`${server.url}/v2/health`)).rejects.toThrow('fetch failed')
    expect(await model.requests[0]?.ended).toBe('cut')

    await model.close()
    model = await startModelServer([reply(text('done later'), finish('stop'))])
    scene.place.configure(withModel(model.url))
    const again = await scene.start()
    const log = await again.stream({ since: 0 })
    await log.idle(sessionId)
    const messages = await again.messages(sessionId)
    expect(messages.map((message) => textOf(message))).toEqual(['go on', 'half an answer', 'later', 'done later'])
    expect(messages[1]?.info).toMatchObject({
      finish: 'error',
      error: { message: 'The server was stopped before the answer was complete.', interrupted: true },
    })
    expect(messages[2]?.info.id).toBe('msg_later')
    expect(unfinished(messages)).toEqual([])
  })

  test('ends a command with everything it started', async () => {
    const command = `trap '' TERM; sleep 600 & echo begun; wait; sleep 600`
    const { server, stream, sessionId } = await begin([
      reply(toolCall({ id: 'c1', name: 'bash', input: { command, description: 'wait' } }), finish('tool_calls')),
    ])
    await stream.waitFor(
      (event) => event.type === 'message.part.updated' && event.data.part.type === 'tool' && event.data.part.state.status === 'running',
    )
    const sleeps = () => descendants(server.pid).filter(({ command }) => command === 'sleep 600')
    await untilNone(() => (sleeps().length > 0 ? [] : descendants(process.pid)))
    const theirs = descendants(server.pid)
    expect(theirs.length).toBeGreaterThanOrEqual(2)
    await stop(server)
    expect(await untilNone(() => theirs.filter(isRunning))).toEqual([])

    const again = await scene.start()
    const messages = await again.messages(sessionId)
    const message = 'The server was stopped before the answer was complete.'
    expect(messages.at(-1)?.info).toMatchObject({ error: { message, interrupted: true } })
    expect(toolParts(messages)).toMatchObject([{ metadata: { interrupted: true }, state: { status: 'error' } }])
    expect(unfinished(messages)).toEqual([])
    expect(await again.statuses()).toEqual({})
  })

  test('ends many streams, silent models, and a command and a terminal that ignore it, in seconds', async () => {
    const stubborn = `trap '' TERM HUP INT; while :; do sleep 1; done`
    model = await startModelServer((request) =>
      JSON.stringify(request.body?.messages.at(-1)).includes('run it')
        ? reply(
            toolCall({ id: 'c1', name: 'bash', input: { command: `${stubborn} # in a command`, description: 'wait' } }),
            finish('tool_calls'),
          )
        : reply(stay),
    )
    scene.place.configure(withModel(model.url))
    const server = await scene.start()
    const streams = await Promise.all(Array.from({ length: 15 }, () => server.stream({ tail: true })))
    const sessions = [await server.createSession(), await server.createSession(), await server.createSession()]
    for (const [index, { id }] of sessions.entries())
      await server.prompt(id, { prompt: index === 2 ? 'run it' : 'say nothing' }, 'prompt-async')
    const terminal = await createTerminal(server, { command: ['/bin/sh', '-c', `${stubborn} # in a terminal`], cwd: scene.place.repo })
    const viewer = await connect(server, terminal.id)
    viewer.socket.pause() // hears nothing of the end, as a machine that sleeps
    const theirs = () => descendants(server.pid)
    const has = (text: string) => theirs().some(({ command }) => command.includes(text))
    await untilNone(() => (model.requests.length === 3 && has('in a command') && has('in a terminal') ? [] : theirs()))
    const all = theirs()
    expect([model.requests.length, has('in a command'), has('in a terminal')]).toEqual([3, true, true])
    await stop(server)
    expect(all.filter(isRunning)).toEqual([])
    await Promise.all(streams.map(({ ended }) => ended))
  })

  test('twice ends the program at once', async () => {
    const { server, stream, sessionId } = await begin([reply(text('half'), stay)])
    await stream.waitFor((event) => event.type === 'message.part.delta')
    // A request whose body never ends holds the orderly stop up.
    const slow = request(`${server.url}/v2/sessions/${sessionId}/prompt`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': '1000' },
    })
    slow.on('error', () => undefined)
    await new Promise<void>((resolve) => slow.write('{', () => resolve()))
    await server.get('/v2/health')
    server.child.kill('SIGTERM')
    await stream.ended
    server.child.kill('SIGTERM')
    expect(await server.ended).toEqual({ code: 1, signal: null })
    slow.destroy()

    const again = await scene.start()
    const messages = await again.messages(sessionId)
    expect(messages[1]?.info).toMatchObject({ error: { interrupted: true } })
    expect(unfinished(messages)).toEqual([])
  })
})
