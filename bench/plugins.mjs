/**
 * `npm run --silent build && node bench/plugins.mjs [--calls N]`: what plugins cost in this checkout.
 *
 * Calls are measured twice: at the instance itself, and in a turn, from the end of one reply of a scripted model to its
 * next request. Everything runs on this machine alone; figures are milliseconds.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const calls = Number(process.argv[process.argv.indexOf('--calls') + 1]) || 1000
const work = mkdtempSync(join(root, 'node_modules/.svc-bench-'))
/** Reads a line of a small file: the cheapest that the server has. */
const IN_PROCESS = 'read'
const rows = []
process.env['SVC_TEST_PROGRAM'] ??= join(root, 'dist/main.js')

try {
  const parts = await load()
  await instances(parts)
  await turns(parts)
  await idlePlugins(parts)
  print()
} finally {
  rmSync(work, { recursive: true, force: true })
}

/** Sources and test programs as one module: this file is no TypeScript. */
async function load() {
  const sources = [
    'src/platform/node/node-effects',
    'src/actors/plugin/process/process-instance',
    'src/actors/plugin/process/process-spec',
    'src/actors/plugin/process/lua',
  ]
  const tests = ['test/e2e/server/place', 'test/e2e/server/server', 'test/e2e/server/processes', 'test/fixtures/model-server']
  const contents = [...sources, ...tests].map((name) => `export * from ${JSON.stringify(`./${name}.ts`)}`).join('\n')
  const outfile = join(work, 'parts.mjs')
  const shared = { bundle: true, platform: 'node', format: 'esm', packages: 'external', logLevel: 'error' }
  await build({ ...shared, stdin: { contents, resolveDir: root, loader: 'ts' }, outfile, define: { SVC_VERSION: '"bench"' } })
  return import(pathToFileURL(outfile).href)
}

/** Calls at the instance: nothing but the process boundary. */
async function instances({ createNodeEffects, startProcess, createInstanceIds, pluginEnvironment, luaCommand }) {
  const effects = createNodeEffects({ logWrite: () => undefined })
  const manifest = writeLua(join(work, 'lua'))
  const program = join(work, 'tool.mjs')
  writeFileSync(program, processTool('bench'))
  const deps = { effects, nextInstanceId: createInstanceIds(), host: { config: async () => ({}), publish: async () => undefined } }
  const spec = (command, directory) => ({
    pluginId: 'bench.lua',
    place: { scope: 'workspace', workspace: work },
    config: {},
    timeoutMs: 60_000,
    directory,
    capabilities: new Set(),
    eventNamespaces: [],
    env: pluginEnvironment(effects, { pluginId: 'bench.lua', directory }),
    ...command,
  })
  const never = new AbortController().signal
  const start = (command) => startProcess(deps, spec(command, work))(1, () => undefined, never)
  const context = { sessionId: 's', messageId: 'm', callId: 'c', agent: 'a', directory: work, signal: never, progress: () => undefined }
  const measure = async (what, instance) => {
    const [tool] = instance.contributions.tools
    const times = []
    for (let n = 0; n < calls; n++) times.push(await timed(() => tool.invoke({ n }, context)))
    report(`${what}, at the instance`, times)
  }
  const lua = luaCommand({ node: process.execPath, sandbox: join(root, 'dist/lua-sandbox.js'), manifest })
  const tiers = { process: { program: process.execPath, args: [program] }, 'Lua sandbox': lua }
  for (const [what, command] of Object.entries(tiers)) {
    const ready = []
    for (let n = 0; n < 15; n++) {
      let instance
      ready.push(await timed(async () => (instance = await start(command))))
      if (n === 0) await measure(`call of a ${what}`, instance)
      instance.retire()
      await Promise.race([instance.gone, new Promise((resolve) => setTimeout(resolve, 1500))])
      instance.kill()
      await instance.gone
    }
    report(`${what}, spawn to active`, ready)
  }
}

/** Calls in a turn, against a tool that the server has in itself. */
async function turns({ makePlace, openScene, startModelServer, withModel, reply, toolCall, finish, text }) {
  const scene = openScene(makePlace({ 'README.md': 'x\n' }))
  const { place } = scene
  let name = ''
  let repliedAt = 0
  let left = 0
  let times = []
  const model = await startModelServer((request) => {
    if (repliedAt > 0) times.push(performance.now() - repliedAt)
    const isLast = left-- <= 0
    repliedAt = isLast ? 0 : performance.now()
    if (isLast) return reply(text('Done.'), finish('stop'))
    const input = name === IN_PROCESS ? { filePath: 'README.md', limit: 1 + request.index } : { n: request.index }
    return reply(toolCall({ id: `call_${request.index}`, name, input }), finish('tool_calls'))
  })
  const tool = join(place.root, 'tool.mjs')
  writeFileSync(tool, processTool('bench_process'))
  const plugins = { 'bench.process': { options: { serve: [process.execPath, tool] } } }
  place.configure(withModel(model.url, { plugins }))
  const lua = join(dirname(place.configFile), 'plugins/bench.lua')
  writeLua(lua, 'bench_lua')
  const server = await scene.start({ SVC_AGENT_PLUGIN_SANDBOX: 'off' })
  try {
    const [{ packageId, revision }] = await server.get('/v2/plugins/lifecycle')
    const trust = { workspaceId: place.repo, packageId, revision, capabilities: [], luaApproved: true }
    place.configure(withModel(model.url, { plugins: { ...plugins, [packageId]: { options: { trust } } } }))
    await server.get('/v2/plugins/lifecycle')
    const tools = { [IN_PROCESS]: [], bench_process: [], bench_lua: [] }
    for (let round = 0; round < 12; round++) {
      for (const each of Object.keys(tools)) {
        name = each
        times = []
        left = 25
        repliedAt = 0
        const { id } = await server.createSession()
        await server.prompt(id, { prompt: 'go on' })
        await server.call('POST', `/v2/sessions/${id}/wait`)
        tools[each].push(...times)
      }
    }
    const medians = {}
    for (const [each, all] of Object.entries(tools)) medians[each] = report(`step with ${each}, in a turn`, all)
    rows.push(['process over in-process, in a turn', medians.bench_process - medians[IN_PROCESS]])
    rows.push(['Lua over in-process, in a turn', medians.bench_lua - medians[IN_PROCESS]])
  } finally {
    await scene.close()
    await model.close()
  }
}

/** From a prompt to the request the model gets: two servers in turns, one of them with plugins that do nothing. One of those is replaced then. */
async function idlePlugins({ makePlace, openScene, startModelServer, withModel, reply, finish, text, descendants }) {
  const COUNT = 50
  let arrived = () => undefined
  const model = await startModelServer(() => {
    arrived()
    return reply(text('Done.'), finish('stop'))
  })
  const open = async (count) => {
    const scene = openScene(makePlace())
    const { place } = scene
    const file = (n) => join(place.root, `idle-${n}.mjs`)
    for (let n = 0; n < count; n++) writeFileSync(file(n), processTool(`idle_${n}`))
    const configure = (first = {}) => {
      const entry = (n) => [`bench.idle${n}`, { options: { serve: [process.execPath, file(n)], ...(n === 0 ? first : {}) } }]
      place.configure(withModel(model.url, { plugins: Object.fromEntries(Array.from({ length: count }, (_, n) => entry(n))) }))
    }
    configure()
    const server = await scene.start({ SVC_AGENT_PLUGIN_SANDBOX: 'off' })
    const active = async () => (await server.get('/v2/plugins')).filter(({ id, active: serves }) => id.startsWith('bench.') && serves)
    await until(async () => (await active()).length === count)
    return { scene, server, configure, active }
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
    for (let n = 0; n < 160; n++) {
      times.none.push(await prompt(none))
      times.many.push(await prompt(many))
    }
    const without = report('prompt to model, no plugins', times.none.slice(40))
    const beside = report(`prompt to model, ${COUNT} idle plugins`, times.many.slice(40))
    rows.push([`${COUNT} idle plugins over none`, beside - without])
    const pids = () =>
      descendants(many.server.pid)
        .filter(({ command }) => command.includes('/idle-'))
        .map(({ pid }) => pid)
    const before = pids()
    const replaced = await timed(async () => {
      many.configure({ config: { changed: true } })
      await until(async () => (await many.active()).some(({ generation }) => generation === 2))
    })
    await until(() => !before.every((pid) => pids().includes(pid)))
    const after = pids()
    rows.push(['one plugin replaced', replaced])
    rows.push([`processes untouched by that, of ${COUNT - 1} others`, before.filter((pid) => after.includes(pid)).length])
  } finally {
    await none.scene.close()
    await many.scene.close()
    await model.close()
  }
}

async function until(holds) {
  for (;;) if (await holds()) return
}

function writeLua(directory, tool = 'bench') {
  mkdirSync(directory, { recursive: true })
  const manifest = join(directory, 'svc-plugin.json')
  writeFileSync(manifest, JSON.stringify({ id: 'bench.lua', agent: { runtime: 'lua', entrypoint: 'main.lua' } }))
  const source = `return { tools = { { id = '${tool}', description = 'Counts.', parameters = { type = 'object' },
  execute = function(call) return { output = 'n' .. tostring(call.input.n) } end } } }`
  writeFileSync(join(directory, 'main.lua'), source)
  return manifest
}

function processTool(id) {
  const offer = { protocol: 'svc-plugin/2', tools: [{ id, description: 'Counts.', parameters: { type: 'object' } }] }
  return `import { createInterface } from 'node:readline'
const send = (frame) => process.stdout.write(JSON.stringify(frame) + '\\n')
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize') send({ id, result: ${JSON.stringify(offer)} })
  else if (method === 'tool.invoke') send({ id, result: { output: 'n' + params.input.n } })
  else if (method === 'shutdown') process.exit(0)
}).on('close', () => process.exit(0))
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
