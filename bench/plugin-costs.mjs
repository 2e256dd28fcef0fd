/**
 * `npm run --silent build && node bench/plugin-costs.mjs`: what plugins may cost, each figure beside a bare baseline of the same run. The best
 * of several rounds counts, as the machine may have other work; the load is printed. Exits with 1 when a bound is broken.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const ROUNDS = 7
/** Of those that start a whole server. */
const SERVERS = 3
/** Below the calls a package may make in a minute. */
const CALLS = 1000
const DELTAS = 100_000
const NUMBERS = 500_000
const PLUGINS = 50
const MIB = 1024 * 1024

const root = fileURLToPath(new URL('..', import.meta.url))
const work = mkdtempSync(join(root, 'node_modules/.svc-bench-'))
const never = new AbortController().signal
process.env['SVC_TEST_PROGRAM'] ??= join(root, 'dist/main.js')

const PROGRAM = `import { createInterface } from 'node:readline'
const send = (frame) => process.stdout.write(JSON.stringify(frame) + '\\n')
const waiting = new Map()
let owner, last = 0
const ask = (method, params) => new Promise((resolve) => { waiting.set(++last, resolve); send({ id: last, method, params, owner }) })
const tool = (id) => ({ id, description: 'Costs.', parameters: { type: 'object' } })
async function run(name, { n }) {
  if (name === 'asks') for (let i = 0; i < n; i++) await ask('host.prompt.read', { operation: 'current', input: null })
  if (name !== 'writes') return { output: 'done' }
  const { error } = await ask('host.workspace.write', { path: 'numbers', contents: Array.from({ length: n }, (_, i) => i % 10) })
  if (error !== undefined) throw new Error(error)
  return { output: 'done' }
}
createInterface({ input: process.stdin }).on('line', async (line) => {
  const frame = JSON.parse(line)
  const { id, method, params } = frame
  if (method === undefined) return void waiting.get(id)?.(frame)
  if (method === 'shutdown') process.exit(0)
  if (method === 'initialize') {
    owner = params.owner
    const services = { providers: [{ descriptor: { id: 'fast', name: 'Fast', models: ['m'] } }] }
    const [, idle] = /^bench\\.(idle\\d+)$/.exec(params.pluginId) ?? []
    const offer = idle === undefined ? { tools: [tool('asks'), tool('writes')], services } : { tools: [tool(idle)] } // nobody has a name twice
    return send({ id, result: { protocol: 'svc-plugin/2', ...offer } })
  }
  if (method === 'tool.invoke') return run(params.tool, params.input).then((result) => send({ id, result }), ({ message: error }) => send({ id, error }))
  if (method !== 'provider.stream') return
  const { streamId, requestId } = params
  const item = (value) => send({ owner, requestId, stream: { kind: 'item', streamId, value } })
  send({ owner, requestId, stream: { kind: 'open', streamId } })
  for (let i = 0; i < ${DELTAS}; i++) {
    item({ type: 'text-delta', id: 't', delta: 'word ' })
    if (i % 500 === 0) await new Promise((resolve) => process.stdout.writableNeedDrain ? process.stdout.once('drain', resolve) : setImmediate(resolve))
  }
  item({ type: 'finish', finish: 'stop', inputTokens: 1, outputTokens: 1 })
  send({ owner, requestId, stream: { kind: 'end', streamId } })
  send({ id, result: {} })
}).on('close', () => process.exit(0))
`
const LUA = `return { tools = { { id = 'asks', description = 'Costs.', parameters = { type = 'object' }, execute = function(call)
  for i = 1, call.input.n do svc.host.prompt_read({ operation = 'current' }) end
  return { output = 'done' }
end } } }`
/** Answers lines, and writes lines that nobody asked for: the least that a process costs. */
const BARE = `import { createInterface } from 'node:readline'
process.stdout.write('ready\\n')
createInterface({ input: process.stdin }).on('line', async (line) => {
  const { n } = JSON.parse(line)
  if (n === undefined) return process.stdout.write(line + '\\n')
  const item = JSON.stringify({ requestId: 1, stream: { kind: 'item', streamId: 's', value: { type: 'text-delta', id: 't', delta: 'word ' } } }) + '\\n'
  for (let i = 0; i < n; i++) {
    process.stdout.write(item)
    if (i % 500 === 0) await new Promise((resolve) => process.stdout.writableNeedDrain ? process.stdout.once('drain', resolve) : setImmediate(resolve))
  }
}).on('close', () => process.exit(0))
`

load()
try {
  const parts = await loadParts()
  for (const [name, text] of Object.entries({ 'plugin.mjs': PROGRAM, 'bare.mjs': BARE })) writeFileSync(join(work, name), text)
  mkdirSync(join(work, 'lua'))
  writeFileSync(join(work, 'lua/main.lua'), LUA)
  const start = starter(parts)
  await brokerCalls(start)
  await luaStarts(start)
  await streams(start)
  await numbers(start)
  await manyPlugins(parts)
} finally {
  rmSync(work, { recursive: true, force: true })
  load()
}

/** Sources and test programs as one module: this file is no TypeScript. */
async function loadParts() {
  const sources = ['platform/node/node-effects', 'actors/plugin/process/process-instance', 'actors/plugin/process/process-spec']
  const more = ['actors/plugin/process/lua', 'actors/plugin/brokers/leases']
  const tests = ['e2e/server/place', 'e2e/server/server', 'fixtures/model-server']
  const files = [...[...sources, ...more].map((name) => `src/${name}`), ...tests.map((name) => `test/${name}`)]
  const contents = files.map((name) => `export * from ${JSON.stringify(`./${name}.ts`)}`).join('\n')
  const outfile = join(work, 'parts.mjs')
  const shared = { bundle: true, platform: 'node', format: 'esm', packages: 'external', logLevel: 'error' }
  await build({ ...shared, stdin: { contents, resolveDir: root, loader: 'ts' }, outfile, define: { SVC_VERSION: '"bench"' } })
  return import(pathToFileURL(outfile).href)
}

/** Starts instances; the broker behind `prompt-read` does nothing, so that a call costs what is not its own work. */
function starter({ createNodeEffects, startProcess, createInstanceIds, pluginEnvironment, luaCommand, createLeases }) {
  const effects = createNodeEffects({ logWrite: () => undefined })
  const nothing = { grant: () => ({ call: async () => null }) }
  const leases = createLeases({ effects, brokers: new Map([['prompt-read', nothing]]) })
  const host = {
    config: async () => ({}),
    publish: async () => undefined,
    protectedFiles: { reasons: async (paths) => paths.map(() => undefined) },
  }
  const deps = { effects, nextInstanceId: createInstanceIds(), host, leases }
  let last = 0
  const commands = {
    program: { program: process.execPath, args: [join(work, 'plugin.mjs')] },
    lua: luaCommand({ node: process.execPath, sandbox: join(root, 'dist/lua-sandbox.js'), manifest: join(work, 'lua/svc-plugin.json') }),
  }
  return (tier) => {
    const pluginId = `bench.${tier}${++last}` // the quota of calls is of the package
    const agent = { runtime: 'lua', entrypoint: 'main.lua', capabilities: ['prompt-read'] }
    writeFileSync(join(work, 'lua/svc-plugin.json'), JSON.stringify({ id: pluginId, agent }))
    const env = pluginEnvironment(effects, { pluginId, directory: work })
    const place = { scope: 'workspace', workspace: work }
    const own = { pluginId, place, config: {}, timeoutMs: 60_000, directory: work, env, eventNamespaces: [] }
    const spec = { ...own, capabilities: new Set(['prompt-read', 'workspace-write']), ...commands[tier] }
    return startProcess(deps, spec)(1, () => undefined, never)
  }
}

async function end(instance) {
  instance.kill()
  await instance.gone
}

function invoke(instance, name, input) {
  const tool = instance.contributions.tools.find(({ id }) => id === name)
  return tool.invoke(input, {
    sessionId: 's',
    messageId: 'm',
    callId: 'c',
    agent: 'a',
    directory: work,
    signal: never,
    progress: () => undefined,
  })
}

/** A bare Node program that is ready, and its lines. */
async function bare() {
  const child = spawn(process.execPath, [join(work, 'bare.mjs')], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })
  await new Promise((resolve) => lines.once('line', resolve))
  return { child, lines }
}

async function endBare({ child }) {
  const gone = new Promise((resolve) => child.once('close', resolve))
  child.stdin.end()
  await gone
}

async function brokerCalls(start) {
  const trip = await best(async () => {
    const program = await bare()
    const time = await timed(async () => {
      for (let n = 0; n < CALLS; n++) {
        const answer = new Promise((resolve) => program.lines.once('line', resolve))
        program.child.stdin.write('{"id":1}\n')
        await answer
      }
    })
    await endBare(program)
    return time / CALLS
  })
  row('round trip of a bare Node program, ms', trip)
  for (const [tier, bound] of Object.entries({ program: 0.3, lua: 1 })) {
    const call = await best(async () => {
      const instance = await start(tier)
      const none = await timed(() => invoke(instance, 'asks', { n: 0 }))
      const all = await timed(() => invoke(instance, 'asks', { n: CALLS }))
      await end(instance)
      return (all - none) / CALLS
    })
    row(`broker call of a ${tier}, ms`, call, { bound, baseline: trip })
  }
}

async function luaStarts(start) {
  const ready = async () => {
    let program
    const time = await timed(async () => (program = await bare()))
    const memory = memoryOf(program.child.pid)
    await endBare(program)
    return { time, memory }
  }
  const readyLua = async () => {
    const before = children()
    let instance
    const time = await timed(async () => (instance = await start('lua')))
    const pid = children().find((each) => !before.includes(each))
    const memory = memoryOf(pid)
    await end(instance)
    return { time, memory }
  }
  const node = []
  const lua = []
  for (let n = 0; n < ROUNDS * 2; n++) {
    node.push(await ready())
    lua.push(await readyLua())
  }
  const least = (list, of) => Math.min(...list.map(of))
  const middle = (list, of) => list.map(of).toSorted((a, b) => a - b)[Math.floor(list.length / 2)] // work of others makes no memory less
  const time = least(node, (each) => each.time)
  row('bare Node program is ready, ms', time)
  row(
    'Lua plugin is ready, ms',
    least(lua, (each) => each.time),
    { bound: 2 * time, baseline: time },
  )
  for (const kind of ['Rss', 'Pss', 'Private']) {
    const own = middle(node, (each) => each.memory[kind])
    const cost = middle(lua, (each) => each.memory[kind])
    row(`bare Node program, ${kind}, MB`, own)
    row(`Lua plugin, ${kind}, MB`, cost, { baseline: own, ...(kind === 'Private' && { bound: 30 }) })
  }
}

async function streams(start) {
  const pipe = await best(async () => {
    const program = await bare()
    let left = DELTAS
    const time = await timed(async () => {
      const all = new Promise((resolve) => {
        program.lines.on('line', (line) => {
          JSON.parse(line)
          if (--left === 0) resolve()
        })
      })
      program.child.stdin.write(`{"n":${DELTAS}}\n`)
      await all
    })
    await endBare(program)
    return time
  })
  const streamed = await best(async () => {
    const instance = await start('program')
    const [provider] = instance.contributions.providers
    const model = { providerId: 'fast', modelId: 'm' }
    const adapter = provider.create({ providerId: 'fast', options: {} })
    let deltas = 0
    const request = { sessionId: 's', directory: work, model, messages: [], tools: [], options: {} }
    const time = await timed(() => adapter.generate(request, ({ type }) => void (type === 'text' && deltas++), never))
    await end(instance)
    if (deltas !== DELTAS) throw new Error(`${deltas} deltas came of ${DELTAS}`)
    return time
  })
  const perSecond = (ms) => (DELTAS / ms) * 1000
  row('deltas a second through a bare pipe', perSecond(pipe))
  row('deltas a second of a provider', perSecond(streamed), { least: 20_000, baseline: perSecond(pipe) })
}

async function numbers(start) {
  const text = JSON.stringify(Array.from({ length: NUMBERS }, (_, index) => index % 10))
  const parsed = await best(() => timed(async () => JSON.parse(text)))
  const passed = await best(async () => {
    const instance = await start('program')
    const time = await timed(() => invoke(instance, 'writes', { n: NUMBERS }))
    const { length } = readFileSync(join(work, 'numbers'))
    rmSync(join(work, 'numbers'))
    await end(instance)
    if (length !== NUMBERS) throw new Error(`${length} bytes were written of ${NUMBERS}`)
    return time
  })
  row(`${NUMBERS} numbers, parsed alone, ms`, parsed)
  row(`a frame of ${(text.length / MIB).toFixed(2)} MiB with them, ms`, passed, { baseline: parsed })
}

/**
 * From the start of the server to the first request its first prompt makes of the model; the plugins are programs that offer a tool each. A server
 * ran there before: the first start of a plugin's life is not measured.
 */
async function manyPlugins({ makePlace, openScene, startModelServer, withModel, reply, finish, text }) {
  let arrived = () => undefined
  const model = await startModelServer(() => {
    arrived()
    return reply(text('Done.'), finish('stop'))
  })
  const first = async (count) => {
    const scene = openScene(makePlace())
    const file = join(scene.place.root, 'plugin.mjs')
    writeFileSync(file, PROGRAM)
    const entry = (_, n) => [`bench.idle${n}`, { options: { serve: [process.execPath, file], sandbox: false } }]
    scene.place.configure(withModel(model.url, { plugins: Object.fromEntries(Array.from({ length: count }, entry)) }))
    const once = async () => {
      const server = await scene.start({ SVC_AGENT_PLUGIN_SANDBOX: 'off' })
      const { id } = await server.createSession()
      const came = new Promise((resolve) => (arrived = resolve))
      await server.prompt(id, { prompt: 'go on' })
      await came
      return server
    }
    try {
      await (await once()).stop()
      let server
      const time = await timed(async () => (server = await once()))
      await server.stop()
      return time
    } finally {
      await scene.close()
    }
  }
  const none = []
  const many = []
  for (let n = 0; n < SERVERS; n++) {
    none.push(await first(0))
    many.push(await first(PLUGINS))
  }
  await model.close()
  const baseline = Math.min(...none)
  row('start to first request, no plugins, ms', baseline)
  row(`start to first request, ${PLUGINS} plugins, ms`, Math.min(...many), { bound: baseline + 100, baseline })
}

function children() {
  return readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ').filter(Boolean)
}

/** Megabytes by kind; what is private would be free again if the process ended. */
function memoryOf(pid) {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  const of = (name) => (Number(new RegExp(`^${name}: +(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1024) / 1e6
  return { Rss: of('Rss'), Pss: of('Pss'), Private: of('Private_Clean') + of('Private_Dirty') }
}

async function best(round) {
  let least = Infinity
  for (let n = 0; n < ROUNDS; n++) least = Math.min(least, await round())
  return least
}

async function timed(run) {
  const begun = performance.now()
  await run()
  return performance.now() - begun
}

function row(what, value, { bound, least, baseline } = {}) {
  const isBroken = (bound !== undefined && value > bound) || (least !== undefined && value < least)
  if (isBroken) process.exitCode = 1
  const limit = bound === undefined ? (least === undefined ? '' : `>= ${least}`) : `<= ${bound.toFixed(2)}`
  const ratio = baseline === undefined ? '' : `${(value / baseline).toFixed(2)} x`
  process.stdout.write(
    `${what.padEnd(46)}${value.toFixed(2).padStart(12)}${ratio.padStart(10)}  ${limit.padEnd(14)}${isBroken ? 'BROKEN' : ''}\n`,
  )
}

function load() {
  const [one = 0, five = 0] = loadavg()
  process.stdout.write(`load ${one.toFixed(1)} (1 min), ${five.toFixed(1)} (5 min) on ${cpus().length} cores\n`)
}
