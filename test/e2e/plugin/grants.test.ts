import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makePlace } from '../server/place.js'
import { configurePlugin, lifecycleOf, packageRoot, toolProgram, untilState, writePackage } from '../server/plugins.js'
import { openScene, type Scene, type Server } from '../server/server.js'

const ID = 'dev.example.asking'

let scene: Scene
let server: Server
beforeEach(async () => {
  scene = openScene(makePlace())
  scene.place.configure({})
  server = await scene.start()
})
afterEach(() => scene.close())

async function found() {
  const info = await lifecycleOf(server, ID)
  if (info === undefined) throw new Error('the package is not listed')
  return info
}

test('a capability without a broker is refused when it is approved, and never granted by an approval that holds it', async () => {
  const { place } = scene
  const capabilities = ['config-read', 'workspace-read']
  writePackage(place, ID, { agent: { capabilities, scope: 'global' }, files: { 'plugin.mjs': toolProgram('greet', 'one') } })
  const refusal = {
    code: 'capability-not-granted',
    message: 'no broker here for workspace-read in the scope global',
    action: 'take it out of agent.capabilities, or use a server that has a broker for it',
  }
  const { revision, diagnostics } = await found()
  expect(diagnostics).toEqual([{ code: 'permission-required', message: 'external trust is required' }, refusal])

  const trust = { workspaceId: place.repo, packageId: ID, revision, scope: 'global', capabilities, executableApproved: true }
  const patch = { plugins: { [ID]: { options: { trust: [trust] } } } }
  const answer = await server.call('PATCH', '/v2/config?scope=installation', patch)
  expect([answer.status, answer.body]).toEqual([
    422,
    expect.objectContaining({ code: 'request.unprocessable', message: `${ID} cannot be approved: ${refusal.message}; ${refusal.action}` }),
  ])
  expect((await found()).state).toBe('permission-required')

  configurePlugin(place, ID, () => ({ options: { trust: [trust] } }))
  expect(await found()).toMatchObject({
    state: 'failed',
    leaseActive: false,
    requestedCapabilities: capabilities,
    grantedCapabilities: ['config-read'],
    diagnostics: [refusal],
  })
  expect((await server.call('PATCH', '/v2/config?scope=installation', { username: 'ada' })).status).toBe(200)
})

test('an approved package of session scope is trusted while its session rests, and serves once it is awake', async () => {
  const { place } = scene
  writePackage(place, ID, { agent: { scope: 'session' }, files: { 'plugin.mjs': toolProgram('greet', 'one') } })
  const stream = await server.stream({ tail: true })
  const session = await server.createSession()
  const { revision } = await found()
  const trust = [session.id, 'ses_gone'].map((scopeId) => ({
    workspaceId: place.repo,
    packageId: ID,
    revision,
    scope: 'session',
    scopeId,
    executableApproved: true,
  }))
  configurePlugin(place, ID, () => ({ options: { trust } }))
  expect(await server.get('/v2/plugins/lifecycle')).toEqual([
    expect.objectContaining({ packageId: ID, state: 'trusted', scopeId: session.id, diagnostics: [] }),
  ])
  await server.prompt(session.id, { prompt: 'hello' })
  expect(await untilState(stream, ID, 'active')).toMatchObject({ scopeId: session.id, leaseActive: true })
})

test('a manifest with a key twice is invalid, and is told which key and where', async () => {
  writePackage(scene.place, ID, { files: { 'plugin.mjs': toolProgram('greet', 'one') } })
  const text = `{ "id": "${ID}",\n  "agent": { "command": ["node", "plugin.mjs"],\n             "command": ["node", "other.mjs"], "runtime": "process" } }`
  writeFileSync(join(packageRoot(scene.place, ID), 'svc-plugin.json'), text)
  expect(await server.get('/v2/plugins/lifecycle')).toMatchObject([
    {
      state: 'failed',
      diagnostics: [
        {
          code: 'invalid-manifest',
          message: expect.stringContaining('the key "agent.command" appears twice (line 3, column 14)') as string,
        },
      ],
    },
  ])
})
