/** `svc token` of the built program: the file it writes is the one a server takes. */
import { chmodSync, mkdirSync, readdirSync, readFileSync, realpathSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Home, makeHome } from './program.js'

let home: Home
let file: string
beforeEach(() => {
  home = makeHome()
  mkdirSync(join(home.path, 'etc'))
  file = join(realpathSync(home.path), 'etc', 'tokens.json')
})
afterEach(() => home.close())

const run = (...args: string[]) => home.run(['token', ...args], { env: { SVC_AGENT_AUTH_CONFIG: file } })
interface Listed {
  readonly id: string
  readonly tenantId: string
  readonly directoryPrefixes: readonly string[]
}
const listed = async () => JSON.parse((await run('list', '--json')).stdout) as Listed[]

test('a token is made, told once, listed by its id, taken by a server, and refused after it was revoked', async () => {
  const made = await run('create', 'acme', '--directory', home.workspace)
  expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^svct_[\w-]{43}\n$/) as string })
  const secret = made.stdout.trim()
  expect(made.stderr).not.toContain(secret)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const second = JSON.parse((await run('create', 'other', '--json')).stdout) as Listed & { token: string }
  const all = await listed()
  expect(all).toEqual([
    { id: expect.stringMatching(/^[0-9a-f]{12}$/) as string, tenantId: 'acme', directoryPrefixes: [realpathSync(home.workspace)] },
    { id: second.id, tenantId: 'other', directoryPrefixes: [] },
  ])
  const table = (await run('list')).stdout
  expect(table).toContain('acme')
  for (const text of [table, JSON.stringify(all)]) expect([text.includes(secret), text.includes(second.token)]).toEqual([false, false])

  const server = await home.serve([], { SVC_AGENT_AUTH_CONFIG: file })
  const status = async (token: string) =>
    (await fetch(`${server.url}/v2/sessions`, { headers: { authorization: `Bearer ${token}` } })).status
  expect([await status(secret), await status(second.token), await status('x')]).toEqual([200, 200, 401])
  expect(await run('revoke', all[0]?.id ?? '')).toMatchObject({ code: 0 })
  while ((await status(secret)) === 200);
  expect([await status(secret), await status(second.token)]).toEqual([401, 200])
  expect((await listed()).map(({ tenantId }) => tenantId)).toEqual(['other'])
  expect(await run('revoke', all[0]?.id ?? '')).toMatchObject({ code: 1, stderr: expect.stringContaining('there is no token') as string })
})

test('what a server would refuse is neither written nor written over; a link stays one, and access is taken away from others', async () => {
  expect(await run('create', 'local')).toMatchObject({ code: 1, stderr: expect.stringContaining('may not be "local"') as string })
  expect(await run('create', 'a/b')).toMatchObject({ code: 1 })
  expect(await run('create', 'acme', '--directory', '/not/there')).toMatchObject({ code: 1 })
  expect(readdirSync(join(home.path, 'etc')).filter((name) => !name.endsWith('.lock'))).toEqual([])
  writeFileSync(file, '{"tokens":[],"more":1}')
  expect(await run('create', 'acme')).toMatchObject({ code: 1, stderr: expect.stringContaining('more is no field') as string })
  expect(readFileSync(file, 'utf8')).toBe('{"tokens":[],"more":1}')
  writeFileSync(file, '{"tokens":[]}')
  chmodSync(file, 0o644)
  const link = join(home.path, 'link.json')
  symlinkSync(file, link)
  expect(await home.run(['token', 'create', 'acme', '--file', link])).toMatchObject({ code: 0 })
  expect([statSync(file).mode & 0o777, (await listed()).length]).toEqual([0o600, 1])
  expect(await home.run(['token', 'list'])).toMatchObject({ code: 1, stderr: expect.stringContaining('no token file is named') as string })
  expect(await home.run(['token', 'list'], { env: { SVC_AGENT_AUTH_CONFIG: '{"tokens":[]}' } })).toMatchObject({ code: 1 })
  expect(await home.run(['token', 'sell'])).toMatchObject({ code: 2 })
})

test('quotas are written as they are typed, listed, and refused where they are none', async () => {
  const options = {
    'requests-per-minute': 60,
    'max-in-flight': 8,
    'max-sessions': 5,
    'max-artifacts': 10,
    'max-artifact-bytes': 5_000_000_000,
  }
  const more = { 'artifact-retention-days': 30, 'model-tokens-per-day': 100_000, 'model-cost-per-day': 2.5 }
  const typed = Object.entries({ ...options, ...more }).flatMap(([name, value]) => [`--${name}`, String(value)])
  expect(await run('create', 'acme', ...typed)).toMatchObject({ code: 0 })
  const quotas = {
    requestsPerMinute: 60,
    maxInFlight: 8,
    maxSessions: 5,
    maxArtifacts: 10,
    maxArtifactBytes: 5_000_000_000,
    artifactRetentionDays: 30,
    modelTokensPerDay: 100_000,
    modelCostPerDay: 2.5,
  }
  expect(await listed()).toEqual([expect.objectContaining(quotas)])
  expect((await run('list')).stdout).toContain('maxInFlight=8')
  for (const [name, value] of [
    ['max-sessions', '-1'],
    ['max-sessions', '1.5'],
    ['model-cost-per-day', 'much'],
    ['model-cost-per-day', '1e3'],
  ] as const)
    expect(await run('create', 'acme', `--${name}=${value}`)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`--${name} must be`) as string,
    })
})
