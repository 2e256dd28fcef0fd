import { expect, test } from 'vitest'
import type { Client } from '../../../../src/published/client/client-types.js'
import { createTakenBack } from '../../../../src/cli/commands/run/taken-back.js'

type Seen = Parameters<ReturnType<typeof createTakenBack>['see']>[0]
const event = (type: string, data: object) => ({ type, data: { sessionID: 'ses_1', ...data } }) as unknown as Seen
const admitted = (messageId: string, text: string) =>
  event('session.prompt.admitted', { request: { messageId, parts: [{ type: 'text', text }] } })
const cleared = (...messageIDs: string[]) => event('session.queue.updated', { action: 'clear', messageIDs, queue: { items: [] } })

/** Of a session with these messages and this queue. */
function clientWith(messages: readonly string[], queue: readonly string[]): Client {
  const sessions = {
    queue: { list: async () => ({ items: queue.map((messageId) => ({ messageId })) }) },
    messages: {
      get: async ({ messageId }: { messageId: string }) => (messages.includes(messageId) ? {} : Promise.reject(new Error('none'))),
    },
  }
  return { sessions } as unknown as Client
}

test('what an abort took is told once, also where the event of it came after the run had ended', async () => {
  const takenBack = createTakenBack(() => 'ses_1')
  for (const [id, text] of [
    ['own', 'mine'],
    ['a', 'ran'],
    ['b', 'waits'],
    ['c', 'gone'],
    ['d', 'cleared'],
  ] as const)
    takenBack.see(admitted(id, text))
  takenBack.see(cleared('d'))
  expect(takenBack.texts()).toEqual([{ messageId: 'd', text: 'cleared' }])
  expect(await takenBack.unheard(clientWith(['a'], ['b']), new Set(['own']))).toEqual([{ messageId: 'c', text: 'gone' }])
  expect(takenBack.texts()).toEqual([])
})
