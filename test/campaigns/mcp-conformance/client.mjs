// The client that the official conformance suite starts: a server of svc, which connects to the address it is given as any client of svc
// would have it do. `node client.mjs <program> <address>`; the scenario and its secrets are in the environment.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const [, , program, url] = process.argv
const {
  client_id: clientId,
  client_secret: clientSecret,
  private_key_pem: privateKey,
  signing_algorithm: algorithm,
} = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}')
const isMachine = process.env.MCP_CONFORMANCE_SCENARIO?.startsWith('auth/client-credentials')
const root = mkdtempSync(join(tmpdir(), 'svc-conformance-'))
for (const name of ['home', 'config/svc', 'state', 'work']) mkdirSync(join(root, name), { recursive: true })
// Where the suite keeps the description of a client that has an address, and the issuer that an operator would know from its vendor.
const oauth = {
  clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
  ...(clientId && { clientId }),
  ...(clientSecret && { clientSecret }),
  ...(isMachine && { grant: 'client_credentials', issuer: await issuerOf(url) }),
  ...(isMachine && privateKey && { privateKey, algorithm }),
}
const configuration = { model: 'svc/offline', permission: { '*': 'allow' }, mcp: { s: { type: 'remote', url, timeout: 15_000, oauth } } }
writeFileSync(join(root, 'config/svc/svc.json'), JSON.stringify(configuration))

const child = spawn(process.execPath, [program, 'serve', '--port', '0'], {
  cwd: join(root, 'work'),
  env: {
    PATH: process.env.PATH,
    HOME: join(root, 'home'),
    XDG_CONFIG_HOME: join(root, 'config'),
    SVC_AGENT_STATE_DIR: join(root, 'state'),
  },
  stdio: ['ignore', 'pipe', 'inherit'],
})
const base = await new Promise((resolve, reject) => {
  let said = ''
  child.stdout.on('data', (data) => {
    said += data
    const found = /listening on (http:\/\/\S+)/.exec(said)
    if (found) resolve(found[1])
  })
  child.once('exit', () => reject(new Error('svc did not start')))
})
async function issuerOf(address) {
  const { origin, pathname } = new URL(address)
  const response = await fetch(`${origin}/.well-known/oauth-protected-resource${pathname}`)
  return (await response.json()).authorization_servers[0]
}

const MCP = '/v2/plugins/dev.svc.mcp'

async function call(method, path, body) {
  const headers = body === undefined ? {} : { 'content-type': 'application/json' }
  const response = await fetch(base + path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
  const text = await response.text()
  console.error(method, path, response.status, text.slice(0, 300))
  return { status: response.status, body: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text }
}

const needsSignIn = async () => (await call('GET', MCP)).body.s.status === 'needs_auth'

/** What a person would do: the authorization servers of the suite ask nothing and send the browser back at once. */
async function signIn() {
  const { status, body } = await call('POST', `${MCP}/s/auth`)
  let next = status === 200 ? body.authorizationUrl : undefined
  for (let step = 0; next !== undefined && step < 5; step++) {
    const response = await fetch(next, { redirect: 'manual' })
    const location = response.headers.get('location')
    if (location === null) return response.status === 200
    next = new URL(location, next).href
  }
  return false
}

const inputFor = ({ properties = {} }) =>
  Object.fromEntries(
    Object.entries(properties).map(([name, { type }]) => [
      name,
      type === 'number' || type === 'integer' ? 5 : type === 'boolean' ? true : 'text',
    ]),
  )

/** In a session, because what a server asks is asked there; every question is left to its default. */
async function callInSession(tool) {
  const { id } = (await call('POST', '/v2/sessions', { title: 'conformance' })).body
  const script = [{ tool: `mcp__s__${tool.name}`, input: inputFor(tool.inputSchema) }, { text: 'done' }]
    .map((line) => JSON.stringify(line))
    .join('\n')
  await call('POST', `/v2/sessions/${id}/prompt`, { prompt: `\`\`\`svc-script\n${script}\n\`\`\`` })
  const ended = call('POST', `/v2/sessions/${id}/wait`).then(() => true)
  while (!(await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 200))]))) {
    for (const question of (await call('GET', '/v2/interactions/questions')).body)
      await call('POST', `/v2/interactions/questions/${question.id}/reply`, { answers: question.questions.map(() => []) })
  }
}

async function callDirectly(tool) {
  for (let attempt = 0; attempt < 4; attempt++) {
    const { status } = await call('POST', `${MCP}/s/tools/${tool.name}`, inputFor(tool.inputSchema))
    if (status === 200 || !(await needsSignIn()) || !(await signIn())) return
    await call('POST', `${MCP}/s/connect`)
  }
}

try {
  await call('POST', `${MCP}/s/connect`)
  for (let attempt = 0; attempt < 2 && (await needsSignIn()) && (await signIn()); attempt++) await call('POST', `${MCP}/s/connect`)
  const { status, body } = await call('GET', `${MCP}/s/tools`)
  process.exitCode = status === 200 ? 0 : 1
  for (const tool of status === 200 ? body : []) await (/elicit/i.test(tool.name) ? callInSession(tool) : callDirectly(tool))
} finally {
  child.kill('SIGTERM')
  await new Promise((resolve) => child.once('exit', resolve))
  rmSync(root, { recursive: true, force: true })
}
