/**
 * `npm run --silent build && node bench/sessions.mjs`: forks, bundles and undo of long sessions, and what version control costs in a large
 * repository, beside git itself and beside a disk that is only read.
 */
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const ROUNDS = 7
const place = mkdtempSync(join(tmpdir(), 'svc-bench-'))
const small = repository('small', 10)
const large = repository('large', 10_000)
mkdirSync(join(place, '.config/svc'), { recursive: true })
writeFileSync(join(place, '.config/svc/config.json'), JSON.stringify({ model: 'svc/offline', permission: { '*': 'allow' } }))
const server = spawn(process.execPath, [program, 'serve', '--port', '0'], {
  cwd: small,
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
  rmSync(place, { recursive: true, force: true })
}

async function measure(url) {
  const thousand = await imported(url, 1000, 200)
  await tell('fork of 1,000 messages', () => call(url, 'POST', `/v2/sessions/${thousand}/fork`, {}))
  const heavy = await imported(url, 600, 100_000)
  const { ms, bytes } = await exported(url, heavy)
  say('export', `${(bytes / 1000 / ms).toFixed(0)} MB/s of ${(bytes / 1e6).toFixed(0)} MB`)

  const undone = await session(url, small)
  await turn(url, undone, {
    tool: 'bash',
    input: { command: 'echo content | tee made{1..200}.txt', description: 'many files' },
  })
  const undo = []
  const redo = []
  for (let round = 0; round < ROUNDS; round++) {
    undo.push(await timed(() => call(url, 'POST', `/v2/sessions/${undone}/undo`)))
    redo.push(await timed(() => call(url, 'POST', `/v2/sessions/${undone}/redo`)))
  }
  say('undo of 200 files', `${median(undo)} ms`)
  say('redo of 200 files', `${median(redo)} ms`)

  writeFileSync(join(small, 'edited.txt'), `0 times\n${'line of a file\n'.repeat(6700)}`)
  const edits = await session(url, small)
  const plain = []
  const edited = []
  for (let round = 0; round < ROUNDS; round++) {
    plain.push(await callTime(url, edits, { tool: 'read', input: { filePath: 'edited.txt', limit: 1 } }))
    const input = { filePath: 'edited.txt', oldString: `${round} times`, newString: `${round + 1} times` }
    edited.push(await callTime(url, edits, { tool: 'edit', input }))
  }
  say('edit of 100 kB', `${median(edited)} ms, with the state before it kept; read of a line ${median(plain)} ms`)

  const command = { tool: 'bash', input: { command: 'true', description: 'nothing' } }
  const inSmall = []
  const inLarge = []
  const [one, other] = [await session(url, small), await session(url, large)]
  for (let round = 0; round < ROUNDS; round++) {
    inSmall.push(await callTime(url, one, command))
    inLarge.push(await callTime(url, other, command))
  }
  say('shell command', `${median(inLarge)} ms in a repository of 10,000 files, ${median(inSmall)} ms in one of 10`)

  const own = []
  const ours = []
  for (let round = 0; round < ROUNDS; round++) {
    own.push(await timed(() => execFileSync('git', ['status', '--porcelain', '--untracked-files=all'], { cwd: large })))
    ours.push(await timed(() => call(url, 'GET', `/v2/plugins/dev.svc.vcs/status?directory=${encodeURIComponent(large)}`)))
  }
  say(
    'status of 10,000 files',
    `${median(ours)} ms, git itself ${median(own)} ms: ${(Number(median(ours)) / Number(median(own))).toFixed(2)} times`,
  )
}

function repository(name, files) {
  const root = join(place, name)
  for (let index = 0; index < files; index++) {
    const folder = join(root, `d${index % 100}`)
    if (index < 100) mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, `f${index}.txt`), `${index}\n`)
  }
  const git = (...args) => execFileSync('git', ['-C', root, ...args], { stdio: 'ignore' })
  git('init', '--quiet')
  git('add', '--all')
  git('-c', 'user.name=b', '-c', 'user.email=b@localhost', 'commit', '--quiet', '--message', 'all')
  return root
}

async function call(url, method, path, body) {
  const response = await fetch(`${url}${path}`, {
    method,
    ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 300)}`)
  return text === '' ? undefined : JSON.parse(text)
}

async function session(url, directory) {
  return (await call(url, 'POST', `/v2/sessions?directory=${encodeURIComponent(directory)}`, { title: 'bench' })).id
}

/** One turn in which the offline model calls a tool. */
async function turn(url, id, ...steps) {
  const script = JSON.stringify([...steps, { text: 'Done.' }])
  await call(url, 'POST', `/v2/sessions/${id}/prompt`, { prompt: `\`\`\`svc-script\n${script}\n\`\`\`` })
  await call(url, 'POST', `/v2/sessions/${id}/wait`)
}

/** ms from the acceptance of the call to its result, as its part tells. */
async function callTime(url, id, step) {
  await turn(url, id, step)
  const { items } = await call(url, 'GET', `/v2/sessions/${id}/messages?order=desc&limit=3`)
  const part = items.flatMap(({ parts }) => parts).find(({ type }) => type === 'tool')
  if (part?.state.status !== 'completed') throw new Error(`the call ended otherwise: ${JSON.stringify(part)}`)
  return part.state.time.end - part.state.time.start
}

/** A session of so many messages, each with so much text, from a bundle. */
async function imported(url, messages, characters) {
  const empty = await session(url, small)
  const { bundles } = await call(url, 'POST', '/v2/sessions/export', { workspaceRoot: small, sessionId: empty })
  const bundle = bundles[0]
  const id = (kind, index) => `${kind}_${String(index).padStart(24, '0')}`
  const model = { providerId: 'svc', modelId: 'offline' }
  bundle.messages = Array.from({ length: messages }, (_, index) => {
    const place = { sessionId: empty, messageId: id('msg', index) }
    const info = { id: place.messageId, sessionId: empty, role: 'user', time: { created: index + 1 }, agent: 'build', model }
    return { info, parts: [{ ...place, id: id('prt', index), type: 'text', text: 'words of it '.repeat(characters / 12) }] }
  })
  const { sessionId } = await call(url, 'POST', '/v2/sessions/import', { bundle, targetWorkspaceRoot: small })
  return sessionId
}

async function exported(url, sessionId) {
  const began = performance.now()
  const response = await fetch(`${url}/v2/sessions/export`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ workspaceRoot: small, sessionId }),
  })
  let bytes = 0
  for await (const chunk of response.body) bytes += chunk.length
  return { ms: performance.now() - began, bytes }
}

async function timed(work) {
  const began = performance.now()
  await work()
  return performance.now() - began
}

async function tell(what, work) {
  const times = []
  for (let round = 0; round < ROUNDS; round++) times.push(await timed(work))
  say(what, `${median(times)} ms`)
}

function median(times) {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)].toFixed(1)
}

function say(what, figures) {
  console.log(`${what.padEnd(26)}${figures}`)
}
