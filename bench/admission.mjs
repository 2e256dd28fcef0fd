/**
 * `node bench/admission.mjs`: what it costs to find out who asks and whether he may use a directory, in process, with 10,000 tokens of
 * 100 directories each, as microseconds of processor time (the machine may have other work); and for how long a turn of the event loop lasts
 * while such a file is read. Exits with 1 when a bound is broken.
 */
import { build } from 'esbuild'
import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const bundle = join(root, 'node_modules', `.svc-bench-admission-${process.pid}.mjs`)
const TOKENS = 10_000
const PREFIXES = 100
const ROUNDS = 50_000
/** us; a signature is judged once for each credential, so every two minutes at most. */
const BOUND = 50
const FIRST_SIGNED = 200
/** ms; the garbage of a file is collected in turns of its own, which are longer. */
const TURN = 10
let isBroken = false

try {
  await build({
    stdin: {
      contents: `
        export { createTokenIndex } from './src/actors/tenancy/tenants/token-index.ts'
        export { readTokenDocument } from './src/actors/tenancy/tenants/token-document.ts'
        export { openTokenFile } from './src/actors/tenancy/tenants/token-file.ts'
        export { createNodeFiles } from './src/platform/node/files/node-files.ts'
        export { createTenantQuotas } from './src/http/admission/quotas.ts'
        export { openSigned } from './src/actors/tenancy/signed/signed.ts'
        export { createTokens } from './src/http/admission/tokens.ts'
        export { mayUseDirectory } from './src/protocol/caller.ts'
      `,
      resolveDir: root,
    },
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    outfile: bundle,
    logLevel: 'error',
  })
  const parts = await import(bundle)
  await measure(parts)
  await turns(parts)
} finally {
  rmSync(bundle, { force: true })
}
process.exit(isBroken ? 1 : 0)

function entriesOf(tenant) {
  return Array.from({ length: TOKENS }, (_, at) => ({
    token: `svct_${at}_${'x'.repeat(38)}`,
    tenantId: `${tenant}-${at}`,
    directoryPrefixes: Array.from({ length: PREFIXES }, (_, which) => `/srv/tenants/${at}/projects/${which}`),
  }))
}

/** The processor time of each turn while a file is read that differs in every token. */
async function turns({ openTokenFile, createNodeFiles }) {
  const place = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  const file = join(place, 'tokens.json')
  const write = (tenant) => writeFileSync(file, JSON.stringify({ tokens: entriesOf(tenant) }), { mode: 0o600 })
  const log = { debug() {}, info() {}, warn() {}, error: console.error }
  const real = { now: Date.now, monotonic: () => performance.now(), setTimeout, clearTimeout }
  try {
    write('first')
    const held = await openTokenFile({ effects: { clock: real, files: createNodeFiles(), log }, value: file, operator: undefined })
    write('second')
    globalThis.gc?.()
    const last = `svct_${TOKENS - 1}_${'x'.repeat(38)}`
    const took = []
    const begun = performance.now()
    while (held.callerOf(last).tenantId !== `second-${TOKENS - 1}`) {
      const turn = clock()
      await new Promise((resolve) => void setImmediate(resolve))
      took.push(Number(ms(turn)))
    }
    held.close()
    const sorted = took.toSorted((one, other) => one - other)
    const at = (part) => sorted[Math.floor((sorted.length - 1) * part)]
    const isOver = at(0.999) > TURN
    isBroken ||= isOver
    const over = sorted.filter((each) => each > TURN).length
    console.log(
      `a turn while it is read: ${at(0.5)} ms, p99.9 ${at(0.999)} ms, longest ${at(1)} ms, ${over} of ${sorted.length} more than ${TURN}; ${((performance.now() - begun) / 1000).toFixed(1)} s in all`,
    )
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}

async function measure({ createTokenIndex, readTokenDocument, openSigned, createTokens, createTenantQuotas, mayUseDirectory }) {
  const entries = entriesOf('tenant')
  const text = JSON.stringify({ tokens: entries })
  const before = process.memoryUsage().rss
  const reading = clock()
  const read = readTokenDocument(text)
  console.log(`read ${(text.length / 2 ** 20).toFixed(0)} MiB of ${TOKENS} tokens x ${PREFIXES} directories: ${ms(reading)} ms`)
  const indexing = clock()
  const index = createTokenIndex(read.tokens)
  console.log(`index them: ${ms(indexing)} ms, ${((process.memoryUsage().rss - before) / 2 ** 20).toFixed(0)} MiB together`)

  const key = 'k'.repeat(32)
  const effects = { clock: { now: () => Date.now() }, files: {}, log: console }
  const signed = await openSigned({ effects, fixed: key, file: '/none', isShared: false })
  const tokens = createTokens({ SVC_AGENT_TOKEN: 'o'.repeat(43) }, { file: { callerOf: index.callerOf, stands: () => true }, signed })
  const few = createTokens(
    { SVC_AGENT_TOKEN: 'o'.repeat(43) },
    { file: { callerOf: createTokenIndex(entries.slice(0, 10)).callerOf, stands: () => true } },
  )

  const request = (source, at) => {
    const entry = entries[at]
    const caller = source.authenticate(`Bearer ${entry.token}`)
    return mayUseDirectory(caller, `${entry.directoryPrefixes[(at * 7) % PREFIXES]}/src/a/b`)
  }
  report(`one of ${TOKENS} tokens, the first time`, TOKENS, (at) => request(tokens, at))
  report(`one of ${TOKENS} tokens`, ROUNDS, (at) => request(tokens, (at * 31) % TOKENS))
  report('one of 10 tokens', ROUNDS, (at) => request(few, at % 10))
  report('a wrong token', ROUNDS, (at) => {
    try {
      tokens.authenticate(`Bearer svct_${at}_wrong`)
      return false
    } catch {
      return true
    }
  })
  report('a directory that is not allowed', ROUNDS, (at) => {
    const caller = tokens.authenticate(`Bearer ${entries[at % TOKENS].token}`)
    return !mayUseDirectory(caller, `/srv/tenants/other/projects/${at}/src/a/b`)
  })
  const quotas = createTenantQuotas({ monotonic: () => performance.now() })
  const answer = { destroyed: true, once() {} }
  const limited = { authenticated: true, operator: false, quotas: { requestsPerMinute: 1e9, maxInFlight: 10 } }
  report('the quotas of one of 4,000 tenants', ROUNDS, (at) => {
    quotas.count({ ...limited, tenantId: `tenant-${at % 4000}` }, answer)
    return true
  })
  const credentials = Array.from({ length: 1000 }, (_, at) => sign(key, at))
  report('a signed credential, the first time', 1000, (at) => tokens.authenticate(`Bearer ${credentials[at]}`) !== undefined, FIRST_SIGNED)
  report('a signed credential that is remembered', ROUNDS, (at) => tokens.authenticate(`Bearer ${credentials[at % 1000]}`) !== undefined)
}

function sign(key, at) {
  const issuedAt = Math.floor(Date.now() / 1000)
  const claims = {
    issuer: 'svc-workspace-daemon',
    audience: 'svc-agent-server',
    subject: `user-${at}`,
    workspaceId: null,
    tenantId: 'acme',
    directoryPrefixes: ['/srv/acme'],
    hosted: true,
    issuedAt,
    expiresAt: issuedAt + 120,
  }
  const head = `svc-daemon-v1.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`
  return `${head}.${createHmac('sha256', key).update(head).digest('base64url')}`
}

function report(what, rounds, run, bound = BOUND) {
  const begun = clock()
  for (let at = 0; at < rounds; at++) if (!run(at)) throw new Error(`${what}: not as expected (${at})`)
  const each = (Number(ms(begun)) * 1000) / rounds
  const isOver = each > bound
  isBroken ||= isOver
  console.log(`${what}: ${each.toFixed(1)} us${isOver ? `, more than ${bound}` : ''}`)
}

function clock() {
  return process.cpuUsage()
}

function ms(since) {
  const { user, system } = process.cpuUsage(since)
  return ((user + system) / 1000).toFixed(1)
}
