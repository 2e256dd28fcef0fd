import { expect, test } from 'vitest'
import { partReader } from '../../../src/actors/plugin/process/message-parts.js'

const read = partReader([
  { id: 'x.chart', version: 2, schema: { type: 'object', required: ['title'] }, fallbackTextField: 'title' },
  { id: 'x.bare', version: 1, schema: null },
])
const SHOWN = { kind: 'x.chart', schemaVersion: '2', data: { title: 'Sales', bars: [1] }, text: 'Sales' }

test('what was declared becomes a text that everybody can show, and what was meant', () => {
  expect(read('t', undefined)).toEqual({})
  expect(read('t', {})).toEqual({})
  expect(read('t', [{ id: 'x.chart', data: SHOWN.data }])).toEqual({ parts: [SHOWN] })
  expect(read('t', [{ id: 'x.bare', data: 7 }])).toEqual({ parts: [{ kind: 'x.bare', schemaVersion: '1', data: 7, text: '[x.bare]' }] })
})

test.each([
  ['no list', 'a text', 'answered parts that are none: they are at most 16 objects { "id", "data" }'],
  ['too many', Array.from({ length: 17 }, () => ({ id: 'x.bare', data: 1 })), 'at most 16 objects'],
  ['one that is not declared', [{ id: 'y', data: {} }], 'answered a part "y", which the plugin does not declare in "messageParts"'],
  ['one against its schema', [{ id: 'x.chart', data: {} }], 'answered a part "x.chart" that is not as it was declared'],
  ['one that is too long', [{ id: 'x.bare', data: 'x'.repeat(65_536) }], 'it has more than 65536 bytes'],
])('%s is an error that the model sees', (_, given, message) => {
  expect(() => read('t', given)).toThrow(message)
})
