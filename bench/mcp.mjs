/**
 * `npm run --silent build && node bench/mcp.mjs [--calls N]`: what MCP servers cost in this checkout.
 *
 * A call is measured as a tool of a session makes it, beside the same messages exchanged with the same program by hand, in turn: what is over
 * that is ours. Then prompts and starts of a server with 20 of them beside one with none. Everything runs on this machine alone; milliseconds.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const calls = Number(process.argv[process.argv.indexOf('--calls') + 1]) || 1000
const work = mkdtempSync(join(root, 'node_modules/.svc-bench-'))
const COUNT = 20
const rows = []
const agent = new Agent({ keepAlive: true })
process.env['SVC_TEST_PROGRAM'] ??= join(root, 'dist/main.js')

const program = join(work, 'server.mjs')
writeFileSync(program, serverProgram())
try {
  const parts = await load()
  await warmCalls(parts)
  await turns(parts)
  await starts(parts)
  print()
} finally {
  rmSync(work, { recursive: true, force: true })
}

/** Sources and test programs as one module: this file is no TypeScript. */
async function load() {
  const sources = ['src/platform/node/node-effects', 'src/plugins/mcp/mcp.plugin']
  const tests = ['test/e2e/server/place', 'test/e2e/server/server', 'test/fixtures/model-server', 'test/fakes/doors']
  const contents = [...sources, ...tests].map((name) => `export * from ${JSON.stringify(`./${name}.ts`)}`).join('\n')
  const outfile = join(work, 'parts.mjs')
  const shared = { bundle: true, platform: 'node', format: 'esm', packages: 'external', logLevel: 'error' }
  await build({ ...shared, stdin: { contents, resolveDir: root, loader: 'ts' }, outfile, define: { SVC_VERSION: '"bench"' } })
  return import(pathToFileURL(outfile).href)
}

/** A tool as a session has it, and the same request by hand. */
async function warmCalls({ createNodeEffects, mcpPlugin, noDoors }) {
  const web = await startWeb()
  const plain = await startPlain()
  const effects = createNodeEffects({ logWrite: () => undefined })
  const known = new Map()
  const change = { put: (_kind, row) => known.set(row.id, row), emit: () => undefined }
  const mcp = { stdio: local(), http: { type: 'remote', url: web.url, oauth: false } }
  const host = {
    ...noDoors,
    effects,
    config: async () => ({ mcp }),
    rows: { get: (_kind, id) => known.get(id), list: () => [], commit: (_durability, work) => work(change) },
  }
  const plugin = mcpPlugin({ env: {}, version: 'bench' })
  const { within, prepare } = plugin.start(host)
  const never = new AbortController().signal
  await prepare(work, never)
  const { tools } = within(work)
  const session = { sessionId: 's', messageId: 'm', callId: 'c', agent: 'a', directory: work, signal: never }
  const context = { ...session, progress: () => undefined, decisions: (_permission, patterns) => patterns.map(() => 'allow') }
  const ways = { stdio: plain.call, http: (n) => post(web.url, message(n)) }
  try {
    for (const [kind, floor] of Object.entries(ways)) {
      const tool = tools.find(({ id }) => id === `mcp__${kind}__count_0`)
      const own = []
      const ours = []
      for (let n = 0; n < calls + 200; n++) {
        own.push(await timed(() => floor(n)))
        ours.push(await timed(() => tool.invoke({ n }, context)))
      }
      const by = report(`${kind}: the server's own answer`, own.slice(200))
      const all = report(`${kind}: a call of its tool`, ours.slice(200))
      rows.push([`${kind}: over its own answer (at most 1)`, all - by])
    }
  } finally {
    await plugin.stop()
    web.close()
    plain.close()
  }
}

/** From a prompt to the request the model gets: two servers in turns, one of them with MCP servers that are connected. */
async function turns({ makePlace, openScene, startModelServer, withModel, reply, finish, text }) {
  let arrived = () => undefined
  const model = await startModelServer(() => {
    arrived()
    return reply(text('Done.'), finish('stop'))
  })
  const open = async (count) => {
    const scene = openScene(makePlace())
    scene.place.configure(withModel(model.url, { mcp: manyServers(count) }))
    return { scene, server: await scene.start() }
  }
  const prompt = async ({ server }) => {
    const { id } = await server.createSession()
    const came = new Promise((resolve) => (arrived = resolve))
    const time = await timed(async () => {
      await server.prompt(id, { prompt: 'go on' })
      await came
    })
    await server.call('POST', `/v2/sessions/${id}/wait`)
    return time
  }
  const none = await open(0)
  const many = await open(COUNT)
  try {
    const times = { none: [], many: [] }
    for (let n = 0; n < 200; n++) {
      times.none.push(await prompt(none))
      times.many.push(await prompt(many))
    }
    const shown = (model.requests.at(-1)?.body?.tools ?? []).filter(({ function: { name } }) => name.startsWith('mcp__')).length
    const status = Object.values(await many.server.get('/v2/plugins/dev.svc.mcp')).filter((each) => each.status === 'connected').length
    const without = report('prompt to model, no MCP servers', times.none.slice(60))
    const beside = report(`prompt to model, ${status} connected, ${shown} tools`, times.many.slice(60))
    rows.push([`${COUNT} servers over none (at most 2)`, beside - without])
  } finally {
    await none.scene.close()
    await many.scene.close()
    await model.close()
  }
}

/** From the start of the process to its first healthy answer, with and without servers in the configuration, in turn. */
async function starts({ makePlace, openScene, withModel }) {
  const open = (count) => {
    const scene = openScene(makePlace())
    scene.place.configure(withModel('http://127.0.0.1:9', { mcp: manyServers(count) }))
    return scene
  }
  const scenes = { none: open(0), many: open(COUNT) }
  const times = { none: [], many: [] }
  const cpu = { none: [], many: [] }
  const start = async (scene) => {
    const begun = performance.now()
    const server = await scene.start()
    await server.get('/v2/health')
    const spent = { time: performance.now() - begun, cpu: cpuOf(server.pid) }
    await server.stop()
    return spent
  }
  for (const scene of Object.values(scenes)) await start(scene) // makes the database and fills caches
  for (let n = 0; n < 15; n++)
    for (const [kind, scene] of Object.entries(scenes)) {
      const spent = await start(scene)
      times[kind].push(spent.time)
      cpu[kind].push(spent.cpu)
    }
  const without = report('start to health, no MCP servers', times.none)
  const beside = report(`start to health, ${COUNT} configured`, times.many)
  rows.push([`${COUNT} configured over none`, beside - without], ['ratio', beside / without])
  const ratio = report(`CPU of a start, ${COUNT} configured`, cpu.many) / report('CPU of a start, no MCP servers', cpu.none)
  rows.push(['ratio', ratio])
  for (const scene of Object.values(scenes)) await scene.close()
}

/** Of a process so far, ms; a tick has ten. */
function cpuOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

function local() {
  return { type: 'local', command: [process.execPath, program] }
}

function manyServers(count) {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`s${n}`, local()]))
}

function message(n) {
  return `${JSON.stringify({ jsonrpc: '2.0', id: n, method: 'tools/call', params: { name: 'count_0', arguments: { n } } })}\n`
}

/** The program, spoken to by hand. */
async function startPlain() {
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'ignore'] })
  let heard = () => undefined
  createInterface({ input: child.stdout }).on('line', (line) => heard(JSON.parse(line)))
  const call = (n) =>
    new Promise((resolve) => {
      heard = resolve
      child.stdin.write(message(n))
    })
  await call(0)
  return { call, close: () => child.kill('SIGKILL') }
}

async function startWeb() {
  const child = spawn(process.execPath, [program, 'http'], { stdio: ['ignore', 'pipe', 'ignore'] })
  const url = await new Promise((resolve) => createInterface({ input: child.stdout }).once('line', resolve))
  return { url, close: () => child.kill('SIGKILL') }
}

/** One request over a connection that stays open. */
function post(url, body) {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part) => (text += part))
      response.on('end', () => resolve(JSON.parse(text)))
    })
    sent.once('error', reject)
    sent.end(body)
  })
}

/** A server without a library: `server.mjs` speaks over its streams, `server.mjs http` says its address first. */
function serverProgram() {
  const schema = { type: 'object', properties: { n: { type: 'number', description: 'A number.' } } }
  const tools = Array.from({ length: 3 }, (_, n) => ({
    name: `count_${n}`,
    description: 'Says which number it was given.',
    inputSchema: schema,
  }))
  return `import { createInterface } from 'node:readline'
import { createServer } from 'node:http'
const answer = ({ id, method, params }) => {
  if (id === undefined) return undefined
  const result = method === 'initialize' ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'bench', version: '1' } }
    : method === 'tools/list' ? { tools: ${JSON.stringify(tools)} }
    : method === 'tools/call' ? { content: [{ type: 'text', text: 'n' + params.arguments.n }] } : {}
  return JSON.stringify({ jsonrpc: '2.0', id, result })
}
if (process.argv[2] === 'http') {
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text) => (body += text)).on('end', () => {
      const text = body === '' ? undefined : answer(JSON.parse(body))
      if (text === undefined) return response.writeHead(request.method === 'GET' ? 405 : 202).end()
      response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'one' }).end(text)
    })
  })
  server.listen(0, '127.0.0.1', () => console.log('http://127.0.0.1:' + server.address().port + '/mcp'))
} else {
  createInterface({ input: process.stdin }).on('line', (line) => {
    const text = answer(JSON.parse(line))
    if (text !== undefined) process.stdout.write(text + '\\n')
  }).on('close', () => process.exit(0))
}
`
}

async function timed(work) {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** Adds a row; answers the median. */
function report(what, times) {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
  rows.push([what, at(0.5), at(0.95), sorted.length])
  return at(0.5)
}

function print() {
  const shown = rows.map(([what, ...values]) => [what, ...values.map((value, index) => (index === 2 ? `(${value})` : value.toFixed(2)))])
  process.stdout.write(`${'ms'.padEnd(48)}${'p50'.padStart(9)}${'p95'.padStart(9)}\n`)
  for (const [what, p50, p95 = '', count = ''] of shown)
    process.stdout.write(`${what.padEnd(48)}${p50.padStart(9)}${p95.padStart(9)} ${count}\n`)
}
