// Holds sessions-events §4.6, §4.14; threat-model §6.5.1.
import { describe, expect, it } from 'vitest'
import { ProviderError } from '../../../src/ports/provider-adapter.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import type { Message, Part } from '../../../src/protocol/message/message.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { calls, gate, type PlayedTool, says, startTestService, type TestService } from '../../fakes/service.js'

const USAGE = { input: 1, output: 1, reasoning: 0, cache: { read: 0, write: 0 } }
const finish = (reason = 'stop') => ({ type: 'finish' as const, reason, usage: USAGE })
const echo: PlayedTool = { id: 'echo', invoke: async ({ value }) => ({ title: 'Echo', output: `said ${value}` }) }
const tools = (message: Message | undefined) => message?.parts.filter((part): part is Part & { type: 'tool' } => part.type === 'tool')
const statuses = (service: TestService) =>
  service.events.filter(({ type }) => type === 'session.status').map(({ data }) => data['status'].type)
const idles = (service: TestService) => statuses(service).filter((type) => type === 'idle').length

describe('a run', () => {
  it('ends at the step limit of its agent, where no tool is called any more', async () => {
    const ran: string[] = []
    const tool: PlayedTool = {
      id: 'echo',
      async invoke({ value }) {
        ran.push(value)
        return { title: '', output: '' }
      },
    }
    const service = await startTestService({ tools: [tool], config: { agent: { build: { steps: 2 } } } })
    const id = await service.session()
    service.steps.push(calls({ callId: 'a', tool: 'echo' }), calls({ callId: 'b', tool: 'echo' }), says('never'))
    await service.prompt(id, 'go')
    await service.idle(id)
    expect(ran).toEqual(['a'])
    expect(service.requests).toHaveLength(2)
    expect(service.requests[0]?.messages.at(-1)).toMatchObject({ role: 'user' })
    expect(service.requests[1]?.messages.at(-1)).toMatchObject({
      role: 'assistant',
      content: [{ text: expect.stringContaining('last step') }],
    })
    expect(tools(service.messages(id)[2])).toMatchObject([{ callId: 'b', state: { status: 'error', input: { value: 'b' } } }])
  })

  it('goes on after a cut answer with an instruction that is not stored', async () => {
    const service = await startTestService()
    const id = await service.session()
    service.steps.push(says('half', 'length'), says(' whole'))
    await service.prompt(id, 'go')
    await service.idle(id)
    expect(service.requests[1]?.messages.at(-1)).toMatchObject({ role: 'user', content: [{ text: expect.stringContaining('cut off') }] })
    expect(service.messages(id).map(({ info }) => info.role)).toEqual(['user', 'assistant', 'assistant'])
    service.steps.push(says('ok'))
    await service.prompt(id, 'next')
    await service.idle(id)
    expect(JSON.stringify(service.requests[2]?.messages)).not.toContain('cut off')
  })

  it('does not follow for ever a model that is always cut', async () => {
    const service = await startTestService()
    const id = await service.session()
    for (let at = 0; at < 20; at++) service.steps.push(says('more', 'length'))
    await service.prompt(id, 'go')
    await service.idle(id)
    expect(service.requests).toHaveLength(1 + LIMITS.run.continuations)
  })

  it('does not repeat a step once one of its calls has started', async () => {
    const ran: string[] = []
    const tool: PlayedTool = {
      id: 'echo',
      async invoke({ value }) {
        ran.push(value)
        return { title: '', output: '' }
      },
    }
    const service = await startTestService({ tools: [tool] })
    const id = await service.session()
    service.steps.push((push) => {
      push({ type: 'tool-call', callId: 'a', tool: 'echo', input: '{"value":"x"}' })
      throw new ProviderError('broken pipe', { retryable: true })
    }, says('never'))
    await service.prompt(id, 'go')
    await service.idle(id)
    expect(service.requests).toHaveLength(1)
    expect(statuses(service)).not.toContain('retry')
    expect(service.messages(id)[1]?.info).toMatchObject({ finish: 'error', error: { message: 'broken pipe' } })
    expect(ran.length).toBeLessThanOrEqual(1)
  })

  it('that fails waits for its calls before the next prompt begins', async () => {
    const held = gate()
    const begun = gate()
    const aborted = gate()
    const tool: PlayedTool = {
      id: 'echo',
      async invoke(_input, { signal }) {
        begun.open()
        signal.addEventListener('abort', () => aborted.open())
        await held.promise
        return { title: '', output: 'written at last' }
      },
    }
    const service = await startTestService({ tools: [tool] })
    const id = await service.session()
    const broken = gate()
    service.steps.push(async (push) => {
      push({ type: 'tool-call', callId: 'a', tool: 'echo', input: '{"value":"x"}' })
      await broken.promise
      throw new ProviderError('broken pipe', { retryable: true })
    }, says('second'))
    await service.prompt(id, 'go')
    await begun.promise
    await service.prompt(id, { prompt: 'next', delivery: 'queue' })
    broken.open()
    await aborted.promise
    await service.effects.clock.advanceAsync(LIMITS.run.abort - 1)
    expect(service.requests).toHaveLength(1)
    held.open()
    await service.idle(id)
    expect(service.requests).toHaveLength(2)
    expect(service.messages(id)[1]?.info).toMatchObject({ error: { message: 'broken pipe' } })
    expect(tools(service.messages(id)[1])).toMatchObject([{ state: { status: 'completed', output: 'written at last' } }])
  })

  it('that fails waits no longer than the deadline for a tool that ignores its abort', async () => {
    const begun = gate()
    const aborted = gate()
    const tool: PlayedTool = {
      id: 'echo',
      invoke: (_input, { signal }) => {
        begun.open()
        signal.addEventListener('abort', () => aborted.open())
        return new Promise(() => undefined)
      },
    }
    const service = await startTestService({ tools: [tool] })
    const id = await service.session()
    service.steps.push((push) => {
      push({ type: 'tool-call', callId: 'a', tool: 'echo', input: '{"value":"x"}' })
      return begun.promise.then(() => Promise.reject(new ProviderError('broken pipe', { retryable: true })))
    }, says('second'))
    await service.prompt(id, 'go')
    await aborted.promise
    await service.effects.clock.advanceAsync(LIMITS.run.abort)
    await service.idle(id)
    expect(service.messages(id)[1]?.info).toMatchObject({ error: { message: 'broken pipe' } })
    expect(tools(service.messages(id)[1])).toMatchObject([{ state: { status: 'error', error: 'The tool call was aborted.' } }])
  })

  it('gives up after three repeats and tells the last error', async () => {
    const service = await startTestService()
    const id = await service.session()
    for (const name of ['one', 'two', 'three', 'four'])
      service.steps.push(() => {
        throw new ProviderError(name, { retryable: true })
      })
    await service.prompt(id, 'go')
    await service.effects.clock.advanceAsync(2000 + 4000 + 8000)
    await service.idle(id)
    const waits = service.events.flatMap(({ type, data }) =>
      type === 'session.status' && data['status'].type === 'retry' ? [data['status']] : [],
    )
    expect(waits.map(({ attempt, message }) => [attempt, message])).toEqual([
      [1, 'one'],
      [2, 'two'],
      [3, 'three'],
    ])
    expect(waits.map(({ next }, at) => next - (waits[at - 1]?.next ?? 0)).slice(1)).toEqual([4000, 8000])
    expect(service.messages(id)[1]?.info).toMatchObject({ error: { message: 'four' } })
    expect(idles(service)).toBe(1)
  })

  it('waits as long as the provider asks for, within a bound', async () => {
    const service = await startTestService()
    const id = await service.session()
    const at = service.effects.clock.now()
    service.steps.push(
      () => {
        throw new ProviderError('slow down', { retryable: true, retryAfterMs: 7500 })
      },
      () => {
        throw new ProviderError('slower', { retryable: true, retryAfterMs: 10_000_000 })
      },
      says('fine'),
    )
    await service.prompt(id, 'go')
    await service.effects.clock.advanceAsync(7500)
    await service.effects.clock.advanceAsync(60_000)
    await service.idle(id)
    const waits = service.events.flatMap(({ type, data }) =>
      type === 'session.status' && data['status'].type === 'retry' ? [data['status'].next - at] : [],
    )
    expect(waits).toEqual([7500, 67_500])
    expect(service.messages(id)[1]?.parts.at(1)).toMatchObject({ text: 'fine' })
  })

  it('leaves nothing of a failed attempt but the message', async () => {
    const service = await startTestService()
    const id = await service.session()
    service.steps.push((push) => {
      push({ type: 'reasoning-start', id: 'r' })
      push({ type: 'reasoning', id: 'r', delta: 'hmm' })
      push({ type: 'text', delta: 'wrong' })
      push({ type: 'tool-input-start', callId: 'a', tool: 'echo' })
      push({ type: 'tool-call', callId: 'b', tool: 'nothing', input: '{}' })
      push(finish())
      throw new ProviderError('late', { retryable: true })
    }, says('right'))
    await service.prompt(id, 'go')
    await service.effects.clock.advanceAsync(2000)
    await service.idle(id)
    const [, assistant, ...more] = service.messages(id)
    expect(more).toEqual([])
    expect(assistant?.parts.map((part) => (part.type === 'text' ? part.text : part.type))).toEqual(['step-start', 'right', 'step-finish'])
    const open = service.events.filter(({ type, data }) => type === 'session.execution.updated' && data['snapshot'].finished)
    expect(open).toHaveLength(1)
  })
})

describe('an abort', () => {
  it('during a back-off ends the run at once', async () => {
    const service = await startTestService()
    const id = await service.session()
    service.steps.push(() => {
      throw new ProviderError('busy', { retryable: true })
    })
    await service.prompt(id, 'go')
    await service.until(({ type, data }) => type === 'session.status' && data['status'].type === 'retry')
    expect(await service.runtime.sessions.abort(id)).toBe(true)
    await service.idle(id)
    expect(service.messages(id)[1]?.info).toMatchObject({ error: { interrupted: true } })
    await service.effects.clock.advanceAsync(60_000)
    expect(service.requests).toHaveLength(1)
    expect(idles(service)).toBe(1)
  })

  it('before the run begins ends it without a model call', async () => {
    const service = await startTestService()
    const id = await service.session()
    const submitted = service.prompt(id, 'go')
    await service.until(({ type }) => type === 'session.prompt.admitted')
    expect(await service.runtime.sessions.abort(id)).toBe(true)
    await submitted
    await service.idle(id)
    expect(service.requests).toEqual([])
    expect(service.messages(id).map(({ info }) => info.role)).toEqual(['user'])
    expect(service.store.runs.running()).toEqual([])
    expect(idles(service)).toBe(1)
    service.steps.push(says('fine'))
    await service.prompt(id, 'next')
    await service.idle(id)
    expect(service.messages(id).at(-1)?.info).toMatchObject({ finish: 'stop' })
  })

  it('while a step is prepared opens no message afterwards', async () => {
    const effects = createFakeEffects()
    const held = gate()
    const looked = gate()
    let holding = false
    const { stat } = effects.files
    const files = {
      ...effects.files,
      async stat(path: string) {
        if (holding && path.endsWith('/.git')) {
          looked.open()
          await held.promise
        }
        return stat(path)
      },
    }
    const service = await startTestService({ effects: { ...effects, files } })
    const id = await service.session()
    const submitted = service.prompt(id, 'go')
    await service.until(({ type }) => type === 'session.execution.updated')
    holding = true
    effects.clock.advance(LIMITS.git.absent)
    await looked.promise
    await submitted
    expect(service.store.runs.running()).toHaveLength(1)
    await service.runtime.sessions.abort(id)
    held.open()
    await service.idle(id)
    await service.effects.clock.advanceAsync(1000)
    expect(service.messages(id).map(({ info }) => info.role)).toEqual(['user'])
    expect(service.running.counters()).toMatchObject({ liveMessages: 0 })
    expect(service.store.executions.unfinished()).toEqual([])
  })

  it('asked for twice ends the run once', async () => {
    const service = await startTestService()
    const id = await service.session()
    service.steps.push((push, signal) => {
      push({ type: 'text', delta: 'x' })
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))
    })
    await service.prompt(id, 'go')
    await service.until(({ type }) => type === 'message.part.delta')
    expect(await Promise.all([service.runtime.sessions.abort(id), service.runtime.sessions.abort(id)])).toEqual([true, false])
    await service.idle(id)
    expect(await service.runtime.sessions.abort(id)).toBe(false)
    expect(idles(service)).toBe(1)
  })

  it('leaves the queue alone', async () => {
    const service = await startTestService()
    const id = await service.session()
    service.steps.push((push, signal) => {
      push({ type: 'text', delta: 'x' })
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))
    }, says('second'))
    await service.prompt(id, 'one')
    await service.until(({ type }) => type === 'message.part.delta')
    await service.prompt(id, { prompt: 'two', delivery: 'queue' })
    await service.runtime.sessions.abort(id)
    await service.idle(id)
    expect(service.messages(id).at(-1)?.parts[1]).toMatchObject({ text: 'second' })
    expect(idles(service)).toBe(1)
  })
})

describe('a tool call', () => {
  it('shows its progress, which does not outlive it', async () => {
    const release = gate()
    const tool: PlayedTool = {
      id: 'echo',
      async invoke(_input, context) {
        context.progress({ half: true })
        await release.promise
        return { title: 'Echo', output: 'x', metadata: { whole: true } }
      },
    }
    const service = await startTestService({ tools: [tool] })
    const id = await service.session()
    service.steps.push(calls({ callId: 'a', tool: 'echo' }), says('ok'))
    await service.prompt(id, 'go')
    const shown = await service.until(({ type, data }) => type === 'message.part.updated' && data['part'].metadata?.half === true)
    expect(shown.data['part']).toMatchObject({ callId: 'a', state: { status: 'running' } })
    release.open()
    await service.idle(id)
    const [part] = tools(service.messages(id)[1]) ?? []
    expect(part).not.toHaveProperty('metadata')
    expect(part).toMatchObject({ state: { metadata: { whole: true, render: { tool: 'echo' } } } })
  })

  it('is one of at most ten that run at a time', async () => {
    let running = 0
    let most = 0
    const gates: ReturnType<typeof gate<void>>[] = []
    const tool: PlayedTool = {
      id: 'echo',
      async invoke() {
        most = Math.max(most, ++running)
        const held = gate()
        gates.push(held)
        await held.promise
        running--
        return { title: '', output: '' }
      },
    }
    const service = await startTestService({ tools: [tool] })
    const id = await service.session()
    service.steps.push(calls(...Array.from({ length: 14 }, (_, at) => ({ callId: `functions.echo:${at}`, tool: 'echo' }))), says('ok'))
    await service.prompt(id, 'go')
    await service.effects.clock.advanceAsync(100)
    expect(gates).toHaveLength(10)
    for (let at = 0; at < 14; at++) {
      gates[at]?.open()
      await service.effects.clock.advanceAsync(1)
    }
    await service.idle(id)
    expect(most).toBe(10)
    expect(tools(service.messages(id)[1])?.map(({ state }) => state.status)).toEqual(Array.from({ length: 14 }, () => 'completed'))
  })

  it('has its output bounded', async () => {
    const tool: PlayedTool = { id: 'echo', invoke: async () => ({ title: 'Echo', output: 'line\n'.repeat(5000) }) }
    const service = await startTestService({ tools: [tool] })
    const id = await service.session()
    service.steps.push(calls({ callId: 'a', tool: 'echo' }), says('ok'))
    await service.prompt(id, 'go')
    await service.idle(id)
    const [part] = tools(service.messages(id)[1]) ?? []
    expect(part?.state).toMatchObject({ status: 'completed', metadata: { truncated: true, outputPath: expect.any(String) } })
    expect(part?.state.status === 'completed' && part.state.output.length).toBeLessThan(LIMITS.tools.outputBytes)
  })

  it('that failed is not run under the same id', async () => {
    const ran: string[] = []
    const tool: PlayedTool = {
      id: 'echo',
      async invoke({ value }) {
        ran.push(value)
        return { title: '', output: '' }
      },
    }
    const service = await startTestService({ tools: [tool] })
    const id = await service.session()
    service.steps.push((push) => {
      push({ type: 'tool-call', callId: 'a', tool: 'echo', input: '{"wrong":1}' })
      push({ type: 'tool-call', callId: 'a', tool: 'echo', input: '{"value":"x"}' })
      push(finish('tool-calls'))
    }, says('ok'))
    await service.prompt(id, 'go')
    await service.idle(id)
    expect(ran).toEqual([])
    expect(tools(service.messages(id)[1])).toMatchObject([{ state: { status: 'error' } }])
  })

  it('that comes after the end of the answer is refused, and the model is told', async () => {
    const ran: string[] = []
    const tool: PlayedTool = {
      id: 'echo',
      async invoke({ value }) {
        ran.push(value)
        return { title: '', output: '' }
      },
    }
    const service = await startTestService({ tools: [tool] })
    const id = await service.session()
    service.steps.push((push) => {
      push({ type: 'tool-call', callId: 'a', tool: 'echo', input: '{"value":"timely"}' })
      push(finish('stop'))
      push({ type: 'tool-call', callId: 'a', tool: 'echo', input: '{"value":"again"}' })
      push({ type: 'tool-call', callId: 'b', tool: 'echo', input: '{"value":"late"}' })
    }, says('ok'))
    await service.prompt(id, 'go')
    await service.idle(id)
    expect(ran).toEqual(['timely'])
    expect(tools(service.messages(id)[1])).toMatchObject([
      { callId: 'a', state: { status: 'completed' } },
      { callId: 'b', state: { status: 'error', input: { value: 'late' }, error: expect.stringContaining('after the end of the answer') } },
    ])
    expect(service.requests).toHaveLength(2)
  })

  it('whose arguments are not JSON is an error the model can repair', async () => {
    const service = await startTestService({ tools: [echo] })
    const id = await service.session()
    service.steps.push(
      (push) => {
        push({ type: 'tool-call', callId: 'a', tool: 'echo', input: '{"value": "x' })
        push(finish('tool-calls'))
      },
      calls({ callId: 'b', tool: 'echo' }),
      says('ok'),
    )
    await service.prompt(id, 'go')
    await service.idle(id)
    expect(tools(service.messages(id)[1])).toMatchObject([
      { callId: 'a', state: { status: 'error', input: { raw: '{"value": "x' }, error: expect.stringContaining('they are not JSON') } },
    ])
    expect(service.requests[1]?.messages.at(-1)).toMatchObject({ role: 'tool', results: [{ callId: 'a', isError: true }] })
    expect(tools(service.messages(id)[2])).toMatchObject([{ callId: 'b', state: { status: 'completed' } }])
  })

  it('with arguments beyond the bound is refused', async () => {
    const service = await startTestService({ tools: [echo] })
    const id = await service.session()
    service.steps.push((push) => {
      push({ type: 'tool-input-start', callId: 'a', tool: 'echo' })
      const input = JSON.stringify({ value: 'x'.repeat(LIMITS.events.recordBytes) })
      for (let at = 0; at < input.length; at += 65_536) push({ type: 'tool-input', callId: 'a', delta: input.slice(at, at + 65_536) })
      push({ type: 'tool-call', callId: 'a', tool: 'echo', input })
      push(finish('tool-calls'))
    }, says('ok'))
    await service.prompt(id, 'go')
    await service.idle(id)
    expect(tools(service.messages(id)[1])).toMatchObject([
      { state: { status: 'error', input: {}, error: expect.stringContaining('512 KiB') } },
    ])
    for (const { data } of service.events) expect(JSON.stringify(data).length).toBeLessThan(LIMITS.events.recordBytes)
  })

  it('with more values than can be judged at once is refused, and its faults are few', async () => {
    const service = await startTestService({ tools: [echo] })
    const id = await service.session()
    service.steps.push(
      calls({ callId: 'a', tool: 'echo', input: { value: Array.from({ length: 20_000 }, () => ({})) } }),
      calls({ callId: 'b', tool: 'echo', input: { value: Array.from({ length: 2000 }, () => ({})) } }),
      says('ok'),
    )
    await service.prompt(id, 'go')
    await service.idle(id)
    const errors = [1, 2].map((index) => tools(service.messages(id)[index])?.map(({ state }) => state.status === 'error' && state.error))
    expect(errors).toEqual([
      ['The arguments of "echo" are not valid: they are JSON that has more than 16384 values.'],
      ['The arguments of "echo" are not valid: value: Invalid input: expected string, received array'],
    ])
  })
})

describe('a step', () => {
  it('has 64 calls at most; the first beyond them is answered and no other is kept', async () => {
    const service = await startTestService({ tools: [echo] })
    const id = await service.session()
    service.steps.push((push) => {
      for (let index = 0; index < 200; index++) {
        const callId = `call-${index}`
        push({ type: 'tool-input-start', callId, tool: 'echo' })
        push({ type: 'tool-call', callId, tool: 'echo', input: '{"value":"x"}' })
      }
      push(finish('tool-calls'))
    }, says('ok'))
    await service.prompt(id, 'go')
    await service.idle(id)
    const made = tools(service.messages(id)[1])
    expect(made?.map(({ state }) => state.status)).toEqual([...Array.from({ length: 64 }, () => 'completed'), 'error'])
    expect(made?.[64]).toMatchObject({ callId: 'call-64', state: { error: expect.stringContaining('at most 64 tool calls') } })
  })
})
