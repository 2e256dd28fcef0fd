import { expect, test } from 'vitest'
import { patchText } from '../../../src/actors/resource/config/config-patch.js'

const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`key-${index}`, { a: {} }]))

test('a patch that makes the editor read a file again and again is refused, also where the file grows by it', async () => {
  expect(JSON.parse(await patchText('', keys(300)))).toEqual(keys(300))
  await expect(patchText('', keys(3500))).rejects.toMatchObject({ code: 'request.unprocessable', details: { edits: 3500 } })
  const large = JSON.stringify({ text: 'x'.repeat(1024 * 1024) })
  expect(JSON.parse(await patchText(large, { text: null, ...keys(2) }))).toEqual(keys(2))
  await expect(patchText(large, keys(5))).rejects.toMatchObject({ details: { edits: 5 } })
})
