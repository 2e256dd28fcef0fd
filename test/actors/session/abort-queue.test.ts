import { describe, expect, it } from 'vitest'
import { TRUSTED_CALLER } from '../../../src/protocol/caller.js'
import type { AbortQueue } from '../../../src/protocol/message/message.js'
import { gate, says, startTestService, type TestService } from '../../fakes/service.js'

/** A session whose run is held up, with a prompt that would join it and one that waits. */
async function atWork(service: TestService): Promise<string> {
  const id = await service.session()
  const never = gate()
  service.steps.push(async (push, signal) => {
    push({ type: 'text', delta: 'working' })
    await Promise.race([never.promise, new Promise((resolve) => signal.addEventListener('abort', resolve))])
    throw new Error('aborted')
  })
  await service.prompt(id, 'go')
  await service.until(({ type, data }) => type === 'message.part.delta' && data['sessionID'] === id)
  await service.prompt(id, { prompt: 'steer', delivery: 'steer', messageId: 'msg_steer' })
  await service.prompt(id, { prompt: 'later', delivery: 'queue', messageId: 'msg_later' })
  return id
}

const abort = (service: TestService, id: string, queue?: AbortQueue) => service.runtime.sessions.abort(id, queue && { queue })
const actions = (service: TestService) =>
  service.events.flatMap(({ type, data }) => (type === 'session.queue.updated' ? [[data['action'], data['messageIDs']]] : [])).slice(4)

describe('an abort', () => {
  it.each([[undefined], ['go-on']] as const)('with the queue %s lets the prompts that wait run', async (queue) => {
    const service = await startTestService()
    const id = await atWork(service)
    service.steps.push(says('to the one'), says('to the other'))
    expect(await abort(service, id, queue)).toBe(true)
    await service.idle(id)
    expect([service.requests.length, service.runtime.sessions.queue(id).count]).toEqual([3, 0])
  })

  it('of a run that is over touches neither the next one nor what waits behind it', async () => {
    const service = await startTestService()
    const { sessions } = service.runtime
    const runOf = (id: string) => {
      const status = sessions.status(TRUSTED_CALLER)[id]
      return status?.type === 'busy' ? status.runID : undefined
    }
    const id = await service.session()
    service.steps.push(says('one'))
    await service.prompt(id, 'one')
    const seen = service.events.flatMap(({ type, data }) =>
      type === 'session.status' ? [(data['status'] as { runID?: string }).runID] : [],
    )
    const over = seen.find((runId) => runId !== undefined)
    await service.idle(id)
    const never = gate()
    service.steps.push(async (push, signal) => {
      push({ type: 'text', delta: 'working' })
      await Promise.race([never.promise, new Promise((resolve) => signal.addEventListener('abort', resolve))])
      throw new Error('aborted')
    })
    await service.prompt(id, 'two')
    await service.until(({ type, data }) => type === 'message.part.delta' && data['delta'] === 'working')
    await service.prompt(id, { prompt: 'later', delivery: 'queue' })
    const running = runOf(id)
    expect([typeof over, typeof running, over === running]).toEqual(['string', 'string', false])
    expect(await sessions.abort(id, { queue: 'clear', runId: over })).toBe(false)
    expect([runOf(id), sessions.queue(id).count]).toEqual([running, 1])
    expect(await sessions.abort(id, { queue: 'clear', runId: running })).toBe(true)
    await service.idle(id)
    expect([sessions.queue(id).count, service.requests.length]).toEqual([0, 2])
    expect(await sessions.abort(id, { runId: running })).toBe(false)
  })

  it('removes them on request: nothing runs, and the session is idle', async () => {
    const service = await startTestService()
    const id = await atWork(service)
    expect(await abort(service, id, 'clear')).toBe(true)
    await service.idle(id)
    expect(actions(service)).toEqual([['clear', ['msg_steer', 'msg_later']]])
    expect(service.runtime.sessions.queue(id)).toMatchObject({ count: 0, running: false, worker: false })
    expect(service.runtime.sessions.runtime(id).execution).toMatchObject({ finished: true })
    expect(service.requests).toHaveLength(1)
  })

  it('holds them on request, until each is released', async () => {
    const service = await startTestService()
    const id = await atWork(service)
    expect(await abort(service, id, 'hold')).toBe(true)
    await service.idle(id)
    expect(actions(service)).toEqual([['hold', ['msg_steer', 'msg_later']]])
    expect(service.runtime.sessions.queue(id)).toMatchObject({ count: 2, worker: false, items: [{ held: true }, { held: true }] })
    expect(service.runtime.sessions.runtime(id).execution).toMatchObject({ finished: true })
    expect(service.requests).toHaveLength(1)
    service.steps.push(says('to the other'))
    expect(service.runtime.sessions.releaseQueue(TRUSTED_CALLER, id, 'msg_later')).toMatchObject({ released: 1 })
    await service.idle(id)
    expect([service.requests.length, service.runtime.sessions.queue(id).items.map(({ messageId }) => messageId)]).toEqual([
      2,
      ['msg_steer'],
    ])
  })

  it('that removes leaves what is held', async () => {
    const service = await startTestService()
    const id = await atWork(service)
    await abort(service, id, 'hold')
    expect(await abort(service, id, 'clear')).toBe(false)
    expect(service.runtime.sessions.queue(id)).toMatchObject({ count: 2 })
  })
})
