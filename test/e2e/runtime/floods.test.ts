import { afterEach, expect, test } from 'vitest'
import { finish, type ModelServer, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { openScene, type Scene } from '../server/server.js'
import { textOf, toolParts } from '../server/transcript.js'

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

test('figures of usage that cannot be are not counted, and the log tells which', async () => {
  model = await startModelServer([reply(text('a'), finish('stop', { prompt_tokens: 1e308, completion_tokens: 7, total_tokens: -1 }))])
  scene = openScene(makePlace())
  scene.place.configure(withModel(model.url))
  const server = await scene.start()
  const { id } = await server.createSession()
  await server.prompt(id, { prompt: 'write' })
  await server.call('POST', `/v2/sessions/${id}/wait`)
  const answer = (await server.messages(id)).at(-1)
  expect(answer?.info).toMatchObject({ cost: 0, tokens: { input: 0, output: 7, reasoning: 0, cache: { read: 0, write: 0 } } })
  expect(JSON.stringify(answer?.info)).not.toContain('total')
  expect(server.stderr()).toMatch(/counts of tokens that cannot be.*prompt_tokens, total_tokens/)
})
