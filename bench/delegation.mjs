/**
 * `npm run --silent build && node bench/delegation.mjs`: what delegating costs over the turn of the child itself, and how others fare while
 * a hundred children of one parent run. The model is scripted and answers at once.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROUNDS = 40
const CHILDREN = 100
const program = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const place = mkdtempSync(join(tmpdir(), 'svc-bench-'))
const model = createServer(answer)
await new Promise((resolve) => model.listen(0, '127.0.0.1', resolve))
mkdirSync(join(place, '.config/svc'), { recursive: true })
const options = { baseURL: `http://127.0.0.1:${model.address().port}/v1`, apiKey: 'none' }
const provider = { bench: { npm: '@ai-sdk/openai-compatible', options, models: { scripted: {} } } }
writeFileSync(join(place, '.config/svc/config.json'), JSON.stringify({ provider, model: 'bench/scripted', permission: { '*': 'allow' } }))
writeFileSync(join(place, 'file.txt'), 'one line\n')
const server = spawn(process.execPath, [program, 'serve', '--port', '0'], {
  cwd: place,
  env: { PATH: process.env.PATH, HOME: place, SVC_AGENT_STATE_DIR: join(place, 'state'), SVC_AGENT_CACHE_DIR: join(place, 'cache') },
  stdio: ['ignore', 'pipe', 'ignore'],
})
try {
  const url = await new Promise((resolve, reject) => {
    server.stdout.on('data', (text) => /http:\S+/.test(text) && resolve(/http:\S+/.exec(text)[0]))
    server.once('exit', (code) => reject(new Error(`the server ended with code ${code}`)))
  })
  await measure(url)
} finally {
  server.kill('SIGTERM')
  await new Promise((resolve) => server.once('exit', resolve))
  model.close()
  rmSync(place, { recursive: true, force: true })
}

/** The last word of the user says what the model does; after tools it is done. */
function answer(request, response) {
  let body = ''
  request.on('data', (chunk) => (body += chunk))
  request.on('end', () => {
    const { messages } = JSON.parse(body)
    const last = messages.at(-1)
    const text = typeof last.content === 'string' ? last.content : JSON.stringify(last.content)
    const [, kind, count = '1'] = last.role === 'user' ? (/(delegate|read)(?: (\d+))?/.exec(text) ?? []) : []
    const task = (index) => ({ description: `child ${index}`, prompt: 'answer', subagent_type: 'general', background: false })
    const input = kind === 'read' ? () => ({ filePath: 'file.txt' }) : task
    const calls =
      kind === undefined
        ? []
        : Array.from({ length: Number(count) }, (_, index) => callOf(index, kind === 'read' ? 'read' : 'task', input(index)))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const delta = calls.length > 0 ? { role: 'assistant', tool_calls: calls } : { role: 'assistant', content: 'done' }
    for (const choice of [
      { index: 0, delta },
      { index: 0, delta: {}, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' },
    ])
      response.write(`data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', model: 'scripted', choices: [choice] })}\n\n`)
    response.end('data: [DONE]\n\n')
  })
}

function callOf(index, name, input) {
  return { index, id: `call_${index}_${Math.random()}`, type: 'function', function: { name, arguments: JSON.stringify(input) } }
}

async function measure(url) {
  const times = { answer: [], read: [], delegate: [] }
  for (let round = -5; round < ROUNDS; round++)
    for (const prompt of Object.keys(times)) {
      const ms = await turn(url, prompt)
      if (round >= 0) times[prompt].push(ms)
    }
  const [child, read, delegate] = [times.answer, times.read, times.delegate].map(median)
  say('turn of a child alone', `${child.toFixed(1)} ms`)
  say('turn with a read', `${read.toFixed(1)} ms`)
  say('turn that delegates', `${delegate.toFixed(1)} ms`)
  say('delegating over both', `${(delegate - read - child).toFixed(1)} ms`)

  const health = []
  let isOver = false
  const probe = (async () => {
    for (; !isOver; await new Promise((resolve) => setTimeout(resolve, 5))) {
      const from = performance.now()
      await call(url, 'GET', '/v2/health')
      health.push(performance.now() - from)
    }
  })()
  const whole = await turn(url, `delegate ${CHILDREN}`)
  isOver = true
  await probe
  health.sort((a, b) => a - b)
  const at = (part) => health[Math.min(health.length - 1, Math.floor(part * health.length))].toFixed(0)
  say(`${CHILDREN} children at once`, `${whole.toFixed(0)} ms; health p50 ${at(0.5)}, p99 ${at(0.99)}, max ${at(1)} ms`)
}

/** Milliseconds from the prompt to the rest, in a session of its own. */
async function turn(url, prompt) {
  const { id } = await call(url, 'POST', '/v2/sessions', { title: 'bench' })
  const from = performance.now()
  await call(url, 'POST', `/v2/sessions/${id}/prompt`, { prompt })
  await call(url, 'POST', `/v2/sessions/${id}/wait`)
  return performance.now() - from
}

async function call(url, method, path, body) {
  const response = await fetch(url + path, {
    method,
    headers: { 'x-svc-directory': place, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return text === '' ? undefined : JSON.parse(text)
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
}

function say(what, result) {
  process.stdout.write(`${what.padEnd(24)} ${result}\n`)
}
