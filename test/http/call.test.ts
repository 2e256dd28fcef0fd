import { expect, test } from 'vitest'
import { createFakeRuntime } from '../fakes/runtime.js'
import { createTestServer } from './setup.js'

test('a call has no functions of its own that answer its fields: what they know would stay until everything is collected', async () => {
  const runtime = createFakeRuntime()
  const server = createTestServer({ runtime })
  await server.inject({ url: '/v2/plugins/dev.svc.vcs/status', headers: { host: '127.0.0.1' } })
  await server.close(0)
  const call = runtime.calls.find(({ method }) => method === 'plugins.call')?.args[1]
  const fields = Object.entries(Object.getOwnPropertyDescriptors(call ?? {}))
  expect(fields.map(([name]) => name)).toContain('caller')
  expect(fields.filter(([, { get }]) => get !== undefined)).toEqual([])
  expect(call).toMatchObject({ signal: expect.any(AbortSignal) as unknown })
})
