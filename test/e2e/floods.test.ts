import { afterEach, expect, test } from 'vitest'
import { finish, type ModelServer, reply, startModelServer, text, toolCall } from '../fixtures/model-server.js'
import { makePlace, withModel } from './place.js'
import { openScene, type Scene } from './server.js'
import { textOf, toolParts } from './transcript.js'

let scene: Scene
let model: ModelServer

afterEach(async () => {
  await scene.close()
  await model.close()
})

test('a flood of deltas arrives whole and in fewer pieces; of a flood of calls a step is executed', async () => {
  const letters = Array.from({ length: 50_000 }, (_, index) => String.fromCharCode(97 + (index % 26)))
  const globs = Array.from({ length: 1000 }, (_, index) => toolCall({ id: `c${index}`, name: 'glob', input: { pattern: '*.md' }, index }))
  model = await startModelServer([
    { ...reply(text(...letters), finish('stop')), joined: true },
    { ...reply(...globs, finish('tool_calls')), joined: true },
    reply(text('done'), finish('stop')),
  ])
  scene = openScene(makePlace())
  scene.place.configure(withModel(model.url, { permission: { '*': 'allow' } }))
  const server = await scene.start()
  const { id } = await server.createSession()
  const stream = await server.stream()
  await server.prompt(id, { prompt: 'write' })
  await stream.idle(id)
  expect(textOf((await server.messages(id)).at(-1))).toBe(letters.join(''))
  const deltas = stream.events.filter(({ type }) => type === 'message.part.delta').map(({ data }) => data['delta'])
  expect(deltas.join('')).toBe(letters.join(''))
  expect(deltas.length).toBeLessThan(letters.length)
  stream.close()

  await server.prompt(id, { prompt: 'look' })
  await server.call('POST', `/v2/sessions/${id}/wait`)
  const calls = (await server.messages(id)).flatMap((message) => toolParts([message]))
  expect(calls.map(({ state }) => state.status)).toEqual([...Array.from({ length: 64 }, () => 'completed'), 'error'])
})
