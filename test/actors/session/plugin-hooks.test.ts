// Holds sessions-events §10.6; plugin-protocol §7.2; laws §7.
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { Hook } from '../../../src/ports/contributions.js'
import { type Contributions, defineTool, type NativePlugin } from '../../../src/ports/plugin.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import type { ToolPart } from '../../../src/protocol/message/message.js'
import type { PluginEvent } from '../../../src/protocol/plugin/plugin-requests.js'
import type { ProviderMessage } from '../../../src/protocol/plugin/plugin-services.js'
import { calls, gate, type PlayedTool, says, startTestService, type TestService } from '../../fakes/service.js'

const plugin = (contributions: Contributions, id = 'test.hooked'): NativePlugin => ({
  id,
  name: id,
  start: () => contributions,
})

const echo: PlayedTool = {
  id: 'echo',
  needs: ({ value }) => [{ permission: 'echo', patterns: [value], title: `Echo ${value}` }],
  invoke: async ({ value }) => ({ title: 'Echo', output: value, metadata: { said: value } }),
}

async function withHooks(hooks: Readonly<Record<string, Hook>>, options: Parameters<typeof startTestService>[0] = {}) {
  const service = await startTestService({ tools: [echo], ...options, plugins: [plugin({ hooks })] })
  return { service, sessionId: await service.session() }
}

async function answer(service: TestService, sessionId: string, prompt = 'go'): Promise<void> {
  await service.prompt(sessionId, prompt)
  await service.idle(sessionId)
}

function toolPart(service: TestService, sessionId: string): ToolPart {
  const part = service
    .messages(sessionId)
    .flatMap(({ parts }) => parts)
    .find((candidate) => candidate.type === 'tool')
  if (part?.type !== 'tool') throw new Error('there is no tool part')
  return part
}

describe('hooks of a request', () => {
  it('change messages, options and headers of every step, and know who asks', async () => {
    const contexts: unknown[] = []
    const { service, sessionId } = await withHooks({
      'chat.messages': async (context, value) => {
        contexts.push(context)
        return [...(value as ProviderMessage[]), { role: 'user', content: 'and be brief' }]
      },
      'chat.options': async (_context, value) => ({ ...(value as object), effort: 'low' }),
      'chat.headers': async (_context, value) => ({ ...(value as object), 'X-Trace': '1' }),
    })
    service.steps.push(calls({ callId: 'c1', tool: 'echo' }), says('done'))
    await answer(service, sessionId)
    expect(service.requests).toHaveLength(2)
    for (const request of service.requests) {
      expect(request.messages.at(-1)).toEqual({ role: 'user', content: [{ type: 'text', text: 'and be brief' }] })
      expect(request.options).toEqual({ effort: 'low' })
      expect(request.headers).toEqual({ 'X-Trace': '1' })
    }
    expect(contexts).toEqual(Array.from({ length: 2 }, () => ({ sessionId, agent: 'build', providerId: 'played', modelId: 'one' })))
  })

  it('change nothing when they fail, which the message and the plugin tell', async () => {
    const fails: Hook = () => Promise.reject(new Error('broken'))
    const { service, sessionId } = await withHooks({
      'chat.messages': async () => [{ role: 'nobody' }],
      'chat.options': fails,
      'chat.headers': async () => ({ Host: 'elsewhere' }),
      'tool.definition': () => {
        throw new Error('at once')
      },
    })
    service.steps.push(says('done'))
    await answer(service, sessionId)
    const [request] = service.requests
    expect(request?.messages.at(-1)).toEqual({ role: 'user', content: [{ type: 'text', text: 'go' }] })
    expect(request).toMatchObject({ options: {}, headers: {}, tools: [{ id: 'echo', description: 'The echo tool.' }] })
    const { info } = service.messages(sessionId).at(-1) ?? {}
    expect(info).not.toHaveProperty('error')
    const note = (hook: string, message: string) => ({
      hook,
      pluginId: 'test.hooked',
      message: expect.stringContaining(message) as unknown,
    })
    expect(info).toHaveProperty('metadata.hookFailures', [
      { ...note('tool.definition', 'Its hook "tool.definition" failed: at once'), toolId: 'echo' },
      note('chat.messages', 'The answer of the hook "chat.messages" is not usable'),
      note('chat.options', 'Its hook "chat.options" failed: broken'),
      note('chat.headers', 'The answer of the hook "chat.headers" is not usable'),
    ])
    expect(await service.runtime.plugins.manifest(service.directory, 'test.hooked')).toMatchObject({
      active: false,
      reason: expect.stringContaining('failed') as unknown,
    })
  })

  it.each([[[]], [{}], [null], ['text'], [[{ role: 'user', content: 7 }]]])(
    'keep the conversation when messages become %j',
    async (value) => {
      const { service, sessionId } = await withHooks({ 'chat.messages': async () => value })
      service.steps.push(says('done'))
      await answer(service, sessionId)
      expect(service.requests[0]?.messages.at(-1)).toEqual({ role: 'user', content: [{ type: 'text', text: 'go' }] })
    },
  )

  it('leave a plugin unwell until the hook that failed works again, whatever its others do', async () => {
    let works = false
    const { service, sessionId } = await withHooks({
      'chat.messages': async (_context, value) => (works ? value : Promise.reject(new Error('not yet'))),
      'chat.options': async (_context, value) => value,
    })
    const manifest = () => service.runtime.plugins.manifest(service.directory, 'test.hooked')
    service.steps.push(says('one'), says('two'))
    await answer(service, sessionId)
    expect(await manifest()).toMatchObject({ active: false, reason: 'chat.messages failed: not yet' })
    works = true
    await answer(service, sessionId)
    expect(await manifest()).toMatchObject({ active: true })
    expect(service.messages(sessionId).at(-1)?.info).not.toHaveProperty('metadata')
  })

  it('that never answer are given up, and the run goes on', async () => {
    const called = [gate(), gate()]
    const hangs = (at: number): Hook => {
      return () => {
        called[at]?.open()
        return new Promise(() => undefined)
      }
    }
    const { service, sessionId } = await withHooks({ 'tool.definition': hangs(0), 'chat.messages': hangs(1) })
    service.steps.push(says('done'))
    await service.prompt(sessionId, 'go')
    await called[0]?.promise
    await service.effects.clock.advanceAsync(LIMITS.plugins.serviceWait)
    await called[1]?.promise
    await service.effects.clock.advanceAsync(LIMITS.plugins.callTimeout)
    await service.idle(sessionId)
    expect(service.requests).toHaveLength(1)
    expect(service.messages(sessionId).at(-1)?.info).toHaveProperty('metadata.hookFailures', [
      expect.objectContaining({ hook: 'tool.definition', message: expect.stringContaining('longer than 8000 ms') as unknown }),
      expect.objectContaining({ hook: 'chat.messages', message: expect.stringContaining('longer than 60000 ms') as unknown }),
    ])
  })

  it('do not hold up an abort', async () => {
    const called = gate()
    const { service, sessionId } = await withHooks({
      'chat.messages': () => {
        called.open()
        return new Promise(() => undefined)
      },
    })
    await service.prompt(sessionId, 'go')
    await called.promise
    await service.runtime.sessions.abort(sessionId)
    await service.idle(sessionId)
    expect(service.requests).toEqual([])
  })

  it('change the definitions of tools', async () => {
    const { service, sessionId } = await withHooks({
      'tool.definition': async (context, value) => ({ ...(value as object), description: `about ${String(context['toolId'])}` }),
    })
    service.steps.push(says('done'))
    await answer(service, sessionId)
    expect(service.requests[0]?.tools.map(({ id, description }) => [id, description])).toEqual([['echo', 'about echo']])
    expect((await service.runtime.system.tools(service.directory)).map(({ description }) => description)).toEqual(['about echo'])
  })
})

describe('the hook before a tool', () => {
  it('changes what is judged and executed; the part shows both', async () => {
    const contexts: unknown[] = []
    const { service, sessionId } = await withHooks({
      'tool.before': async (context, value) => {
        contexts.push(context)
        return { ...(value as object), value: 'hooked' }
      },
    })
    service.steps.push(calls({ callId: 'c1', tool: 'echo', input: { value: 'asked' } }), says('done'))
    await answer(service, sessionId)
    const { state, messageId } = toolPart(service, sessionId)
    expect(state).toMatchObject({
      status: 'completed',
      input: { value: 'asked' },
      output: 'hooked',
      metadata: { said: 'hooked', executedInput: { value: 'hooked' } },
    })
    expect(contexts).toEqual([{ toolId: 'echo', directory: service.directory, sessionId, messageId, callId: 'c1' }])
  })

  it('cannot smuggle an input past a rule', async () => {
    const config = { permission: { '*': 'allow', echo: { '*': 'allow', secret: 'deny' } } }
    const { service, sessionId } = await withHooks({ 'tool.before': async () => ({ value: 'secret' }) }, { config })
    service.steps.push(calls({ callId: 'c1', tool: 'echo', input: { value: 'harmless' } }), says('done'))
    await answer(service, sessionId)
    expect(toolPart(service, sessionId).state).toMatchObject({ status: 'error', error: 'A permission rule denies echo for secret.' })
  })

  it('runs anew from the original input after an answer, and what is asked about is what runs', async () => {
    const seen: unknown[] = []
    const config = { permission: { '*': 'allow', echo: 'ask' } }
    const { service, sessionId } = await withHooks(
      {
        'tool.before': async (_context, value) => {
          seen.push(value)
          return { value: `${(value as { value: string }).value}+` }
        },
      },
      { config },
    )
    service.steps.push(calls({ callId: 'c1', tool: 'echo', input: { value: 'a' } }), says('done'))
    await service.prompt(sessionId, 'go')
    const { data } = await service.until(({ type }) => type === 'permission.asked')
    expect(data).toMatchObject({ patterns: ['a+'], metadata: { input: { value: 'a+' } } })
    service.runtime.interactions.replyPermission(String(data['id']), { reply: 'once' })
    await service.idle(sessionId)
    expect(seen).toEqual([{ value: 'a' }, { value: 'a' }])
    expect(toolPart(service, sessionId).state).toMatchObject({ status: 'completed', output: 'a+' })
  })

  it('fails the call when it fails, or when its answer does not fit the tool', async () => {
    for (const [hook, message] of [
      [() => Promise.reject(new Error('not today')), 'Plugin test.hooked: Its hook "tool.before" failed: not today'],
      [async () => ({ value: 7 }), 'The arguments of "echo" are not valid any more: value:'],
    ] as const) {
      const { service, sessionId } = await withHooks({ 'tool.before': hook })
      service.steps.push(calls({ callId: 'c1', tool: 'echo' }), says('done'))
      await answer(service, sessionId)
      const { state } = toolPart(service, sessionId)
      expect(state.status === 'error' ? state.error : state.status).toContain(message)
      await service.stop()
    }
  })
})

describe('the hook after a tool', () => {
  it('changes the result before it is cut', async () => {
    const { service, sessionId } = await withHooks({
      'tool.after': async (_context, value) => {
        const { title, output, metadata } = value as { title: string; output: string; metadata: object }
        return { title: `${title}!`, output: `${output}\n`.repeat(3000), metadata: { ...metadata, more: true } }
      },
    })
    service.steps.push(calls({ callId: 'c1', tool: 'echo', input: { value: 'x' } }), says('done'))
    await answer(service, sessionId)
    const { state } = toolPart(service, sessionId)
    expect(state).toMatchObject({ status: 'completed', title: 'Echo!', metadata: { said: 'x', more: true, truncated: true } })
  })

  it('fails the call when it fails', async () => {
    const { service, sessionId } = await withHooks({ 'tool.after': async () => ({ title: 'no output' }) })
    service.steps.push(calls({ callId: 'c1', tool: 'echo' }), says('done'))
    await answer(service, sessionId)
    expect(toolPart(service, sessionId).state).toMatchObject({
      status: 'error',
      error: expect.stringContaining('"tool.after" is not usable'),
    })
  })
})

describe('other contributions of plugins in a session', () => {
  it('give commands variables', async () => {
    let variables: unknown
    const tool: PlayedTool = {
      id: 'probe',
      async invoke(_input, { sessionId, callId, directory, signal }, host) {
        variables = await host.shellEnvironment({ cwd: directory, sessionId, callId, signal })
        return { title: '', output: '' }
      },
    }
    const { service, sessionId } = await withHooks(
      { 'shell.env': async (context, value) => ({ ...(value as object), CALL: String(context['callId']) }) },
      { tools: [tool] },
    )
    service.steps.push(calls({ callId: 'c1', tool: 'probe' }), says('done'))
    await answer(service, sessionId)
    expect(variables).toEqual({ CALL: 'c1' })
  })

  it('add sections to the system context, in the order of priority, and tell what changes', async () => {
    let content = 'Be kind.'
    const section = (id: string, priority: number, text: () => string): NonNullable<Contributions['systemContext']> => [
      { id, priority, call: async () => [{ id: 'one', title: 'Manners', content: text() }] },
    ]
    const service = await startTestService({
      plugins: [
        plugin({ systemContext: section('low', 1, () => content) }, 'test.low'),
        plugin({ systemContext: section('big', 5, () => 'x'.repeat(70_000)) }, 'test.big'),
        plugin({ systemContext: section('high', 5, () => 'First.') }, 'test.high'),
      ],
    })
    const sessionId = await service.session()
    service.steps.push(says('one'), says('two'), says('three'))
    const systems = () => service.requests.at(-1)?.messages.flatMap((message) => (message.role === 'system' ? [message.text] : [])) ?? []
    await answer(service, sessionId)
    const [workspace, sections] = systems()
    expect(sections).toBe('Manners (plugin section test.high/high/one):\nFirst.\n\nManners (plugin section test.low/low/one):\nBe kind.')
    content = 'Be blunt.'
    await service.effects.clock.advanceAsync(6000)
    await answer(service, sessionId)
    await answer(service, sessionId)
    expect(systems().slice(0, 2)).toEqual([workspace, sections])
    expect(systems()[2]).toContain(
      'Guidance of the plugin section test.low/low/one now reads:\nManners (plugin section test.low/low/one):\nBe blunt.',
    )
  })

  it('hear of what was committed', async () => {
    const heard: PluginEvent[] = []
    const service = await startTestService({
      plugins: [plugin({ events: { namespaces: ['session.created'], deliver: (event) => void heard.push(event) } })],
    })
    const sessionId = await service.session()
    await setImmediate()
    expect(heard.map(({ type, properties }) => [type, properties])).toEqual([
      ['session.created', expect.objectContaining({ sessionID: sessionId })],
    ])
  })

  it('offer agents that answer prompts', async () => {
    const service = await startTestService({
      plugins: [
        plugin({
          agents: [
            {
              id: 'team',
              priority: 0,
              call: async () => ({ agents: [{ name: 'poet', mode: 'primary', prompt: 'Rhyme.' }], defaultAgent: null }),
            },
          ],
        }),
      ],
    })
    const sessionId = await service.session()
    service.steps.push(says('done'))
    await service.prompt(sessionId, { prompt: 'go', agent: 'poet' })
    await service.idle(sessionId)
    expect(service.requests[0]?.messages.at(-2)).toEqual({ role: 'system', text: 'Rhyme.' })
  })

  it('run tools of their own', async () => {
    const tool = defineTool({
      id: 'dice',
      description: 'Rolls.',
      input: z.strictObject({ sides: z.number().default(6) }),
      permission: 'dice',
      needs: async () => [],
      invoke: async ({ sides }) => ({ title: 'Dice', output: String(sides) }),
    })
    const service = await startTestService({ plugins: [plugin({ tools: [tool] })] })
    const sessionId = await service.session()
    service.steps.push(calls({ callId: 'c1', tool: 'dice', input: {} }), says('done'))
    await answer(service, sessionId)
    expect(toolPart(service, sessionId).state).toMatchObject({ status: 'completed', output: '6' })
  })
})
