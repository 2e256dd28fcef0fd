import { expect, test } from 'vitest'
import { createSteering } from '../../../../src/cli/commands/chat/steering.js'
import type { Client, PromptOptions } from '../../../../src/published/client/client-types.js'

type SeenEvent = Parameters<NonNullable<PromptOptions['onEvent']>>[0]

/** A server of one session: what it is asked, in order, and what it has of each prompt. */
function server({ queued = [], stored = [], isBusy = false }: { queued?: string[]; stored?: string[]; isBusy?: boolean } = {}) {
  const asked: string[] = []
  const posts: { answer(): void; fail(): void }[] = []
  const sessions = {
    prompt: () =>
      new Promise<undefined>((answer, refuse) => posts.push({ answer: () => answer(undefined), fail: () => refuse(new Error('away')) })),
    status: () => Promise.resolve(isBusy ? { ses_1: { type: 'busy' } } : {}),
    messages: {
      get: ({ messageId }: { messageId: string }) => (stored.includes(messageId) ? Promise.resolve({}) : Promise.reject(new Error('none'))),
    },
    queue: {
      pop({ messageId }: { messageId: string }) {
        asked.push(`pop ${messageId}`)
        return Promise.resolve({ removed: queued.includes(messageId) ? 1 : 0 })
      },
    },
  }
  return { asked, posts, steering: createSteering({ sessions } as unknown as Pick<Client, 'sessions'>) }
}

const steer = (messageId: string) => ({ sessionId: 'ses_1', request: { messageId, prompt: messageId } })
const event = (type: string, data: object) => ({ type, data: { sessionID: 'ses_1', ...data } }) as unknown as SeenEvent
const busy = (runID: string) => event('session.status', { status: { type: 'busy', runID } })
const said = (role: string, id: string) => event('message.updated', { info: { role, id } })

test('after an interrupt nothing is told before each prompt that was being sent has its outcome', async () => {
  const { steering, posts, asked } = server({ queued: ['waits'], stored: ['began'] })
  const sent = ['waits', 'began', 'cleared'].map((name) => steering.send(steer(name)))
  const settled = steering.settle(() => true)
  posts[0]?.answer()
  posts[1]?.answer()
  await Promise.all(sent.slice(0, 2))
  expect(asked).toEqual([])
  posts[2]?.answer()
  expect((await settled).map(({ request, fate }) => [request.messageId, fate])).toEqual([
    ['waits', 'taken-back'],
    ['began', 'runs'],
    ['cleared', 'taken-back'],
  ])
  expect(await steering.settle(() => true)).toEqual([])
})

test('a prompt whose sending failed is asked for: the server may have it', async () => {
  const { steering, posts } = server({ queued: ['waits'] })
  const sent = ['waits', 'lost'].map((name) => steering.send(steer(name)))
  for (const { fail } of posts) fail()
  await Promise.allSettled(sent)
  expect((await steering.settle(() => false)).map(({ fate }) => fate)).toEqual(['taken-back', 'taken-back'])
})

test.each([
  ['the run that is followed has it', [busy('run_1'), said('user', 'msg_1'), busy('run_1'), said('assistant', 'msg_2')], []],
  [
    'the run that is followed ends with it',
    [busy('run_1'), said('user', 'msg_1'), event('session.status', { status: { type: 'idle' } })],
    [],
  ],
  ['it was removed from the queue', [busy('run_1'), event('session.queue.updated', { action: 'clear', messageIDs: ['msg_1'] })], []],
  ['another run begins with it', [busy('run_1'), said('user', 'msg_1'), busy('run_2'), said('assistant', 'msg_2')], ['runs']],
  ['nothing is heard of it', [busy('run_1'), said('assistant', 'msg_2')], ['runs']],
])('where %s, it is settled accordingly', async (_, events, fates) => {
  const { steering, posts, asked } = server({ stored: ['msg_1'] })
  const hear = steering.listen()
  const sent = steering.send(steer('msg_1'))
  posts[0]?.answer()
  await sent
  for (const each of events) hear(each)
  expect((await steering.settle(() => false)).map(({ fate }) => fate)).toEqual(fates)
  expect(asked).toEqual([])
})
