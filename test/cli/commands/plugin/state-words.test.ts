import { expect, test } from 'vitest'
import { PACKAGE_STATES } from '../../../../src/protocol/plugin/plugin.js'
import { stateWords, troubleOf } from '../../../../src/cli/commands/plugin/state-words.js'

test('every state of a package is a sentence, and what needs somebody names the command', () => {
  for (const state of PACKAGE_STATES) expect(stateWords({ state, diagnostics: [] })).toMatch(/^[a-z].{5,}$/)
  const told = (state: (typeof PACKAGE_STATES)[number]) =>
    troubleOf({ packageId: 'a.b', state, diagnostics: [{ code: 'failed', message: 'it ended.' }] })
  expect(told('failed')).toBe('does not run: it ended -> svc logs --plugin a.b')
  expect(told('permission-required')).toBe('waits for your approval, and nothing of it runs -> look at it, then: svc plugin trust a.b')
  expect(told('update-available')).toMatch(/^serves with earlier content.*: it ended -> svc logs --plugin a\.b$/)
  expect([told('active'), told('disabled'), told('loading')]).toEqual([undefined, undefined, undefined])
})
