// Holds subsystems d.3; decision 38: a large token file is read in parts, to the same end as at once.
import { expect, test } from 'vitest'
import {
  createTokensBefore,
  readTokenDocument,
  readTokens,
  type TokenDocument,
} from '../../../src/actors/tenancy/tenants/token-document.js'
import { createTokenParts, Misshapen } from '../../../src/actors/tenancy/tenants/token-parts.js'

/** As `token-file.ts` reads a large one, with so many characters at a time. */
function inParts(text: string, chunk: number, part: number): TokenDocument & { readonly parts?: number } {
  const before = createTokensBefore()
  const cut = createTokenParts(part)
  const tokens = []
  try {
    let parts = 0
    for (let at = 0; at < text.length; at += chunk) {
      for (const each of cut.push(text.slice(at, at + chunk))) {
        before.line = each.line
        parts++
        const read = readTokens(`{"tokens":[${each.text}]}`, before)
        if (!read.ok) return read
        tokens.push(...read.tokens)
      }
    }
    cut.end()
    return { ok: true, tokens, parts }
  } catch (error) {
    if (error instanceof Misshapen) return { ok: false, line: error.line, reason: error.message }
    throw error
  }
}

const entry = (at: number) => ({
  token: `t${at}`,
  tenantId: 'a',
  directoryPrefixes: [`/srv/${at}`, '/q"[{]}\\,ü'.replace('\\', '')],
  maxSessions: at,
})
const ENTRIES = Array.from({ length: 9 }, (_, at) => entry(at))
const TEXTS = [0, 1].map((indent) => JSON.stringify({ tokens: ENTRIES }, null, indent))

test.each([1, 2, 7, 64, 10_000])('%i characters at a time: the tokens are those of the whole, in parts that are bounded', (chunk) => {
  for (const text of TEXTS) {
    expect(inParts(text, chunk, 100)).toMatchObject({ ok: true, tokens: ENTRIES })
    expect(inParts(text, chunk, 100).parts).toBeGreaterThan(4)
    expect(inParts(text, chunk, 1_000_000).parts).toBe(1)
  }
  expect(inParts(' { "tokens" : [ ] } \n', chunk, 1)).toEqual({ ok: true, tokens: [], parts: 1 })
})

test('what is wrong is said with the line and the place that it has in the whole', () => {
  const same = (...tokens: object[]) => {
    const text = JSON.stringify({ tokens }, null, 1)
    const whole = readTokenDocument(text)
    expect(whole.ok).toBe(false)
    for (const chunk of [1, 50, 5000]) expect(inParts(text, chunk, 60)).toEqual(whole)
  }
  same(...ENTRIES, { ...entry(10), tenantId: '' })
  same(...ENTRIES, { ...entry(10), more: 1 }, entry(11))
  same(...ENTRIES, entry(3), entry(11))
  same(entry(0), { ...entry(1), directoryPrefixes: ['/a', 'b'] }, ...ENTRIES.slice(2))
})

test.each([
  '',
  '[]',
  '{"tokens":[',
  '{"tokens":[1',
  '{"tokens":{}}',
  '{"tokens":[]',
  '{"tokens":[]}}',
  '{"tokens":[],}',
  '{"tokens":[]}x',
  '{"more":1,"tokens":[]}',
])('%s is refused, and so is what was cut off anywhere', (text) => {
  expect(readTokenDocument(text).ok).toBe(false)
  expect(inParts(text, 1, 1).ok).toBe(false)
})

test('a text that was changed anywhere is judged as the whole is', () => {
  const [text = ''] = TEXTS
  let refused = 0
  const otherwise: unknown[] = []
  for (let at = 0; at <= text.length; at++) {
    for (const changed of [
      text.slice(0, at),
      text.slice(0, at) + text.slice(at + 1),
      ...['"', ',', ']', '}', '{', '[', ' ', '\\'].map((each) => text.slice(0, at) + each + text.slice(at)),
    ]) {
      const whole = readTokenDocument(changed)
      const parts = inParts(changed, 97, 40)
      if (parts.ok !== whole.ok || (whole.ok && JSON.stringify(parts.ok && parts.tokens) !== JSON.stringify(whole.tokens)))
        otherwise.push([changed, parts, whole])
      if (!whole.ok) refused++
    }
  }
  expect(otherwise).toEqual([])
  expect(refused).toBeGreaterThan(5 * text.length)
})
