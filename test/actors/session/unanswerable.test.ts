/** Prompts that were accepted, and whose model or agent has gone when their turn comes (sessions-events §4.4, §13.4). */
import { describe, expect, it } from 'vitest'
import type { PromptRequest } from '../../../src/protocol/message/message.js'
import { gate, says, startTestService } from '../../fakes/service.js'

const OTHER = { npm: 'played', auth: 'none', options: { baseURL: 'http://127.0.0.1:9/v1' }, models: { one: {}, two: {} } }
const NAMED = { providerId: 'other', modelId: 'one' }

interface Loss {
  readonly what: string
  /** What the session and the prompt name. */
  readonly session?: Record<string, unknown>
  readonly prompt?: Partial<PromptRequest>
  /** What is taken away while the prompt waits; null = nothing, for the control. */
  readonly patch: Record<string, unknown> | null
  readonly says: RegExp
}

const SUBTASK = { type: 'subtask', agent: 'helper', prompt: 'help', description: 'helping' } as const
const LOSSES: readonly Loss[] = [
  { what: 'the provider of the prompt', prompt: { model: NAMED }, patch: { provider: { other: null } }, says: /no provider "other"/ },
  {
    what: 'the model of the prompt',
    prompt: { model: NAMED },
    patch: { provider: { other: { models: { one: null } } } },
    says: /no model "one"/,
  },
  { what: 'its switch', prompt: { model: NAMED }, patch: { disabledProviders: ['other'] }, says: /switched off/ },
  {
    what: 'the adapter of the prompt',
    prompt: { model: NAMED },
    patch: { provider: { other: { npm: 'nobody' } } },
    says: /nobody/,
  },
  {
    what: 'the key of the prompt',
    prompt: { model: NAMED },
    patch: { provider: { other: { auth: 'required', env: ['NOT_SET_ANYWHERE'] } } },
    says: /NOT_SET_ANYWHERE/,
  },
  {
    what: 'the model of the session',
    session: { model: { providerId: 'other', id: 'two' } },
    patch: { provider: { other: null } },
    says: /no provider "other"/,
  },
  { what: 'the agent of the prompt', prompt: { agent: 'helper' }, patch: { agent: { helper: null } }, says: /no agent "helper"/ },
  { what: 'the agent of the session', session: { agent: 'helper' }, patch: { agent: { helper: null } }, says: /no agent "helper"/ },
  {
    what: 'what a subtask comes with',
    prompt: { parts: [SUBTASK], model: NAMED },
    patch: { provider: { other: null } },
    says: /no provider "other"/,
  },
]

async function startWithOther() {
  return startTestService({
    tools: [{ id: 'task', invoke: async () => ({ title: 'never', output: 'never' }) }],
    config: { provider: { played: PLAYED, other: OTHER }, agent: { helper: { mode: 'all', prompt: 'Help.' } } },
  })
}
const PLAYED = { npm: 'played', auth: 'none', options: { baseURL: 'http://127.0.0.1:9/v1' }, models: { one: {} } }

/** The second prompt waits behind a first, whose model goes on; then something is taken away. */
async function lose({ session, prompt, patch }: Loss) {
  const service = await startWithOther()
  const id = await service.session(session)
  const held = gate()
  service.steps.push(
    async (push, ...rest) => {
      await held.promise
      return says('first')(push, ...rest)
    },
    says('second'),
    says('third'),
  )
  await service.prompt(id, { prompt: 'one', model: { providerId: 'played', modelId: 'one' }, agent: 'build' })
  await service.until(({ type }) => type === 'session.execution.updated')
  const second = prompt?.parts === undefined ? { prompt: 'two', ...prompt } : prompt
  const model = second.model ?? (session?.['model'] === undefined ? undefined : { providerId: 'other', modelId: 'two' })
  await service.prompt(id, { messageId: 'msg_two', delivery: 'queue', ...second, ...(model && { model }) })
  if (patch !== null) await service.runtime.configs.update(service.effects.paths.config, patch)
  held.open()
  await service.idle(id)
  return { service, id }
}

describe('a prompt that waits', () => {
  it.each(LOSSES)('and loses $what is answered with the reason, in the conversation and on the stream', async (loss) => {
    const { service, id } = await lose(loss)
    const before = service.requests.length
    const messages = service.messages(id)
    expect(messages.map(({ info }) => info.role)).toEqual(['user', 'assistant', 'user', 'assistant'])
    const [, , asked, answer] = messages
    expect(asked?.info.id).toBe('msg_two')
    expect(answer?.info).toMatchObject({ parentId: 'msg_two', finish: 'error', error: { message: expect.stringMatching(loss.says) } })
    expect(answer?.parts.map(({ type }) => type)).toEqual(['step-start', 'step-finish'])
    const errors = service.events.filter(({ type }) => type === 'session.error')
    expect(errors).toMatchObject([
      { data: { error: { code: 'prompt.failed', message: expect.stringMatching(loss.says), details: { messageId: 'msg_two' } } } },
    ])
    expect(service.runtime.sessions.get(id).model).toMatchObject({ providerId: 'played' })
    expect(service.store.queue.count(id)).toBe(0)

    await service.prompt(id, { prompt: 'three', model: { providerId: 'played', modelId: 'one' }, agent: 'build' })
    await service.idle(id)
    expect(service.messages(id).at(-1)?.info).toMatchObject({ finish: 'stop' })
    expect(service.requests.length).toBe(before + 1)
  })

  it('and loses nothing is answered by the model it names', async () => {
    const { service, id } = await lose({ what: 'nothing', prompt: { model: NAMED }, patch: null, says: /./ })
    expect(service.messages(id).at(-1)?.info).toMatchObject({ finish: 'stop', providerId: 'other', modelId: 'one' })
    expect(service.events.filter(({ type }) => type === 'session.error')).toEqual([])
  })

  it('and asks for no answer is kept in the conversation, without one', async () => {
    const { service, id } = await lose({
      what: 'its model',
      prompt: { model: NAMED, noReply: true },
      patch: { provider: { other: null } },
      says: /./,
    })
    expect(service.messages(id).map(({ info }) => info.role)).toEqual(['user', 'assistant', 'user'])
    expect(service.events.filter(({ type }) => type === 'session.error')).toEqual([])
  })
})
