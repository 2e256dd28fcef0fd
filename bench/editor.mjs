/**
 * `npm run --silent build && node bench/editor.mjs [rounds]`: what `svc acp` adds to a piece of an answer, beside another client that reads
 * the events of the same server; and the memory of `svc acp` beside that of `svc serve`, both after one answer.
 */
import * as acp from '@agentclientprotocol/sdk'
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createClient } from '../dist/client.js'

const program = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const ROUNDS = Number(process.argv[2] ?? 3)
const PIECES = 200
/** Between two pieces, ms. */
const PACE = 15

const place = mkdtempSync(join(tmpdir(), 'svc-bench-'))
const model = await startModel()
const started = []
try {
  const serve = start('served', ['serve', '--port', '0'])
  const url = await new Promise((resolve, reject) => {
    serve.stdout.on('data', (text) => resolve(/http:\S+/.exec(text)?.[0]))
    serve.once('exit', (code) => reject(new Error(`the server ended with code ${code}`)))
  })
  const beside = start('served', ['acp', '--server', url])
  const added = []
  const editor = await openEditor(beside, 'served')
  await answer(editor, url)
  const before = cpu(beside)
  for (let round = 0; round < ROUNDS; round++) added.push(...(await answer(editor, url)))
  const spent = (cpu(beside) - before) / added.length
  added.sort((a, b) => a - b)
  const at = (share) => added[Math.min(added.length - 1, Math.floor(added.length * share))].toFixed(2)
  console.log(`added to a piece, ${added.length} pieces      p50 ${at(0.5)} ms, p90 ${at(0.9)} ms, p99 ${at(0.99)} ms`)
  console.log(`its processor time for a piece        ${spent.toFixed(2)} ms`)
  const own = start('own', ['acp'])
  await answer(await openEditor(own, 'own'), undefined)
  console.log(`svc serve, after ${ROUNDS + 1} answers           ${memory(serve)} MB`)
  console.log(`svc acp --server, after ${ROUNDS + 1} answers    ${memory(beside)} MB, a process of its own`)
  console.log(`svc acp with its own server, after 1  ${memory(own)} MB`)
  const alone = start('alone', ['serve', '--port', '0'])
  const aloneUrl = await new Promise((resolve) => alone.stdout.on('data', (text) => resolve(/http:\S+/.exec(text)?.[0])))
  const client = createClient({ baseUrl: aloneUrl })
  const { id } = await client.sessions.create({ directory: join(place, 'alone'), body: {} })
  await client.prompt(id, 'go on').result()
  console.log(`svc serve, after 1 answer             ${memory(alone)} MB`)
} finally {
  await Promise.all(
    started.map(async (child) => {
      if (child.exitCode !== null) return
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      await ended
    }),
  )
  model.close()
  model.closeAllConnections()
  rmSync(place, { recursive: true, force: true })
}

/** What a process has used of a processor, ms. */
function cpu({ pid }) {
  const [, , , , , , , , , , , , , user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/ \(.*\) /, ' () ')
    .split(' ')
  return (Number(user) + Number(system)) * 10
}

function memory({ pid }) {
  return (Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024).toFixed(1)
}

/** A program with a home, a state and a directory of the name. */
function start(name, words) {
  const home = join(place, name)
  mkdirSync(join(home, 'config', 'svc'), { recursive: true })
  const provider = { npm: '@ai-sdk/openai-compatible', auth: 'none', options: { baseURL: `http://127.0.0.1:${model.address().port}/v1` } }
  const models = { scripted: { name: 'Scripted', limit: { context: 100_000, output: 4000 } } }
  writeFileSync(
    join(home, 'config', 'svc', 'svc.json'),
    JSON.stringify({ model: 'test/scripted', provider: { test: { ...provider, models } } }),
  )
  const env = { PATH: process.env.PATH, HOME: home, XDG_CONFIG_HOME: join(home, 'config'), XDG_CACHE_HOME: join(home, 'cache') }
  const child = spawn(process.execPath, [program, ...words], {
    cwd: home,
    env: { ...env, SVC_AGENT_STATE_DIR: join(home, 'state') },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  started.push(child)
  return child
}

async function openEditor(child, name) {
  const heard = new Map()
  const { agent } = acp
    .client({ name: 'bench' })
    .onNotification('session/update', ({ params: { update } }) => {
      if (update.sessionUpdate === 'agent_message_chunk') note(heard, update.content.text)
    })
    .connect(acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)))
  await agent.request('initialize', { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: {} })
  const { sessionId } = await agent.request('session/new', { cwd: join(place, name), mcpServers: [] })
  return { agent, sessionId, heard }
}

/** When each piece was heard first, by its number. */
function note(heard, text) {
  const now = performance.now()
  for (const [piece] of text.matchAll(/\d+/g)) if (!heard.has(piece)) heard.set(piece, now)
}

/** One answer; how much later than the client of the server the editor heard each piece, ms. */
async function answer({ agent, sessionId, heard }, url) {
  heard.clear()
  const direct = new Map()
  const stop = new AbortController()
  const reading = url === undefined ? undefined : readEvents()
  await delay(200)
  await agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'go on' }] })
  stop.abort()
  await reading
  return [...direct].flatMap(([piece, at]) => (heard.has(piece) ? [heard.get(piece) - at] : []))

  async function readEvents() {
    for await (const { type, data } of createClient({ baseUrl: url }).events({ sessionId, tail: true, signal: stop.signal }))
      if (type === 'message.part.delta') note(direct, data.delta)
  }
}

/** Tells numbers, one after the other. */
async function startModel() {
  const server = createServer((request, response) => void tell(request, response))
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server

  async function tell(request, response) {
    let body = ''
    for await (const piece of request) body += piece
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const send = (delta, reason = null) =>
      response.write(
        `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`,
      )
    const count = body.includes('Write a title for') ? 1 : PIECES
    for (let piece = 0; piece < count; piece++) {
      send({ content: `${piece} ` })
      await delay(PACE)
    }
    send({}, 'stop')
    response.end('data: [DONE]\n\n')
  }
}
