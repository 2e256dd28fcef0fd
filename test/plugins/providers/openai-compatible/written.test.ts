// What was written of a conversation before stands: it is the same text as if all were written anew, and only what is new is looked at.
import { describe, expect, it } from 'vitest'
import { createHeld, type Held } from '../../../../src/plugins/providers/exchange/held.js'
import { bytesOf } from '../../../../src/plugins/providers/exchange/pieces.js'
import { wellFormed } from '../../../../src/plugins/providers/exchange/json.js'
import { messagesOf } from '../../../../src/plugins/providers/openai-compatible/messages.js'
import { toPrompt } from '../../../../src/plugins/providers/openai-compatible/prompt.js'
import { type Writing, written } from '../../../../src/plugins/providers/openai-compatible/written.js'
import type { ModelMessage } from '../../../../src/ports/provider-adapter.js'
import { createRandom, type Random } from '../../../../src/simulation/random.js'

const LARGE = Buffer.alloc(80 * 1024, 7).toString('base64')

let marks = 0
function writingOf(changes: Partial<Writing> = {}): Writing & Pick<Held, 'fill'> {
  const mark = `mark${marks++}`
  const held = createHeld(mark)
  return {
    held,
    mark,
    fill: held.fill,
    key: 'one',
    callId: (id) => id,
    reasoningField: undefined,
    needsAnswerAfterTools: false,
    ...changes,
  }
}

function whole(messages: readonly ModelMessage[], changes: Partial<Writing>): string {
  const writing = writingOf(changes)
  return Buffer.from(writing.fill(wellFormed(JSON.stringify(messagesOf(toPrompt(messages, writing)))))).toString()
}

function grown(messages: readonly ModelMessage[], changes: Partial<Writing>): string {
  const writing = writingOf(changes)
  return Buffer.concat(bytesOf(written(messages, writing), writing)).toString()
}

/** Messages of a conversation, drawn. */
function drawn({ below, isOneIn, pick }: Random) {
  const text = () => pick(['', 'a "word"', '\ud800', '\\ud800', 'ünï', `n${below(1000)}`, `n${below(1000)}`])
  const file = () => ({ mime: 'image/png', url: `data:image/png;base64,${isOneIn(4) ? LARGE : 'aGk='}`, filename: 'a.png' })
  const some = <T>(most: number, make: () => T): T[] => Array.from({ length: below(most + 1) }, make)
  const said = () => ({ type: 'text' as const, text: text() })
  const kinds: readonly (() => ModelMessage)[] = [
    () => ({ role: 'system', text: text() }),
    ...Array.from(
      { length: 3 },
      () => (): ModelMessage => ({
        role: 'user',
        content: some(2, () => (isOneIn(6) ? { type: 'file', file: file() } : said())),
      }),
    ),
    ...Array.from(
      { length: 5 },
      () => (): ModelMessage => ({
        role: 'assistant',
        content: some(3, () =>
          pick([said(), { type: 'reasoning', text: text() }, { type: 'tool-call', callId: text(), tool: 'read', input: { path: text() } }]),
        ),
      }),
    ),
    ...Array.from(
      { length: 4 },
      () => (): ModelMessage => ({
        role: 'tool',
        results: some(2, () => ({
          callId: text(),
          tool: 'read',
          output: text(),
          isError: false,
          ...(isOneIn(6) && { attachments: [file()] }),
        })),
      }),
    ),
  ]
  return { some, message: () => pick(kinds)() }
}

describe('messages that are written', () => {
  it('are what they were if written whole, however the conversation changes', () => {
    const rules: Readonly<Record<string, Partial<Writing>>> = {
      one: { key: 'one' },
      two: { key: 'two', needsAnswerAfterTools: true, reasoningField: 'reasoning_content', callId: (id) => `call-${id}` },
    }
    for (let seed = 0; seed < 400; seed++) {
      const random = createRandom(seed)
      const { some, message } = drawn(random)
      const systems = some(2, (): ModelMessage => ({ role: 'system', text: `be ${seed}` }))
      let said: ModelMessage[] = []
      for (let step = 0; step < 8; step++) {
        // Some were made anew since: pruned, or undone.
        const anew = random.isOneIn(5) ? random.below(4) : 0
        said = [...said.map((each, index) => (index < said.length - anew ? each : structuredClone(each))), ...some(5, message)]
        const messages = [...structuredClone(systems), ...said, ...some(2, message)]
        const how = rules[random.isOneIn(5) ? 'two' : 'one'] ?? {}
        expect(grown(messages, how), `seed ${seed}`).toBe(whole(messages, how))
      }
    }
  })

  it('are looked at once: a step writes what is new', () => {
    const looked: string[] = []
    const step = (n: number): ModelMessage[] => [
      { role: 'assistant', content: [{ type: 'tool-call', callId: `c${n}`, tool: 'read', input: {} }] },
      { role: 'tool', results: [{ callId: `c${n}`, tool: 'read', output: 'text', isError: false }] },
    ]
    const look = (messages: readonly ModelMessage[]) => {
      looked.length = 0
      written(messages, writingOf({ callId: (id) => (looked.push(id), id) }))
      return new Set(looked).size
    }
    const said: ModelMessage[] = [{ role: 'user', content: [{ type: 'text', text: 'go' }] }]
    for (let n = 0; n < 1000; n++) said.push(...step(n))
    expect(look([{ role: 'system', text: 'be' }, ...said])).toBe(1000)
    for (let n = 1000; n < 1010; n++) {
      said.push(...step(n))
      expect(look([{ role: 'system', text: 'be' }, ...said])).toBeLessThanOrEqual(3)
    }
  })
})
