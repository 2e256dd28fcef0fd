import { expect, test } from 'vitest'
import { eventHints } from '../../src/cli/event-hints.js'

const record = (type: string, data: object) => `event: ${type}\ndata: ${JSON.stringify({ id: 'evt_1', type, data })}\n\n`

test('looks again after events of the type alone, wherever else the words of it stand', async () => {
  const stop = new AbortController()
  const text = [
    record('message.part.updated', { text: 'it said "permission.asked" and {"type":"permission.asked"}' }),
    record('permission.asked', { id: 'per_1' }),
    record('message.part.delta', { delta: '"permission.' }),
  ].join('')
  const pieces = [text.slice(0, 40), text.slice(40, 150), text.slice(150)].map((piece) => Buffer.from(piece))
  const open = async () => new Response(new Blob(pieces).stream())
  const hints: string[] = []
  for await (const _ of eventHints(
    open,
    (type) => {
      hints.push(type)
      return type === 'permission.asked'
    },
    stop.signal,
  )) {
    hints.push('hint')
    if (hints.length > 6) stop.abort()
  }
  const once = ['hint', 'message.part.updated', 'permission.asked', 'hint', 'message.part.delta']
  expect(hints.slice(0, 7)).toEqual([...once, 'hint', 'message.part.updated'])
})

test.each(['at its first hint', 'later'])('who stops reading %s leaves no connection open', async (when) => {
  let left = 0
  const start = (controller: ReadableStreamDefaultController) => controller.enqueue(Buffer.from(record('permission.asked', {})))
  const open = async () => new Response(new ReadableStream({ start, cancel: () => void left++ }))
  let hints = when === 'later' ? 1 : 0
  for await (const _ of eventHints(open, () => true, new AbortController().signal)) if (hints-- === 0) break
  expect(left).toBe(1)
})
