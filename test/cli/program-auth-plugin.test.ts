// Holds plugin-protocol §7.2.
/** `svc auth login` of the built program at a provider that a plugin brings to a workspace. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { spawn } from '@lydell/node-pty'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Home, makeHome, PROGRAM } from './program.js'

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
  const login = home.start(['auth', 'login', 'homemade', '--input', 'team=core', '--input', 'region=eu'], { env: env(), typed: true })
  await login.notes(/https:\/\/vendor\.example\/0\/core\/eu\/0/)
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

/** A login at a terminal of its own, typed line by line as it asks. */
function typedLogin(...args: readonly string[]) {
  const terminal = spawn(process.execPath, [PROGRAM, 'auth', 'login', 'homemade', ...args], {
    cwd: home.workspace,
    env: { PATH: process.env['PATH'] ?? '', HOME: home.path, SVC_AGENT_STATE_DIR: home.state, NO_COLOR: '1', ...env() },
    cols: 200,
  })
  let shown = ''
  let look = (): void => undefined
  terminal.onData((data) => {
    shown += data
    look()
  })
  const ended = new Promise<number>((resolve) => terminal.onExit(({ exitCode }) => resolve(exitCode)))
  let from = 0
  return {
    ended,
    shown: () => shown,
    /** Waits until this is shown, behind what was waited for before. */
    sees: (text: string) =>
      new Promise<void>((resolve) => {
        look = () => {
          const at = shown.indexOf(text, from)
          if (at < 0) return
          from = at + text.length
          look = () => undefined
          resolve()
        }
        look()
      }),
    types: (line: string) => terminal.write(`${line}\r`),
  }
}

test('what the provider asks before is asked at the terminal, what cannot be is told and asked again, and a secret is not shown', async () => {
  const { ended, shown, sees, types } = typedLogin('--print')
  await sees('Which team? (such as core) ')
  types('')
  await sees('it must not be empty')
  await sees('Which team? ')
  types('nobody')
  await sees('1  Europe')
  await sees('2  Elsewhere  (asks for a phrase)')
  await sees('Where? (1-2) ')
  types('3')
  await sees('it must be one of eu, any')
  await sees('Where? (1-2) ')
  types('eu')
  await sees('refused: there is no such team')
  await sees('Which team? ')
  types('core')
  await sees('Where? (1-2) ')
  types('2')
  await sees('Which phrase? (it is not shown) ')
  types('open sesame')
  await sees('https://vendor.example/0/core/any/11')
  await sees('Code: ')
  types('4711')
  expect(await ended).toBe(0)
  expect(shown()).not.toContain('sesame')
  expect(shown()).toContain('signed in at homemade')
})

test('without a terminal it is given, and what is missing, unknown or no choice is told', async () => {
  const login = async (args: readonly string[], stdin = '') => {
    const inputs = args.flatMap((input) => ['--input', input])
    const { code, stderr } = await home.run(['auth', 'login', 'homemade', ...inputs], { env: env(), stdin })
    return `${code} ${stderr}`
  }
  expect(await login([])).toContain('1 svc: the provider asks: Which team?; nobody is here to answer, so give --input team=…')
  expect(await login(['team=core', 'colour=red'])).toContain(
    '1 svc: --input colour: the provider does not ask for that; it asks team, region, phrase',
  )
  expect(await login(['team=core', 'region=moon'])).toContain('1 svc: --input region: it must be one of eu, any')
  expect(await login(['team=core', 'region=any', 'phrase=x'])).toContain('1 svc: --input phrase: a secret is no argument')
  const ended = await login(['team=core', 'region=any'], 'open sesame\n')
  expect(ended).toMatch(/^1 [^]*https:\/\/vendor\.example\/0\/core\/any\/11[^]*there was no code; begin again/)
  expect(await login(['team=nobody', 'region=eu'])).toContain('refused: there is no such team')
  expect(await login(['team'])).toContain('--input must be name=value, not "team"')
})
