// Holds plugin-protocol §4.4.
import { describe, expect, test } from 'vitest'
import type { ReverseRequest } from '../../../src/actors/plugin/generation/instance.js'
import { SvcError } from '../../../src/protocol/errors.js'
import { OWNER, playLink } from './played-link.js'

const MiB = 1024 * 1024
const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('calls of the host', () => {
  test('have ids from 1, and replies in any order find their calls', async () => {
    const { link, sent, plugin } = playLink()
    const first = link.call('initialize', { a: 1 })
    const second = link.call('tool.invoke', {})
    expect(sent).toEqual([
      { id: 1, method: 'initialize', params: { a: 1 } },
      { id: 2, method: 'tool.invoke', params: {} },
    ])
    plugin({ id: 2, result: 'two' }, { id: 1 })
    expect(await Promise.all([first, second])).toEqual([null, 'two'])
  })

  test('fail with the text of an error, which wins over a result; a null error is none', async () => {
    const { link, plugin } = playLink()
    const failing = link.call('a', {})
    const fine = link.call('b', {})
    plugin({ id: 1, result: 1, error: 'unknown tool' }, { id: 2, result: 1, error: null })
    await expect(failing).rejects.toThrow('unknown tool')
    expect(await fine).toBe(1)
  })

  test('fail when their answer cannot be read but says whose it is, and so does a request', async () => {
    const { link, sent, plugin, problems } = playLink()
    const [deep, wide, odd, other] = [link.call('a', {}), link.call('b', {}), link.call('c', {}), link.call('d', {})]
    plugin(
      `{"id":1,"result":${'['.repeat(200)}${']'.repeat(200)}}\n`,
      `{"result":[${'{},'.repeat(70_000)}{}],"id":2}\n`,
      `{"id":3,"result":1,"error":7}\n`,
      `{"id":9,"method":"host.config.get","params":[${'[],'.repeat(70_000)}[]],"owner":{}}\n`,
      { id: 4, result: 'read' },
    )
    await expect(deep).rejects.toThrow('The answer of the plugin is nested deeper than 128 levels.')
    await expect(wide).rejects.toThrow('The answer of the plugin has more than 65536 lists and objects.')
    await expect(odd).rejects.toThrow('The answer of the plugin is no frame: error')
    expect(await other).toBe('read')
    expect(sent.at(-1)).toEqual({ id: 9, error: 'the request has more than 65536 lists and objects' })
    expect(problems.map(({ code }) => code)).toEqual(Array.from({ length: 4 }, () => 'malformed-frame'))
  })

  test('carry as many bytes as a frame has room for, as the list of numbers that they are', async () => {
    const asked: unknown[] = []
    const { link, sent, plugin, problems } = playLink(async ({ params }) => void asked.push(params))
    const contents = Array.from({ length: 500_000 }, (_, index) => index % 10)
    const answer = link.call('tool.invoke', {})
    plugin({ id: 1, result: { contents } }, { id: 2, method: 'host.workspace.write', params: { path: 'b', contents }, owner: OWNER })
    expect(await answer).toEqual({ contents })
    await settle()
    expect([asked, sent.at(-1), problems]).toEqual([[{ path: 'b', contents }], { id: 2, result: null }, []])
    const rows = Array.from({ length: 30_000 }, (_, index) => [index, index])
    const table = link.call('tool.invoke', {})
    plugin({ id: 2, result: { metadata: { rows } } })
    expect(await table).toEqual({ metadata: { rows } })
  })

  test('time out, send $/cancel, and their late replies are dropped and counted', async () => {
    const { link, sent, plugin, clock, problems } = playLink()
    const call = link.call('hook.invoke', {})
    clock.advance(60_000)
    await expect(call).rejects.toThrow('timed out after 60000 ms')
    expect(sent.at(-1)).toEqual({ method: '$/cancel', params: { id: 1 } })
    plugin({ id: 1, result: 'late' })
    expect(link.counters).toMatchObject({ pending: 0, dropped: 1 })
    expect(problems).toEqual([
      { code: 'timeout', message: expect.stringContaining('hook.invoke') as string },
      { code: 'late-frame', message: 'The plugin answered call 1 after it was given up.' },
    ])
    expect(clock.pendingTimers).toBe(0)
  })

  test('end with their signal and send $/cancel once', async () => {
    const { link, sent, plugin } = playLink()
    const stop = new AbortController()
    const call = link.call('tool.invoke', {}, { signal: stop.signal })
    stop.abort(new Error('the run was stopped'))
    await expect(call).rejects.toThrow('the run was stopped')
    plugin({ id: 1, result: 1 })
    expect(sent.filter(({ method }) => method === '$/cancel')).toEqual([{ method: '$/cancel', params: { id: 1 } }])
    await expect(link.call('tool.invoke', {}, { signal: stop.signal })).rejects.toThrow('the run was stopped')
    expect(sent).toHaveLength(2)
  })

  test('are at most 128 at a time; the next one fails at once and costs no id', async () => {
    const { link, sent, plugin } = playLink()
    const calls = Array.from({ length: 128 }, () => link.call('a', {}))
    await expect(link.call('a', {})).rejects.toThrow('128 calls waiting')
    plugin({ id: 128, result: 'x' })
    expect(await calls[127]).toBe('x')
    void link.call('a', {}).catch(() => undefined)
    expect(sent.at(-1)).toMatchObject({ id: 129 })
    for (const call of calls) call.catch(() => undefined)
    await link.ended()
  })

  test('that do not fit one frame fail without being sent; one that just fits is sent', async () => {
    const { link, sent } = playLink()
    const around = JSON.stringify({ id: 1, method: 'a', params: '' }).length
    await expect(link.call('a', 'é'.repeat((MiB - around) / 2 + 1))).rejects.toThrow('at most 1048576 can be sent')
    expect(sent).toEqual([])
    void link.call('a', 'x'.repeat(MiB - around)).catch(() => undefined)
    expect(sent).toHaveLength(1)
    expect(link.counters.pending).toBe(1)
  })

  test('fail when the output ends, after an unterminated last reply was taken', async () => {
    const { link, plugin } = playLink()
    const answered = link.call('a', {})
    const open = link.call('b', {})
    open.catch(() => undefined)
    plugin('{"id":1,"result":"last"}')
    await link.ended()
    expect(await answered).toBe('last')
    await expect(open).rejects.toThrow('plugin process exited')
    await expect(link.call('c', {})).rejects.toThrow('plugin process exited')
  })

  test('fail the instance when the plugin does not read', async () => {
    const { link, failures, refuseInput } = playLink()
    const open = link.call('a', {})
    open.catch(() => undefined)
    refuseInput()
    await expect(link.call('b', {})).rejects.toThrow('plugin process exited')
    expect(failures).toEqual([expect.stringContaining('does not read its input')])
    await expect(open).rejects.toThrow('does not read its input')
  })
})

describe('what is no protocol', () => {
  test('is dropped, counted and told: no JSON, no frame, wrong types, bad UTF-8, too deep, no meaning', () => {
    const { link, plugin, problems } = playLink()
    plugin(
      'log line\n',
      '[1]\n',
      'null\n',
      { id: 1.5 },
      { id: 1, error: 5 },
      { id: -1 },
      {},
      `{"id":1,"result":${'['.repeat(300)}${']'.repeat(300)}}\n`,
    )
    link.receive(Uint8Array.of(0x22, 0xff, 0x22, 0x0a))
    expect(link.counters.dropped).toBe(9)
    expect(new Set(problems.map(({ code }) => code))).toEqual(new Set(['malformed-frame']))
  })

  test('includes lines over 1 MiB; reading resumes after them', async () => {
    const { link, plugin, problems } = playLink()
    const call = link.call('a', {})
    plugin(`{"id":1,"result":"${'x'.repeat(MiB)}"}\n`, { id: 1, result: 'ok' })
    expect(await call).toBe('ok')
    expect(problems).toEqual([expect.objectContaining({ code: 'oversized-frame' })])
  })

  test('includes replies nobody waits for', () => {
    const { link, plugin, problems } = playLink()
    plugin({ id: 9, result: 1 })
    expect(problems).toEqual([expect.objectContaining({ code: 'foreign-frame' })])
    expect(link.counters.dropped).toBe(1)
  })

  test('never carries a prototype key or half a character inwards', async () => {
    const { link, plugin } = playLink()
    const call = link.call('a', {})
    plugin('{"id":1,"result":{"__proto__":{"x":1},"\\u005f_proto__":2,"ok":"\\ud800"}}\n')
    expect(await call).toEqual({ ok: '\ufffd' })
  })

  test('ends the instance when there is too much of it in one second', async () => {
    const { link, plugin, failures, problems } = playLink()
    const call = link.call('a', {})
    call.catch(() => undefined)
    for (let sent = 0; sent < 1000; sent += 100) {
      plugin('x\n'.repeat(100))
      await settle()
    }
    expect(failures).toEqual([])
    plugin('x\n')
    expect(failures).toEqual([expect.stringContaining('more than 1000 frames in one second')])
    await expect(call).rejects.toThrow('no protocol')
    expect(problems.length).toBeLessThanOrEqual(52)
    plugin({ id: 1, result: 1 })
    expect(failures).toHaveLength(1)
  })

  test('ends the instance when there is too much of it in all', async () => {
    const { plugin, failures, clock } = playLink()
    for (let second = 0; second < 20; second++) {
      for (let sent = 0; sent < 500; sent += 100) {
        plugin('x\n'.repeat(100))
        await settle()
      }
      clock.advance(1000)
    }
    expect(failures).toEqual([])
    plugin('x\n')
    expect(failures).toEqual([expect.stringContaining('more than 10000 frames')])
  })
})

describe('requests of the plugin', () => {
  const request = (id: number, rest: object = {}) => ({ id, method: 'host.config.get', params: { key: 'a' }, owner: OWNER, ...rest })

  test('are served one at a time, in order, and each is answered once', async () => {
    const running: ((value: unknown) => void)[] = []
    const seen: ReverseRequest[] = []
    const { plugin, sent, link, audits } = playLink((served) => {
      seen.push(served)
      return new Promise((resolve) => running.push(resolve))
    })
    plugin(request(3), request(9))
    expect(seen).toHaveLength(1)
    expect(seen[0]).toMatchObject({ method: 'host.config.get', params: { key: 'a' }, owner: OWNER })
    expect(link.counters.reverse).toBe(2)
    running[0]?.('dark')
    await settle()
    expect(seen).toHaveLength(2)
    running[1]?.(undefined)
    await settle()
    expect(sent).toEqual([
      { id: 3, result: 'dark' },
      { id: 9, result: null },
    ])
    expect(audits).toEqual(['host.config.get allowed', 'host.config.get allowed'])
  })

  test('without an id are ignored', () => {
    const { plugin, sent, link } = playLink()
    plugin(request(1, { id: null }), { method: 'host.config.get', owner: OWNER })
    expect(sent).toEqual([])
    expect(link.counters).toMatchObject({ reverse: 0, dropped: 0 })
  })

  test.each([
    ['no owner', undefined],
    ['another instance', { ...OWNER, instanceId: 'plugin-instance-8' }],
    ['an older generation', { ...OWNER, registryGeneration: 2 }],
    ['a field too few', { pluginId: OWNER.pluginId, instanceId: OWNER.instanceId }],
    ['a field too many', { ...OWNER, scopeId: 'ses_1' }],
  ])('with %s are refused', async (_title, owner) => {
    const { plugin, sent, audits } = playLink()
    plugin(request(1, { owner }))
    await settle()
    expect(sent).toEqual([{ id: 1, error: 'plugin reverse request has the wrong owner' }])
    expect(audits).toEqual(['host.config.get denied'])
  })

  test('take an explicit null in the owner for an absent field', async () => {
    const { plugin, sent } = playLink(async () => 1)
    plugin(request(1, { owner: { ...OWNER, scopeId: null } }))
    await settle()
    expect(sent).toEqual([{ id: 1, result: 1 }])
  })

  test('beyond 64 that wait are refused at once', () => {
    const { plugin, sent, link } = playLink(() => new Promise(() => undefined))
    plugin(...Array.from({ length: 66 }, (_, index) => request(index + 1)))
    expect(link.counters.reverse).toBe(65)
    expect(sent).toEqual([{ id: 66, error: 'too many requests are waiting: at most 64' }])
  })

  test('that wait for somebody outside let the next ones pass, and are answered when they are', async () => {
    const order: unknown[] = []
    const answers: ((value: string) => void)[] = []
    const { plugin, sent, link, audits } = playLink(async ({ params, waits }) => {
      order.push(params)
      if (params !== 'outside') return params
      waits()
      return new Promise((resolve) => answers.push(resolve))
    })
    plugin(request(1, { params: 'outside' }), request(2, { params: 'here' }))
    await settle()
    expect([order, sent, link.counters.reverse]).toEqual([['outside', 'here'], [{ id: 2, result: 'here' }], 1])
    answers[0]?.('late')
    await settle()
    expect([sent[1], audits.length, link.counters.reverse]).toEqual([{ id: 1, result: 'late' }, 2, 0])
  })

  test('that wait for somebody outside are answered as retired when the plugin is', async () => {
    const { plugin, sent, link } = playLink(async ({ params, waits }) => {
      if (params === 'outside') waits()
      return new Promise(() => undefined)
    })
    plugin(request(1, { params: 'outside' }), request(2), request(3))
    await settle()
    link.retire()
    const error = 'plugin instance is retired'
    expect(sent.filter(({ id }) => id !== undefined)).toEqual([1, 2, 3].map((id) => ({ id, error })))
  })

  test('get the text of a refusal, and nothing about an unexpected fault', async () => {
    const errors = [new SvcError('request.forbidden', 'ConfigRead is not granted'), new Error('secret path')]
    const { plugin, sent, problems, audits } = playLink(() => Promise.reject(errors.shift() ?? new Error()))
    plugin(request(1), request(2))
    await settle()
    expect(sent).toEqual([
      { id: 1, error: 'ConfigRead is not granted' },
      { id: 2, error: 'An unexpected error happened.' },
    ])
    expect(problems).toEqual([{ code: 'refused', message: 'ConfigRead is not granted' }])
    expect(audits).toEqual(['host.config.get denied', 'host.config.get denied'])
  })

  test('whose result is larger than a frame get an error instead', async () => {
    const { plugin, sent } = playLink(async () => 'x'.repeat(MiB))
    plugin(request(1))
    await settle()
    expect(sent).toEqual([{ id: 1, error: expect.stringContaining('larger than one frame') }])
  })
})

describe('streams', () => {
  const part = (kind: string, rest: object = {}) => ({
    owner: OWNER,
    requestId: 1,
    stream: { kind, streamId: 'plugin-instance-7-stream-1', ...rest },
  })
  const cancelled = { method: '$/cancelStream', params: { streamId: 'plugin-instance-7-stream-1', requestId: 1 } }
  const collect = async (items: AsyncIterable<unknown>) => {
    const seen: unknown[] = []
    try {
      for await (const item of items) seen.push(item)
    } catch (error) {
      seen.push(error instanceof Error ? `error: ${error.message}` : error)
    }
    return seen
  }
  const open = (played: ReturnType<typeof playLink>, signal?: AbortSignal) =>
    played.link.openStream('provider.stream', (ids) => ({ serviceId: 'x', ...ids }), signal)

  test('deliver their items in order, also when frames come before the reply; both spellings of the request id are taken', async () => {
    const played = playLink()
    const { stream, accepted } = open(played)
    expect(played.sent).toEqual([
      { id: 1, method: 'provider.stream', params: { serviceId: 'x', streamId: 'plugin-instance-7-stream-1', requestId: 1 } },
    ])
    const { requestId, ...other } = part('item', { value: 'b' })
    played.plugin(part('open'), part('item', { value: 'a' }), { ...other, request_id: requestId }, part('item'), part('end'), {
      id: 1,
      result: {},
    })
    await accepted
    expect(await collect(stream.items)).toEqual(['a', 'b', null])
    expect(played.link.counters.streams).toBe(0)
    expect(played.sent).toHaveLength(1)
  })

  test('deliver what is queued before the error of the plugin', async () => {
    const played = playLink()
    const { stream } = open(played)
    played.plugin(part('open'), part('item', { value: 1 }), part('error', { error: 'model is gone' }))
    expect(await collect(stream.items)).toEqual([1, 'error: A stream of plugin "dev.example.tool" failed: model is gone.'])
    await played.link.ended()
  })

  test('that break a rule fail at once and are cancelled', async () => {
    const played = playLink()
    const { stream } = open(played)
    played.plugin(part('open'), part('item', { value: 1 }), { ...part('item', { value: 2 }), requestId: 2 })
    expect(await collect(stream.items)).toEqual([expect.stringContaining('request id mismatch')])
    expect(played.sent.at(-1)).toEqual(cancelled)
    expect(played.problems).toEqual([{ code: 'malformed-frame', message: expect.stringContaining('request id mismatch') as string }])
    played.plugin(part('item', { value: 3 }))
    expect(played.link.counters.dropped).toBe(1)
    expect(played.sent.filter(({ method }) => method === '$/cancelStream')).toHaveLength(1)
    await played.link.ended()
  })

  test('of another owner or an unknown id are ignored', async () => {
    const played = playLink()
    const { stream } = open(played)
    played.plugin(
      { ...part('open'), owner: { ...OWNER, registryGeneration: 2 } },
      { requestId: 1, stream: part('open').stream },
      { owner: OWNER, requestId: 2, stream: { kind: 'open', streamId: 'plugin-instance-7-stream-2' } },
    )
    expect(played.link.counters).toMatchObject({ streams: 1, dropped: 3 })
    played.plugin(part('open'), part('end'))
    expect(await collect(stream.items)).toEqual([])
    await played.link.ended()
  })

  test('outlive a burst of thousands of items in one chunk when their consumer keeps up', async () => {
    const played = playLink()
    const { stream } = open(played)
    const seen = collect(stream.items)
    played.plugin(part('open'), ...Array.from({ length: 4096 }, (_, value) => part('item', { value })), part('end'))
    expect(played.paused).toBe(true)
    expect(await seen).toEqual(Array.from({ length: 4096 }, (_, value) => value))
    expect(played.failures).toEqual([])
    await played.link.ended()
  })

  test('fail when nobody consumes them: the 65th item is one too many', async () => {
    const played = playLink()
    const { stream } = open(played)
    played.plugin(part('open'), ...Array.from({ length: 64 }, (_, value) => part('item', { value })))
    await settle()
    expect(stream.live).toBe(true)
    expect(played.paused).toBe(false)
    played.plugin(part('item'))
    expect(stream.live).toBe(false)
    expect(await collect(stream.items)).toEqual([expect.stringContaining('backpressure limit exceeded')])
    await played.link.ended()
  })

  test('are cancelled once when their consumer leaves', async () => {
    const played = playLink()
    const { stream } = open(played)
    played.plugin(part('open'), part('item', { value: 1 }), part('item', { value: 2 }))
    for await (const item of stream.items) {
      expect(item).toBe(1)
      break
    }
    stream.cancel()
    expect(played.sent.filter(({ method }) => method === '$/cancelStream')).toEqual([cancelled])
    expect(played.link.counters.streams).toBe(0)
    await played.link.ended()
  })

  test('are not cancelled after their end', async () => {
    const played = playLink()
    const { stream } = open(played)
    played.plugin(part('open'), part('item', { value: 1 }), part('end'))
    for await (const _item of stream.items) break
    expect(played.sent).toHaveLength(1)
    await played.link.ended()
  })

  test('fail and are cancelled when the opening call is refused or times out', async () => {
    const played = playLink()
    const refused = open(played)
    played.plugin({ id: 1, error: 'no such model' })
    expect(await collect(refused.stream.items)).toEqual(['error: no such model'])
    await expect(refused.accepted).rejects.toThrow('no such model')
    expect(played.sent.at(-1)).toEqual(cancelled)
    const silent = open(played)
    played.clock.advance(60_000)
    expect(await collect(silent.stream.items)).toEqual([expect.stringContaining('timed out')])
  })

  test('are at most 32; the next one fails before anything is sent', () => {
    const played = playLink()
    for (let count = 0; count < 32; count++) open(played)
    expect(() => open(played)).toThrow('32 streams open')
    expect(played.sent).toHaveLength(32)
  })

  test('whose opening call does not fit a frame are not cancelled', async () => {
    const played = playLink()
    const { stream } = played.link.openStream('provider.stream', () => 'x'.repeat(MiB))
    expect(await collect(stream.items)).toEqual([expect.stringContaining('at most 1048576')])
    expect(played.sent).toEqual([])
  })

  test('end with their signal, which they let go of afterwards', async () => {
    const played = playLink()
    const stop = new AbortController()
    const { stream } = open(played, stop.signal)
    const seen = collect(stream.items)
    played.plugin(part('open'), { id: 1, result: {} })
    await settle()
    stop.abort(new Error('stopped'))
    expect(await seen).toEqual(['error: stopped'])
    expect(played.sent.at(-1)).toEqual(cancelled)
  })

  test('fail when the output ends', async () => {
    const played = playLink()
    const { stream } = open(played)
    const seen = collect(stream.items)
    played.plugin(part('open'))
    await played.link.ended()
    expect(await seen).toEqual(['error: plugin process exited'])
  })
})

describe('retirement', () => {
  test('fails streams, answers requests that wait, sends shutdown, closes the input, and lets earlier calls be answered', async () => {
    let served: ReverseRequest | undefined
    const played = playLink((request) => {
      served = request
      return new Promise(() => undefined)
    })
    const { link, sent, plugin } = played
    const call = link.call('tool.invoke', {})
    const { stream } = link.openStream('provider.stream', (ids) => ids)
    plugin({ id: 1, method: 'host.config.get', owner: OWNER }, { id: 2, method: 'host.config.get', owner: OWNER })
    link.retire()
    link.retire()
    expect(sent.slice(2)).toEqual([
      { id: 1, error: 'plugin instance is retired' },
      { id: 2, error: 'plugin instance is retired' },
      { method: 'shutdown', params: {} },
    ])
    expect(served?.signal.aborted).toBe(true)
    expect(played.inputClosed).toBe(true)
    await expect(stream.items[Symbol.asyncIterator]().next()).rejects.toThrow('plugin instance is retired')
    await expect(link.call('tool.invoke', {})).rejects.toMatchObject({ code: 'plugin.generation_closed' })
    expect(link.notify('event', {})).toBe(false)
    plugin({ id: 1, result: 'in time' })
    expect(await call).toBe('in time')
  })

  test('drops and counts what comes late', async () => {
    const { link, plugin, problems, failures } = playLink(async () => 'effect')
    link.openStream('provider.stream', (ids) => ids).accepted.catch(() => undefined)
    link.retire()
    plugin(
      { id: 5, method: 'host.event.publish', owner: OWNER },
      { owner: OWNER, requestId: 1, stream: { kind: 'open', streamId: 'plugin-instance-7-stream-1' } },
    )
    await link.ended()
    expect(link.counters.dropped).toBe(2)
    expect(problems.map(({ code }) => code)).toEqual(['late-frame', 'late-frame'])
    expect(failures).toEqual([])
  })
})
