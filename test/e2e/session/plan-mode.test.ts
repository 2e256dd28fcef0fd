/** A model turns plan mode on and off; in between the agent that plans answers. */
import { afterEach, expect, test } from 'vitest'
import type { Session } from '../../../src/protocol/session/session.js'
import { finish, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { openScene } from '../server/server.js'

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

test('plan mode is a state of the session that tools switch, that lasts over a restart and decides who answers', async () => {
  const call = (name: string) => reply(toolCall({ id: `c_${name}`, name, input: {} }), finish('tool_calls'))
  const done = reply(text('done'), finish('stop'))
  const model = await startModelServer([call('plan_enter'), done, call('plan_enter'), done, call('plan_exit'), done, done])
  cleanups.push(() => model.close())
  const scene = openScene(makePlace())
  cleanups.push(() => scene.close())
  scene.place.configure(withModel(model.url))
  let server = await scene.start()
  const { id } = await server.createSession()
  const stream = await server.stream({ sessionId: id })
  const say = async (prompt: string) => {
    await server.prompt(id, { prompt })
    await server.call('POST', `/v2/sessions/${id}/wait`)
    const session = await server.get<Session>(`/v2/sessions/${id}`)
    const answers = (await server.messages(id)).flatMap(({ info }) => (info.role === 'assistant' ? [info.agent] : []))
    return [session.mode?.type, answers.at(-1), session.agent]
  }
  const offered = async (at: number) =>
    (await model.request(at)).body?.tools?.map((tool) => tool.function.name).filter((name) => name.startsWith('plan_'))

  // The step after the call is that of the agent that plans already: its tools and its rules.
  expect(await say('Plan first')).toEqual(['plan', 'plan', 'build'])
  await stream.waitFor(({ type, data }) => type === 'session.updated' && (data as { info: Session }).info.mode?.type === 'plan')
  expect(await offered(0)).toEqual(['plan_enter'])
  expect(await offered(1)).toEqual(['plan_exit'])
  stream.close()
  await server.kill()
  server = await scene.start()
  expect(await say('What is the plan?')).toEqual(['plan', 'plan', 'build'])
  expect(await offered(2)).toEqual(['plan_exit'])
  expect(await say('Good, leave it')).toEqual([undefined, 'build', 'build'])
  expect(await offered(5)).toEqual(['plan_enter'])
  expect(await say('Do it')).toEqual([undefined, 'build', 'build'])
  expect(await offered(6)).toEqual(['plan_enter'])
})
