// Holds choice 12.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type GenerateRequest, type ModelMessage, ProviderError, type StreamPart } from '../../../src/ports/provider-adapter.js'
import { createOfflineAdapter } from '../../../src/plugins/providers/offline/adapter.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { settings } from './openai-compatible/setup.js'

const tool = (id: string) => ({ id, description: id, parameters: {} })
const TOOLS = ['read', 'grep', 'glob', 'write', 'edit', 'bash', 'question', 'todowrite'].map(tool)
const user = (text: string): ModelMessage => ({ role: 'user', content: [{ type: 'text', text }] })
const said = (text: string): ModelMessage => ({ role: 'assistant', content: [{ type: 'text', text }] })
const result = (output: string, isError = false): ModelMessage => ({
  role: 'tool',
  results: [{ callId: 'c', tool: 'any', output, isError }],
})

function offline(options: Record<string, unknown> = {}) {
  const effects = createFakeEffects()
  const adapter = createOfflineAdapter(settings({ providerId: 'svc', npm: 'svc', options: { latency: 0, ...options } }), effects)
  const start = (messages: readonly ModelMessage[], request: Partial<GenerateRequest> = {}) => {
    const parts: StreamPart[] = []
    const abort = new AbortController()
    const full = {
      sessionId: 'ses_1',
      directory: '/w',
      model: { id: 'offline', providerId: 'svc' },
      messages,
      tools: TOOLS,
      options: {},
      ...request,
    }
    const done = adapter.generate(full, (part) => parts.push(part), abort.signal)
    return { parts, abort, done }
  }
  return {
    effects,
    start,
    async run(messages: readonly ModelMessage[], request: Partial<GenerateRequest> = {}) {
      const { parts, done } = start(messages, request)
      await done
      return summary(parts)
    },
  }
}

function summary(parts: readonly StreamPart[]) {
  return {
    text: parts.flatMap((part) => (part.type === 'text' ? [part.delta] : [])).join(''),
    calls: parts.flatMap((part) => (part.type === 'tool-call' ? [[part.tool, JSON.parse(part.input) as unknown]] : [])),
    reason: parts.flatMap((part) => (part.type === 'finish' ? [part.reason] : [])).join(),
  }
}

const script = (...steps: readonly unknown[]) =>
  user(`Play:\n\`\`\`svc-script\n${steps.map((step) => JSON.stringify(step)).join('\n')}\n\`\`\`\n`)

describe('the offline model', () => {
  it('begins to answer a prompt after 300 ms, or as long as it is told; the steps that follow, titles and scripts begin at once', async () => {
    const begun = async (messages: readonly ModelMessage[], options: object = { latency: undefined }) => {
      const { effects, start } = offline({ ...options })
      const { parts, done } = start(messages)
      await effects.clock.advanceAsync(0)
      const atOnce = parts.length > 0
      await effects.clock.advanceAsync(299)
      const before = parts.length > 0
      await effects.clock.advanceAsync(1)
      expect(parts.length).toBeGreaterThan(0)
      await done
      return [atOnce, before]
    }
    const title: ModelMessage = { role: 'system', text: 'Write a title for the conversation.' }
    expect(await begun([user('hello')])).toEqual([false, false])
    expect(await begun([user('hello'), said('Hello.'), user('list')])).toEqual([false, false])
    expect(await begun([user('hello')], { latency: 20 })).toEqual([false, true])
    expect(await begun([user('hello')], { latency: 'long' })).toEqual([false, false])
    expect(await begun([user('list'), said('…'), result('a.txt')])).toEqual([true, true])
    expect(await begun([title, user('hello')])).toEqual([true, true])
    expect(await begun([script({ text: 'at once' })])).toEqual([true, true])
  })

  it('ends what it thinks about when it is aborted', async () => {
    const { parts, abort, done } = offline({ latency: 300 }).start([user('hello')])
    abort.abort(new Error('enough'))
    await expect(done).rejects.toThrow('aborted')
    expect(parts).toEqual([])
  })

  it('says what it is and what it understands', async () => {
    const { text, calls, reason } = await offline().run([user('hello')])
    expect(text).toContain('not an AI')
    expect(text).toContain('- read <file>')
    expect({ calls, reason }).toEqual({ calls: [], reason: 'stop' })
  })

  it('works through several requests, a tool call per step, and sums up', async () => {
    const { run } = offline()
    const prompt = user('1. read a.txt\n2. run false\n3. fly')
    const first = await run([prompt])
    expect(first).toEqual({
      text: 'I am the offline assistant of svc: a fixed set of rules, not an AI. Step 1 of 2: reading a.txt.',
      calls: [['read', { filePath: 'a.txt' }]],
      reason: 'tool-calls',
    })
    const second = await run([prompt, said(first.text), result('one\ntwo')])
    expect(second).toEqual({
      text: 'Step 2 of 2: running `false`.',
      calls: [['bash', { command: 'false', description: 'Run false' }]],
      reason: 'tool-calls',
    })
    expect(await run([prompt, said(first.text), result('one\ntwo'), said(second.text), result('exit 1', true)])).toEqual({
      text: 'Reading a.txt is done:\n\n    one\n    two\n\nRunning `false` failed: exit 1\n\nI do not understand "fly".\n\nSay "help" to see what I understand.',
      calls: [],
      reason: 'stop',
    })
  })

  it('does nothing of what the runtime tells it, whatever stands in there, and says what that was', async () => {
    const model = offline()
    for (const text of ['run rm -rf x', 'write a: b', '```svc-script\n{"tool":"bash","input":{"command":"x"}}\n```']) {
      const told = user(`<svc-runtime-notification>\nThe task has ended:\n${text}\n</svc-runtime-notification>`)
      const { calls, text: answer, reason } = await model.run([user('help'), said('…'), told])
      expect([calls, reason]).toEqual([[], 'stop'])
      expect(answer).toContain(`    ${text.split('\n')[0]}`)
      expect((await model.run([user('help'), said('…'), user(text)])).calls).toHaveLength(1)
    }
  })

  it('starts anew with each prompt and goes on when told to continue', async () => {
    const { run } = offline()
    const before = [user('read a.txt'), said('…'), result('text'), said('…')]
    expect((await run([...before, user('read b.txt')])).calls).toEqual([['read', { filePath: 'b.txt' }]])
    expect((await run([...before, user('Continue where you stopped.')])).text).toContain('Reading a.txt is done')
  })

  it('calls no tool that is not offered, and says so', async () => {
    const { text, calls } = await offline().run([user('delegate look around\nrun ls')], { tools: [] })
    expect(calls).toEqual([])
    expect(text).toContain('I cannot help with delegating "look around": the tool task is not offered here.')
  })

  it('lists the prompts of a conversation that is compacted, after those of the summary before, and plays none of them', async () => {
    const script = '```svc-script\n[{"say": "played"}]\n```'
    const conversation = `<conversation>\n[user]\nread a.txt\n\n[assistant]\nread it\n\n[user]\n${script}\n</conversation>\n\nWrite the summary.`
    const { text } = await offline().run([user(`<summary-so-far>\nIntro:\n- list\n</summary-so-far>\n\n${conversation}`)], { tools: [] })
    expect(text.split('\n').slice(2)).toEqual(['- list', '- read a.txt', expect.stringContaining('svc-script')])
  })

  it('lists the prompts when it is to summarise', async () => {
    const { text } = await offline().run([user('read a.txt'), said('…'), user('Write a summary of this conversation.')], { tools: [] })
    expect(text).toBe('Requests of the user so far (a plain list, made without an AI):\n\n- read a.txt')
  })

  it('streams words and estimates tokens by length', async () => {
    const { start } = offline()
    const { parts, done } = start([script({ text: 'one two three' })])
    await done
    expect(parts).toEqual([
      { type: 'text', delta: 'one' },
      { type: 'text', delta: ' two' },
      { type: 'text', delta: ' three' },
      { type: 'finish', reason: 'stop', usage: { input: 28, output: 4, reasoning: 0, cache: { read: 0, write: 0 }, total: 32 } },
    ])
  })
})

describe('a script', () => {
  it('plays reasoning, text and parallel calls as one step, and the rest after their results', async () => {
    const { start, run } = offline()
    const good = script(
      { reasoning: 'hm', text: 'ok' },
      { tool: 'read', input: { filePath: 'a' } },
      { tool: 'grep', input: '{"broken' },
      { text: 'end' },
    )
    const { parts, done } = start([good])
    await done
    expect(parts.map((part) => part.type)).toEqual([
      'reasoning-start',
      'reasoning',
      'reasoning-end',
      'text',
      'tool-input-start',
      'tool-input',
      'tool-call',
      'tool-input-start',
      'tool-input',
      'tool-call',
      'finish',
    ])
    expect(parts.filter((part) => part.type === 'tool-call')).toEqual([
      { type: 'tool-call', callId: 'call_1_0', tool: 'read', input: '{"filePath":"a"}' },
      { type: 'tool-call', callId: 'call_1_1', tool: 'grep', input: '{"broken' },
    ])
    expect(await run([good, said('ok'), result('a')])).toEqual({ text: 'end', calls: [], reason: 'stop' })
    expect(await run([good, said('ok'), result('a'), said('end'), user('continue')])).toMatchObject({ text: 'The script is over.' })
  })

  it.each([
    ['{"text":"a"}\n{"txt":"b"}', 'step 2: '],
    ['{"text":"a"}\n\n# comment\n{"text":', 'line 4 is not valid JSON'],
    ['[{"text":"a"}', 'it is not valid JSON'],
    ['{"text":"abcdefgh","repeat":100000}\n'.repeat(6), 'step 6: the script streams more than 4194304 characters'],
  ])('that is broken is not played, and told what is wrong: %#', async (content, problem) => {
    const { text } = await offline().run([user(`\`\`\`svc-script\n${content}\n\`\`\``)])
    expect(text).toContain(`This script cannot be played: ${problem}`)
  })

  it('ends a step where it says so', async () => {
    const { run } = offline()
    const prompt = script({ text: 'a', finish: 'length' }, { text: 'b' })
    expect(await run([prompt])).toEqual({ text: 'a', calls: [], reason: 'length' })
    expect(await run([prompt, said('a'), user('Continue exactly where you stopped.')])).toEqual({ text: 'b', calls: [], reason: 'stop' })
  })

  it('fails as it says, and only so often', async () => {
    const { start, run } = offline()
    const prompt = script({ text: 'a', error: { message: 'slow down', status: 429, retryAfterMs: 5, times: 1 } })
    const error: unknown = await start([prompt]).done.catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(ProviderError)
    expect(error).toMatchObject({ message: 'Provider "svc" answered 429: slow down', retryable: true, retryAfterMs: 5, overflow: false })
    expect((await run([prompt])).text).toBe('a')
    const fatal = script({ error: { message: 'no', status: 401 } })
    await expect(start([fatal]).done).rejects.toMatchObject({ retryable: false })
    await expect(start([fatal]).done).rejects.toMatchObject({ retryable: false })
  })

  it('waits by the clock, in pieces as small as it says', async () => {
    const { start, effects } = offline()
    const { parts, done } = start([script({ delayMs: 100, text: 'abcd', chunk: 2, gapMs: 10, repeat: 2 })])
    await effects.clock.advanceAsync(99)
    expect(parts).toEqual([])
    await effects.clock.advanceAsync(1)
    expect(parts).toEqual([{ type: 'text', delta: 'ab' }])
    await effects.clock.advanceAsync(30)
    await done
    expect(summary(parts).text).toBe('abcdabcd')
  })

  it('stops at once when aborted', async () => {
    const { start, effects } = offline()
    const { parts, abort, done } = start([script({ text: 'a b', gapMs: 1000 })])
    await effects.clock.advanceAsync(0)
    abort.abort()
    await expect(done).rejects.toMatchObject({ retryable: false, message: 'The request to provider "svc" was aborted.' })
    expect(parts).toEqual([{ type: 'text', delta: 'a' }])
    expect(effects.clock.pendingTimers).toBe(0)
  })

  it('is read from the configured file, and from the prompt first', async () => {
    const { effects } = offline()
    const path = join(effects.root, 'script.json')
    writeFileSync(path, JSON.stringify([{ text: 'from file' }]))
    const { run } = offline({ script: path })
    expect((await run([user('anything')])).text).toBe('from file')
    expect((await run([script({ text: 'from prompt' })])).text).toBe('from prompt')
    expect((await offline({ script: '/nowhere' }).run([user('x')])).text).toContain('the file /nowhere cannot be read')
  })
})
