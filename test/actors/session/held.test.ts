import { describe, expect, it } from 'vitest'
import { PLUGIN_CALLER, TRUSTED_CALLER } from '../../../src/protocol/caller.js'
import { openStore } from '../../../src/store/open.js'
import { exported, imported, waiting } from '../../fakes/bundles.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { calls, type PlayedTool, says, startTestService, type TestService } from '../../fakes/service.js'

/** A session that came with a bundle and its prompts. */
async function arrived(service: TestService, ...prompts: readonly string[]): Promise<string> {
  const bundle = await exported(service, await service.session({ title: 'Travelled' }))
  return imported(service, { ...bundle, queuedPrompts: prompts.map((text) => waiting(text)) })
}

const queue = (service: TestService, id: string) => service.runtime.sessions.queue(id)
const idsOf = (service: TestService, id: string) => queue(service, id).items.map(({ messageId }) => messageId ?? '')
const release = (service: TestService, id: string, messageId?: string) =>
  service.runtime.sessions.releaseQueue(TRUSTED_CALLER, id, messageId)
const asked = (service: TestService, id: string) =>
  service.until(({ type, data }) => type === 'permission.asked' && data['sessionId'] === id)

describe('prompts that came with a bundle', () => {
  it('are listed as held, and are no work: nothing runs, and the session is idle', async () => {
    const service = await startTestService()
    const id = await arrived(service, 'run it', 'and that')
    expect(queue(service, id)).toMatchObject({
      count: 2,
      running: false,
      worker: false,
      items: [
        { index: 0, text: 'run it', held: true },
        { index: 1, text: 'and that', held: true },
      ],
    })
    await service.idle(id)
    expect(service.runtime.sessions.status(TRUSTED_CALLER)).toEqual({})
    expect(service.runtime.sessions.runtime(id)).toMatchObject({ execution: null, branches: [] })
    expect(service.requests).toEqual([])
    expect(service.events.filter(({ type }) => type === 'session.status')).toEqual([])
  })

  it('stay where they are while the session answers another, which finishes its execution', async () => {
    const service = await startTestService()
    const id = await arrived(service, 'run it')
    service.steps.push(says('hello'))
    await service.prompt(id, { prompt: 'hi', delivery: 'queue' })
    await service.idle(id)
    expect(service.runtime.sessions.runtime(id).execution).toMatchObject({ finished: true })
    expect(queue(service, id)).toMatchObject({ count: 1, worker: false, items: [{ text: 'run it', held: true }] })
    expect(service.requests).toHaveLength(1)
  })

  it('do not join a run that is under way', async () => {
    const service = await startTestService()
    const bundle = await exported(service, await service.session())
    const id = await imported(service, { ...bundle, queuedPrompts: [{ ...waiting('steer it'), delivery: 'steer' }] })
    service.steps.push(says('hello'))
    await service.prompt(id, 'hi')
    await service.idle(id)
    expect([service.requests.length, queue(service, id).count]).toEqual([1, 1])
  })

  it('start nothing when the server starts again', async () => {
    const effects = createFakeEffects()
    const open = () => openStore({ directory: `${effects.paths.state}/data`, now: () => effects.clock.now() })
    const first = await startTestService({ effects, store: open() })
    const id = await arrived(first, 'run it')
    await first.stop()
    const second = await startTestService({ effects, store: open() })
    await second.idle(id)
    expect(queue(second, id)).toMatchObject({ count: 1, worker: false, items: [{ held: true }] })
    expect([second.requests, second.runtime.sessions.status(TRUSTED_CALLER)]).toEqual([[], {}])
    second.steps.push(says('done'))
    expect(release(second, id)).toMatchObject({ released: 1 })
    await second.idle(id)
    expect(second.requests).toHaveLength(1)
  })

  it('are taken by pop and clear', async () => {
    const service = await startTestService()
    const id = await arrived(service, 'one', 'two', 'three')
    const [, second = ''] = idsOf(service, id)
    expect(service.runtime.sessions.popQueue(id, second)).toMatchObject({
      removed: 1,
      queue: { items: [{ text: 'one' }, { text: 'three' }] },
    })
    expect(service.runtime.sessions.popQueue(id)).toMatchObject({ removed: 1, queue: { items: [{ text: 'three' }] } })
    expect(service.runtime.sessions.clearQueue(id)).toMatchObject({ removed: 1, queue: { count: 0 } })
    expect(service.requests).toEqual([])
  })

  it('have their turn one by one, as they are released', async () => {
    const service = await startTestService()
    const id = await arrived(service, 'one', 'two', 'three')
    const [, second = ''] = idsOf(service, id)
    service.steps.push(says('to two'), says('to one'))
    expect(release(service, id, second)).toMatchObject({ sessionId: id, released: 1 })
    await service.idle(id)
    expect(release(service, id, second)).toMatchObject({ released: 0 })
    expect(release(service, id)).toMatchObject({ released: 1 })
    await service.idle(id)
    const said = service.messages(id).flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])))
    expect(said).toEqual(['two', 'to two', 'one', 'to one'])
    const told = service.events.filter(({ type, data }) => type === 'session.queue.updated' && data['action'] === 'release')
    expect(told.map(({ data }) => data['messageID'])).toEqual([second, expect.any(String)])
    expect(queue(service, id)).toMatchObject({ count: 1, items: [{ text: 'three', held: true }] })
  })

  it('are released by sending them again under their message id, with the same content and by a person only', async () => {
    const service = await startTestService()
    const id = await arrived(service, 'one')
    const [messageId = ''] = idsOf(service, id)
    const submit = (caller: typeof TRUSTED_CALLER, request: object) =>
      service.runtime.sessions.submitPrompt(caller, id, { messageId, prompt: 'one', ...request }, 'prompt')
    await expect(submit(TRUSTED_CALLER, { prompt: 'other' })).rejects.toMatchObject({ code: 'resource.conflict' })
    await expect(submit(PLUGIN_CALLER, {})).rejects.toMatchObject({ code: 'resource.conflict' })
    await expect(submit(TRUSTED_CALLER, { unattended: true })).rejects.toMatchObject({ code: 'resource.conflict' })
    expect([queue(service, id).count, service.requests.length]).toEqual([1, 0])
    service.steps.push(says('done'))
    await submit(TRUSTED_CALLER, {})
    await service.idle(id)
    await submit(TRUSTED_CALLER, {}).catch(() => undefined)
    expect([queue(service, id).count, service.requests.length]).toEqual([0, 1])
  })

  it('travel on as held', async () => {
    const service = await startTestService()
    const id = await arrived(service, 'one')
    const bundle = await exported(service, id)
    expect(bundle.queuedPrompts).toMatchObject([{ held: true, request: { parts: [{ text: 'one' }] } }])
    const next = await imported(service, bundle)
    expect(queue(service, next)).toMatchObject({ count: 1, items: [{ held: true }] })
  })
})

describe('a session that came with a bundle', () => {
  const ran: string[] = []
  const touch: PlayedTool = {
    id: 'touch',
    needs: ({ value }) => [{ permission: 'touch', patterns: [value], title: 'Touch' }],
    invoke({ value }) {
      ran.push(value)
      return Promise.resolve({ title: 'Touch', output: value })
    },
  }
  const begin = () => {
    ran.length = 0
    return startTestService({ tools: [touch] })
  }
  const byPlugin = (service: TestService, id: string) =>
    service.runtime.sessions.submitPrompt(PLUGIN_CALLER, id, { prompt: 'go on' }, 'prompt')

  it.each(['a plugin', 'nobody who is there'])('asks for what its rules allow when %s prompts it', async (who) => {
    const service = await begin()
    const id = await arrived(service)
    expect(service.runtime.sessions.get(id)).toMatchObject({ imported: true })
    service.steps.push(calls({ callId: 'a', tool: 'touch', input: { value: 'x' } }), says('done'))
    if (who === 'a plugin') await byPlugin(service, id)
    else await service.prompt(id, { prompt: 'go on', unattended: true })
    const { data } = await asked(service, id)
    expect(data).toMatchObject({ permission: 'touch', always: [], metadata: { explicit: expect.stringContaining('came with a bundle') } })
    expect(ran).toEqual([])
    service.runtime.interactions.replyPermission(String(data['id']), { reply: 'once' })
    await service.idle(id)
    expect([ran, service.runtime.sessions.get(id)['imported']]).toEqual([['x'], true])
  })

  it.each([
    ['has prompted it', (service: TestService, id: string) => service.prompt(id, { prompt: 'look', noReply: true })],
    ['has released a prompt of it', (service: TestService, id: string) => Promise.resolve(void release(service, id))],
  ])('follows its rules once a person %s', async (_act, act) => {
    const service = await begin()
    const id = await arrived(service, 'held')
    service.steps.push(
      ...(_act.includes('released') ? [says('released')] : []),
      calls({ callId: 'a', tool: 'touch', input: { value: 'x' } }),
      says('done'),
    )
    await act(service, id)
    await service.idle(id)
    await byPlugin(service, id)
    await service.idle(id)
    expect(ran).toEqual(['x'])
    expect(service.runtime.sessions.get(id)).not.toHaveProperty('imported')
    expect(service.events.filter(({ type }) => type === 'permission.asked')).toEqual([])
  })

  it('is asked for in a copy of it, too, and its own prompting changes nothing for another', async () => {
    const service = await begin()
    const [one, other] = [await arrived(service), await arrived(service)]
    const fork = await service.runtime.sessions.fork(one, {})
    await service.prompt(one, { prompt: 'look', noReply: true })
    expect([one, other, fork.id].map((id) => service.runtime.sessions.get(id)['imported'])).toEqual([undefined, true, true])
  })
})
