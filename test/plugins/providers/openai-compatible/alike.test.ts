// Events that say text and are alike come as one: what is said, and what else is told and when, is as if each had been parsed.
import { describe, expect, it } from 'vitest'
import { eventsOf } from '../../../../src/plugins/providers/exchange/events.js'
import { saying } from '../../../../src/plugins/providers/openai-compatible/models.js'
import type { JsonRecord } from '../../../../src/protocol/text/json.js'
import { createRandom } from '../../../../src/simulation/random.js'

/** What was told, in order, with texts that follow each other in events that are otherwise alike as one. */
interface Told {
  readonly what: string[]
  events: number
}

function told(pieces: readonly Uint8Array[], isJoined: boolean): Told {
  const told: Told = { what: [], events: 0 }
  let last: string | undefined
  const feed = eventsOf({
    on(event) {
      told.events++
      const said = saying(event)
      const shape =
        said === undefined
          ? undefined
          : JSON.stringify(event, (key, value: unknown) => (key === 'content' && value === said.text ? '' : value))
      if (said !== undefined && shape === last) told.what.push(`${told.what.pop() ?? ''}${said.text}`)
      else told.what.push(`${shape ?? JSON.stringify(event)} ${said?.text ?? ''}`)
      last = shape
    },
    onOther(data) {
      last = undefined
      told.what.push(`other ${data}`)
    },
    refuse(excess) {
      last = undefined
      told.what.push(`refused ${excess}`)
    },
    ...(isJoined && { saying }),
  })
  for (const piece of pieces) feed(piece)
  return told
}

const chunkOf = (delta: JsonRecord, more: JsonRecord = {}): JsonRecord => ({
  id: 'c',
  choices: [{ index: 0, delta, finish_reason: null }],
  ...more,
})
const bytesOf = (data: readonly string[]): Uint8Array => Buffer.from(data.map((each) => `data: ${each}\n\n`).join(''))

const TEXTS = [
  'a',
  ' the',
  '',
  '"',
  '\\',
  '\n',
  '\t',
  '\u2028',
  '\u0000',
  'é',
  '😀',
  '\ud83d',
  '\ude00',
  'content',
  '"content":"a"',
  '{}',
  '\\u0041',
  ',"x":1',
  '/',
]

/** An event as some server would write it. */
function drawn(random: ReturnType<typeof createRandom>): string {
  const text = random.pick(TEXTS)
  const other = random.pick(TEXTS)
  const event = random.pick<() => JsonRecord>([
    () => chunkOf({ content: text }),
    () => chunkOf({ content: text }),
    () => chunkOf({ content: text }),
    () => chunkOf({ content: text }, { content: other }),
    () => ({ before: { content: other }, ...chunkOf({ content: text }) }),
    () => chunkOf({ content: text, reasoning_content: null }),
    () => chunkOf({ reasoning_content: text }),
    () => chunkOf({ content: text, tool_calls: [] }),
    () => chunkOf({ content: text }, { usage: { total_tokens: 1 } }),
    () => chunkOf({ content: text }, { error: other }),
    () => chunkOf({ content: null }),
    () => ({ choices: [{ delta: { content: text }, finish_reason: 'stop' }] }),
  ])()
  const json = JSON.stringify(event)
  return random.pick([
    () => json,
    () => json,
    () => json,
    () => JSON.stringify(event, undefined, 1).replaceAll(/\n */g, ' '),
    () => json.replaceAll('a', '\\u0061'),
    () => json.replace('"content"', `"content":${JSON.stringify(other)},"content"`),
    () => json.replace('"content":"a"', '"content":"a\\x"'),
    () => json.replace('"content":"a"', '"content":"a\u0007"'),
    () => json.replace('"choices"', '"choices":[{"delta": {"content": "a"}}],"choices"'),
    () => json.slice(0, -1),
    () => `{"before":{"content":${JSON.stringify(random.pick(['a', 'b']))}},"choices":[{"delta":{"content": "a"}}]}`,
    () => '[DONE]',
  ])()
}

describe('events that are alike', () => {
  it('say what each of them says, wherever an answer is cut', () => {
    for (let seed = 1; seed <= 600; seed++) {
      const random = createRandom(seed)
      const kinds = Array.from({ length: 3 }, () => drawn(random))
      const data = Array.from({ length: 40 }, () => (random.below(4) === 0 ? drawn(random) : random.pick(kinds)))
      const bytes = bytesOf(data)
      const cuts = [0, ...Array.from({ length: random.below(6) }, () => random.below(bytes.length)).toSorted((a, b) => a - b), bytes.length]
      const pieces = cuts.slice(1).map((end, index) => bytes.subarray(cuts[index], end))
      expect(told(pieces, true).what, `seed ${seed}`).toEqual(told(pieces, false).what)
    }
  })

  it('are one event of all that came together', () => {
    const data = Array.from({ length: 200 }, (_, index) => JSON.stringify(chunkOf({ content: ` word${index}\n` })))
    expect(told([bytesOf(data)], true).events).toBe(2)
    expect(told([bytesOf(data)], false).events).toBe(200)
    expect(told([bytesOf(data.map((each, index) => each.replace('"c"', `"c${index}"`)))], true).events).toBe(200)
  })

  it('are not looked at where they are long, which would take longer than parsing them', () => {
    const long = JSON.stringify(chunkOf({ content: 'a'.repeat(20 * 1024 * 1024) }))
    const data = [JSON.stringify(chunkOf({ content: 'a' })), long, long]
    expect(told([bytesOf(data)], true).events).toBe(3)
    expect(told([bytesOf(data)], true).what).toEqual(told([bytesOf(data)], false).what)
  })
})
