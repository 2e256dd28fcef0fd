/**
 * `npm run --silent build && node bench/lsp.mjs [--calls N]`: what language servers cost in this checkout.
 *
 * A question is asked as its operation asks it, beside the same messages exchanged with the same program by hand, in turn: what is over that
 * is ours. Then files of 5,000 lines that are touched, as CPU of this process, and the status of 200 adapters in a tree of 10,000 files.
 * Everything runs on this machine alone; milliseconds.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const calls = Number(process.argv[process.argv.indexOf('--calls') + 1]) || 1000
const work = mkdtempSync(join(root, 'node_modules/.svc-bench-'))
const rows = []
const LINES = 5000
const FILES = 10_000
const FOLDERS = 200
const ADAPTERS = 200

const program = join(work, 'server.mjs')
writeFileSync(program, serverProgram())
try {
  const parts = await load()
  await questions(parts)
  await touches(parts)
  await statuses(parts)
  print()
} finally {
  rmSync(work, { recursive: true, force: true })
}

/** Sources as one module: this file is no TypeScript. */
async function load() {
  const sources = ['src/platform/node/node-effects', 'src/plugins/lsp/lsp.plugin', 'src/protocol/caller', 'test/fakes/doors']
  const contents = sources.map((name) => `export * from ${JSON.stringify(`./${name}.ts`)}`).join('\n')
  const outfile = join(work, 'parts.mjs')
  const shared = { bundle: true, platform: 'node', format: 'esm', packages: 'external', logLevel: 'error' }
  await build({ ...shared, stdin: { contents, resolveDir: root, loader: 'ts' }, outfile, define: { SVC_VERSION: '"bench"' } })
  return import(pathToFileURL(outfile).href)
}

/** The plugin over a directory and a configuration that stays the same. */
function open({ createNodeEffects, lspPlugin, noDoors, TRUSTED_CALLER }, directory, lsp) {
  const effects = createNodeEffects({ logWrite: () => undefined })
  const change = { put: () => undefined, emit: () => undefined }
  const config = { lsp }
  const rowsOf = { get: () => undefined, list: () => [], commit: (_durability, made) => made(change) }
  const plugin = lspPlugin({ env: {}, version: 'bench' })
  const { operations } = plugin.start({ ...noDoors, effects, config: async () => config, rows: rowsOf })
  const { signal } = new AbortController()
  return {
    call: (id, query = {}, body) =>
      operations[`v2.plugins.lsp.${id}`]({ caller: TRUSTED_CALLER, directory, params: {}, query, headers: {}, body, signal }),
    stop: () => plugin.stop(),
  }
}

function makeDirectory(name, files) {
  const directory = join(work, name)
  mkdirSync(directory)
  for (const [path, text] of Object.entries(files)) writeFileSync(join(directory, path), text)
  return directory
}

function configured() {
  return { it: { command: [process.execPath, program], extensions: ['it'], language: 'it' } }
}

/** A warm hover as its operation answers it, and the same request by hand. */
async function questions(parts) {
  const text = lines(LINES, 0)
  const directory = makeDirectory('questions', { 'a.it': text })
  const plugin = open(parts, directory, configured())
  const plain = await startPlain()
  const own = []
  const ours = []
  try {
    for (let n = 0; n < calls + 200; n++) {
      own.push(
        await timed(() =>
          plain.request('textDocument/hover', { textDocument: { uri: 'file:///a.it' }, position: { line: n, character: 1 } }),
        ),
      )
      ours.push(await timed(() => plugin.call('hover', { file: 'a.it', line: n % LINES, character: 1 })))
    }
  } finally {
    await plugin.stop()
    plain.close()
  }
  const by = report("hover: the server's own answer", own.slice(200))
  const all = report('hover: its operation, warm', ours.slice(200))
  rows.push(['over its own answer (at most 1)', all - by])
}

/** Other texts of one file, from the caller and from disk; the CPU of this process, which the server is no part of. */
async function touches(parts) {
  const texts = [lines(LINES, 1), lines(LINES, 2)]
  const directory = makeDirectory('touches', { 'a.it': texts[0] })
  const plugin = open(parts, directory, configured())
  const ways = {
    'with its text': (n) => ({ file: 'a.it', text: texts[n % 2] }),
    'changed on disk': (n) => {
      writeFileSync(join(directory, 'a.it'), `${texts[n % 2]}${n}`)
      return { file: 'a.it' }
    },
    unchanged: () => ({ file: 'a.it' }),
  }
  const warm = () => plugin.call('hover', { file: 'a.it', line: 0, character: 1 })
  try {
    for (const [way, body] of Object.entries(ways)) {
      const times = []
      const cpu = []
      for (let n = 0; n < 240; n++) {
        const told = body(n)
        const before = cpuNow()
        times.push(await timed(() => plugin.call('touch', {}, told)))
        await warm() // The server has read it.
        cpu.push(cpuNow() - before)
      }
      report(`touch of ${LINES} lines, ${way}`, times.slice(40))
      report('  CPU, with a question after it (at most 5)', cpu.slice(40))
    }
  } finally {
    await plugin.stop()
  }
}

async function statuses(parts) {
  const directory = makeDirectory('statuses', {})
  const ends = ['ts', 'py', 'go', 'md', 'x1', 'x2', 'json', 'rs', 'c', 'html']
  for (let folder = 0; folder < FOLDERS; folder++) {
    const at = join(directory, `f${folder % 20}`, `g${folder}`)
    mkdirSync(at, { recursive: true })
    for (let n = 0; n < FILES / FOLDERS; n++) writeFileSync(join(at, `name${n}.${ends[n % ends.length]}`), '')
  }
  const own = Object.fromEntries(
    Array.from({ length: ADAPTERS - 26 }, (_, n) => [
      `s${n}`,
      { command: [`none-${n}`], extensions: [`x${n}`], filenamePatterns: [`Name${n}*.x`], rootMarkers: [`m${n}.toml`] },
    ]),
  )
  for (const [kind, lsp] of Object.entries({ 'those of the registry': {}, [`${ADAPTERS} adapters`]: own })) {
    const plugin = open(parts, directory, lsp)
    await new Promise((resolve) => setTimeout(resolve, 2100)) // What has just changed is not remembered.
    const again = []
    const changed = []
    let cpu = cpuNow()
    const first = await timed(() => plugin.call('status'))
    const firstCpu = cpuNow() - cpu
    const anew = []
    for (let n = 0; n < 9; n++) {
      const other = open(parts, directory, structuredClone(lsp))
      anew.push(await timed(() => other.call('status')))
      await other.stop()
    }
    cpu = cpuNow()
    for (let n = 0; n < 50; n++) again.push(await timed(() => plugin.call('status')))
    cpu = (cpuNow() - cpu) / 50
    for (let n = 0; n < 30; n++) {
      writeFileSync(join(directory, `f${n % 20}`, `new${n}.${kind.length}`), '')
      changed.push(await timed(() => plugin.call('status')))
    }
    rows.push([`status, ${kind}: the first`, first], ['  its CPU', firstCpu])
    report('  the first, when svc is warm (at most 20)', anew)
    report('  nothing has changed', again)
    rows.push(['  its CPU', cpu])
    report('  a file has come (at most 20)', changed)
    await plugin.stop()
  }
}

/** The program, spoken to by hand. */
async function startPlain() {
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'ignore'] })
  let heard = () => undefined
  let buffer = Buffer.alloc(0)
  child.stdout.on('data', (chunk) => {
    buffer = buffer.length === 0 ? chunk : Buffer.concat([buffer, chunk])
    for (;;) {
      const end = buffer.indexOf('\r\n\r\n')
      if (end === -1) return
      const length = Number(/Content-Length: (\d+)/.exec(buffer.subarray(0, end).toString())[1])
      if (buffer.length < end + 4 + length) return
      const message = JSON.parse(buffer.subarray(end + 4, end + 4 + length).toString())
      buffer = buffer.subarray(end + 4 + length)
      heard(message)
    }
  })
  let id = 0
  const request = (method, params) =>
    new Promise((resolve) => {
      heard = resolve
      const body = JSON.stringify({ jsonrpc: '2.0', id: id++, method, params })
      child.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
    })
  await request('initialize', {})
  return { request, close: () => child.kill('SIGKILL') }
}

/** A server without a library. */
function serverProgram() {
  return `let buffer = Buffer.alloc(0)
const send = (message) => {
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }))
  process.stdout.write(Buffer.concat([Buffer.from('Content-Length: ' + body.length + '\\r\\n\\r\\n'), body]))
}
const answer = ({ id, method, params }) => {
  if (id === undefined) return method === 'exit' ? process.exit(0) : undefined
  const result = method === 'initialize' ? { capabilities: { textDocumentSync: { openClose: true, change: 2 }, hoverProvider: true } }
    : method === 'textDocument/hover' ? { contents: { kind: 'markdown', value: 'line ' + params.position.line } } : null
  send({ id, result })
}
process.stdin.on('data', (chunk) => {
  buffer = buffer.length === 0 ? chunk : Buffer.concat([buffer, chunk])
  for (;;) {
    const end = buffer.indexOf('\\r\\n\\r\\n')
    if (end === -1) return
    const length = Number(/Content-Length: (\\d+)/.exec(buffer.subarray(0, end).toString())[1])
    if (buffer.length < end + 4 + length) return
    const message = JSON.parse(buffer.subarray(end + 4, end + 4 + length).toString())
    buffer = buffer.subarray(end + 4 + length)
    answer(message)
  }
})
process.stdin.on('end', () => process.exit(0))
`
}

function lines(count, seed) {
  return Array.from({ length: count }, (_, n) => `const value_${seed}_${n} = compute(${n}, "text") // ü`).join('\n')
}

function cpuNow() {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

async function timed(done) {
  const start = performance.now()
  await done()
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
