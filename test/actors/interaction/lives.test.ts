import { describe, expect, it } from 'vitest'
import { SvcError } from '../../../src/protocol/errors.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { openStore } from '../../../src/store/open.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { lives } from '../../fakes/lives.js'
import { calls, type PlayedTool, says, startTestService } from '../../fakes/service.js'

const open: PlayedTool = {
  id: 'open',
  needs: ({ value }) => [{ permission: 'open', patterns: [value], title: `Open ${value}` }],
  invoke: async ({ value }) => ({ title: 'Open', output: `opened ${value}` }),
}
const question: PlayedTool = {
  id: 'question',
  async invoke(_input, context, host) {
    return { title: 'Asked', output: JSON.stringify(await host.questions.ask(context, [{ question: 'Which?', options: [] }])) }
  },
}
const WAITS = 'asked.waiting.'

/** A run that has asked, on a store that can refuse to commit; and how the lives of its requests went. */
async function ask({ tool = 'open', unattended = false }: { tool?: string; unattended?: boolean } = {}) {
  const effects = createFakeEffects()
  const disk = { refuses: false }
  const failpoint = () => {
    if (disk.refuses) throw new SvcError('store.unavailable', 'The disk is full.')
  }
  const store = openStore({ directory: ':memory:', now: () => effects.clock.now(), failpoint })
  const config = { permission: { '*': 'allow', open: 'ask' } }
  const service = await startTestService({ tools: [open, question], config, effects, store })
  const seen = lives(service)
  const id = await service.session()
  service.steps.push(calls({ callId: 'a', tool, input: { value: 'x' } }), says('went on'))
  await service.prompt(id, { prompt: 'go', unattended })
  const asked = await service.until(({ type }) => type.endsWith('.asked'))
  const pending = () => store.interactions.pending().map((row) => row.id)
  return { service, disk, id, requestId: String(asked.data['id']), pending, life: () => seen('interaction:') }
}

describe('a request is an actor that', () => {
  it('waits attended until it is answered, and has ended when that is heard', async () => {
    const { service, id, requestId, pending, life } = await ask()
    expect(life()).toEqual([[`${WAITS}attended`]])
    const listed = service.until(({ type }) => type === 'permission.replied').then(() => life())
    service.runtime.interactions.replyPermission(requestId, { reply: 'once' })
    expect(await listed).toEqual([[`${WAITS}attended`, 'answered', '(done)']])
    await service.idle(id)
    expect(pending()).toEqual([])
  })

  it('is withdrawn with the call that asked', async () => {
    const { service, id, life } = await ask({ tool: 'question' })
    await service.runtime.sessions.abort(id)
    await service.idle(id)
    expect(life()).toEqual([[`${WAITS}attended`, 'asked.withdrawing', 'withdrawn', '(done)']])
    const ends = service.events.map(({ type }) => type).filter((type) => /question|part\.updated|idle/.test(type))
    expect(ends.indexOf('question.rejected')).toBeLessThan(ends.lastIndexOf('message.part.updated'))
  })

  it('expires when nobody attends, as soon as that can be recorded', async () => {
    const { service, disk, id, requestId, pending, life } = await ask({ unattended: true })
    disk.refuses = true
    await service.effects.clock.advanceAsync(LIMITS.run.unattendedWait)
    expect(life()).toEqual([[`${WAITS}unattended`, `${WAITS}expiring`, `${WAITS}delayed`]])
    expect(pending()).toEqual([requestId])
    disk.refuses = false
    await service.effects.clock.advanceAsync(LIMITS.sessions.fault.most)
    await service.idle(id)
    expect(life()).toEqual([[`${WAITS}unattended`, `${WAITS}expiring`, `${WAITS}delayed`, `${WAITS}expiring`, 'expired', '(done)']])
    expect(pending()).toEqual([])
  })

  it('can be answered while its expiry cannot be recorded', async () => {
    const { service, disk, id, requestId, life } = await ask({ unattended: true })
    disk.refuses = true
    await service.effects.clock.advanceAsync(LIMITS.run.unattendedWait)
    disk.refuses = false
    service.runtime.interactions.replyPermission(requestId, { reply: 'once' })
    await service.idle(id)
    expect(life()[0]?.slice(-3)).toEqual([`${WAITS}delayed`, 'answered', '(done)'])
    expect(service.messages(id)[1]?.parts.find(({ type }) => type === 'tool')).toMatchObject({ state: { output: 'opened x' } })
  })

  it('is abandoned while its withdrawal cannot be recorded, and withdrawn with the end of its run', async () => {
    const { service, disk, id, requestId, pending, life } = await ask()
    disk.refuses = true
    const aborted = service.runtime.sessions.abort(id)
    await service.effects.clock.advanceAsync(1000)
    await aborted
    expect(life()).toEqual([[`${WAITS}attended`, 'asked.withdrawing', 'asked.abandoned']])
    expect(pending()).toEqual([requestId])
    disk.refuses = false
    await service.effects.clock.advanceAsync(LIMITS.sessions.fault.most)
    await service.idle(id)
    expect(life()[0]?.slice(-3)).toEqual(['asked.abandoned', 'withdrawn', '(done)'])
    expect(pending()).toEqual([])
  })
})
