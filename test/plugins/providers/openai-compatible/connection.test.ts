import { afterEach, describe, expect, it } from 'vitest'
import { LIMITS } from '../../../../src/protocol/limits.js'
import {
  bytes,
  createGate,
  cut,
  finish,
  finishReason,
  hold,
  reasoning,
  refusal,
  reply,
  type Script,
  stay,
  text,
  toolCall,
  usageChunk,
} from '../../../fixtures/model-server.js'
import { type Bench, createBench, play, TIMEOUTS } from './setup.js'

let bench: Bench | undefined
afterEach(() => bench?.server.close())

async function open(script: Script): Promise<Bench> {
  bench = await createBench(script)
  return bench
}

/** Resolves as soon as a step has pushed `count` parts. */
function partsOf(count: number) {
  let seen = 0
  let resolve = () => {}
  const arrived = new Promise<void>((done) => {
    resolve = done
  })
  return { arrived, onPart: () => void (++seen === count && resolve()) }
}

describe('refusals', () => {
  it.each([
    [408, true],
    [429, true],
    [500, true],
    [503, true],
    [400, false],
    [401, false],
    [403, false],
    [404, false],
  ])('of status %i are retryable: %s', async (status, retryable) => {
    const { parts, error } = await play(refusal(status, 'no luck'))
    expect(parts).toEqual([])
    expect(error).toMatchObject({ retryable, overflow: false, message: `Provider "local" answered ${status}: no luck` })
  })

  it.each([
    ['retry-after-ms', '1500', 1500],
    ['retry-after', '7', 7000],
    ['retry-after', new Date(Date.UTC(2026, 0, 5, 12) + 30_000).toUTCString(), 30_000],
    ['retry-after', 'soon', undefined],
  ])('carry the wait of %s: %s', async (header, value, expected) => {
    const { error } = await play(refusal(429, 'slow down', { [header]: value }))
    expect(error?.retryAfterMs).toBe(expected)
  })

  it.each([
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
    'prompt is too long: 210000 tokens > 200000 maximum',
    'the request exceeds the available context size',
    'Input token count (40000) exceeds the maximum number of tokens allowed',
  ])('are known as overflow: %s', async (message) => {
    const { error } = await play(refusal(400, message))
    expect(error).toMatchObject({ retryable: false, overflow: true })
  })

  it('a page for people in the place of an answer is told as one, and not asked for again', async () => {
    const { error } = await play({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body: '<!doctype html><p>hello' })
    expect(error?.message).toBe('Provider "local" answered 200: a web page (text/html): is /v1 missing in the address?')
    expect(error?.retryable).toBe(false)
  })

  it('never show the credential, even when the peer repeats it', async () => {
    const { error } = await play(refusal(401, 'Incorrect API key provided: sk-secret-1'), { settings: { apiKey: () => 'sk-secret-1' } })
    expect(error?.message).toBe('Provider "local" answered 401: Incorrect API key provided: [redacted]')
  })

  it('are whole where what stands for a credential is too short to be one', async () => {
    const { error } = await play(refusal(401, 'text of the peer'), { settings: { apiKey: () => 'x' } })
    expect(error?.message).toBe('Provider "local" answered 401: text of the peer')
  })

  it('are read only up to a bound', async () => {
    const { error } = await play({ status: 500, body: 'x'.repeat(1_000_000) })
    expect(error?.message.length).toBeLessThan(1100)
  })

  it('of a redirect name the address and do not follow it', async () => {
    const { error } = await play({ status: 307, headers: { location: 'https://elsewhere.example/v1' }, body: '' })
    expect(error).toMatchObject({ retryable: false })
    expect(error?.message).toContain('redirects to https://elsewhere.example/v1')
  })
})

describe('the connection', () => {
  it('that cannot be made is worth another try', async () => {
    const { server, start } = await open([])
    await server.close()
    const { error } = await start().outcome
    expect(error).toMatchObject({ retryable: true })
    expect(error?.message).toContain('connection failed')
  })

  it('that breaks in the middle is worth another try and finishes nothing', async () => {
    const { parts, error } = await play(reply(text('a'), toolCall({ id: 'a', name: 'read', input: {} }), cut))
    expect(parts.some((part) => part.type === 'finish' || part.type === 'tool-call')).toBe(false)
    expect(error).toMatchObject({ retryable: true })
  })

  it('that breaks after the finish reason does not matter', async () => {
    const { parts, error } = await play(reply(text('a'), finishReason('stop'), cut))
    expect(error).toBeUndefined()
    expect(parts.map((part) => part.type)).toEqual(['text', 'finish'])
  })

  it('is closed when one event grows beyond the bound', async () => {
    const { error } = await play(reply(text('a'), bytes(`data: ${'x'.repeat(5_000_000)}`), stay))
    expect(error).toMatchObject({ retryable: false, message: 'Provider "local" sent an event larger than 1048576 bytes.' })
  })

  it('is closed by an event of more lists than anybody sends, before it is parsed', async () => {
    const wide = (count: number) => bytes(`data: {"choices":[],"a":[${'[],'.repeat(count - 1)}[]]}\n\n`)
    const { error } = await play(reply(text('a'), wide(LIMITS.foreign.answerContainers), stay))
    expect(error).toMatchObject({ retryable: false, message: 'Provider "local" sent an event that has more than 16384 lists and objects.' })
    const fine = await play(reply(text('a'), wide(LIMITS.foreign.answerContainers - 3), finishReason('stop')))
    expect(fine.error).toBeUndefined()
  })

  it('needs an address', async () => {
    const { error } = await play(reply(), { settings: { baseURL: undefined } })
    expect(error).toMatchObject({ retryable: false, message: 'Provider "local" needs options.baseURL, an http(s) address.' })
  })

  it('is not waited for after the finish event with usage, and is closed soon after', async () => {
    const { server, effects, start } = await open([reply(text('a'), finishReason('stop'), usageChunk(), stay)])
    const { outcome } = start()
    expect((await outcome).parts.at(-1)).toMatchObject({ type: 'finish', reason: 'stop' })
    const { ended } = await server.request(0)
    await effects.clock.advanceAsync(2_000)
    expect(await ended).toBe('cut')
    expect(effects.clock.pendingTimers).toBe(0)
  })

  it('completes when usage does not follow the finish reason for a while', async () => {
    const watched = partsOf(1)
    const { effects, start } = await open([reply(text('a'), finishReason('stop'), stay)])
    const { outcome } = start({ onPart: watched.onPart })
    await watched.arrived
    await effects.clock.advanceAsync(2_000)
    expect((await outcome).parts.map((part) => part.type)).toEqual(['text', 'finish'])
  })

  it('serves again for the next step', async () => {
    const { server, effects, start } = await open(() => reply(text('a'), finish('stop')))
    await start().outcome
    await expect.poll(() => effects.clock.pendingTimers).toBe(0)
    await start().outcome
    const ports = server.requests.map(({ clientPort }) => clientPort)
    expect(ports).toEqual([ports[0], ports[0]])
  })
})

describe('silence', () => {
  it('before the first data ends the step after the first-byte limit', async () => {
    const { server, effects, start } = await open([reply(stay)])
    const { outcome } = start()
    const { ended } = await server.request(0)
    await effects.clock.advanceAsync(TIMEOUTS.firstByte - 1)
    await effects.clock.advanceAsync(1)
    expect((await outcome).error).toMatchObject({ retryable: true, message: 'Provider "local" sent nothing for 300000 ms.' })
    expect(await ended).toBe('cut')
  })

  it('between data ends the step after the idle limit, and comments do not break it', async () => {
    const watched = partsOf(1)
    const { effects, start } = await open([reply(text('a'), bytes(': still here\n\n'), stay)])
    const { outcome, parts } = start({ onPart: watched.onPart })
    await watched.arrived
    await effects.clock.advanceAsync(TIMEOUTS.idle)
    expect((await outcome).error).toMatchObject({ retryable: true, message: 'Provider "local" sent nothing for 120000 ms.' })
    expect(parts).toEqual([{ type: 'text', delta: 'a' }])
  })

  it('is counted anew after each data', async () => {
    const gate = createGate()
    const first = partsOf(1)
    const second = partsOf(2)
    const { effects, start } = await open([reply(text('a'), hold(gate), text('b'), stay)])
    const { outcome } = start({
      onPart: () => {
        first.onPart()
        second.onPart()
      },
    })
    await first.arrived
    await effects.clock.advanceAsync(TIMEOUTS.idle - 1)
    gate.open()
    await second.arrived
    await effects.clock.advanceAsync(TIMEOUTS.idle - 1)
    expect(effects.clock.pendingTimers).toBe(1)
    await effects.clock.advanceAsync(1)
    expect((await outcome).error?.message).toContain('sent nothing')
  })
})

describe('abort', () => {
  it('in the middle of the stream rejects, closes the connection and pushes nothing more', async () => {
    const gate = createGate()
    const watched = partsOf(1)
    const { server, effects, start } = await open([reply(text('a'), hold(gate), text('b'), stay)])
    const { outcome, abort, parts } = start({ onPart: watched.onPart })
    await watched.arrived
    const { ended } = await server.request(0)
    abort.abort()
    gate.open()
    expect((await outcome).error).toMatchObject({ retryable: false, message: 'The request to provider "local" was aborted.' })
    expect(await ended).toBe('cut')
    expect(parts).toEqual([{ type: 'text', delta: 'a' }])
    expect(effects.clock.pendingTimers).toBe(0)
  })

  it('from within a part stops the rest of the same packet', async () => {
    const bench = await open([{ ...reply(reasoning('a', 'b'), text('c'), finish('stop')), joined: true }])
    const run = bench.start({ onPart: () => run.abort.abort() })
    expect((await run.outcome).error?.message).toContain('aborted')
    expect(run.parts).toEqual([{ type: 'reasoning-start', id: 'reasoning-0' }])
  })

  it('before the answer closes the connection', async () => {
    const gate = createGate()
    const { server, start } = await open([{ steps: [hold(gate)] }])
    const { outcome, abort } = start()
    const { ended } = await server.request(0)
    abort.abort()
    expect((await outcome).error?.message).toContain('aborted')
    expect(await ended).toBe('cut')
    gate.open()
  })
})
