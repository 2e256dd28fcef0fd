/** `svc audit` of the built program: every request with a credential, whatever became of it, and who sees which. Holds subsystems d.6; threat-model T8. */
import { mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { makeHome } from './program.js'

const home = makeHome()
afterAll(() => home.close())

interface Entry {
  readonly tenantId: string
  readonly subject: string
  readonly method: string
  readonly path: string
  readonly status: number
  readonly created: number
}

test('requests with a credential are listed once each, refused ones too, newest first, by tenant, time and number', async () => {
  expect(await home.run(['audit'])).toMatchObject({ code: 0, stdout: '', stderr: 'there is no such entry\n' })
  const folder = join(realpathSync(home.path), 'shared')
  mkdirSync(folder)
  const tokens = [
    { token: 'token-a', tenantId: 'a', directoryPrefixes: [folder], requestsPerMinute: 5 },
    { token: 'token-b', tenantId: 'b', directoryPrefixes: [folder] },
  ]
  const server = await home.serve([], { SVC_AGENT_TOKEN: 'operator-token', SVC_AGENT_AUTH_CONFIG: JSON.stringify({ tokens }) })
  const ask = async (token: string, method: string, path: string, body?: string) => {
    const headers = {
      authorization: `Bearer ${token}`,
      'x-svc-directory': folder,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    }
    const answer = await fetch(`${server.url}${path}`, { method, headers, ...(body !== undefined && { body }) })
    await answer.text()
    return answer.status
  }
  const asked = [
    ['token-a', 'GET', '/v2/meta?secret=1', 200],
    ['token-a', 'GET', '/v2/config', 403],
    ['token-a', 'GET', '/v2/sessions/ses_absent', 404],
    ['token-a', 'GET', '/v2/nothing', 404],
    ['token-a', 'POST', '/v2/sessions', 400],
    ['token-a', 'GET', '/v2/meta', 429],
    ['token-b', 'GET', '/v2/meta', 200],
    ['operator-token', 'GET', '/v2/meta', 200],
    ['wrong', 'GET', '/v2/meta', 401],
  ] as const
  for (const [token, method, path, status] of asked)
    expect([path, await ask(token, method, path, method === 'POST' ? '{' : undefined)]).toEqual([path, status])
  const list = async (...args: string[]) => JSON.parse((await home.run(['audit', '--json', ...args])).stdout) as Entry[]
  const all = await list()
  const told = ({ tenantId, method, path, status }: Entry) => [tenantId, method, path, status]
  const expected = asked
    .filter(([token]) => token !== 'wrong')
    .map(([token, method, path, status]) => [token === 'operator-token' ? 'local' : token.at(-1), method, path.replace(/\?.*/, ''), status])
    .toReversed()
  expect(all.map(told)).toEqual(expected)
  expect(new Set(all.map(({ subject }) => subject))).toEqual(new Set(['local-operator', 'hosted:b', 'hosted:a']))
  expect((await list('--tenant', 'a')).map(told)).toEqual(expected.slice(2))
  expect((await list('--tenant', 'a', '--limit', '2')).map(told)).toEqual(expected.slice(2, 4))
  const [, , newestOfA] = all
  const since = new Date(newestOfA?.created ?? 0).toISOString()
  expect((await list('--since', since)).length).toBeLessThan(all.length)
  expect((await list('--since', since)).every(({ created }) => created >= (newestOfA?.created ?? 0))).toBe(true)
  expect(await list('--since', '1h')).toHaveLength(all.length)
  expect(await list('--tenant', 'nobody')).toEqual([])
  const { stdout } = await home.run(['audit', '--limit', '1'])
  expect(stdout).toMatch(/^WHEN +TENANT +WHO +STATUS +REQUEST\n\S+Z +local +local-operator +200 +GET \/v2\/meta\n$/)
  const answer = await fetch(`${server.url}/v2/audit?limit=3`, { headers: { authorization: 'Bearer token-b' } })
  expect(((await answer.json()) as Entry[]).map(told)).toEqual([['b', 'GET', '/v2/meta', 200]])
  server.child.kill('SIGTERM')
  await server.ended
  expect(await list('--tenant', 'b')).toHaveLength(2)
})

test.each([
  ['--limit 0', '--limit'],
  ['--limit 1001', '--limit'],
  ['--since soon', '--since takes 30m, 12h, 7d, or a time'],
  ['more', 'more'],
])('%s is not understood', async (line, says) => {
  expect(await home.run(['audit', ...line.split(' ')])).toMatchObject({ code: 2, stderr: expect.stringContaining(says) as string })
})
