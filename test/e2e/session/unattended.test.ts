/** Who started a run decides whether its requests wait, not who listens (choice 25); a kill does not change it. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { PermissionRequest } from '../../../src/protocol/interaction/interaction.js'
import { finish, type ModelServer, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { openScene, type Scene, type Server } from '../server/server.js'

let scene: Scene
let model: ModelServer

beforeEach(async () => {
  model = await startModelServer((request) =>
    request.body?.messages.at(-1)?.role === 'tool'
      ? reply(text('done'), finish('stop'))
      : reply(toolCall({ id: 'c1', name: 'write', input: { filePath: 'a.txt', content: 'a\n' } }), finish('tool_calls')),
  )
  scene = openScene(makePlace())
  scene.place.configure(withModel(model.url, { permission: { edit: 'ask' } }))
})
afterEach(async () => {
  await scene.close()
  await model.close()
})

/** By polling alone: nobody listens to events. */
async function pending(server: Server, sessionId: string): Promise<PermissionRequest> {
  const asked = () => server.get<PermissionRequest[]>(`/v2/interactions/permissions?sessionId=${sessionId}`)
  await expect.poll(asked).toHaveLength(1)
  const [request] = await asked()
  if (request === undefined) throw new Error('the request has gone')
  return request
}

test('a prompt that says it is unattended has its requests denied in time, also after a kill before it began', async () => {
  const first = await scene.start()
  const attended = await first.createSession()
  await first.prompt(attended.id, { prompt: 'go on' })
  expect((await pending(first, attended.id)).metadata).not.toHaveProperty('deniedAfterMs')

  await first.prompt(attended.id, { prompt: 'next', unattended: true }, 'prompt-async')
  await first.kill()
  const second = await scene.start()
  expect((await pending(second, attended.id)).metadata).toMatchObject({ deniedAfterMs: 600_000 })
})
