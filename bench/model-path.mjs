/**
 * What an answer of 200 tokens costs on its way through an adapter, beside reading and parsing the same events and nothing else (the floor):
 * in memory, and over HTTP from a server in a process of its own. Runs are interleaved; the figure to look at is the ratio, which a busy
 * machine does not change much.
 *
 *   node bench/model-path.mjs [rounds]
 */
import { fork } from 'node:child_process'
import { createServer } from 'node:http'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { createParser } from 'eventsource-parser'
import { settings } from '../scripts/build.mjs'

const TOKENS = 200
const TURNS = 10
const ROUNDS = Number(process.argv[2] ?? 40)
const root = join(import.meta.dirname, '..')

const ENTRY = `
export { createOpenAICompatiblePlugin as chat } from './src/plugins/providers/openai-compatible/openai-compatible.plugin.js'
export { createOpenAIPlugin as responses } from './src/plugins/providers/openai/openai.plugin.js'
export { createAnthropicPlugin as messages } from './src/plugins/providers/anthropic/anthropic.plugin.js'
export { createGooglePlugin as content } from './src/plugins/providers/google/google.plugin.js'
export { chat as chatTurns } from './test/fixtures/vendors/chat.js'
export { responses as responsesTurns } from './test/fixtures/vendors/responses.js'
export { messages as messagesTurns } from './test/fixtures/vendors/messages.js'
export { content as contentTurns } from './test/fixtures/vendors/content.js'
`

/** The adapters as they are built, and the stand-ins' turns. */
async function load() {
  const folder = mkdtempSync(join(root, 'node_modules', '.bench-'))
  try {
    const outfile = join(folder, 'adapters.mjs')
    writeFileSync(outfile, '')
    await build({
      ...settings(),
      stdin: { contents: ENTRY, resolveDir: root, loader: 'ts' },
      outdir: folder,
      entryNames: 'adapters',
      outExtension: { '.js': '.mjs' },
      splitting: true,
      minify: true,
    })
    return await import(pathToFileURL(outfile).href)
  } finally {
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  }
}

/** The bytes of an answer, as many events in one read as asked. */
function reads(vendor, perRead) {
  const text = Array.from({ length: TOKENS }, (_, index) => ` word${index}`)
  const events = vendor.reply({ text }).steps.map(({ text: event }) => event)
  const encoder = new TextEncoder()
  const pieces = []
  for (let at = 0; at < events.length; at += perRead) pieces.push(encoder.encode(events.slice(at, at + perRead).join('')))
  return pieces
}

function bodyOf(pieces) {
  let at = 0
  return new ReadableStream({
    pull(body) {
      if (at < pieces.length) body.enqueue(pieces[at++])
      else body.close()
    },
  })
}

/** Reads and parses, and hands on each event. */
async function floor(fetch) {
  const reader = (await fetch('http://127.0.0.1:1/')).body.getReader()
  const decoder = new TextDecoder()
  let events = 0
  const parser = createParser({ onEvent: ({ data }) => void (data !== '[DONE]' && JSON.parse(data) && events++) })
  for (let read = await reader.read(); !read.done; read = await reader.read()) parser.feed(decoder.decode(read.value, { stream: true }))
  return events
}

function adapterOf(createPlugin, vendor) {
  let given
  const timer = { setTimeout: () => 0, clearTimeout: () => {}, now: () => Date.now(), monotonic: () => performance.now() }
  const effects = {
    clock: timer,
    fetch: (...request) => given(...request),
    sha256: () => 'a',
    log: { warn() {}, info() {}, debug() {}, error() {} },
    random: { bytes: (length) => new Uint8Array(length) },
  }
  const [contribution] = createPlugin().start({ effects }).providers
  const adapter = contribution.create({
    providerId: 'bench',
    npm: vendor.npm,
    baseURL: 'http://127.0.0.1:1/v1',
    apiKey: () => undefined,
    headers: {},
    options: {},
    compatibility: { streamUsage: true, reasoningEffort: false },
  })
  const request = {
    sessionId: 'ses_1',
    directory: '/',
    model: { id: vendor.model, providerId: 'bench' },
    messages: [{ role: 'user', content: [{ type: 'text', text: 'go' }] }],
    tools: [],
    options: {},
  }
  return async (fetch) => {
    given = fetch
    let characters = 0
    const push = (part) => {
      if (part.type === 'text') characters += part.delta.length
    }
    await adapter.generate(request, push, new AbortController().signal)
    if (characters < TOKENS * 5) throw new Error(`only ${characters} characters came through`)
  }
}

const inMemory = (pieces) => async () => new Response(bodyOf(pieces), { headers: { 'content-type': 'text/event-stream' } })

/** Sends an answer as reads of their own, as a model would: with a moment between them. */
function serve(pieces) {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    let at = 0
    const next = () => {
      if (at === pieces.length) return response.end()
      response.write(pieces[at++], () => setTimeout(next, 1))
    }
    next()
  })
  server.listen(0, '127.0.0.1', () => process.send(server.address().port))
}

/** Milliseconds of CPU. */
async function cpuOf(work) {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]

/** At the same time: what comes from elsewhere is waited for. */
async function turns(turn) {
  await Promise.all(Array.from({ length: TURNS }, turn))
}

async function compare(label, step, fetch, load) {
  const costs = { floor: [], adapter: [] }
  for (let round = -10; round < ROUNDS; round++) {
    const floors = await cpuOf(() => turns(() => floor(fetch)))
    const adapters = await cpuOf(() => turns(() => step(fetch)))
    if (round < 0) continue
    costs.floor.push(floors / TURNS)
    costs.adapter.push(adapters / TURNS)
  }
  const [least, cost] = [median(costs.floor), median(costs.adapter)]
  const row = [...label, `floor ${least.toFixed(2)} ms`, `adapter ${cost.toFixed(2)} ms`, `ratio ${(cost / least).toFixed(1)}`]
  process.stdout.write(`${row.join('\t')}\t(first step ${load.toFixed(0)} ms)\n`)
}

async function overHttp(label, step, pieces, load) {
  const child = fork(import.meta.filename, ['serve'], { serialization: 'advanced' })
  child.send(pieces)
  const port = await new Promise((resolve) => child.once('message', resolve))
  await compare(label, step, (_, { body, ...init } = {}) => fetch(`http://127.0.0.1:${port}/`, { ...init, body, method: 'POST' }), load)
  child.kill()
}

if (process.argv[2] === 'serve') process.once('message', serve)
else {
  const modules = await load()
  for (const name of ['chat', 'responses', 'messages', 'content']) {
    const vendor = modules[`${name}Turns`]
    const step = adapterOf(modules[name], vendor)
    const first = await cpuOf(() => step(inMemory(reads(vendor, 25))))
    for (const perRead of [1, 25]) await compare([name, 'memory', `${perRead} a read`], step, inMemory(reads(vendor, perRead)), first)
    await overHttp([name, 'http', '1 a read'], step, reads(vendor, 1), first)
  }
}
