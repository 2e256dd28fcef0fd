import { describe, expect, test } from 'vitest'
import { meantSession, mustMeanSession, ownSession } from '../../../src/actors/plugin/brokers/own-sessions.js'
import { createServedSessions } from '../../../src/actors/plugin/brokers/served-sessions.js'
import type { InstancePlace } from '../../../src/actors/plugin/generation/instance.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import type { Session } from '../../../src/protocol/session/session.js'
import { createFakeClock } from '../../../src/simulation/clock.js'

const PARENTS: Readonly<Record<string, string | undefined>> = { child: 'one', grandchild: 'child', elsewhere: 'one' }
const DIRECTORIES: Readonly<Record<string, string>> = { elsewhere: '/other' }
const sessions = {
  get: (id: string): Session | undefined =>
    ['one', 'two', 'child', 'grandchild', 'elsewhere'].includes(id)
      ? { id, slug: id, projectId: 'p', directory: DIRECTORIES[id] ?? '/w', title: id, version: '1', time: { created: 1, updated: 1 } }
      : undefined,
  parentOf: (id: string) => PARENTS[id],
}
const WORKSPACE: InstancePlace = { scope: 'workspace', workspace: '/w' }

function holder(place: InstancePlace = WORKSPACE) {
  const clock = createFakeClock()
  return { clock, place, served: createServedSessions(clock) }
}

describe('a plugin of a workspace', () => {
  test('has the session of its call, and all below it, until that has ended', async () => {
    const own = holder()
    expect(meantSession(sessions, own, undefined)).toBeUndefined()
    expect(() => mustMeanSession(sessions, own, undefined)).toThrow('serves no session')
    await own.served.during({ sessionId: 'one' }, async () => {
      expect(mustMeanSession(sessions, own, undefined).id).toBe('one')
      for (const id of ['one', 'child', 'grandchild']) expect(ownSession(sessions, own, id).id).toBe(id)
      for (const id of ['two', 'elsewhere', 'unknown']) expect(() => ownSession(sessions, own, id)).toThrow('none of its own')
    })
    expect(() => ownSession(sessions, own, 'one')).toThrow('none of its own')
  })

  test('says which, when it serves several', async () => {
    const own = holder()
    await own.served.during({ sessionId: 'one' }, () =>
      own.served.during({ sessionId: 'two' }, async () => {
        expect(meantSession(sessions, own, undefined)).toBeUndefined()
        expect(() => mustMeanSession(sessions, own, undefined)).toThrow('several')
        expect(meantSession(sessions, own, 'two')?.id).toBe('two')
      }),
    )
  })

  test('has a session for a while after an event of it, and names it', () => {
    const own = holder()
    own.served.heard('one')
    expect(own.served.current()).toEqual([])
    expect(ownSession(sessions, own, 'child').id).toBe('child')
    own.clock.advance(LIMITS.servedSessions.heard + 1)
    expect(() => ownSession(sessions, own, 'child')).toThrow('none of its own')
  })
})

describe('a plugin of a session', () => {
  test('has that one and those below it, always, and no other whatever it hears', () => {
    const own = holder({ scope: 'session', workspace: '/w', scopeId: 'one' })
    own.served.heard('two')
    expect(meantSession(sessions, own, undefined)?.id).toBe('one')
    expect(ownSession(sessions, own, 'grandchild').id).toBe('grandchild')
    expect(() => ownSession(sessions, own, 'two')).toThrow('none of its own')
  })
})

test('a call that fails is over, too', async () => {
  const { served } = holder()
  await expect(served.during({ sessionId: 'one' }, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  expect([served.current(), served.has('one')]).toEqual([[], false])
})
