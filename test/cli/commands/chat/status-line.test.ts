import { expect, test } from 'vitest'
import { shareStatusLine } from '../../../../src/cli/commands/chat/status-line.js'

test('the line of status is that of the turn that began first, then of the next, then of nobody', () => {
  const shown: (string | undefined)[] = []
  const line = shareStatusLine<string>((text) => shown.push(text))
  const [first, second] = [line.begin(), line.begin()]
  first.draw('one')
  second.draw('two')
  first.draw('one more')
  first.end()
  first.draw('too late')
  second.draw('two more')
  second.end()
  expect(shown).toEqual(['one', 'one more', 'two', 'two more', undefined])
})

test('a turn that ends while it waits is never shown', () => {
  const shown: (string | undefined)[] = []
  const line = shareStatusLine<string>((text) => shown.push(text))
  const [first, second] = [line.begin(), line.begin()]
  first.draw('one')
  second.draw('two')
  second.end()
  first.end()
  expect(shown).toEqual(['one', undefined])
})
