import { expect, test } from 'vitest'
import { bundlesOf } from '../../../../src/cli/commands/session/exported-file.js'

async function* inChunks(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function split(text: string, size: number): Promise<string[]> {
  const bundles: string[] = []
  for await (const bundle of bundlesOf(inChunks(text, size))) {
    const parts: Uint8Array[] = []
    for await (const part of bundle) parts.push(part)
    bundles.push(Buffer.concat(parts).toString())
  }
  return bundles
}

const first = JSON.stringify({ title: 'a "quoted" } \\ ünïcode 🙂', messages: [{ parts: [[], {}] }], bundles: [{ no: 'bundle' }] })
const second = '{ "spaced": [ 1, 2 ] }'

test.each([1, 3, 7, 1000])('finds each bundle of a file in chunks of %i bytes', async (size) => {
  const whole = `{"other":[{"not":"this"}],"\\u0062":1, "bundles" : [${first} ,\n${second}], "more":{"bundles":[{}]}}`
  expect(await split(whole, size)).toEqual([first, second])
})

test('a bundle that breaks off ends where the file does', async () => {
  expect(await split(`{"bundles":[${first},{"title":"cut`, 5)).toEqual([first, '{"title":"cut'])
})

test.each(['', '{}', '[]', '{"bundles":[]}', '{"bundles":{"a":{}}}', 'no JSON', '[[{}]]'])('finds none in %j', async (text) => {
  expect(await split(text, 4)).toEqual([])
})
