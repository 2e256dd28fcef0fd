// Holds plugin-protocol §10: ids of what a plugin holds open, on the built program.
import { execFileSync } from 'node:child_process'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { ModelServer } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { lifecycleOf, untilState } from '../server/plugins.js'
import { openScene, PROGRAM, type Scene } from '../server/server.js'
import { asking, ID, serveHost, startHostModel } from './host.js'

let scene: Scene
let model: ModelServer
beforeAll(async () => {
  model = await startHostModel()
})
afterAll(() => model.close())
beforeEach(() => {
  scene = openScene(makePlace())
  scene.place.configure(withModel(model.url))
})
afterEach(() => scene.close())

const spawn = { method: 'process.spawn', operation: 'spawn', input: { command: ['cat'], stdin: true } }
const read = (opaqueId: string) => ({ method: 'process.spawn', operation: 'wait', input: { opaqueId, waitMs: 0 } })

test('an id names a program to the generation that has it, from call to call, and nothing to the next one', async () => {
  const { place } = scene
  const server = await scene.start({ SVC_AGENT_PLUGIN_SANDBOX: 'off' })
  await serveHost(server, place, { capabilities: ['process-spawn'] })
  const { id } = await server.createSession()
  const [started] = (await asking(server, id, [spawn])) as [{ opaqueId: string }]
  expect(started.opaqueId).toMatch(/^pr_[0-9a-f]{32}$/)
  expect(await asking(server, id, [read(started.opaqueId)])).toEqual([expect.objectContaining({ ended: false })])

  const stream = await server.stream({ tail: true })
  const svc = (action: string) => execFileSync(process.execPath, [PROGRAM, 'plugin', action, ID], { env: place.env, cwd: place.repo })
  svc('disable')
  await lifecycleOf(server, ID)
  svc('enable')
  await lifecycleOf(server, ID)
  await untilState(stream, ID, 'active')
  stream.close()
  expect(await asking(server, id, [read(started.opaqueId), spawn])).toEqual([
    { error: `nothing of the id "${started.opaqueId}" is open` },
    expect.objectContaining({ opaqueId: expect.stringMatching(/^pr_/) as string }),
  ])
})
