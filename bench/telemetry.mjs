/**
 * `npm run --silent build && node bench/telemetry.mjs [--pairs N] [--before DIRECTORY]`: what metrics and traces cost a turn.
 *
 * Servers run side by side and turns alternate between them, so that what the machine does otherwise falls on all: `off` (nothing asked for),
 * `metrics` (counted, scraped once a block), `traces` (sent to a receiver here), and with `--before` the build of another checkout, which knows
 * nothing of either. Each turn is ten steps with a call each. Figures are medians of the turns, and of the ratios of pairs to `off`.
 */
import { createServer } from 'node:http'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const { values } = parseArgs({ options: { pairs: { type: 'string', default: '120' }, before: { type: 'string' } } })
const pairs = Number(values.pairs)
const STEPS = 10
const WARM_UP = 15
const work = mkdtempSync(join(root, 'node_modules/.svc-bench-'))
process.env['SVC_TEST_PROGRAM'] ??= join(root, 'dist/main.js')

try {
  const parts = await load()
  const collector = await openCollector()
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}` }
  const kinds = [
    ['off', {}, undefined],
    ['metrics', { SVC_AGENT_METRICS: '1' }, undefined],
    ['traces', endpoint, undefined],
    ['both', { ...endpoint, SVC_AGENT_METRICS: '1' }, undefined],
    ...(values.before === undefined ? [] : [['before', {}, join(values.before, 'dist/main.js')]]),
  ]
  const systems = []
  for (const [name, env, program] of kinds) systems.push(await served(parts, name, env, program))
  for (let n = 0; n < WARM_UP; n++) for (const system of systems) await turn(system.server)
  for (let n = 0; n < pairs; n++) {
    const order = systems.map((_, index) => systems[(index + n) % systems.length])
    for (const system of order) system.times.push(await turn(system.server))
    if (n % 30 === 0) for (const system of systems) if (/metrics|both/.test(system.name)) await system.server.call('GET', '/v2/metrics')
  }
  print(systems, collector)
  for (const system of systems) await system.close()
  collector.close()
} finally {
  rmSync(work, { recursive: true, force: true })
}

async function load() {
  const tests = ['test/e2e/server/place', 'test/e2e/server/server', 'test/fixtures/model-server']
  const contents = tests.map((name) => `export * from ${JSON.stringify(`./${name}.ts`)}`).join('\n')
  const outfile = join(work, 'parts.mjs')
  const shared = { bundle: true, platform: 'node', format: 'esm', packages: 'external', logLevel: 'error' }
  await build({ ...shared, stdin: { contents, resolveDir: root, loader: 'ts' }, outfile, define: { SVC_VERSION: '"bench"' } })
  return import(pathToFileURL(outfile).href)
}

async function openCollector() {
  let requests = 0
  const server = createServer((incoming, answer) => {
    requests++
    incoming.resume().on('end', () => answer.writeHead(200, { 'content-type': 'application/x-protobuf' }).end())
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { port: server.address().port, requests: () => requests, close: () => server.close() }
}

async function served({ makePlace, openScene, startModelServer, withModel, reply, toolCall, finish, text }, name, env, program) {
  const place = makePlace({ 'README.md': 'x\n' })
  const model = await startModelServer(({ body, index }) => {
    const answered = body?.messages.filter(({ role }) => role === 'tool').length ?? 0
    if (answered >= STEPS) return reply(text('Done.'), finish('stop'))
    return reply(toolCall({ id: `call_${index}`, name: 'read', input: { filePath: 'README.md', limit: 1 + index } }), finish('tool_calls'))
  })
  place.configure(withModel(model.url))
  const scene = openScene(place, program === undefined ? {} : { program })
  const server = await scene.start(env)
  return {
    name,
    server,
    times: [],
    async close() {
      await scene.close()
      await model.close()
    },
  }
}

async function turn(server) {
  const { id } = await server.createSession()
  const begun = performance.now()
  await server.prompt(id, { prompt: 'go on' })
  await server.call('POST', `/v2/sessions/${id}/wait`)
  return performance.now() - begun
}

function print(systems, collector) {
  const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)]
  const off = systems.find(({ name }) => name === 'off')
  process.stdout.write(`| ${STEPS} steps | median, ms | fastest tenth, ms | median of pairs, to off |\n|---|---|---|---|\n`)
  for (const { name, times } of systems) {
    const ratio = median(times.map((time, index) => time / off.times[index]))
    const tenth = times.toSorted((a, b) => a - b)[Math.floor(times.length / 10)]
    process.stdout.write(`| ${name} | ${median(times).toFixed(1)} | ${tenth.toFixed(1)} | ${ratio.toFixed(3)} |\n`)
  }
  process.stdout.write(`${pairs} turns each; the receiver got ${collector.requests()} requests\n`)
}
