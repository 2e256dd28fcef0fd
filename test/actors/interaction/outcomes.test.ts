// Holds choice 40.
import { describe, expect, it } from 'vitest'
import { TRUSTED_CALLER } from '../../../src/protocol/caller.js'
import { calls, type PlayedTool, says, startTestService, type TestService } from '../../fakes/service.js'

const open: PlayedTool = {
  id: 'open',
  needs: ({ value }) => [{ permission: 'open', patterns: [value], title: `open ${value}` }],
  invoke: ({ value }) => Promise.resolve({ title: 'Open', output: value }),
}
const ASKING = { permission: { '*': 'allow', open: 'ask' } }
const begin = () => startTestService({ tools: [open], config: ASKING })

/** A call of a session that asks; answers the id of its request. */
async function asks(service: TestService, id: string, value = 'x'): Promise<string> {
  const before = service.events.length
  service.steps.push(calls({ callId: `call_${before}`, tool: 'open', input: { value } }), says('done'))
  await service.prompt(id, { prompt: 'go', delivery: 'queue' })
  const { data } = await service.until((event) => event.type === 'permission.asked' && service.events.indexOf(event) >= before)
  return String(data['id'])
}

describe('a request that somebody asks about later', () => {
  it('says which answer counted, whose it was and when, also after a second one', async () => {
    const service = await begin()
    const { interactions } = service.runtime
    const id = await service.session()
    const requestId = await asks(service, id)
    const asked = service.effects.clock.now()
    expect(interactions.permission(requestId)).toEqual({
      request: expect.objectContaining({ id: requestId, sessionId: id }) as unknown,
      state: 'pending',
      asked,
    })
    await service.effects.clock.advanceAsync(5)
    expect(interactions.replyPermission(requestId, { reply: 'reject', message: 'not now' }, { subject: 'anna' })).toBe(true)
    await service.idle(id)
    expect(interactions.replyPermission(requestId, { reply: 'once' }, { subject: 'berta' })).toBe(true)
    expect(interactions.permission(requestId)).toMatchObject({
      state: 'answered',
      reply: 'reject',
      message: 'not now',
      by: 'anna',
      asked,
      settled: asked + 5,
    })
  })

  it('says why it has ended without an answer', async () => {
    const service = await begin()
    const id = await service.session()
    const requestId = await asks(service, id)
    await service.runtime.sessions.abort(id)
    const outcome = service.runtime.interactions.permission(requestId)
    expect(outcome).toMatchObject({ state: 'withdrawn', reply: 'cancelled', reason: 'cancelled' })
    expect(outcome).not.toHaveProperty('by')
    expect(() => service.runtime.interactions.permission('per_none')).toThrow(expect.objectContaining({ code: 'resource.not_found' }))
    expect(() => service.runtime.interactions.question(requestId)).toThrow(expect.objectContaining({ code: 'resource.not_found' }))
  })
})

describe('an "always" answer', () => {
  it('is a record with who, when, where and what, can be taken back, and is asked again then', async () => {
    const service = await begin()
    const { interactions } = service.runtime
    const { directory, effects } = service
    const id = await service.session()
    const first = await asks(service, id)
    interactions.replyPermission(first, { reply: 'always' }, { subject: 'anna' })
    await service.idle(id)
    const [answer, ...others] = await interactions.remembered(TRUSTED_CALLER, directory)
    expect([answer, others]).toEqual([
      {
        id: expect.stringMatching(/^ans_\w{24}$/) as string,
        permission: 'open',
        pattern: 'x',
        exact: true,
        place: directory,
        remembered: effects.clock.now(),
        sessionId: id,
        by: 'anna',
      },
      [],
    ])
    expect(service.events.find(({ type }) => type === 'permission.remembered')?.data).toEqual({ sessionID: id, answers: [answer] })
    // Nobody else sees it, or can take it back.
    const stranger = { ...TRUSTED_CALLER, tenantId: 'other' }
    expect(await interactions.remembered(stranger, directory)).toEqual([])
    expect(await interactions.remembered(TRUSTED_CALLER, effects.root)).toEqual([])
    for (const [caller, place] of [
      [stranger, directory],
      [TRUSTED_CALLER, effects.root],
    ] as const)
      await expect(interactions.forget(caller, place, answer?.id ?? '')).rejects.toMatchObject({ code: 'resource.not_found' })

    service.steps.push(calls({ callId: 'again', tool: 'open', input: { value: 'x' } }), says('done'))
    await service.prompt(id, 'again')
    await service.idle(id)
    expect(service.events.filter(({ type }) => type === 'permission.asked')).toHaveLength(1)

    expect(await interactions.forget(TRUSTED_CALLER, directory, answer?.id ?? '')).toBe(true)
    expect(service.events.at(-1)).toMatchObject({ type: 'permission.forgotten', data: { sessionID: id, answer } })
    expect(await interactions.remembered(TRUSTED_CALLER, directory)).toEqual([])
    await expect(interactions.forget(TRUSTED_CALLER, directory, answer?.id ?? '')).rejects.toMatchObject({ code: 'resource.not_found' })
    const second = await asks(service, id)
    interactions.replyPermission(second, { reply: 'once' })
    await service.idle(id)
    expect(service.events.filter(({ type }) => type === 'permission.asked')).toHaveLength(2)
  })

  it('of an earlier version is listed without what it does not say', async () => {
    const service = await begin()
    const { directory } = service
    service.store.transact('power', () =>
      service.store.approvals.put('local', `global:${directory}`, [{ permission: 'open', pattern: 'x*', action: 'allow' }]),
    )
    const [answer, ...others] = await service.runtime.interactions.remembered(TRUSTED_CALLER, directory)
    expect([answer, others]).toEqual([{ id: expect.any(String) as string, permission: 'open', pattern: 'x*', place: directory }, []])
    expect(await service.runtime.interactions.forget(TRUSTED_CALLER, directory, answer?.id ?? '')).toBe(true)
  })
})
