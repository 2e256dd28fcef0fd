// Ctrl-C and lost servers at any moment, as a person meets them: the built program at a real terminal.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeHome, type Home } from './program.js'
import { record, type Recording } from './recording.js'

let home: Home
let server: Awaited<ReturnType<Home['serve']>>

const CTRL_C = '\u0003'
const MOMENTS = process.env['SVC_CAMPAIGN'] === 'whole' ? 100 : 12
const SEED = Number(process.env['SVC_TEST_SEED'] ?? 1)
const SIZE = { cols: 120, rows: 40 }

beforeAll(async () => {
  home = makeHome()
  mkdirSync(join(home.path, '.config/svc'), { recursive: true })
  writeFileSync(join(home.path, '.config/svc/config.json'), JSON.stringify({ model: 'svc/offline', agent: { title: { disable: true } } }))
  server = await home.serve()
})
afterAll(() => home.close())

function open(args: readonly string[]): Recording {
  const env = { PATH: process.env['PATH'] ?? '', HOME: home.path, SVC_AGENT_STATE_DIR: home.state, TERM: 'xterm-256color' }
  return record(args, { cwd: home.workspace, env }, SIZE)
}

const ask = async <T>(path: string): Promise<T> => (await (await fetch(`${server.url}${path}`)).json()) as T

interface Stored {
  readonly items: readonly {
    readonly info: { readonly role: string }
    readonly parts: readonly { readonly type: string; readonly text?: string }[]
  }[]
}

/** First lines of what was said in the session. */
async function saidIn(sessionId: string): Promise<readonly string[]> {
  const { items } = await ask<Stored>(`/v2/sessions/${sessionId}/messages?limit=1000`)
  return items
    .filter(({ info }) => info.role === 'user')
    .map(({ parts }) => parts.find(({ type }) => type === 'text')?.text?.split('\n', 1)[0] ?? '')
}

async function newSession(): Promise<string> {
  const query = new URLSearchParams({ directory: home.workspace })
  const answer = await fetch(`${server.url}/v2/sessions?${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"title":"moments"}',
  })
  return ((await answer.json()) as { readonly id: string }).id
}

/** Numbers from 0 to 1, the same for the same seed. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return state / 2 ** 32
  }
}

test('whenever Ctrl-C is pressed, what runs afterwards is what the screen says, and the rest stands in the line', async () => {
  const random = numbers(SEED)
  const sessionId = await newSession()
  const screen = open(['--session', sessionId])
  await screen.shows(/^› $/m)
  const words = Array.from({ length: 12 }, (_, index) => ({ delayMs: 8, text: `w${index} ` }))
  for (let moment = 0; moment < MOMENTS; moment++) {
    const names = [`turn-${moment}`, `steer-${moment}`, `queue-${moment}`]
    const script = `${names[0]}\n\`\`\`svc-script\n${JSON.stringify(words)}\n\`\`\``
    screen.type(`\u001b[200~${script}\u001b[201~\r`)
    const others = [`${names[1]}\r`, `/queue ${names[2]}\r`].slice(0, Math.floor(random() * 3))
    const at = Math.floor(random() * 14)
    // At 0 before anything has come, later once so many words have.
    if (at > 0) await screen.shows(new RegExp(`^› turn-${moment}$[^]*(?:w${Math.min(11, at)} ?|interrupted)`, 'm'))
    for (const other of others) screen.type(other)
    screen.type(CTRL_C)
    await expect
      .poll(async () => {
        const [statuses, queue] = await Promise.all([
          ask<Record<string, unknown>>('/v2/sessions/status'),
          ask<{ readonly count: number }>(`/v2/sessions/${sessionId}/queue`),
        ])
        return statuses[sessionId] === undefined && queue.count === 0
      })
      .toBe(true)
    const sent = names.slice(0, 1 + others.length)
    // What was on its way when the key was pressed may arrive later than the first look.
    await expect
      .poll(async () => {
        const said = await saidIn(sessionId)
        const [above = '', line = ''] = splitAtLine(screen.screen())
        return sent.filter((name) => above.includes(`› ${name}`) !== said.includes(name) || line.includes(name) === said.includes(name))
      })
      .toEqual([])
    screen.type('.')
    await screen.shows(/^(?:› | {2}).*\.$/m)
    screen.type(CTRL_C)
    await screen.shows(/^› $/m)
  }
  screen.type('\u0004')
  expect((await screen.ended).code).toBe(0)
})

/** What was said, and what stands in the line to type in: the last one that begins with the mark. */
function splitAtLine(text: string): readonly string[] {
  const at = text.lastIndexOf('\n› ')
  return [text.slice(0, at), text.slice(at)]
}

test('a server that is killed and comes back loses nothing, and nothing stands there twice', async () => {
  const sessionId = await newSession()
  const screen = open(['--session', sessionId])
  await screen.shows(/^› $/m)
  const words = Array.from({ length: 40 }, (_, index) => ({ delayMs: 20, text: `w${index} ` }))
  screen.type(`\u001b[200~before\n\`\`\`svc-script\n${JSON.stringify(words)}\n\`\`\`\u001b[201~\r`)
  await screen.shows(/^w0 w1 /m)
  server.child.kill('SIGKILL')
  await server.ended
  await screen.shows(/the server is away/)
  screen.type('said meanwhile\r')
  await screen.shows(/waits: said meanwhile/)
  server = await home.serve()
  await screen.shows(/^› said meanwhile$[^]*offline assistant[^]*^› $/m)
  expect(screen.screen()).not.toMatch(/the server is away/)
  for (const text of [/^› before$/gm, /^› said meanwhile$/gm, /offline assistant/g, /\bw0 w1 /g])
    expect(screen.screen().match(text)).toHaveLength(1)
  screen.type('\u0004')
  expect((await screen.ended).code).toBe(0)
})

test('in plain lines a server that is away is told once, and that it is there again', async () => {
  const sessionId = await newSession()
  const screen = open(['--plain', '--session', sessionId])
  await screen.shows(/Ctrl-D leaves/)
  screen.type('before\r')
  await screen.shows(/offline assistant/)
  server.child.kill('SIGKILL')
  await server.ended
  await screen.shows(/the server is away/)
  screen.type('said meanwhile\r')
  server = await home.serve()
  await screen.shows(/the server is there again[^]*offline assistant/)
  screen.type('\u0004')
  const { code, screen: shown } = await screen.ended
  for (const text of [/the server is away/g, /the server is there again/g, /^before$/gm, /^said meanwhile$/gm])
    expect(shown.match(text)).toHaveLength(1)
  expect(code).toBe(0)
})
