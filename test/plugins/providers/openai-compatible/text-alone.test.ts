// Most chunks of an answer say a piece of text and nothing else: they are told from the others without being made anew.
import { describe, expect, it } from 'vitest'
import { grownBy, mend, textAlone } from '../../../../src/plugins/providers/openai-compatible/chunks.js'
import type { JsonRecord } from '../../../../src/protocol/text/json.js'

const CONTENTS = ['a', '', ' ', null, undefined, [{ type: 'text', text: 'a' }], 1]
const OTHERS: readonly JsonRecord[] = [
  {},
  { error: null },
  { error: 'broken' },
  { usage: null },
  { usage: { total_tokens: 1 } },
  { choices: [] },
  { choices: null },
]
const CHOICES: readonly JsonRecord[] = [
  {},
  { finish_reason: null },
  { finish_reason: 'stop' },
  { error: { message: 'broken' } },
  { delta: 1 },
]
const DELTAS: readonly JsonRecord[] = [
  {},
  { role: 'assistant' },
  { refusal: 'no' },
  { reasoning_content: 'so' },
  { reasoning: null },
  { tool_calls: null },
  { tool_calls: [] },
]

const CHUNKS = CONTENTS.flatMap((content) =>
  DELTAS.flatMap((delta) =>
    CHOICES.flatMap((choice) => OTHERS.map((other): JsonRecord => ({ choices: [{ delta: { ...delta, content }, ...choice }], ...other }))),
  ),
)

describe('a chunk that says text alone', () => {
  it('is what is left of it when it is made anew, and tells no usage', () => {
    const found = CHUNKS.filter((chunk) => textAlone(chunk) !== undefined)
    expect(found.map((chunk) => ({ field: 'content', text: textAlone(chunk) }))).toEqual(found.map((chunk) => grownBy(mend(chunk))))
    expect(found.filter(({ usage }) => usage !== undefined && usage !== null)).toEqual([])
    expect(found).toContainEqual({ choices: [{ delta: { content: 'a' } }] })
  })
})
