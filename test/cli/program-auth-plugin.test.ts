// Holds plugin-protocol §7.2.
/** `svc auth login` of the built program at a provider that a plugin brings to a workspace. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Home, makeHome } from './program.js'

const FIXTURE = fileURLToPath(new URL('../fixtures/plugins/signs-in.mjs', import.meta.url))

let home: Home
beforeAll(() => {
  home = makeHome()
  const config = join(home.path, '.config/svc/config.json')
  mkdirSync(dirname(config), { recursive: true })
  const options = { serve: [process.execPath, FIXTURE], sandbox: false }
  writeFileSync(config, JSON.stringify({ plugins: { 'test.signs': { options } } }))
})
afterAll(() => home.close())

const file = () => join(home.path, 'auth.json')
const env = () => ({ SVC_AGENT_AUTH_PATH: file() })

test('the sign-in is of the workspace that has the plugin, and calls there are made with it', async () => {
  const login = home.start(['auth', 'login', 'homemade'], { env: env(), typed: true })
  await login.notes(/https:\/\/vendor\.example\/0\//)
  login.child.stdin.end('4711\n')
  const { code, stdout, stderr } = await login.ended
  expect([code, stdout, stderr]).toEqual([0, expect.stringContaining('signed in at homemade'), expect.any(String)])
  const { connections } = JSON.parse(readFileSync(file(), 'utf8')) as {
    connections: { homemade: Record<string, { scope: { workspaceId?: string } }> }
  }
  expect(Object.values(connections.homemade).map(({ scope }) => scope.workspaceId)).toEqual([home.workspace])
  const run = await home.run(['run', '--quiet', '--model', 'homemade/one', 'hello'], { env: env() })
  expect([run.code, run.stdout]).toEqual([0, expect.stringContaining('You are known.')])
})

test('a provider that neither the installation nor the workspace has is told', async () => {
  const { code, stderr } = await home.run(['auth', 'login', 'nobody'], { env: env() })
  expect([code, stderr]).toEqual([1, expect.stringContaining('There is no provider "nobody"')])
})
