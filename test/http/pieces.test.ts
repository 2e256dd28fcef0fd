import { ServerResponse } from 'node:http'
import { expect, test, vi } from 'vitest'
import { createFakeRuntime } from '../fakes/runtime.js'
import { createTestServer } from './setup.js'

test('a long piece of an answer is written in parts, none of which ends inside of a character', async () => {
  const pieces = [`a${'😀'.repeat(1024 * 1024)}`, 'b', `${'é'.repeat(700_000)}😀`]
  async function* exported(): AsyncGenerator<string> {
    yield* pieces
  }
  const server = createTestServer({ runtime: createFakeRuntime({ sessions: { export: exported } }) })
  const written: number[] = []
  const { write } = ServerResponse.prototype
  const spy = vi.spyOn(ServerResponse.prototype, 'write').mockImplementation(function (this: ServerResponse, ...args: unknown[]) {
    if (typeof args[0] === 'string') written.push(args[0].length)
    return Reflect.apply(write, this, args) as boolean
  })
  const answer = await server.inject({ method: 'POST', url: '/v2/sessions/export', payload: { workspaceRoot: '/work' } })
  spy.mockRestore()
  expect(answer.statusCode).toBe(200)
  expect(answer.body === pieces.join('')).toBe(true)
  expect(Math.max(...written)).toBeLessThanOrEqual(512 * 1024)
  expect(written.reduce((sum, each) => sum + each, 0)).toBe(pieces.join('').length)
})
