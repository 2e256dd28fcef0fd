import { describe, expect, test } from 'vitest'
import type { PromptEvent } from '../../../src/published/client/client-types.js'
import { calls, gate, type PlayedStep, says } from '../../fakes/service.js'
import { openBench } from './bench.js'

const USAGE = { input: 1, output: 1, reasoning: 0, cache: { read: 0, write: 0 } }

async function read(events: AsyncIterable<PromptEvent>): Promise<PromptEvent[]> {
  const all: PromptEvent[] = []
  for await (const event of events) all.push(event)
  return all
}

function textOf(events: readonly PromptEvent[], type: 'text' | 'reasoning' = 'text'): string {
  return events.flatMap((event) => (event.type === type ? [event.delta] : [])).join('')
}

describe('a prompt', () => {
  test('tells what is thought and said, and ends with the stored message', async () => {
    const thinks = (push: Parameters<ReturnType<typeof says>>[0]) => {
      push({ type: 'reasoning-start', id: 'r' })
      push({ type: 'reasoning', id: 'r', delta: 'Hm, ' })
      push({ type: 'reasoning', id: 'r', delta: 'well.' })
      push({ type: 'reasoning-end', id: 'r' })
      push({ type: 'text', delta: 'Hello ' })
      push({ type: 'text', delta: 'there.' })
      push({ type: 'finish', reason: 'stop', usage: USAGE })
    }
    const { client, service } = await openBench({ steps: [thinks] })
    const { id } = await client.sessions.create({ body: { title: 'Test' } })
    const run = client.prompt(id, 'Hi')
    const events = await read(run)
    expect(textOf(events, 'reasoning')).toBe('Hm, well.')
    expect(textOf(events)).toBe('Hello there.')
    const [user, answer] = service.messages(id)
    expect(user?.info.id).toBe(run.messageId)
    expect(events.at(-1)).toEqual({ type: 'end', message: answer, text: 'Hello there.', error: undefined })
  })

  test('whose conversation is compacted around it tells the answer, and nothing of the summary', async () => {
    const heron = 'heron '.repeat(66_000)
    const full = (push: Parameters<ReturnType<typeof says>>[0]) => {
      push({ type: 'text', delta: 'The answer.' })
      push({ type: 'finish', reason: 'stop', usage: { ...USAGE, input: 90_000 } })
    }
    const { client, service } = await openBench({ steps: [says('## Goal of before'), full, says('## Goal of after')] })
    const { id } = await client.sessions.create({ body: { title: 'Test' } })
    await client.prompt(id, { prompt: heron, noReply: true }).result()
    const events = await read(client.prompt(id, 'and?'))
    expect(textOf(events)).toBe('The answer.')
    expect(events.at(-1)).toMatchObject({ type: 'end', text: 'The answer.', error: undefined })
    expect(service.messages(id).filter(({ info }) => info.role === 'assistant' && info.mode === 'compaction').length).toBeGreaterThan(0)
  })

  test('gives its result at once to who does not care how it came', async () => {
    const { client } = await openBench({ steps: [says('All done.')] })
    const { id } = await client.sessions.create({ body: { title: 'Test' } })
    const run = client.prompt(id, { parts: [{ type: 'text', text: 'Hi' }] })
    await expect(run.result()).resolves.toMatchObject({ type: 'end', text: 'All done.', error: undefined })
    await expect(run.result()).rejects.toThrow('this run is read already')
  })

  test('ends a prompt that wants no reply once it is stored', async () => {
    const { client, service } = await openBench()
    const { id } = await client.sessions.create({ body: { title: 'Test' } })
    await expect(client.prompt(id, { prompt: 'note this', noReply: true }).result()).resolves.toEqual({
      type: 'end',
      message: undefined,
      text: '',
      error: undefined,
    })
    expect(service.messages(id)).toHaveLength(1)
  })

  test('tells tool calls as they change', async () => {
    const tool = { id: 'echo', invoke: ({ value }: { value: string }) => Promise.resolve({ title: value, output: value, metadata: {} }) }
    const { client } = await openBench({ tools: [tool], steps: [calls({ callId: 'a', tool: 'echo' }), says('Done.')] })
    const { id } = await client.sessions.create({ body: { title: 'Test' } })
    const events = await read(client.prompt(id, 'go'))
    const states = events.flatMap((event) => (event.type === 'tool' ? [event.part.state.status] : []))
    expect(states.at(0)).not.toBe('completed')
    expect(states.at(-1)).toBe('completed')
    expect(events.at(-1)).toMatchObject({ type: 'end', text: 'Done.' })
  })

  test('says why a run has failed', async () => {
    const breaks = () => {
      throw new Error('no such model')
    }
    const { client } = await openBench({ steps: [breaks] })
    const { id } = await client.sessions.create({ body: { title: 'Test' } })
    const { error, message } = await client.prompt(id, 'go').result()
    expect(error?.interrupted).toBe(false)
    expect(error?.message).toContain('no such model')
    expect(message?.info).toMatchObject({ role: 'assistant', error: { message: error?.message } })
  })

  test('throws the refusal of a session that does not exist', async () => {
    const { client } = await openBench()
    await expect(client.prompt('ses_none', 'go').result()).rejects.toMatchObject({
      name: 'SvcClientError',
      code: 'resource.not_found',
      status: 404,
      retryable: false,
    })
  })
})

describe('what the run asks', () => {
  const ASKS = { permission: { '*': 'allow', echo: 'ask' } }
  const tool = {
    id: 'echo',
    needs: ({ value }: { value: string }) => [{ permission: 'echo', patterns: [value], title: `echo ${value}` }],
    invoke: ({ value }: { value: string }) => Promise.resolve({ title: value, output: `out ${value}`, metadata: {} }),
  }
  const steps = () => [calls({ callId: 'a', tool: 'echo' }), says('Done.')]

  test('is answered by the callback', async () => {
    const { client } = await openBench({ tools: [tool], config: ASKS, steps: steps() })
    const { id } = await client.sessions.create({ body: { title: 'Test' } })
    const asked: string[] = []
    const onPermission = ({ title }: { title: string }) => {
      asked.push(title)
      return 'once' as const
    }
    const events = await read(client.prompt(id, 'go', { onPermission }))
    expect(asked).toEqual(['echo a'])
    expect(events.flatMap((event) => (event.type === 'permission' ? [event.request.permission] : []))).toEqual(['echo'])
    expect(events.some(({ type }) => type === 'settled')).toBe(true)
    expect(events.findLast((event) => event.type === 'tool')).toMatchObject({ part: { state: { status: 'completed', output: 'out a' } } })
  })

  test('is told with what the request offers to remember beyond it', async () => {
    const offering = {
      ...tool,
      needs: ({ value }: { value: string }) => [{ permission: 'echo', patterns: [value], widen: () => 'echo *', title: `echo ${value}` }],
    }
    const { client, service } = await openBench({ tools: [offering], config: ASKS, steps: steps() })
    const { id } = await client.sessions.create({ body: { title: 'Test' } })
    await client.prompt(id, 'go', { onPermission: (_, { wider }) => ({ reply: 'always', alwaysPatterns: [...wider] }) }).result()
    expect(service.store.approvals.get('local', `global:${service.directory}`).map(({ pattern }) => pattern)).toEqual(['a', 'echo *'])
  })

  test('is refused with the words of the callback', async () => {
    const { client } = await openBench({ tools: [tool], config: ASKS, steps: steps() })
    const { id } = await client.sessions.create({ body: { title: 'Test' } })
    const events = await read(client.prompt(id, 'go', { onPermission: () => ({ reply: 'reject', message: 'not on Fridays' }) }))
    const last = events.findLast((event) => event.type === 'tool')
    expect(last?.part.state).toMatchObject({ status: 'error' })
    expect(JSON.stringify(last?.part.state)).toContain('not on Fridays')
  })

  test('is taken back when somebody else answers', async () => {
    const { client, service } = await openBench({ tools: [tool], config: ASKS, steps: steps() })
    const { id } = await client.sessions.create({ body: { title: 'Test' } })
    const withdrawn = gate()
    const run = client.prompt(id, 'go', {
      onPermission: async ({ id: requestId }, { signal }) => {
        signal.addEventListener('abort', () => withdrawn.open())
        await client.interactions.permissions.reply({ requestId, body: { reply: 'once' } })
        await withdrawn.promise
        return 'reject' as const
      },
    })
    await expect(run.result()).resolves.toMatchObject({ text: 'Done.', error: undefined })
    expect(service.requests).toHaveLength(2)
  })

  test('fails the run for its caller when the callback throws, and leaves it running', async () => {
    const { client, service } = await openBench({ tools: [tool], config: ASKS, steps: steps() })
    const { id } = await client.sessions.create({ body: { title: 'Test' } })
    const run = client.prompt(id, 'go', {
      onPermission: () => {
        throw new RangeError('out of ideas')
      },
    })
    await expect(run.result()).rejects.toThrow(new RangeError('out of ideas'))
    const [request] = await client.interactions.permissions.list({ sessionId: id })
    await client.interactions.permissions.reply({ requestId: request?.id ?? '', body: { reply: 'once' } })
    await service.idle(id)
  })
})

/** Says a text once the gate is open. */
function gated(opened: ReturnType<typeof gate>, text: string): PlayedStep {
  return async (...played) => {
    await opened.promise
    await says(text)(...played)
  }
}

describe('prompts of one session', () => {
  test('end each with its own run, whatever waits behind', async () => {
    const { client } = await openBench({ steps: [says('One.'), says('Two.')] })
    const { id } = await client.sessions.create({ body: { title: 'Test' } })
    const heard: string[] = []
    const first = client.prompt(id, { prompt: 'one', delivery: 'queue' }, { onEvent: ({ type }) => heard.push(type) }).result()
    const second = client.prompt(id, { prompt: 'two', delivery: 'queue' }).result()
    expect([(await first).text, (await second).text]).toEqual(['One.', 'Two.'])
    expect(heard).toContain('session.prompt.admitted')
  })
})

describe('an abort', () => {
  const hangs = (push: Parameters<ReturnType<typeof says>>[0], signal: AbortSignal) => {
    push({ type: 'text', delta: 'Once upon' })
    return new Promise<void>((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))
  }

  test('ends the run on the server, and the iteration with what was said', async () => {
    const { client, service } = await openBench({ steps: [hangs] })
    const { id } = await client.sessions.create({ body: { title: 'Test' } })
    const abort = new AbortController()
    const events: PromptEvent[] = []
    for await (const event of client.prompt(id, 'go', { signal: abort.signal })) {
      events.push(event)
      if (event.type === 'text') abort.abort()
    }
    expect(textOf(events)).toBe('Once upon')
    expect(events.at(-1)).toMatchObject({ type: 'end', text: 'Once upon', error: { interrupted: true } })
    expect(await client.sessions.status()).toEqual({})
    expect(service.messages(id).at(-1)?.info).toMatchObject({ role: 'assistant' })
  })

  test('of a prompt that waits takes it back, and leaves the run of another alone', async () => {
    const go = gate()
    const { client, service, asked } = await openBench({ steps: [gated(go, 'First answer.')] })
    const { id } = await client.sessions.create({ body: { title: 'Test' } })
    const first = client.prompt(id, 'first').result()
    await expect.poll(() => service.messages(id).length).toBeGreaterThan(1)
    const abort = new AbortController()
    const second = client.prompt(id, { prompt: 'second', delivery: 'queue' }, { signal: abort.signal }).result()
    await expect.poll(async () => (await client.sessions.queue.list({ sessionId: id })).count).toBe(1)
    abort.abort()
    await expect(second).resolves.toMatchObject({ type: 'end', message: undefined, error: { interrupted: true } })
    expect((await client.sessions.queue.list({ sessionId: id })).count).toBe(0)
    go.open(undefined)
    await expect(first).resolves.toMatchObject({ text: 'First answer.', error: undefined })
    expect(asked.filter((line) => line.endsWith('/abort'))).toEqual([])
  })

  /** What came of a prompt that was sent before, aborted before its events are heard. */
  async function abortedAtOnce(client: Awaited<ReturnType<typeof openBench>>['client'], id: string, messageId: string) {
    const abort = new AbortController()
    const run = client.prompt(id, { prompt: 'mine', messageId }, { signal: abort.signal, abortQueue: 'clear' }).result()
    abort.abort()
    return run
  }
  const posts = (asked: readonly string[]) => asked.filter((line) => /\/(?:abort|prompt)$/.test(line))

  test('of a prompt whose run is over ends no run that somebody else began, and clears nothing', async () => {
    const go = gate()
    const { client, service, asked } = await openBench({ steps: [says('Mine.'), gated(go, 'Of another.'), says('Later.')] })
    const { id } = await client.sessions.create({ body: { title: 'Test' } })
    await client.prompt(id, { prompt: 'mine', messageId: 'msg_mine' }).result()
    await service.effects.clock.advanceAsync(1)
    const other = client.prompt(id, 'of another').result()
    await expect.poll(() => service.messages(id).length).toBeGreaterThan(3)
    await client.sessions.prompt({ sessionId: id, body: { prompt: 'later', delivery: 'queue' } })
    const before = posts(asked)
    await expect(abortedAtOnce(client, id, 'msg_mine')).resolves.toMatchObject({ text: 'Mine.' })
    expect(posts(asked)).toEqual(before)
    expect((await client.sessions.queue.list({ sessionId: id })).count).toBe(1)
    go.open(undefined)
    await expect(other).resolves.toMatchObject({ text: 'Of another.', error: undefined })
  })

  test('of a prompt that was sent before ends its run, and sends it no second time', async () => {
    const { client, service, asked } = await openBench({ steps: [hangs] })
    const { id } = await client.sessions.create({ body: { title: 'Test' } })
    await client.sessions.prompt({ sessionId: id, body: { prompt: 'mine', messageId: 'msg_mine' } })
    await expect.poll(() => service.messages(id).length).toBe(2)
    const before = posts(asked)
    await expect(abortedAtOnce(client, id, 'msg_mine')).resolves.toMatchObject({ error: { interrupted: true } })
    expect(posts(asked).slice(before.length)).toEqual([expect.stringContaining('/abort')])
    expect(await client.sessions.status()).toEqual({})
  })

  test.each([
    ['a session at rest', false],
    ['one in which somebody else works', true],
  ])('of a prompt that never came to %s keeps it from being sent', async (_, isBusy) => {
    const go = gate()
    const { client, service, asked } = await openBench({ steps: [gated(go, 'Of another.')] })
    const { id } = await client.sessions.create({ body: { title: 'Test' } })
    const other = isBusy ? client.prompt(id, 'of another').result() : undefined
    await expect.poll(() => service.messages(id).length).toBeGreaterThan(isBusy ? 1 : -1)
    const before = posts(asked)
    await expect(abortedAtOnce(client, id, 'msg_mine')).resolves.toMatchObject({ message: undefined, isTakenBack: true })
    expect(posts(asked)).toEqual(before)
    go.open(undefined)
    expect((await other)?.text).toBe(isBusy ? 'Of another.' : undefined)
  })

  test('before the prompt keeps it from being sent', async () => {
    const { client, asked } = await openBench()
    const reason = new Error('changed my mind')
    await expect(client.prompt('ses_1', 'go', { signal: AbortSignal.abort(reason) }).result()).rejects.toBe(reason)
    expect(asked).toEqual([])
  })
})

describe('a lost connection', () => {
  test('in mid-stream loses and repeats no text', async () => {
    const first = gate()
    const second = gate()
    const slow: ReturnType<typeof says> = async (push) => {
      push({ type: 'text', delta: 'One ' })
      await first.promise
      push({ type: 'text', delta: 'two ' })
      await second.promise
      push({ type: 'text', delta: 'three.' })
      push({ type: 'finish', reason: 'stop', usage: USAGE })
    }
    const { client, cut, streams, cursors } = await openBench({ steps: [slow] })
    const { id } = await client.sessions.create({ body: { title: 'Test' } })
    const events: PromptEvent[] = []
    for await (const event of client.prompt(id, 'go')) {
      events.push(event)
      if (event.type === 'text' && event.delta === 'One ') {
        cut()
        first.open()
        void streams(2).then(() => second.open())
      }
    }
    expect(textOf(events)).toBe('One two three.')
    expect(events.at(-1)).toMatchObject({ text: 'One two three.', error: undefined })
    expect(cursors[1]).toMatch(/^\d+$/)
  })

  test('that lasted longer than the log is made up for from what is stored, and told', async () => {
    const gates = [gate(), gate()] as const
    const slow: ReturnType<typeof says> = async (push) => {
      push({ type: 'text', delta: 'One ' })
      await gates[0].promise
      push({ type: 'text', delta: 'two ' })
      await gates[1].promise
      push({ type: 'text', delta: 'three.' })
      push({ type: 'finish', reason: 'stop', usage: USAGE })
    }
    const { client, cut, streams, service } = await openBench({ steps: [slow] })
    const { id } = await client.sessions.create({ body: { title: 'Test' } })
    const events: PromptEvent[] = []
    for await (const event of client.prompt(id, 'go')) {
      events.push(event)
      if (event.type !== 'text' || event.delta !== 'One ') continue
      await service.session()
      service.store.prune({ before: service.effects.clock.now() + 1, maxRows: 0, maxBytes: 0, batch: 1000, auditRows: 1 })
      cut()
      gates[0].open()
      void streams(3).then(() => gates[1].open())
    }
    expect(textOf(events)).toBe('One two three.')
    expect(events.filter(({ type }) => type === 'gap')).toEqual([{ type: 'gap', reason: 'expired', after: expect.any(Number) }])
    expect(events.at(-1)).toMatchObject({ type: 'end', text: 'One two three.', error: undefined })
  })

  test('before the first event is made up for from what is stored', async () => {
    const { client, cut, loseAnswer, asked } = await openBench({ steps: [says('All there.')] })
    const { id } = await client.sessions.create({ body: { title: 'Test' } })
    // The prompt arrives, its answer and the stream do not.
    loseAnswer(/POST .*prompt$/, 1)
    const run = client.prompt(id, 'go')
    const events = run[Symbol.asyncIterator]()
    const all: PromptEvent[] = []
    for (let next = await events.next(); next.done !== true; next = await events.next()) {
      if (all.length === 0) cut()
      all.push(next.value)
    }
    expect(textOf(all)).toBe('All there.')
    expect(all.at(-1)).toMatchObject({ type: 'end', text: 'All there.' })
    expect(asked.filter((line) => line.endsWith('/prompt'))).toHaveLength(2)
  })

  test('does not submit a prompt twice that was admitted', async () => {
    const { client, loseAnswer, service } = await openBench({ steps: [says('Once.')] })
    const { id } = await client.sessions.create({ body: { title: 'Test' } })
    loseAnswer(/POST .*prompt$/, 2)
    await expect(client.prompt(id, 'go').result()).resolves.toMatchObject({ text: 'Once.' })
    expect(service.messages(id).map(({ info }) => info.role)).toEqual(['user', 'assistant'])
  })

  test('is no reason to ask again for what an earlier program has asked under the same id', async () => {
    const { client, service } = await openBench({ steps: [says('Asked before.')] })
    const { id } = await client.sessions.create({ body: { title: 'Test' } })
    await client.prompt(id, { prompt: 'go', messageId: 'msg_mine' }).result()
    const events = await read(client.prompt(id, { prompt: 'go', messageId: 'msg_mine' }))
    expect(textOf(events)).toBe('Asked before.')
    expect(events.at(-1)).toMatchObject({ type: 'end', text: 'Asked before.' })
    expect(service.requests).toHaveLength(1)
  })

  test('is given up after the attempts its caller allows', async () => {
    const never = gate()
    const hangs: ReturnType<typeof says> = (push) => {
      push({ type: 'text', delta: 'So' })
      return never.promise
    }
    const { client, cut, fail } = await openBench({ steps: [hangs] })
    const { id } = await client.sessions.create({ body: { title: 'Test' } })
    const events: PromptEvent[] = []
    const reading = (async () => {
      for await (const event of client.prompt(id, 'go', { attempts: 2 })) {
        events.push(event)
        fail(/GET .*events/, 9)
        cut()
      }
    })()
    await expect(reading).rejects.toMatchObject({ code: 'client.unreachable', status: 0, retryable: true })
    never.open()
  })
})
