// Holds laws §11.
/** What a control lease keeps others from, for every operation of the contract. */
import { expect, test } from 'vitest'
import { API } from '../../src/protocol/api.js'
import { SvcError } from '../../src/protocol/errors.js'
import { isGuardedByLease } from '../../src/protocol/route.js'
import { createFakeRuntime, SESSION_ID } from '../fakes/runtime.js'
import { createTestServer, requestOf } from './setup.js'

const ofSessions = API.filter(({ method, access }) => method !== 'GET' && (access.class === 'session' || access.class === 'interaction'))
const guarded = ofSessions.filter(isGuardedByLease)
const free = ofSessions.filter((contract) => !isGuardedByLease(contract))

/** A server with one session, and whether somebody else holds the lease of it. */
function serverWith(isHeld: boolean) {
  const runtime = createFakeRuntime({
    sessions: {
      expectControl(_caller, id) {
        if (isHeld && id === SESSION_ID) throw new SvcError('resource.conflict', 'somebody else controls this session', { sessionId: id })
      },
    },
  })
  return { runtime, server: createTestServer({ runtime }) }
}

test('what changes a session is guarded, and only what stops, waits or is about the lease is not', () => {
  expect(free.map(({ id }) => id).toSorted()).toEqual([
    'v2.sessions.abort',
    'v2.sessions.control.claim',
    'v2.sessions.control.release',
    'v2.sessions.jobs.cancel',
    'v2.sessions.wait',
    'v2.subagents.tasks.stop',
  ])
  expect(guarded.map(({ id }) => id)).toEqual(
    expect.arrayContaining([
      'v2.sessions.prompt',
      'v2.sessions.promptAsync',
      'v2.sessions.commands.execute',
      'v2.sessions.shell',
      'v2.sessions.undo',
      'v2.sessions.redo',
      'v2.sessions.revert',
      'v2.sessions.unrevert',
      'v2.sessions.compact',
      'v2.sessions.summarize',
      'v2.sessions.fork',
      'v2.sessions.update',
      'v2.sessions.delete',
      'v2.sessions.queue.clear',
      'v2.sessions.queue.pop',
      'v2.sessions.queue.release',
      'v2.sessions.messages.delete',
      'v2.sessions.parts.update',
      'v2.sessions.parts.delete',
      'v2.interactions.permissions.reply',
      'v2.interactions.questions.reply',
      'v2.interactions.questions.reject',
    ]),
  )
})

test.each(guarded.map((contract) => [contract.id, contract] as const))(
  '%s is refused while somebody else holds it',
  async (_id, contract) => {
    const { runtime, server } = serverWith(true)
    const refused = await server.inject(requestOf(contract))
    expect([refused.statusCode, refused.json<{ code: string }>().code]).toEqual([409, 'resource.conflict'])
    expect(runtime.calls).toEqual([])
    const own = serverWith(false)
    expect((await own.server.inject(requestOf(contract))).statusCode).toBe(contract.success.status)
    await Promise.all([server.close(0), own.server.close(0)])
  },
)

test.each(
  [...free, ...API.filter(({ method, access }) => method === 'GET' && access.class === 'session')].map(
    (contract) => [contract.id, contract] as const,
  ),
)('%s is free', async (_id, contract) => {
  const { server } = serverWith(true)
  const answer = await server.inject(requestOf(contract))
  expect(answer.statusCode).toBe(contract.success.status)
  await server.close(0)
})
