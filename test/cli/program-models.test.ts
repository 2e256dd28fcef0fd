/** `svc models`, `svc providers` and `svc doctor --online` of the built program, with a catalog of one vendor whose model is scripted. */
import { execFile } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makePlace } from '../e2e/server/place.js'
import { finish, type ModelServer, reply, startModelServer, text } from '../fixtures/model-server.js'

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const place = makePlace()
let model: ModelServer
beforeAll(async () => {
  model = await startModelServer(() => reply(text('ok'), finish('stop')))
  const one = { name: 'One', limit: { context: 1000, output: 100 }, cost: { input: 2, output: 3 } }
  const vendor = (env: string, api: string) => ({ name: env, env: [env], npm: '@ai-sdk/openai-compatible', api, models: { one } })
  const catalog = {
    acme: vendor('ACME_KEY', model.url),
    gone: vendor('GONE_KEY', 'http://127.0.0.1:9/v1'),
    idle: vendor('IDLE_KEY', 'http://127.0.0.1:9/v1'),
  }
  writeFileSync(join(place.root, 'catalog.json'), JSON.stringify(catalog))
})
afterAll(async () => {
  await model.close()
  place.remove()
})

function svc(args: readonly string[], keys: Record<string, string> = {}): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { ...place.env, SVC_AGENT_MODELS_PATH: join(place.root, 'catalog.json'), ...keys }
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, ...args], { cwd: place.repo, env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    )
  })
}

test('without a key only the built-in model can be used, and one step is told', async () => {
  const { code, stdout, stderr } = await svc(['models'])
  expect([code, stdout]).toEqual([0, 'svc/offline\n'])
  expect(stderr).toContain('a key in the environment')
  expect(stderr).toContain('svc run --model ollama/qwen3')
})

test('models and providers are listed, also as JSON', async () => {
  expect((await svc(['models'], { ACME_KEY: 'k' })).stdout).toBe('acme/one\nsvc/offline\n')
  expect((await svc(['models', 'idle', '--verbose'])).stdout).toMatch(/idle\/one +1000 +\$2 +\$3 +One/)
  expect((await svc(['models', 'acmee'])).stderr).toContain('there is no provider "acmee"; did you mean acme?')
  const listed: unknown = JSON.parse((await svc(['providers', '--json'], { ACME_KEY: 'k' })).stdout)
  expect(listed).toMatchObject([
    { id: 'acme', source: 'env', connected: true, usable: true, env: ['ACME_KEY'], models: 1 },
    { id: 'svc', source: 'builtin', usable: true },
  ])
  expect((await svc(['providers', '--all'])).stdout).toMatch(/idle +needs IDLE_KEY +1/)
})

test('the doctor tries what can be used, and says what came back', async () => {
  chmodSync(join(place.root, 'state'), 0o700)
  const { code, stdout } = await svc(['doctor', '--online', '--json'], { ACME_KEY: 'k', GONE_KEY: 'k' })
  const { findings } = JSON.parse(stdout) as { findings: { level: string; check: string; detail: string }[] }
  expect(findings.filter(({ check }) => check === 'online')).toEqual([
    { level: 'ok', check: 'online', detail: 'acme/one answers: ok' },
    {
      level: 'warning',
      check: 'online',
      detail: expect.stringContaining('(model "one" at http://127.0.0.1:9/v1; nothing listens there).') as string,
    },
  ])
  expect(findings.filter(({ level }) => level === 'error')).toEqual([])
  expect(code).toBe(0) // the prompt of tomorrow goes to acme
  expect(stdout).not.toContain('IDLE_KEY')
  expect((await svc(['doctor', '--online'], { GONE_KEY: 'k' })).code).toBe(1)
})
