// Holds choice 40.
/** What a session asks, answered at a terminal by whoever comes to it, and by another meanwhile. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient } from '../../src/published/client/client.js'
import { script } from './conversation.js'
import { type Home, makeHome } from './program.js'
import { record } from './recording.js'

let home: Home
let url: string
beforeAll(async () => {
  home = makeHome()
  writeFileSync(join(home.workspace, '.env'), 'A=1\n')
  ;({ url } = await home.serve())
})
afterAll(() => home.close())

const client = () => createClient({ baseUrl: url })
const READ = script({ tool: 'read', input: { filePath: '.env' } }, { text: 'It was read.' })

function place() {
  return {
    cwd: home.workspace,
    env: { PATH: process.env['PATH'] ?? '', HOME: home.path, SVC_AGENT_STATE_DIR: home.state, TERM: 'xterm-256color' },
  }
}

/** A session with a request that waits, of a prompt that came over HTTP. */
async function waiting() {
  const { id: sessionId } = await client().sessions.create({ directory: home.workspace, body: { title: 'asked elsewhere' } })
  const events = client().events({ sessionId, since: 0 })
  await client().sessions.prompt({ sessionId, body: { prompt: READ } })
  for await (const event of events) if (event.type === 'permission.asked') return { sessionId, requestId: event.data.id }
  throw new Error('nothing was asked')
}

test('svc run --session puts what waits to the person, and goes on with its own prompt', async () => {
  const { sessionId } = await waiting()
  const run = record(['run', '--session', sessionId, script({ text: 'My own answer.' })], place())
  await run.shows(/Allow Read \.env \(read: \.env\)\?/)
  run.type('y\r')
  const { code, screen } = await run.ended
  expect([code, screen]).toEqual([0, expect.stringContaining('My own answer.')])
  expect(JSON.stringify(await client().sessions.messages({ sessionId }))).toContain('It was read.')
})

test('svc chat puts what waits to the person, and says when another has answered', async () => {
  const { sessionId, requestId } = await waiting()
  const chat = record(['chat', '--session', sessionId], place())
  await chat.shows(/Allow Read \.env \(read: \.env\)\?/)
  await client().interactions.permissions.reply({ requestId, body: { reply: 'reject', message: 'not now' } })
  await chat.shows(/answered elsewhere: refused \(not now\), by local at/)
  await client().sessions.wait({ sessionId })
  await client().sessions.prompt({ sessionId, body: { prompt: READ } })
  await chat.shows(/answered elsewhere[^]*Allow Read \.env/)
  chat.type('n\r')
  await client().sessions.wait({ sessionId })
  expect(await client().interactions.permissions.list({ sessionId })).toEqual([])
  chat.type('\u0004')
  expect((await chat.ended).code).toBe(0)
})
