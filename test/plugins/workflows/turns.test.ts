import { expect, test } from 'vitest'
import { inLine } from '../../../src/plugins/workflows/turns.js'

test('whoever stands in line goes on alone, one in a turn of the event loop, in order', async () => {
  const turn = inLine()
  const went: string[] = []
  const look = () => {
    went.push('|')
    if (went.length < 8) setImmediate(look)
  }
  setImmediate(look)
  await Promise.all(['a', 'b', 'c'].map((name) => turn().then(() => went.push(name))))
  expect(went.join('')).toMatch(/^\|?a\|+b\|+c/)
})
