// Holds subsystems d.9; service.md "Authentication" 8: the built program as a shared control plane.
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Capability } from '../../../src/protocol/system/system.js'
import { type ModelServer, startModelServer } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { descendants } from '../server/processes.js'
import { openScene, type Scene, type Server } from '../server/server.js'

let scene: Scene
let model: ModelServer
beforeEach(async () => {
  scene = openScene(
    makePlace({
      '.svc/workflows/report.md': '---\nname: Report\nactive: true\nschedule: { frequency: minutely }\n---\nWrite it.\n',
      'README.md': 'hello\n',
    }),
  )
  model = await startModelServer([])
  scene.place.configure(withModel(model.url))
})
afterEach(async () => {
  await scene.close()
  await model.close()
})

const capabilities = async (server: Server) =>
  (await server.get<Capability[]>('/v2/capabilities')).filter(({ enabled }) => !enabled).map(({ id }) => id)
const codeOf = async (server: Server, method: string, path: string, body?: unknown) => {
  const answer = await server.call(method, path, body)
  return answer.status < 300 ? 'answered' : `${answer.status} ${(answer.body as { code: string }).code}`
}

test('it says in three places that nothing is executed, and executes nothing', async () => {
  const shared = await scene.start({}, 0, ['--control-plane'])
  expect(await shared.get('/v2/health')).toMatchObject({
    healthy: true,
    deployment: 'shared-control-plane',
    executionAvailable: false,
    hostedControlPlane: true,
  })
  expect(await shared.get('/v2/runtime')).toEqual({ deployment: 'shared-control-plane', executionAvailable: false })
  expect(await capabilities(shared)).toEqual(
    expect.arrayContaining(['svc.pty', 'svc.vcs', 'svc.lsp', 'svc.mcp', 'svc.workflows', 'svc.goals']),
  )
  const { id } = await shared.createSession()
  const refused = '501 feature.not_implemented'
  expect(await codeOf(shared, 'POST', `/v2/sessions/${id}/prompt`, { prompt: 'go on' })).toBe(refused)
  expect(await codeOf(shared, 'POST', `/v2/sessions/${id}/shell`, { command: 'true' })).toBe(refused)
  expect(await codeOf(shared, 'POST', '/v2/plugins/dev.svc.pty', {})).toBe(refused)
  expect(await codeOf(shared, 'GET', '/v2/plugins/dev.svc.vcs/status')).toBe(refused)
  expect(await codeOf(shared, 'GET', `/v2/sessions/${id}/context`)).toBe('answered')
  expect(await codeOf(shared, 'GET', '/v2/providers')).toBe('answered')
  expect([descendants(shared.pid), model.requests.length]).toEqual([[], 0])
  expect(await shared.stop()).toEqual({ code: 0, signal: null })
})

test('what was queued elsewhere keeps its place there, and is not begun', async () => {
  const shared = await scene.start({}, 0, ['--control-plane'])
  const { id } = await shared.createSession()
  await shared.stop()
  const local = await scene.start()
  expect(await local.get('/v2/health')).toMatchObject({ deployment: 'local', executionAvailable: true, hostedControlPlane: false })
  expect(await codeOf(local, 'POST', `/v2/sessions/${id}/prompt-async`, { prompt: 'go on' })).toBe('answered')
  await local.kill()
  const again = await scene.start({}, 0, ['--control-plane'])
  const asked = model.requests.length
  expect(await codeOf(again, 'GET', `/v2/sessions/${id}/context`)).toBe('answered')
  expect([await again.stop(), model.requests.length]).toEqual([{ code: 0, signal: null }, asked])
})
