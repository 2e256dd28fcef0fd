/**
 * `npm run --silent build && node bench/telemetry.mjs [--turns N] [--rounds N] [--only a,b] [--before DIRECTORY]`: what metrics and traces cost a turn.
 *
 * Servers run side by side and turns alternate between them, so that what the machine does otherwise falls on all: `off` (nothing asked for),
 * `again` (the same once more: what two servers differ by that do the same), `metrics` (counted, scraped now and then), `traces` (sent to a
 * receiver here), `both`, and with `--before` the build of another checkout, without and with traces. Each turn is ten steps with a call each, and each round has servers
 * of its own, since what V8 makes of a program differs from process to process.
 *
 * What counts is processor time of the server, all of its threads: that of turns, and that of the whole round for each turn, which has in it
 * what is sent later, and what a server does that is not asked anything. Times of the clock are medians of the turns.
 */
import { createServer } from 'node:http'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const number = (value) => ({ type: 'string', default: value })
const { values } = parseArgs({
  options: { turns: number('60'), rounds: number('4'), only: { type: 'string' }, before: { type: 'string' } },
})
const turns = Number(values.turns)
const rounds = Number(values.rounds)
const STEPS = 10
/** Turns before it counts: what V8 has not seen often costs several times as much, of svc and of what is asked here. */
const WARM_UP = 60
const work = mkdtempSync(join(root, 'node_modules/.svc-bench-'))
process.env['SVC_TEST_PROGRAM'] ??= join(root, 'dist/main.js')

try {
  const parts = await load()
  const collector = await openCollector()
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}` }
  const kinds = [
    ['off', {}, undefined],
    ['again', {}, undefined],
    ['metrics', { SVC_AGENT_METRICS: '1' }, undefined],
    ['traces', endpoint, undefined],
    ['both', { ...endpoint, SVC_AGENT_METRICS: '1' }, undefined],
    ...(values.before === undefined
      ? []
      : [
          ['before', {}, join(values.before, 'dist/main.js')],
          ['traces before', endpoint, join(values.before, 'dist/main.js')],
        ]),
  ].filter(([name]) => name === 'off' || values.only === undefined || values.only.split(',').includes(name))
  const seen = new Map(kinds.map(([name]) => [name, { inTurns: [], whole: [], times: [] }]))
  for (let n = 0; n < rounds; n++) await round(parts, kinds, seen)
  print(seen, collector)
  collector.close()
} finally {
  rmSync(work, { recursive: true, force: true })
}

async function round(parts, kinds, seen) {
  const systems = []
  for (const [name, env, program] of kinds) systems.push(await served(parts, name, env, program))
  for (let n = 0; n < WARM_UP; n++) for (const system of systems) await turn(system.server)
  const begun = systems.map(({ server }) => processorTime(server.pid))
  const spent = systems.map(() => 0)
  for (let n = 0; n < turns; n++) {
    for (let at = 0; at < systems.length; at++) {
      const index = (at + n) % systems.length
      const { name, server } = systems[index]
      const before = processorTime(server.pid)
      seen.get(name).times.push(await turn(server))
      spent[index] += processorTime(server.pid) - before
    }
    if (n % 30 === 0) for (const { name, server } of systems) if (/metrics|both/.test(name)) await server.call('GET', '/v2/metrics')
  }
  for (const [index, { name, server }] of systems.entries()) {
    seen.get(name).inTurns.push(spent[index] / turns)
    seen.get(name).whole.push((processorTime(server.pid) - begun[index]) / turns)
  }
  for (const system of systems) await system.close()
}

/** Of every thread that lives, ms. */
function processorTime(pid) {
  const threads = readdirSync(`/proc/${pid}/task`)
  return threads.reduce((sum, thread) => sum + Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6, 0)
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

function print(seen, collector) {
  const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)]
  const off = seen.get('off')
  const ratios = (list, base) => list.map((each, round) => (each / base[round]).toFixed(3)).join(' ')
  process.stdout.write(
    `| ${STEPS} steps | in turns, ms | to off, each round | whole, ms | to off, each round | clock, ms |\n|---|---|---|---|---|---|\n`,
  )
  for (const [name, { inTurns, whole, times }] of seen) {
    const figures = [median(inTurns).toFixed(1), ratios(inTurns, off.inTurns), median(whole).toFixed(1), ratios(whole, off.whole)]
    process.stdout.write(`| ${name} | ${figures.join(' | ')} | ${median(times).toFixed(1)} |\n`)
  }
  process.stdout.write(`${rounds} rounds of ${turns} turns each; the receiver got ${collector.requests()} requests\n`)
}
