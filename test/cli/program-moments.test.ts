// Ctrl-C at any moment of a turn with steered and queued prompts, for svc run and svc chat: what runs afterwards is what they say.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Client } from '../../src/published/client/client-types.js'
import { createClient } from '../../src/published/client/client.js'
import { type Home, makeHome } from './program.js'
import { record } from './recording.js'

const MOMENTS = process.env['SVC_CAMPAIGN'] === 'whole' ? 100 : 8
const SEED = Number(process.env['SVC_TEST_SEED'] ?? 1)
const WORDS = 12
const CTRL_C = '\u0003'

let home: Home
let url: string
let client: Client
beforeAll(async () => {
  home = makeHome()
  mkdirSync(join(home.path, '.config/svc'), { recursive: true })
  writeFileSync(join(home.path, '.config/svc/config.json'), JSON.stringify({ model: 'svc/offline', agent: { title: { disable: true } } }))
  ;({ url } = await home.serve())
  client = createClient({ baseUrl: url })
})
afterAll(() => home.close())

/** Numbers from 0 to 1, the same for the same seed. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return state / 2 ** 32
  }
}

const script = JSON.stringify(Array.from({ length: WORDS }, (_, index) => ({ delayMs: 8, text: `w${index} ` })))
const newSession = async () => (await client.sessions.create({ directory: home.workspace, body: { title: 'moments' } })).id

/** Resolves once the prompt is known, and so many words of its answer have come; or the session is idle again. */
async function untilWord(sessionId: string, word: number): Promise<void> {
  let words = 0
  let isBegun = false
  for await (const event of client.events({ sessionId, since: 0 })) {
    if (event.type === 'session.prompt.admitted') isBegun = true
    if (event.type === 'message.part.delta') words += event.data.delta.split(' ').length - 1
    if (isBegun && words >= word) return
    if (event.type === 'session.status' && event.data.status.type === 'idle' && words > 0) return
  }
}

/** First lines of what was said, once nothing runs and nothing waits. */
async function saidIn(sessionId: string): Promise<readonly string[]> {
  await expect
    .poll(async () => [(await client.sessions.status())[sessionId], (await client.sessions.queue.list({ sessionId })).count])
    .toEqual([undefined, 0])
  const { items } = await client.sessions.messages({ sessionId, limit: 100 })
  return items
    .filter(({ info }) => info.role === 'user')
    .map(({ parts: [first] }) => (first?.type === 'text' ? (first.text.split('\n', 1)[0] ?? '') : ''))
}

const FURTHER = [
  ['steer', 'steer'],
  ['queue', 'queue'],
  ['later', 'queue'],
] as const

test('svc run: each prompt that the person or others had waiting has run, or is told as taken back, never both', async () => {
  const random = numbers(SEED)
  for (let moment = 0; moment < MOMENTS; moment++) {
    const sessionId = await newSession()
    const at = Math.floor(random() * (WORDS + 2))
    const further = FURTHER.slice(0, Math.floor(random() * 4))
    const running = home.start(['run', '--session', sessionId, `turn\n\`\`\`svc-script\n${script}\n\`\`\``])
    await untilWord(sessionId, at)
    const sent = await Promise.all(
      further.map(async ([prompt, delivery]) => {
        await client.sessions.promptAsync({ sessionId, body: { prompt, delivery } })
        return prompt
      }),
    )
    running.child.kill('SIGINT')
    const { code, stderr } = await running.ended
    const said = await saidIn(sessionId)
    const all = ['turn', ...sent]
    const lines = stderr.split('\n')
    const what = (isTold: (name: string) => boolean) => ({
      moment: `${moment}: ${all.join(', ')}, Ctrl-C after word ${at}, ended with ${code}`,
      prompts: all.map((name) => ({ name, hasRun: said.includes(name), isTold: isTold(name) })),
    })
    expect(what((name) => lines.includes(`taken back: ${name}`))).toEqual(what((name) => !said.includes(name)))
  }
})

test('svc chat: each line, steered or queued, has run, or is told as taken back and stands in the line again', async () => {
  const random = numbers(SEED + 1)
  const env = { PATH: process.env['PATH'] ?? '', HOME: home.path, SVC_AGENT_STATE_DIR: home.state, TERM: 'xterm-256color' }
  for (let moment = 0; moment < MOMENTS; moment++) {
    const sessionId = await newSession()
    const at = Math.floor(random() * (WORDS + 2))
    const others = ['steer\r', '/queue queue\r', '/queue later\r'].slice(0, Math.floor(random() * 4))
    const chat = record(['chat', '--session', sessionId], { cwd: home.workspace, env }, { cols: 120, rows: 60 })
    await chat.shows(/^›\s*$/m)
    for (const line of ['turn\\', '```svc-script\\', `${script}\\`, '```']) chat.type(`${line}\r`)
    await untilWord(sessionId, at)
    for (const line of others) chat.type(line)
    chat.type(CTRL_C)
    const all = ['turn', 'steer', 'queue', 'later'].slice(0, 1 + others.length)
    const told = () => all.filter((name) => new RegExp(`^taken back: ${name}\\b`, 'm').test(chat.screen()))
    const unclear = async () => {
      const said = await saidIn(sessionId)
      return all.filter((name) => said.includes(name) === told().includes(name))
    }
    // Idle may be what the session is before the last of what was typed has come to it.
    const message = `moment ${moment}: word ${at}, ${all.join(', ')}`
    await expect.poll(unclear, { message }).toEqual([])
    // What was typed last of that is the line. The first one is long.
    const line = () => chat.screen().trimEnd().split('\n').at(-1)?.trimEnd()
    await expect.poll(() => [undefined, 'turn', line()?.slice(2)].includes(told().at(-1)), { message }).toBe(true)
    chat.type('\u0015\u0004')
    await chat.ended
    expect({ message, unclear: await unclear() }).toEqual({ message, unclear: [] })
  }
})
