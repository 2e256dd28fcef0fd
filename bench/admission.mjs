/**
 * `node bench/admission.mjs`: what it costs to find out who asks and whether he may use a directory, in process, with 10,000 tokens of
 * 100 directories each, as microseconds of processor time (the machine may have other work). Exits with 1 when a bound is broken.
 */
import { build } from 'esbuild'
import { createHmac } from 'node:crypto'
import { rmSync } from 'node:fs'
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
let isBroken = false

try {
  await build({
    stdin: {
      contents: `
        export { createTokenIndex } from './src/actors/tenancy/tenants/token-index.ts'
        export { readTokenDocument } from './src/actors/tenancy/tenants/token-document.ts'
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
  await measure(await import(bundle))
} finally {
  rmSync(bundle, { force: true })
}
process.exit(isBroken ? 1 : 0)

async function measure({ createTokenIndex, readTokenDocument, openSigned, createTokens, mayUseDirectory }) {
  const entries = Array.from({ length: TOKENS }, (_, at) => ({
    token: `svct_${at}_${'x'.repeat(38)}`,
    tenantId: `tenant-${at}`,
    directoryPrefixes: Array.from({ length: PREFIXES }, (_, which) => `/srv/tenants/${at}/projects/${which}`),
  }))
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
