import { expect, it } from 'vitest'
import { membersOf } from '../../../src/protocol/text/json-members.js'

it.each([
  '{}',
  ' { } \n',
  '{"a":1}',
  '{"a": [1, {"b": "}"}], "b":{"c,":[]} , "\\"d\\\\":"x\\\\", "e":null}',
  '{"a":"\\u00e9:,{}[]\\"","":{}}',
])('tells the members of %s', (json) => {
  expect(Object.fromEntries(membersOf(json))).toEqual(JSON.parse(json))
})

it.each([
  '',
  '[]',
  '"a"',
  '{',
  '{"a"}',
  '{"a":}',
  '{"a":1',
  '{"a":1,}',
  '{"a":1} x',
  '{a:1}',
  '{1:1}',
  '{"a":[1}',
  '{"a":1]',
  '{"a" "b":1}',
  '{"a":"x',
])('throws at what is no object: %s', (json) => {
  expect(() => [...membersOf(json)]).toThrow(SyntaxError)
})

it('tells one before the next is looked at', () => {
  const members = membersOf('{"a":1,"b":broken}')
  expect(members.next().value).toEqual(['a', 1])
  expect(() => members.next()).toThrow(SyntaxError)
})
