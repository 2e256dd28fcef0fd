import { expect, test } from 'vitest'
import { ruleWords } from '../../../../src/cli/commands/resource/rules-text.js'
import { readArguments } from '../../../../src/cli/arguments.js'

test('rules are told by what happens unasked, what asks, and what is denied', () => {
  expect(ruleWords({ '*': 'allow' })).toEqual({ unasked: ['everything'], asks: [], denied: [] })
  expect(ruleWords({ '*': 'deny', bash: 'allow', read: { '*': 'allow', '*.env': 'ask', 'x.env': 'allow' } })).toEqual({
    unasked: ['bash', 'read'],
    asks: ['read (*.env)'],
    denied: ['everything but what is named here'],
  })
  expect(
    ruleWords({ '*': 'allow', network: 'ask', edit: { '*': 'ask', 'a/*': 'allow', 'b/*': 'allow' }, write: 'allow', own: 'deny' }),
  ).toEqual({
    unasked: ['everything but what is named here', 'edit (a/*, b/*)'],
    asks: ['the network for commands in the sandbox', 'edit'],
    denied: ['own'],
  })
})

test('the plural is another spelling, and lists', () => {
  const list = readArguments(['agent', 'list', '--json'])
  expect(readArguments(['agents', '--json'])).toEqual(list)
  expect(readArguments(['agents', 'list', '--json'])).toEqual(list)
  expect(readArguments(['tools', 'show', 'edit'])).toEqual(readArguments(['tool', 'show', 'edit']))
  expect(readArguments(['help', 'skills'])).toEqual({ name: 'help', topic: 'skill' })
  expect(readArguments(['agentz'])).toMatchObject({ name: 'usage', problem: 'there is no command "agentz"; did you mean agent?' })
})
