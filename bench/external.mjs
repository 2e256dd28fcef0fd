/**
 * `npm run --silent build && node bench/external.mjs [--turns N]`: what a turn of an external agent costs over the same agent driven by the client
 * of the official library, in turns; what a preview that is known costs beside a request that does nothing; and how long health takes while an agent floods. Milliseconds.
 *
 * Both start the agent, open its session (again), prompt it, listen for 25 ms after its answer, and end it. Where the agent repeats what was said,
 * both listen for 25 ms before the prompt as well.
 */
import * as acp from '@agentclientprotocol/sdk'
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url))
const TURNS = Number(process.argv[process.argv.indexOf('--turns') + 1]) || 40
const WARM = 5
const QUIET = 25
const place = mkdtempSync(join(tmpdir(), 'svc-bench-'))
const repo = join(place, 'repo')
mkdirSync(repo)
const FLOODS = ['nested', 'subagents', 'calls']
const FLOOD = Number(process.env.SVC_BENCH_FLOOD) || 10_000
const flooding = [process.execPath, at('test/fixtures/agents/flooding.mjs')]
const words = [process.execPath, at('test/fixtures/agents/working.mjs'), join(place, 'notes')]
const env = {
  PATH: process.env.PATH,
  HOME: join(place, 'home'),
  XDG_STATE_HOME: join(place, 'state'),
  XDG_CACHE_HOME: join(place, 'cache'),
}
mkdirSync(env.HOME)
const flags = (process.env.SVC_BENCH_NODE ?? '').split(' ').filter((flag) => flag !== '')
const serve = spawn(process.execPath, [...flags, at('dist/main.js'), 'serve', '--port', process.env.SVC_BENCH_PORT ?? '0'], {
  cwd: repo,
  env: { ...env, SVC_EXTERNAL_CODEX_COMMAND: JSON.stringify(words), SVC_EXTERNAL_CLAUDE_COMMAND: JSON.stringify(flooding) },
  stdio: ['ignore', 'pipe', 'inherit'],
})
const ended = new Promise((resolve) => serve.once('exit', resolve))
try {
  const url = await new Promise((resolve, reject) => {
    serve.stdout.on('data', (text) => {
      const found = /http:\/\/\S+/.exec(text)?.[0]
      if (found !== undefined) resolve(found)
    })
    void ended.then((code) => reject(new Error(`the server ended with code ${code}`)))
  })
  await turns(url)
  await previews(url)
  for (const flood of FLOODS) await floods(url, flood)
} finally {
  serve.kill('SIGTERM')
  await ended
  rmSync(place, { recursive: true, force: true })
}

async function turns(url) {
  const { id } = await call(url, 'POST', '/v2/sessions', { title: 'bench', externalProvider: 'codex' })
  const samples = { bare: [], ours: [], told: [] }
  const prompt = ['say one', 'run ls', 'say two'].join('\n')
  for (let turn = 0; turn < TURNS + WARM; turn++) {
    const isBareFirst = turn % 2 === 0
    if (isBareFirst) samples.bare.push(await timed(() => bare(prompt, turn > 0)))
    samples.ours.push(
      await timed(async () => {
        await call(url, 'POST', `/v2/sessions/${id}/prompt`, { prompt })
        await call(url, 'POST', `/v2/sessions/${id}/wait`)
      }),
    )
    if (!isBareFirst) samples.bare.push(await timed(() => bare(prompt, true)))
  }
  const added = samples.ours.map((all, index) => all - samples.bare[index])
  const by = report('the agent, driven by the official client', samples.bare)
  const all = report('a turn of a session on it', samples.ours)
  report('a turn over the agent beside it (at most 3)', added)
  console.log(`ratio of the medians: ${(all / by).toFixed(3)}`)
}

/** The same turn by hand. */
async function bare(text, isKnown) {
  const child = spawn(words[0], words.slice(1), { cwd: repo, env, detached: true, stdio: ['pipe', 'pipe', 'ignore'] })
  const gone = new Promise((resolve) => child.once('close', resolve))
  const link = acp
    .client({ name: 'bench' })
    .onNotification('*', () => undefined)
    .connect(acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)))
  const ask = (method, params) => link.agent.request(method, params)
  await ask('initialize', { protocolVersion: 1, clientCapabilities: {} })
  const where = { cwd: repo, mcpServers: [] }
  if (!isKnown) await ask('session/new', where)
  else await ask('session/load', { sessionId: 'agent-session-1', ...where })
  if (isKnown) await delay(QUIET)
  await ask('session/prompt', { sessionId: 'agent-session-1', prompt: [{ type: 'text', text }] })
  await delay(QUIET)
  process.kill(-Number(child.pid), 'SIGKILL')
  await gone
  link.close()
}

async function previews(url) {
  const path = '/v2/external/options/preview?provider=codex'
  await call(url, 'GET', path)
  const known = []
  const nothing = []
  for (let n = 0; n < 300 + WARM; n++) {
    nothing.push(await timed(() => call(url, 'GET', '/v2/health')))
    known.push(await timed(() => call(url, 'GET', path)))
  }
  const by = report('a request that does nothing', nothing)
  const all = report('a preview that is known (at most 5)', known)
  console.log(`ratio of the medians: ${(all / by).toFixed(2)}`)
}

/** Health is asked every 20 ms, whether the answer before has come or not. */
async function floods(url, flood) {
  const { id } = await call(url, 'POST', '/v2/sessions', { externalProvider: 'claude' })
  await call(url, 'POST', `/v2/sessions/${id}/prompt`, { prompt: `FLOOD ${flood} ${FLOOD}` })
  const over = call(url, 'POST', `/v2/sessions/${id}/wait`).then(() => true)
  const asked = []
  do asked.push(timed(() => call(url, 'GET', '/v2/health')))
  while (!(await Promise.race([over, delay(20, false)])))
  const times = (await Promise.all(asked)).toSorted((a, b) => a - b)
  const share = (part) => times[Math.floor((times.length - 1) * part)]
  console.log(
    `health while an agent floods with ${flood} (at most 200)`.padEnd(60),
    `p50 ${share(0.5).toFixed(2)}  p99 ${share(0.99).toFixed(2)}  ${times.length} samples`,
  )
}

async function call(url, method, path, body) {
  const headers = { 'x-svc-directory': repo, ...(body && { 'content-type': 'application/json' }) }
  const response = await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return text === '' ? undefined : JSON.parse(text)
}

async function timed(work) {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

function report(what, samples) {
  const sorted = samples.slice(WARM).toSorted((a, b) => a - b)
  const share = (part) => sorted[Math.floor((sorted.length - 1) * part)]
  console.log(`${what.padEnd(48)} p50 ${share(0.5).toFixed(2)}  p90 ${share(0.9).toFixed(2)}  ${sorted.length} samples`)
  return share(0.5)
}
