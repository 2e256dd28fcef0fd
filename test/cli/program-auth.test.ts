/** `svc auth` of the built program, with a real authorization server and a model that takes only its tokens. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { times } from '../campaigns/scale.js'
import { type AuthorizationServer, CLIENT, signInAsBrowser, startAuthorizationServer } from '../fixtures/authorization-server.js'
import { finish, type ModelServer, refusal, reply, startModelServer, text } from '../fixtures/model-server.js'
import { type Home, makeHome } from './program.js'
import { record } from './recording.js'

interface Stored {
  readonly credential: { readonly access: string; readonly refresh: string; expires: number }
}
let home: Home
let vendor: AuthorizationServer
let model: ModelServer
/** Tokens that the model takes. */
let good: (token: string) => boolean
const file = () => join(home.path, 'auth.json')
const env = (state = 'state') => ({ SVC_AGENT_AUTH_PATH: file(), SVC_AGENT_STATE_DIR: join(home.path, state) })
const stored = () => {
  const { connections } = JSON.parse(readFileSync(file(), 'utf8')) as { connections: { vendor: Record<string, Stored> } }
  const [entry] = Object.values(connections.vendor)
  if (entry === undefined) throw new Error('nothing is stored')
  return entry.credential
}
/** The token that is stored has ended, by our own clock. */
const expire = () => {
  const before = readFileSync(file(), 'utf8')
  writeFileSync(file(), before.replace(/"expires": \d+/, '"expires": 1'))
}
let counted = 0
const refreshes = () => vendor.grants.filter((grant) => grant === 'refresh_token 200').length - counted
/** Without a state directory of its own it is done by the server of this file. */
const run = (state?: string) => home.run(['run', '--quiet', '--model', 'vendor/one', 'hello'], { env: env(state) })

beforeAll(async () => {
  home = makeHome()
  vendor = await startAuthorizationServer()
  model = await startModelServer(({ headers }) =>
    good((headers['authorization'] ?? '').replace('Bearer ', ''))
      ? reply(text('done'), finish('stop'))
      : refusal(401, 'this token has ended'),
  )
  const config = join(home.path, '.config/svc/config.json')
  mkdirSync(dirname(config), { recursive: true })
  const signIn = {
    clientId: `${CLIENT}-code`,
    issuer: vendor.issuer,
    scope: 'openid offline_access',
    codeRedirectUrl: 'https://vendor.example/code',
  }
  const one = { name: 'One', limit: { context: 100_000, output: 1000 } }
  const provider = { npm: '@ai-sdk/openai-compatible', options: { baseURL: model.url }, models: { one }, signIn }
  writeFileSync(config, JSON.stringify({ provider: { vendor: provider } }))
  const server = await home.serve([], env())
  await server.notes(/svc auth set anthropic[^]+svc auth login/)
})
beforeEach(() => {
  rmSync(file(), { force: true })
  good = () => true
  counted += refreshes()
})
afterAll(async () => {
  await home.close()
  await vendor.close()
  await model.close()
})

async function signIn(): Promise<void> {
  const login = home.start(['auth', 'login', 'vendor'], { env: env() })
  const [url] = await login.notes(/http:\/\/\S+(?=\s)/)
  await fetch(await signInAsBrowser(url))
  expect(await login.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('signed in at vendor') as string })
}

test('a key is stored from standard input, listed without itself, used and forgotten; before it, one is told what to do', async () => {
  const before = await home.run(['run', 'help'], { env: env() })
  expect(before.stderr).toContain('svc auth set anthropic')
  expect(before.stderr).toContain('svc auth login')
  const set = await home.run(['auth', 'set', 'vendor'], { env: env(), stdin: 'sk-planted\n' })
  expect(set).toMatchObject({ code: 0 })
  expect(statSync(file()).mode & 0o777).toBe(0o600)
  const listed = await home.run(['auth', 'list', '--json'], { env: env() })
  const expected = { connections: [{ providerId: 'vendor', label: 'Default', authType: 'api', isDefault: true }], environment: [] }
  expect(JSON.parse(listed.stdout)).toMatchObject(expected)
  expect(await run()).toMatchObject({ code: 0, stdout: 'done\n' })
  expect(model.requests.at(-1)?.headers['authorization']).toBe('Bearer sk-planted')
  for (const { stdout, stderr } of [set, listed]) expect(`${stdout}${stderr}`).not.toContain('sk-planted')
  expect(await home.run(['auth', 'remove', 'vendor'], { env: env() })).toMatchObject({ code: 0 })
  expect(await home.run(['auth', 'remove', 'vendor'], { env: env() })).toMatchObject({ code: 1 })
  expect((await home.run(['auth', 'set', 'vendor'], { env: env(), stdin: '' })).stderr).toContain('there was no key')
})

test('a key typed at a terminal is shown nowhere, and is stored as it was corrected', async () => {
  const terminal = record(['auth', 'set', 'vendor'], {
    cwd: home.workspace,
    env: { PATH: process.env['PATH'] ?? '', HOME: home.path, TERM: 'xterm-256color', ...env() },
  })
  await terminal.shows(/Key of vendor \(it is not shown\):/)
  terminal.type('sk-typed-keyx')
  terminal.type('\u007f\r')
  const { code, screen } = await terminal.ended
  expect([code, screen]).toEqual([0, expect.stringContaining('the key of vendor is stored') as string])
  expect(screen).not.toContain('typed')
  expect(readFileSync(file(), 'utf8')).toContain('"sk-typed-key"')
})

test('a sign-in with the browser leads to a model; a token that has ended is renewed once for two processes, and once after a 401', async () => {
  await signIn()
  const { access } = stored()
  expect(await run()).toMatchObject({ code: 0, stdout: 'done\n' })
  expect(model.requests.at(-1)?.headers['authorization']).toBe(`Bearer ${access}`)
  expect(refreshes()).toBe(0)

  expire()
  const both = await Promise.all([run('one'), run('two')])
  expect(both.map(({ code, stdout }) => [code, stdout])).toEqual([
    [0, 'done\n'],
    [0, 'done\n'],
  ])
  expect(refreshes()).toBe(1)

  const refused = stored().access
  expect(refused).not.toBe(access)
  good = (token) => token !== refused
  expect(await run()).toMatchObject({ code: 0, stdout: 'done\n' })
  expect(refreshes()).toBe(2)
  good = () => false
  const failed = await run()
  expect(failed.code).toBe(1)
  expect(failed.stderr).toContain('answered 401')
  expect(refreshes()).toBe(3)
})

test('a code is pasted, and one of another sign-in is refused', async () => {
  for (const [change, code, says] of [
    [(address: string) => address.replace(/state=[^&]+/, 'state=other'), 1, 'belongs to another sign-in'],
    [(address: string) => address, 0, 'signed in at vendor'],
  ] as const) {
    const login = home.start(['auth', 'login', 'vendor', '--method', 'code'], { env: env(), typed: true })
    const [url] = await login.notes(/http:\/\/\S+(?=\s)/)
    login.child.stdin.end(`${change(await signInAsBrowser(url, { stopAt: '/code' }))}\n`)
    const { stdout, stderr, code: exit } = await login.ended
    expect([exit, `${stdout}${stderr}`]).toEqual([code, expect.stringContaining(says)])
  }
})

test('a sign-in ends with the command that waits for it', async () => {
  const login = home.start(['auth', 'login', 'vendor'], { env: env() })
  const [, port = ''] = await login.notes(/redirect_uri=http%3A%2F%2F127\.0\.0\.1%3A(\d+)/)
  expect((await fetch(`http://127.0.0.1:${port}/elsewhere`)).status).toBe(404)
  login.child.kill('SIGINT')
  expect(await login.ended).toMatchObject({ code: 130, stderr: expect.stringContaining('cancelled') as string })
  await expect(fetch(`http://127.0.0.1:${port}/elsewhere`)).rejects.toThrow('fetch failed')
})

test('a kill while a token is asked for or stored leaves the old one or the new one', async () => {
  await signIn()
  const killed = async (delay: number | undefined) => {
    expire()
    const before = stored()
    const victim = home.start(['run', '--quiet', '--model', 'vendor/one', 'hello'], { env: env('victim') })
    const kill = () => void victim.child.kill('SIGKILL')
    if (delay === undefined) {
      // Nobody looks at the request any more.
      vendor.beforeGrant = () => {
        kill()
        return new Promise(() => undefined)
      }
    } else vendor.onGrant = () => void setTimeout(kill, delay)
    await victim.ended
    vendor.beforeGrant = () => undefined
    vendor.onGrant = () => undefined
    expect(statSync(file()).mode & 0o777).toBe(0o600)
    return { before, after: stored() }
  }
  const first = await killed(undefined)
  expect(first.after).toEqual(first.before)
  expect(await run()).toMatchObject({ code: 0, stdout: 'done\n' })

  for (let round = 0; round < times(1, 40); round++) {
    const { before, after } = await killed(round % 20)
    const isOld = after.access === before.access
    expect(isOld).toBe(after.refresh === before.refresh)
    if (isOld) await signIn()
    expect(await run()).toMatchObject({ code: 0, stdout: 'done\n' })
  }
  expect(readdirSync(home.path).filter((name) => name.startsWith('auth.json') && !name.endsWith('.lock'))).toEqual(['auth.json'])
})
