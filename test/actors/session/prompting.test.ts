// Holds sessions-events §2.11, §4.1, §4.7, §4.9; laws §4.
import { describe, expect, it } from 'vitest'
import { calls, gate, says, startTestService } from '../../fakes/service.js'

const echo = { id: 'echo', invoke: async ({ value }: { value: string }) => ({ title: 'Echo', output: `said ${value}` }) }

describe('a prompt', () => {
  it('becomes a run whose events arrive in order and end idle', async () => {
    const service = await startTestService()
    const id = await service.session()
    service.steps.push(says('Hello there'))
    await service.prompt(id, { prompt: 'hi', messageId: 'msg_first' })
    await service.idle(id)
    const ofSession = service.events.filter(({ data }) => data['sessionID'] === id)
    expect(ofSession.map(({ type }) => type)).toEqual([
      'session.created',
      'session.prompt.admitted',
      'session.queue.updated',
      'session.status',
      'session.context.updated',
      'session.queue.updated',
      'session.updated',
      'message.updated',
      'message.part.updated',
      'session.status',
      'session.execution.updated',
      'message.updated',
      'message.part.updated',
      'message.part.updated',
      'session.execution.updated',
      'message.part.delta',
      'message.part.delta',
      'message.updated',
      'message.part.updated',
      'message.part.updated',
      'session.status',
      'session.execution.updated',
    ])
    const sequences = service.events.map(({ sequence }) => sequence)
    expect(sequences).toEqual(sequences.toSorted((a, b) => a - b))
    expect(new Set(sequences).size).toBe(sequences.length)
    const deltas = ofSession.filter(({ type }) => type === 'message.part.delta').map(({ data }) => data['delta'])
    const [user, assistant] = service.messages(id)
    expect(user).toMatchObject({ info: { id: 'msg_first', role: 'user', agent: 'build' }, parts: [{ type: 'text', text: 'hi' }] })
    expect(assistant).toMatchObject({
      info: { role: 'assistant', parentId: 'msg_first', finish: 'stop', tokens: { input: 10, output: 5 } },
    })
    expect(assistant?.parts.map(({ type }) => type)).toEqual(['step-start', 'text', 'step-finish'])
    expect(assistant?.parts[1]).toMatchObject({ text: deltas.join('') })
    const last = ofSession.at(-1)
    expect(last?.data['snapshot']).toMatchObject({ finished: true, activeSegments: {} })
  })

  it('calls tools and goes on until the model stops', async () => {
    const service = await startTestService({ tools: [echo] })
    const id = await service.session()
    service.steps.push(calls({ callId: 'a', tool: 'echo' }, { callId: 'b', tool: 'echo' }), says('Done'))
    await service.prompt(id, 'go')
    await service.idle(id)
    const [, first, second] = service.messages(id)
    expect(first?.parts.filter(({ type }) => type === 'tool')).toMatchObject([
      { tool: 'echo', callId: 'a', state: { status: 'completed', input: { value: 'a' }, output: 'said a', title: 'Echo' } },
      { tool: 'echo', callId: 'b', state: { status: 'completed', output: 'said b' } },
    ])
    expect(first?.parts.map(({ type }) => type)).toEqual(['step-start', 'tool', 'tool', 'step-finish'])
    expect(second?.info).toMatchObject({ finish: 'stop' })
    expect(service.requests[1]?.messages.at(-1)).toEqual({
      role: 'tool',
      results: [
        { callId: 'a', tool: 'echo', output: 'said a', isError: false },
        { callId: 'b', tool: 'echo', output: 'said b', isError: false },
      ],
    })
  })

  it('never executes arguments that are cut or wrong, nor a call made twice', async () => {
    const ran: string[] = []
    const tool = {
      id: 'echo',
      invoke: async ({ value }: { value: string }) => {
        ran.push(value)
        return { title: 'Echo', output: value }
      },
    }
    const service = await startTestService({ tools: [tool] })
    const id = await service.session()
    service.steps.push((push) => {
      push({ type: 'tool-call', callId: 'a', tool: 'echo', input: '{"value":"tr' })
      push({ type: 'tool-call', callId: 'b', tool: 'echo', input: '{"value":1}' })
      push({ type: 'tool-call', callId: 'c', tool: 'nothing', input: '{}' })
      push({ type: 'tool-call', callId: 'd', tool: 'echo', input: '{"value":"once"}' })
      push({ type: 'tool-call', callId: 'd', tool: 'echo', input: '{"value":"twice"}' })
      push({ type: 'finish', reason: 'tool-calls', usage: { input: 1, output: 1, reasoning: 0, cache: { read: 0, write: 0 } } })
    }, says('ok'))
    await service.prompt(id, 'go')
    await service.idle(id)
    expect(ran).toEqual(['once'])
    const tools = service.messages(id)[1]?.parts.filter(({ type }) => type === 'tool')
    expect(tools?.map((part) => part.type === 'tool' && part.state.status)).toEqual(['error', 'error', 'error', 'completed'])
  })

  it('of a repeated message id changes nothing, and other content is a conflict', async () => {
    const service = await startTestService()
    const id = await service.session()
    service.steps.push(says('one'))
    await service.prompt(id, { prompt: 'hi', messageId: 'msg_same' })
    await service.prompt(id, { prompt: 'hi', messageId: 'msg_same' })
    await service.idle(id)
    await service.prompt(id, { prompt: 'hi', messageId: 'msg_same' })
    await service.idle(id)
    expect(service.messages(id)).toHaveLength(2)
    await expect(service.prompt(id, { prompt: 'other', messageId: 'msg_same' })).rejects.toMatchObject({ code: 'resource.conflict' })
    expect(service.requests).toHaveLength(1)
  })

  it('is one message when two are sent at once under one id', async () => {
    const service = await startTestService()
    const [id, other] = [await service.session(), await service.session()]
    service.steps.push(says('once'))
    const sent = [
      { to: id, prompt: 'one' },
      { to: id, prompt: 'two' },
      { to: other, prompt: 'one' },
    ]
    const ends = await Promise.allSettled(sent.map(({ to, prompt }) => service.prompt(to, { prompt, messageId: 'msg_twice' })))
    const reasons = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []))
    expect(reasons).toMatchObject([{ code: 'resource.conflict' }, { code: 'resource.conflict' }])
    await service.idle(id)
    expect(service.events.filter(({ type }) => type === 'session.prompt.admitted')).toHaveLength(1)
  })

  it('with noReply is appended to an idle session without a run', async () => {
    const service = await startTestService()
    const id = await service.session()
    await service.prompt(id, { prompt: 'note', noReply: true })
    expect(service.messages(id)).toHaveLength(1)
    expect(service.requests).toHaveLength(0)
    expect(
      service.runtime.sessions.status({
        subject: 'local',
        tenantId: 'local',
        authenticated: false,
        operator: false,
        directoryPrefixes: undefined,
      }),
    ).toEqual({})
  })
})

describe('a prompt during a run', () => {
  it('that steers joins the run after the step, without idle in between', async () => {
    const service = await startTestService()
    const id = await service.session()
    const release = gate()
    service.steps.push(async (push) => {
      push({ type: 'text', delta: 'first' })
      await release.promise
      push({ type: 'finish', reason: 'stop', usage: { input: 1, output: 1, reasoning: 0, cache: { read: 0, write: 0 } } })
    }, says('second'))
    await service.prompt(id, 'one')
    await service.until(({ type }) => type === 'message.part.delta')
    await service.prompt(id, { prompt: 'two', delivery: 'steer' })
    release.open()
    await service.idle(id)
    expect(service.messages(id).map(({ info }) => info.role)).toEqual(['user', 'assistant', 'user', 'assistant'])
    const runs = new Set(service.events.filter(({ type }) => type === 'session.status').flatMap(({ data }) => data['runID'] ?? []))
    expect(runs.size).toBe(1)
    const idles = service.events.filter(({ type, data }) => type === 'session.status' && data['status'].type === 'idle')
    expect(idles).toHaveLength(1)
  })

  it('that queues becomes a run of its own, and busy never drops to idle between them', async () => {
    const service = await startTestService()
    const id = await service.session()
    const release = gate()
    service.steps.push(async (push) => {
      push({ type: 'text', delta: 'first' })
      await release.promise
      push({ type: 'finish', reason: 'stop', usage: { input: 1, output: 1, reasoning: 0, cache: { read: 0, write: 0 } } })
    }, says('second'))
    await service.prompt(id, 'one')
    await service.until(({ type }) => type === 'message.part.delta')
    await service.prompt(id, { prompt: 'two', delivery: 'queue' })
    expect(service.runtime.sessions.queue(id)).toMatchObject({ count: 1, running: true, items: [{ text: 'two' }] })
    release.open()
    await service.idle(id)
    const statuses = service.events.filter(({ type }) => type === 'session.status').map(({ data }) => data['status'].type)
    expect(statuses.slice(0, -1)).not.toContain('idle')
    expect(statuses.at(-1)).toBe('idle')
    const runs = new Set(service.events.filter(({ type }) => type === 'session.status').flatMap(({ data }) => data['runID'] ?? []))
    expect(runs.size).toBe(2)
  })
})

describe('a run', () => {
  it('repeats a refused step with a visible retry status, on the clock', async () => {
    const service = await startTestService()
    const { ProviderError } = await import('../../../src/ports/provider-adapter.js')
    const id = await service.session()
    service.steps.push((push) => {
      push({ type: 'text', delta: 'half' })
      throw new ProviderError('busy', { retryable: true })
    }, says('whole'))
    await service.prompt(id, 'go')
    const retry = await service.until(({ type, data }) => type === 'session.status' && data['status'].type === 'retry')
    expect(retry.data['status']).toMatchObject({ attempt: 1, attempts: 4, message: 'busy', next: service.effects.clock.now() + 2000 })
    await service.effects.clock.advanceAsync(2000)
    await service.idle(id)
    const [, assistant] = service.messages(id)
    expect(assistant?.parts.filter(({ type }) => type === 'text')).toMatchObject([{ text: 'whole' }])
  })

  it('that fails says so, keeps its text and lets the next prompt run', async () => {
    const service = await startTestService()
    const id = await service.session()
    service.steps.push((push) => {
      push({ type: 'text', delta: 'half' })
      throw new Error('no key')
    }, says('fine'))
    await service.prompt(id, 'go')
    await service.idle(id)
    const [, assistant] = service.messages(id)
    expect(assistant).toMatchObject({
      info: { finish: 'error', error: { message: 'no key' } },
      parts: [{}, { type: 'text', text: 'half' }, { type: 'step-finish', reason: 'error' }],
    })
    expect(await service.until(({ type }) => type === 'session.error')).toMatchObject({
      data: { error: { code: 'prompt.failed', message: 'no key' } },
    })
    await service.prompt(id, 'again')
    await service.idle(id)
    expect(service.messages(id).at(-1)?.info).toMatchObject({ finish: 'stop' })
  })

  it('ends within the deadline after an abort, whatever the tool does', async () => {
    const started = gate()
    const stubborn = {
      id: 'stubborn',
      invoke: () => {
        started.open()
        return new Promise<never>(() => undefined)
      },
    }
    const service = await startTestService({ tools: [stubborn] })
    const id = await service.session()
    service.steps.push(calls({ callId: 'a', tool: 'stubborn' }), says('after'))
    await service.prompt(id, 'go')
    await started.promise
    const aborted = service.runtime.sessions.abort(id)
    await service.effects.clock.advanceAsync(1000)
    expect(await aborted).toBe(true)
    await service.idle(id)
    const [, assistant] = service.messages(id)
    expect(assistant).toMatchObject({ info: { finish: 'error', error: { message: 'Session aborted', interrupted: true } } })
    expect(assistant?.parts.find(({ type }) => type === 'tool')).toMatchObject({
      state: { status: 'error' },
      metadata: { interrupted: true },
    })
    expect(assistant?.parts.at(-1)).toMatchObject({ type: 'step-finish', reason: 'aborted' })
    const idles = service.events.filter(({ type, data }) => type === 'session.status' && data['status'].type === 'idle')
    expect(idles).toHaveLength(1)
  })

  it('leaves memory after a while and is rebuilt from its rows by the next prompt', async () => {
    const service = await startTestService()
    const id = await service.session()
    service.steps.push(says('one'), says('two'))
    await service.prompt(id, 'first')
    await service.idle(id)
    expect(service.running.counters()).toMatchObject({ awakeSessions: 1 })
    await service.effects.clock.advanceAsync(60_000)
    expect(service.running.counters()).toMatchObject({ awakeSessions: 0 })
    await service.prompt(id, 'second')
    await service.idle(id)
    expect(service.requests[1]?.messages.filter(({ role }) => role !== 'system').map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
    ])
  })
})

describe('the text of a prompt', () => {
  it('is made well formed before it is stored, and refused beyond the bound of one event', async () => {
    const service = await startTestService()
    const id = await service.session()
    service.steps.push(says('ok'))
    await service.prompt(id, { prompt: 'half \ud83d', messageId: 'msg_half' })
    await service.prompt(id, { prompt: 'half \ud83d', messageId: 'msg_half' })
    await service.idle(id)
    expect(service.messages(id)[0]?.parts).toMatchObject([{ text: 'half \ufffd' }])
    expect(service.requests).toHaveLength(1)
    await expect(service.prompt(id, 'x'.repeat(1_100_000))).rejects.toMatchObject({ code: 'request.unprocessable' })
    const url = `data:image/png;base64,${'A'.repeat(1_100_000)}`
    service.steps.push(says('seen'))
    await service.prompt(id, { parts: [{ type: 'file', url, filename: 'a.png', mime: 'image/png' }] })
    await service.idle(id)
    expect(service.messages(id)).toHaveLength(4)
  })
})

describe('a variant', () => {
  it('that the model does not have is refused, and changes nothing; one that it has is taken', async () => {
    const variants = { deep: { reasoningEffort: 'high' } }
    const one = { name: 'One', limit: { context: 100_000, output: 4000 }, variants }
    const played = { npm: 'played', auth: 'none', options: { baseURL: 'http://127.0.0.1:9/v1' }, models: { one } }
    const service = await startTestService({ config: { model: 'played/one', provider: { played } }, steps: [says('Done.')] })
    const id = await service.session()
    const model = { providerId: 'played', modelId: 'one' }
    for (const refused of [{ model: { ...model, variant: 'zzz' } }, { model, variant: 'zzz' }]) {
      await expect(service.prompt(id, { prompt: 'go', ...refused })).rejects.toMatchObject({
        code: 'request.invalid',
        message: 'The model "played/one" has no variant "zzz". It has deep.',
        details: { variant: 'zzz', known: ['deep'] },
      })
    }
    expect([service.messages(id), service.requests]).toEqual([[], []])
    await service.prompt(id, { prompt: 'go', model, variant: 'deep' })
    await service.idle(id)
    expect(service.requests.map(({ options }) => options)).toEqual([{ reasoningEffort: 'high' }])
  })
})
