/**
 * `npm run --silent build && node bench/screen.mjs [rounds]`: the conversation screen at a real pseudo-terminal, beside a server of its own.
 * From the start to the first picture, against the start of a server to its health; a key to its echo while 200 tokens a second arrive;
 * memory of the screen; how long a conversation of 2,000 messages takes to open.
 */
import { spawn as spawnProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { spawn } from '@lydell/node-pty'

const [, , rounds = '10'] = process.argv
const program = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const TOKENS_PER_SECOND = 200
const KEYS = 200
const MESSAGES = 2000
const SIZE = { cols: 100, rows: 40 }
/** Of the editor, where one types. */
const MARK = '› '

const home = mkdtempSync(join(tmpdir(), 'svc-bench-screen-'))
const work = join(home, 'work')
mkdirSync(work)
const env = { PATH: process.env.PATH, HOME: home, SVC_AGENT_STATE_DIR: join(home, 'state'), TERM: 'xterm-256color' }
const model = await startModel()
mkdirSync(join(home, '.config/svc'), { recursive: true })
const slow = { npm: '@ai-sdk/openai-compatible', auth: 'none', options: { baseURL: model.url }, models: { slow: { name: 'Slow' } } }
writeFileSync(
  join(home, '.config/svc/config.json'),
  JSON.stringify({ model: 'test/slow', agent: { title: { disable: true } }, provider: { test: slow } }),
)

const starts = []
for (let round = 0; round <= Number(rounds); round++) starts.push(await startToHealth())
const server = await startServer()
try {
  const paints = []
  for (let round = 0; round <= Number(rounds); round++) paints.push(await firstPaint())
  const [start, paint] = [median(starts.slice(1)), median(paints.slice(1))]
  console.log(`start to health ${start.toFixed(0)} ms, first picture ${paint.toFixed(0)} ms: ${(paint / start).toFixed(2)} of it`)
  await echo()
  await longConversation(server.url)
} finally {
  server.child.kill('SIGTERM')
  await server.ended
  model.close()
  rmSync(home, { recursive: true, force: true })
}

async function startServer() {
  const child = spawnProcess(process.execPath, [program, 'serve', '--port', '0'], { cwd: work, env, stdio: ['ignore', 'pipe', 'ignore'] })
  const ended = new Promise((resolve) => child.once('close', resolve))
  let said = ''
  for await (const text of child.stdout.setEncoding('utf8')) {
    said += text
    if (said.includes('\n')) break
  }
  return { child, ended, url: /http:\S+/.exec(said)?.[0] }
}

async function startToHealth() {
  const begun = performance.now()
  const { child, ended, url } = await startServer()
  await fetch(`${url}/v2/health`)
  const ms = performance.now() - begun
  child.kill('SIGTERM')
  await ended
  return ms
}

/** `seen(pattern)`: resolves with the moment at which what came since the last call matches. */
function openScreen(args = []) {
  const child = spawn(process.execPath, [program, ...args], { cwd: work, env, ...SIZE, name: 'xterm-256color' })
  let heard = ''
  let look = () => undefined
  child.onData((data) => {
    heard += data
    look()
  })
  const ended = new Promise((resolve) => child.onExit(resolve))
  const seen = (pattern) =>
    new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`${pattern} was not seen; the last was ${JSON.stringify(heard.slice(-600))}`)), 30_000)
      look = () => {
        const match = pattern.exec(heard)
        if (match === null) return
        heard = heard.slice(match.index + match[0].length)
        look = () => undefined
        clearTimeout(late)
        resolve(performance.now())
      }
      look()
    })
  return {
    child,
    seen,
    async leave() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

async function firstPaint() {
  const begun = performance.now()
  const screen = openScreen()
  const at = await screen.seen(new RegExp(MARK))
  await screen.leave()
  return at - begun
}

/** Each key is a letter that was not typed before, looked for in what is painted after it. */
async function echo() {
  const screen = openScreen()
  await screen.seen(/first/)
  await delay(500)
  screen.child.write('go\r')
  await screen.seen(/word/)
  const waits = []
  for (let index = 0; index < KEYS; index++) {
    const letter = String.fromCodePoint(0x410 + index)
    const begun = performance.now()
    screen.child.write(letter)
    waits.push((await screen.seen(new RegExp(letter))) - begun)
    await delay(25)
  }
  const rss = memoryOf(screen.child.pid)
  await screen.leave()
  const sorted = waits.toSorted((a, b) => a - b)
  const at = (share) => sorted[Math.floor(sorted.length * share)].toFixed(1)
  console.log(
    `key to echo at ${TOKENS_PER_SECOND} tokens a second: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${sorted.at(-1).toFixed(1)} ms`,
  )
  console.log(`memory of the screen ${rss.toFixed(0)} MB`)
}

function memoryOf(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1000
}

async function longConversation(url) {
  const call = async (path, body) => {
    const query = new URLSearchParams({ directory: work })
    const answer = await fetch(`${url}${path}?${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return answer.status === 204 ? undefined : answer.json()
  }
  const { id } = await call('/v2/sessions', {})
  for (let index = 0; index < MESSAGES; index++)
    await call(`/v2/sessions/${id}/prompt`, { prompt: `message ${index} of a long conversation`, noReply: true })
  const waits = []
  for (let round = 0; round <= Number(rounds); round++) {
    const begun = performance.now()
    const screen = openScreen(['--session', id])
    waits.push((await screen.seen(new RegExp(`message ${MESSAGES - 1} of`))) - begun)
    if (round === Number(rounds)) console.log(`with ${MESSAGES} messages ${memoryOf(screen.child.pid).toFixed(0)} MB`)
    await screen.leave()
  }
  console.log(`${MESSAGES} messages open in ${median(waits.slice(1)).toFixed(0)} ms`)
}

function median(samples) {
  return samples.toSorted((a, b) => a - b)[Math.floor(samples.length / 2)]
}

/** A model that says a word every 5 ms, in paragraphs. */
async function startModel() {
  const listener = createServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    let index = 0
    const timer = setInterval(() => {
      const content = index++ % 60 === 59 ? '\n\n' : `word${index} `
      response.write(
        `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'slow', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`,
      )
    }, 1000 / TOKENS_PER_SECOND)
    response.on('close', () => clearInterval(timer))
  })
  await new Promise((resolve) => listener.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${listener.address().port}/v1`, close: () => listener.closeAllConnections() ?? listener.close() }
}
