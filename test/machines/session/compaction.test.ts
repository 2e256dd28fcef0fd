// Holds sessions-events §6.1, §6.3, §6.7.
import { describe, expect, it } from 'vitest'
import { createSizes } from '../../../src/actors/session/state/sizes.js'
import { prunable } from '../../../src/machines/session/compaction/prune.js'
import { tailStart } from '../../../src/machines/session/compaction/tail.js'
import { cutMiddle, cutToTokens, estimateTokens } from '../../../src/machines/session/compaction/tokens.js'
import { type CompactionSettings, compactionOverrides, mergeSettings, policyOf } from '../../../src/machines/session/compaction/window.js'
import type { Message } from '../../../src/protocol/message/message.js'
import counted from '../../fixtures/counted-texts.json' with { type: 'json' }

const NONE = compactionOverrides({})
const limit = (context: number, output: number, input?: number) => ({ context, output, ...(input === undefined ? {} : { input }) })

describe('the size at which a conversation is compacted', () => {
  it.each([
    ['65 % of the window', limit(200_000, 32_000), {}, 130_000],
    ['what leaves room for the longest answer', limit(200_000, 0, 120_000), {}, 100_000],
    ['90 % of the window at the latest', limit(200_000, 10_000), { 'threshold-percent': 100 }, 180_000],
    ['a configured buffer', limit(200_000, 32_000), { buffer: 199_000 }, 1000],
    ['78,000 tokens when nothing is known', limit(0, 0), {}, 78_000],
    ['half of a window that is as long as its answer', limit(8192, 8192), {}, 4096],
    ['a percentage', limit(100_000, 4000), { 'threshold-percent': 10 }, 10_000],
  ] as const)('is %s', (_, model, settings, trigger) => {
    expect(policyOf(model, settings, NONE).trigger).toBe(trigger)
  })

  it('is what the environment says, which can also switch it off', () => {
    const policy = (env: Record<string, string>, settings: CompactionSettings = {}) =>
      policyOf(limit(200_000, 32_000), settings, compactionOverrides(env))
    expect(policy({ SVC_AGENT_AUTO_COMPACT_TOKENS: '5000' }).trigger).toBe(5000)
    expect(policy({ SVC_AGENT_COMPACTION_RESERVED_TOKENS: '150000' }).trigger).toBe(50_000)
    expect(policy({ SVC_AGENT_OUTPUT_TOKEN_MAX: '1000' }).usable).toBe(199_000)
    for (const value of ['0', 'off', 'false']) {
      expect(policy({ SVC_AGENT_AUTO_COMPACT: value }).auto).toBe(false)
      expect(policy({ SVC_AGENT_MODEL_COMPACTION: value }).auto).toBe(false)
    }
    expect(policy({ SVC_AGENT_AUTO_COMPACT_TOKENS: 'many' }).trigger).toBe(130_000)
    expect(policy({}, { auto: false }).auto).toBe(false)
  })

  it('is settled field by field, the later level first', () => {
    expect(mergeSettings([{ auto: true, buffer: 1 }, undefined, { buffer: 0 }, { auto: false }])).toEqual({ auto: false, buffer: 0 })
  })

  it('keeps a quarter of the usable window within bounds, never more than half of what triggers', () => {
    const keep = (context: number, settings: CompactionSettings = {}) => policyOf(limit(context, 1000), settings, NONE).keep
    expect([keep(200_000), keep(21_000), keep(5000), keep(1500)]).toEqual([8000, 5000, 1625, 375])
    expect(keep(200_000, { keep: { tokens: 0 } })).toBe(0)
  })
})

describe('the tail of a conversation', () => {
  const sized = (...list: readonly (readonly [number, boolean])[]) => list.map(([tokens, beginsTurn]) => ({ tokens, beginsTurn }))
  const two = sized([50, true], [50, false], [10, true], [20, false], [10, true], [20, false])

  it.each([
    ['the last two turns where they fit', 1000, 2],
    ['the last turn, and of the one before what fits', 55, 3],
    ['of the last turn what fits', 25, 5],
    ['nothing where nothing fits', 5, 6],
    ['nothing when nothing is to be kept', 0, 6],
  ] as const)('is %s', (_, budget, start) => {
    expect(tailStart(two, budget)).toBe(start)
  })

  it('is everything of a short conversation', () => {
    expect(tailStart(sized([1, true], [1, false]), 100)).toBe(0)
    expect(tailStart([], 100)).toBe(0)
  })
})

describe('old outputs of tools', () => {
  const turn = (number: number, outputs: readonly string[], metadata: object = {}): Message[] => {
    const place = { sessionId: 'ses_1', messageId: `msg_${number}` }
    const parts = outputs.map((output, at) => ({
      ...place,
      id: `prt_${number}_${at}`,
      type: 'tool' as const,
      tool: output.split(' ')[0] ?? '',
      callId: `${number}-${at}`,
      state: { status: 'completed' as const, input: {}, output, title: '', metadata, time: { start: 0, end: 1 } },
    }))
    return [
      { info: { role: 'user', id: `use_${number}`, sessionId: 'ses_1' } as Message['info'], parts: [] },
      { info: { role: 'assistant', id: `msg_${number}`, sessionId: 'ses_1' } as Message['info'], parts },
    ]
  }
  const tokens = (part: { readonly state: object }) => ('output' in part.state ? Number(String(part.state.output).split(' ')[1]) : 0)
  const found = (...turns: readonly Message[][]) => prunable(turns.flat(), tokens).map(({ callId }) => callId)

  it('are those beyond the protected ones, older than two turns', () => {
    expect(found(turn(1, ['read 30000']), turn(2, ['read 30000']), turn(3, ['read 99000']), turn(4, ['read 99000']))).toEqual(['1-0'])
  })

  it('are left when that is not worth it, and where a skill was read', () => {
    expect(found(turn(1, ['read 19000']), turn(2, ['read 40000']), turn(3, []), turn(4, []))).toEqual([])
    expect(found(turn(1, ['skill 90000']), turn(2, ['read 40000']), turn(3, []), turn(4, []))).toEqual([])
  })

  it('are looked for no further than those that were found before', () => {
    const before = turn(1, ['read 90000'], { compacted: 1 })
    expect(found(turn(0, ['read 90000']), before, turn(2, ['read 70000']), turn(3, []), turn(4, []))).toEqual(['2-0'])
  })
})

const off = (estimated: number, real: number) => Math.abs(estimated / real - 1)

describe('an estimate', () => {
  const TOLERANCE = 0.1

  it.each(counted.texts)('of $name text agrees with the o200k encoding', ({ text, o200k }) => {
    expect(off(estimateTokens(text), o200k)).toBeLessThan(TOLERANCE)
  })

  it.each(counted.texts)('of more $name text agrees with another encoding, once a request of it was reported', ({ text, cl100k }) => {
    const sizes = createSizes(() => () => undefined)
    const ref = { providerId: 'p', id: 'm' }
    const said = (times: number) => [{ role: 'user' as const, content: [{ type: 'text' as const, text: `${text}\n`.repeat(times) }] }]
    const request = { sessionId: 'ses_1', directory: '/', model: ref, messages: said(2), tools: [], options: {} }
    sizes.learn(request, { input: 2 * cl100k, output: 1, reasoning: 0, cache: { read: 0, write: 0 } })
    expect(off(sizes.of(ref, { messages: said(9) }), 9 * cl100k)).toBeLessThan(TOLERANCE)
    const other = createSizes(() => () => undefined)
    expect(off(other.of(ref, { messages: said(9) }), 9 * cl100k)).toBeLessThan(0.5)
  })

  it('of a picture does not depend on its bytes, and a report that cannot be true changes little', () => {
    const sizes = createSizes(() => () => undefined)
    const ref = { providerId: 'p', id: 'm' }
    const picture = (bytes: number) => [
      {
        role: 'user' as const,
        content: [{ type: 'file' as const, file: { mime: 'image/png', url: `data:image/png;base64,${'A'.repeat(bytes)}` } }],
      },
    ]
    expect(sizes.of(ref, { messages: picture(10) })).toBe(sizes.of(ref, { messages: picture(100_000) }))
    const request = { sessionId: 'ses_1', directory: '/', model: ref, messages: picture(10), tools: [], options: {} }
    sizes.learn(request, { input: 900_000, output: 1, reasoning: 0, cache: { read: 0, write: 0 } })
    expect(sizes.of(ref, { messages: picture(10) })).toBe(8200)
  })
})

describe('an estimate of a very long text', () => {
  const MiB = 1024 * 1024
  it.each(counted.texts)('looks at as much of it as of one of a MiB, and agrees with it: $name', ({ text }) => {
    const whole = text.repeat(Math.ceil(MiB / text.length)).slice(0, MiB)
    expect(off(estimateTokens(whole.repeat(5)), 5 * estimateTokens(whole))).toBeLessThan(0.02)
  })

  it('does not see what stands between the stretches that it looks at', () => {
    const words = 'word '.repeat(MiB)
    const [before, after] = [words.slice(0, 20_000), words.slice(21_000)]
    expect(estimateTokens(`${before}${'漢'.repeat(1000)}${after}`)).toBe(estimateTokens(words))
  })
})

describe('a text that is too long', () => {
  it('loses its middle and says how much', () => {
    expect(cutMiddle('abcdefghij', 4)).toBe('ab\n[… 6 characters left out …]\nij')
    expect(cutMiddle('abc', 4)).toBe('abc')
    expect(cutMiddle('abcdef', 0)).toBe('\n[… 6 characters left out …]\n')
  })

  it('is cut to about so many tokens, in any script', () => {
    for (const { text } of counted.texts) {
      const long = text.repeat(20)
      const cut = estimateTokens(cutToTokens(long, 500))
      expect(cut).toBeGreaterThan(350)
      expect(cut).toBeLessThan(620)
    }
  })
})
