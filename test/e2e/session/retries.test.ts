import { afterAll, beforeAll, expect, test } from 'vitest'
import { makePlace } from '../server/place.js'
import { openScene, type Scene, type Server } from '../server/server.js'
import { rebuild, textOf, unfinished } from '../server/transcript.js'

let scene: Scene
let server: Server
beforeAll(async () => {
  scene = openScene(makePlace())
  server = await scene.start()
})
afterAll(() => scene.close())

const script = (...steps: object[]) => `\`\`\`svc-script\n${JSON.stringify(steps)}\n\`\`\``
const busy = (retryAfterMs: number) => ({ error: { message: 'busy', status: 529, retryable: true, times: 1, retryAfterMs } })
const failed = [{ reasoning: 'a thought' }, { text: 'one two three' }]

test('an answer that was tried twice is one answer, live and in the log', async () => {
  const stream = await server.stream({ tail: true })
  const { id } = await server.createSession()
  await server.prompt(id, { prompt: script(...failed, busy(50), { text: ' four' }) })
  await stream.idle(id)
  const messages = await server.messages(id)
  expect(textOf(messages[1])).toBe('one two three four')
  expect(rebuild(stream.events, id)).toEqual(messages)
  const log = await server.stream({ since: 0 })
  await expect.poll(() => rebuild(log.events, id)).toEqual(messages)
})

test('a process that is killed while it waits for the next attempt leaves one answer', async () => {
  const stream = await server.stream({ tail: true })
  const { id } = await server.createSession()
  await server.prompt(id, {
    prompt: script(...failed, busy(50), ...failed, { error: { message: 'busy', status: 529, retryable: true, retryAfterMs: 600_000 } }),
  })
  await stream.waitFor(({ type, data }) => type === 'session.status' && data.status.type === 'retry' && data.status.attempt === 2)
  await server.kill()
  server = await scene.start()
  const messages = await server.messages(id)
  expect(unfinished(messages)).toEqual([])
  expect(messages[1]?.parts.filter(({ type }) => type === 'step-start')).toHaveLength(1)
  const log = await server.stream({ since: 0 })
  await expect.poll(() => rebuild(log.events, id)).toEqual(messages)
})
