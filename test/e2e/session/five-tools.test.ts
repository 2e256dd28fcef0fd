// Holds sessions-events §10.
import { afterEach, expect, test } from 'vitest'
import { execFileSync } from 'node:child_process'
import { finish, type ModelServer, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { openScene, type Scene } from '../server/server.js'
import { deltasOf, rebuild, statesOf, textOf, toolParts, unfinished } from '../server/transcript.js'

let scene: Scene
let model: ModelServer
afterEach(async () => {
  await scene.close()
  await model.close()
})

test('a turn reads, searches, edits, writes and runs a command in a real repository', async () => {
  const step = (say: string, id: string, name: string, input: object) =>
    reply(text(...say.split(/(?<= )/)), toolCall({ id, name, input, pieces: 3 }), finish('tool_calls'))
  model = await startModelServer([
    step('I look at the file. ', 'c1', 'read', { filePath: 'src/greet.js' }),
    step('Who uses it? ', 'c2', 'grep', { pattern: 'greet', include: '*.js' }),
    step('I change it. ', 'c3', 'edit', { filePath: 'src/greet.js', oldString: "'Hello, '", newString: "'Good day, '" }),
    step('I add a test. ', 'c4', 'write', { filePath: 'test/greet.test.js', content: "require('../src/main.js')\n" }),
    step('Does it run? ', 'c5', 'bash', { command: 'node test/greet.test.js && git status --porcelain', description: 'run it' }),
    reply(text('It ', 'greets ', 'politely ', 'now.'), finish('stop')),
  ])
  scene = openScene(
    makePlace({
      'src/greet.js': "exports.greet = (name) => 'Hello, ' + name\n",
      'src/main.js': "console.log(require('./greet.js').greet('world'))\n",
    }),
  )
  scene.place.configure(withModel(model.url))
  const server = await scene.start()
  const stream = await server.stream({ tail: true })
  const session = await server.createSession()
  await server.prompt(session.id, { prompt: 'greet more politely' })
  await stream.idle(session.id)

  expect(scene.place.read('src/greet.js')).toBe("exports.greet = (name) => 'Good day, ' + name\n")
  expect(scene.place.read('test/greet.test.js')).toBe("require('../src/main.js')\n")
  expect(execFileSync('node', ['src/main.js'], { cwd: scene.place.repo, encoding: 'utf8' })).toBe('Good day, world\n')

  const messages = await server.messages(session.id)
  const outputs = Object.fromEntries(
    toolParts(messages).map(({ tool, state }) => [tool, state.status === 'completed' ? state.output : `${state.status}!`]),
  )
  expect(Object.keys(outputs)).toEqual(['read', 'grep', 'edit', 'write', 'bash'])
  expect(outputs['read']).toContain("1: exports.greet = (name) => 'Hello, ' + name")
  expect(outputs['grep']).toContain('src/main.js')
  expect(outputs['bash']).toContain('Good day, world')
  expect(outputs['bash']).toContain(' M src/greet.js')
  for (const { callId, state } of toolParts(messages)) {
    expect([callId, state.status]).toEqual([callId, 'completed'])
    expect([callId, ...statesOf(stream.events, callId)]).toEqual([callId, 'pending', 'running', 'completed'])
  }
  expect(messages).toHaveLength(7)
  for (const message of messages.slice(1)) expect(deltasOf(stream.events, message.info.id)).toBe(textOf(message))
  expect(textOf(messages.at(-1))).toBe('It greets politely now.')
  expect(unfinished(messages)).toEqual([])
  expect(rebuild(stream.events, session.id)).toEqual(messages)
  const told = model.requests[5]?.body?.messages.filter(({ role }) => role === 'tool').map((message) => message['tool_call_id'])
  expect(told).toEqual(['c1', 'c2', 'c3', 'c4', 'c5'])
})
