/** Commands that are offered can be run, and those that cannot are not offered. */
import { afterEach, expect, test } from 'vitest'
import type { ConfigValidation } from '../../../src/protocol/resource/config.js'
import type { Message } from '../../../src/protocol/message/message.js'
import { makePlace } from '../server/place.js'
import { openScene, type Scene } from '../server/server.js'

const scenes: Scene[] = []
afterEach(async () => {
  await Promise.all(scenes.splice(0).map((scene) => scene.close()))
})

const textOf = ({ parts }: Message) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')

test('every command that is offered runs and is answered; the others are refused with the reason', async () => {
  const scene = openScene(
    makePlace({
      '.svc/commands/greet.md': 'Hello $2, from $1.',
      '.svc/commands/delegate.md': '---\nsubtask: true\n---\nGo.',
      '.svc/commands/lost.md': '---\nagent: nobody\n---\nGo.',
    }),
  )
  scenes.push(scene)
  const server = await scene.start()
  const { id } = await server.createSession()
  const run = (body: object) => server.call('POST', `/v2/sessions/${id}/commands`, body)

  const offered = await server.get<{ name: string }[]>('/v2/commands')
  expect(offered.map(({ name }) => name)).toEqual(['delegate', 'greet', 'init', 'summarize'])
  for (const { name } of offered) {
    const answer = await run({ command: name, arguments: "me 'all of you' again" })
    expect([name, answer.status, (answer.body as Message).info.role]).toEqual([name, 200, 'assistant'])
  }
  const prompts = (await server.messages(id)).filter(({ info }) => info.role === 'user').map(textOf)
  expect(prompts).toContain('Hello all of you again, from me.')

  const first = await run({ command: 'greet', arguments: 'a b', messageId: 'msg_mine' })
  const count = (await server.messages(id)).length
  const again = await run({ command: 'greet', arguments: 'a b', messageId: 'msg_mine' })
  expect(again.body).toEqual(first.body)
  expect((first.body as Message).info).toMatchObject({ parentId: 'msg_mine' })
  expect(await server.messages(id)).toHaveLength(count)

  const [unable, unknown] = [await run({ command: 'lost' }), await run({ command: 'nothing' })]
  expect([unable.status, unknown.status]).toEqual([422, 400])
  expect(unable.text).toContain('there is no agent')
  expect(unknown.text).toContain('Known: delegate, greet, init, summarize.')
  expect((await server.get<ConfigValidation>('/v2/config/validate')).diagnostics).toMatchObject([{ path: 'command.lost.agent' }])
})
