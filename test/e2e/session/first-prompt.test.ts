import { afterEach, describe, expect, test } from 'vitest'
import { type ModelServer, USAGE, finish, reasoning, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { openScene, type Scene } from '../server/server.js'
import { deltasOf, rebuild, statesOf, textOf, toolParts, unfinished } from '../server/transcript.js'

let scene: Scene
let model: ModelServer | undefined
afterEach(async () => {
  await scene.close()
  await model?.close()
  model = undefined
})

describe('the first prompt', () => {
  test('is answered by the offline model, with a tool, without any configuration', async () => {
    scene = openScene(makePlace({ 'README.md': 'one line of text\n' }))
    const server = await scene.start()
    const session = await server.createSession()
    const stream = await server.stream({ since: 0 })
    await server.prompt(session.id, { prompt: 'read README.md' })
    await stream.idle(session.id)

    const messages = await server.messages(session.id)
    expect(messages.map(({ info }) => info.role)).toEqual(['user', 'assistant', 'assistant'])
    const [tool] = toolParts(messages)
    expect(tool?.tool).toBe('read')
    expect(tool?.state).toMatchObject({ status: 'completed', output: expect.stringContaining('1: one line of text') as string })
    expect(statesOf(stream.events, tool?.callId ?? '')).toEqual(['pending', 'running', 'completed'])
    for (const message of messages.slice(1)) {
      expect(textOf(message)).not.toBe('')
      expect(deltasOf(stream.events, message.info.id)).toBe(textOf(message))
      const end = message.parts.at(-1)
      expect(end).toMatchObject({
        type: 'step-finish',
        tokens: { input: expect.any(Number) as number, output: expect.any(Number) as number },
      })
    }
    expect(textOf(messages[2])).toContain('one line of text')
    expect(unfinished(messages)).toEqual([])
    expect(rebuild(stream.events, session.id)).toEqual(messages)
    stream.close()
  })

  test('is answered by an OpenAI-compatible endpoint, and deltas add up to the stored text', async () => {
    model = await startModelServer([
      reply(
        reasoning('let me ', 'look'),
        text('I will ', 'read ', 'it: \u{1F600}. '),
        toolCall({ id: 'call_1', name: 'read', input: { filePath: 'README.md' }, pieces: 4 }),
        finish('tool_calls'),
      ),
      reply(text('It says ', '“hello”.'), finish('stop')),
    ])
    scene = openScene(makePlace())
    scene.place.configure(withModel(model.url))
    const server = await scene.start()
    const session = await server.createSession()
    const stream = await server.stream({ tail: true })
    await server.prompt(session.id, { prompt: 'what does it say?' })
    await stream.idle(session.id)

    const messages = await server.messages(session.id)
    expect(messages.map((message) => textOf(message))).toEqual(['what does it say?', 'I will read it: \u{1F600}. ', 'It says “hello”.'])
    for (const message of messages.slice(1)) expect(deltasOf(stream.events, message.info.id)).toBe(textOf(message))
    expect(messages[1]?.parts.map(({ type }) => type)).toEqual(['step-start', 'text', 'reasoning', 'tool', 'step-finish'])
    expect(statesOf(stream.events, 'call_1')).toEqual(['pending', 'running', 'completed'])
    expect(messages[1]?.parts.at(-1)).toMatchObject({
      type: 'step-finish',
      reason: 'tool-calls',
      tokens: { input: USAGE.prompt_tokens, output: USAGE.completion_tokens },
    })
    expect(messages[2]?.info).toMatchObject({ finish: 'stop', modelId: 'scripted', providerId: 'test' })
    expect(unfinished(messages)).toEqual([])
    expect(rebuild(stream.events, session.id)).toEqual(messages)
    const [, second] = model.requests
    expect(second?.body?.messages.at(-1)).toMatchObject({ role: 'tool', tool_call_id: 'call_1' })
    expect(await server.statuses()).toEqual({})
    stream.close()
  })
})
