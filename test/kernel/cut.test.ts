import { expect, test } from 'vitest'
import { cut } from '../../src/kernel/cut.js'

test('a text that is not too long is itself, also when it ends in an emoji', () => {
  for (const text of ['', 'abc', 'ab😀']) expect(cut(text, text.length)).toBe(text)
})

test('what is cut has no half character, wherever the cut falls', () => {
  const text = 'a😀b😀😀c'.repeat(20)
  for (let most = 0; most < text.length; most++) {
    const shown = cut(text, most, '')
    expect([most, shown.isWellFormed(), shown.length <= most, text.startsWith(shown), most - shown.length < 2]).toEqual([
      most,
      true,
      true,
      true,
      true,
    ])
  }
  // The control: by hand it happens.
  expect(text.slice(0, 2).isWellFormed()).toBe(false)
})

test('what stands for the rest follows', () => {
  expect([cut('abcdef', 3), cut('abcdef', 3, ' (more)'), cut('abcdef', 0)]).toEqual(['abc…', 'abc (more)', '…'])
})
