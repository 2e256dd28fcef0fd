// Holds http-contract §2.8.
import { describe, expect, it } from 'vitest'
import type { PermissionNeed } from '../../../src/ports/plugin.js'
import { TRUSTED_CALLER } from '../../../src/protocol/caller.js'
import type { PermissionReply } from '../../../src/protocol/interaction/interaction.js'
import type { Message, Part } from '../../../src/protocol/message/message.js'
import { calls, type PlayedTool, says, startTestService, type TestService } from '../../fakes/service.js'

const need = (permission: string, pattern: string, extra: Partial<PermissionNeed> = {}): PermissionNeed => ({
  permission,
  patterns: [pattern],
  title: `${permission} ${pattern}`,
  ...extra,
})

/** A tool that needs `open` for its value and tells what it did. */
function opener(ran: string[], needs: (value: string) => PermissionNeed[] = (value) => [need('open', value)]): PlayedTool {
  return {
    id: 'open',
    needs: ({ value }) => needs(value),
    async invoke({ value }) {
      ran.push(value)
      return { title: 'Open', output: `opened ${value}` }
    },
  }
}

const ASKING = { permission: { '*': 'allow', open: 'ask' } }

const toolParts = (message: Message | undefined) => message?.parts.filter((part): part is Part & { type: 'tool' } => part.type === 'tool')
const asked = (service: TestService, count: number) => {
  const seen = () => service.events.filter(({ type }) => type === 'permission.asked')
  return service.until(() => seen().length >= count).then(() => seen().map(({ data }) => data))
}
const replied = (service: TestService) =>
  service.events.filter(({ type }) => type === 'permission.replied').map(({ data }) => [data['requestID'], data['reply']])
const pending = (service: TestService) => service.runtime.interactions.permissions(TRUSTED_CALLER, undefined)

describe('a permission request', () => {
  it('answered once allows this call only', async () => {
    const ran: string[] = []
    const service = await startTestService({ tools: [opener(ran)], config: ASKING })
    const id = await service.session({ title: 'Asking' })
    service.steps.push(
      calls({ callId: 'a', tool: 'open', input: { value: 'x' } }),
      calls({ callId: 'b', tool: 'open', input: { value: 'x' } }),
      says('done'),
    )
    await service.prompt(id, 'go')
    const [first] = await asked(service, 1)
    expect(first).toMatchObject({
      sessionId: id,
      permission: 'open',
      patterns: ['x'],
      always: ['x'],
      sourceSessionID: id,
      sourceTitle: 'Asking',
      tool: { callID: 'a' },
      metadata: { tool: 'open', input: { value: 'x' } },
    })
    expect(pending(service)).toEqual([first])
    expect(service.runtime.interactions.replyPermission(first?.['id'], { reply: 'once' })).toBe(true)
    const [, second] = await asked(service, 2)
    expect(ran).toEqual(['x'])
    for (const body of [{}, { message: 'no' }]) {
      expect(() => service.runtime.interactions.replyPermission(second?.['id'], body)).toThrow(
        expect.objectContaining({ code: 'request.invalid', message: 'Give "reply": "once", "always" or "reject".' }),
      )
    }
    expect(ran).toEqual(['x'])
    expect(pending(service)).toEqual([second])
    expect(service.runtime.interactions.replyPermission(second?.['id'], { response: 'once' })).toBe(true)
    await service.idle(id)
    expect(ran).toEqual(['x', 'x'])
    expect(replied(service)).toEqual([
      [first?.['id'], 'once'],
      [second?.['id'], 'once'],
    ])
    expect(service.store.approvals.get('local', `global:${service.directory}`)).toEqual([])
  })

  it('answered always is remembered and answers what else is pending and now allowed', async () => {
    const ran: string[] = []
    const service = await startTestService({ tools: [opener(ran)], config: ASKING })
    const id = await service.session()
    service.steps.push(
      calls(
        { callId: 'a', tool: 'open', input: { value: 'x' } },
        { callId: 'b', tool: 'open', input: { value: 'x' } },
        { callId: 'c', tool: 'open', input: { value: 'y' } },
      ),
      calls({ callId: 'd', tool: 'open', input: { value: 'x' } }),
      says('done'),
    )
    await service.prompt(id, 'go')
    const [a, b, c] = await asked(service, 3)
    service.runtime.interactions.replyPermission(a?.['id'], { reply: 'always' })
    expect(replied(service)).toEqual([
      [a?.['id'], 'always'],
      [b?.['id'], 'always'],
    ])
    expect(pending(service)).toEqual([c])
    service.runtime.interactions.replyPermission(c?.['id'], { response: 'once' })
    await service.idle(id)
    expect(ran).toEqual(['x', 'x', 'y', 'x'])
    expect(await asked(service, 3)).toHaveLength(3)
    expect(service.store.approvals.get('local', `global:${service.directory}`)).toMatchObject([
      { permission: 'open', pattern: 'x', action: 'allow', exact: true, sessionId: id },
    ])
    const elsewhere = (await service.runtime.sessions.create(TRUSTED_CALLER, service.effects.root, { title: 'Other' })).id
    service.steps.push(calls({ callId: 'e', tool: 'open', input: { value: 'x' } }), says('done'))
    await service.prompt(elsewhere, 'go')
    expect((await asked(service, 4))[3]).toMatchObject({ sessionId: elsewhere })
    await service.runtime.sessions.abort(elsewhere)
  })

  it('answered always is remembered to the letter, and a wider pattern only if the answer names it', async () => {
    const ran: string[] = []
    const widen = (pattern: string) => (pattern.startsWith('a') ? 'a *' : undefined)
    const service = await startTestService({ tools: [opener(ran, (value) => [need('open', value, { widen })])], config: ASKING })
    const id = await service.session()
    const open = (value: string) => calls({ callId: value, tool: 'open', input: { value } })
    service.steps.push(open('*'), open('a *'), open('a b'), open('a c'), says('done'))
    await service.prompt(id, 'go')
    const reply = (request: Record<string, unknown> | undefined, body: PermissionReply) =>
      service.runtime.interactions.replyPermission(String(request?.['id']), body)
    const [star] = await asked(service, 1)
    expect(star).toMatchObject({ always: ['*'] })
    expect(star?.['metadata']).not.toHaveProperty('alwaysPatterns')
    reply(star, { reply: 'always' })
    const [, literal] = await asked(service, 2)
    expect(literal).toMatchObject({ patterns: ['a *'], always: ['a *'], metadata: { alwaysPatterns: ['a *'] } })
    reply(literal, { reply: 'always' })
    const [, , wider] = await asked(service, 3)
    expect(wider).toMatchObject({ patterns: ['a b'], always: ['a b'], metadata: { alwaysPatterns: ['a *'] } })
    for (const body of [
      { reply: 'always', alwaysPatterns: ['*'] },
      { reply: 'once', alwaysPatterns: ['a *'] },
    ] as const) {
      expect(() => reply(wider, { ...body, alwaysPatterns: [...body.alwaysPatterns] })).toThrow(
        expect.objectContaining({ code: 'request.unprocessable' }),
      )
    }
    expect(pending(service)).toEqual([wider])
    reply(wider, { reply: 'always', alwaysPatterns: ['a *'] })
    await service.idle(id)
    expect(ran).toEqual(['*', 'a *', 'a b', 'a c'])
    expect(await asked(service, 3)).toHaveLength(3)
    expect(service.store.approvals.get('local', `global:${service.directory}`)).toMatchObject([
      { permission: 'open', pattern: '*', action: 'allow', exact: true },
      { permission: 'open', pattern: 'a *', action: 'allow', exact: true },
      { permission: 'open', pattern: 'a b', action: 'allow', exact: true },
      { permission: 'open', pattern: 'a *', action: 'allow' },
    ])
  })

  it('rejected fails its call with the message, rejects the others and lets the run go on', async () => {
    const ran: string[] = []
    const service = await startTestService({ tools: [opener(ran)], config: ASKING })
    const id = await service.session()
    service.steps.push(
      calls(
        { callId: 'a', tool: 'open', input: { value: '1' } },
        { callId: 'b', tool: 'open', input: { value: '2' } },
        { callId: 'c', tool: 'open', input: { value: '3' } },
      ),
      says('sorry'),
    )
    await service.prompt(id, 'go')
    const [a, b, c] = await asked(service, 3)
    service.runtime.interactions.replyPermission(b?.['id'], { reply: 'reject', message: 'use another file' })
    await service.idle(id)
    expect(ran).toEqual([])
    expect(toolParts(service.messages(id)[1])).toMatchObject([
      { callId: 'a', state: { status: 'error', error: 'The user rejected this action.' } },
      { callId: 'b', state: { status: 'error', error: 'use another file' } },
      { callId: 'c', state: { status: 'error', error: 'The user rejected this action.' } },
    ])
    expect(replied(service)).toEqual([
      [b?.['id'], 'reject'],
      [a?.['id'], 'reject'],
      [c?.['id'], 'reject'],
    ])
    expect(service.messages(id).at(-1)?.info).toMatchObject({ finish: 'stop' })
    expect(service.store.interactions.pending()).toEqual([])
  })

  it('is withdrawn by an abort, and answering it afterwards changes nothing', async () => {
    const ran: string[] = []
    const service = await startTestService({ tools: [opener(ran)], config: ASKING })
    const id = await service.session()
    service.steps.push(calls({ callId: 'a', tool: 'open' }))
    await service.prompt(id, 'go')
    const [a] = await asked(service, 1)
    expect(await service.runtime.sessions.abort(id)).toBe(true)
    await service.idle(id)
    const count = service.events.length
    expect(replied(service)).toEqual([[a?.['id'], 'cancelled']])
    expect(service.runtime.interactions.replyPermission(a?.['id'], { reply: 'once' })).toBe(true)
    expect(service.runtime.interactions.replyPermission('per_unknown', { reply: 'once' })).toBe(true)
    expect(service.events).toHaveLength(count)
    expect(ran).toEqual([])
    expect(toolParts(service.messages(id)[1])).toMatchObject([{ state: { status: 'error' }, metadata: { interrupted: true } }])
    expect(service.runtime.interactions.owner(a?.['id'])).toBe(id)
  })

  it('refuses an answer that says two things', async () => {
    const service = await startTestService({ tools: [opener([])], config: ASKING })
    expect(() => service.runtime.interactions.replyPermission('per_any', { reply: 'once', response: 'reject' })).toThrow('different things')
  })

  it('waits for its answer as long as it takes, whoever listens', async () => {
    const ran: string[] = []
    const service = await startTestService({ tools: [opener(ran)], config: ASKING })
    const id = await service.session()
    service.steps.push(calls({ callId: 'a', tool: 'open' }), says('went on'))
    await service.prompt(id, 'go')
    const [request] = await asked(service, 1)
    service.listening.close()
    await service.effects.clock.advanceAsync(3 * 24 * 60 * 60_000)
    expect(pending(service)).toEqual([request])
    expect(request?.['metadata']).not.toHaveProperty('deniedAfterMs')
    service.runtime.interactions.replyPermission(request?.['id'], { reply: 'once' })
    await service.idle(id)
    expect(ran).toEqual(['a'])
  })

  it('of an unattended run is denied after its wait, although somebody listens', async () => {
    const ran: string[] = []
    const service = await startTestService({ tools: [opener(ran)], config: ASKING })
    const id = await service.session()
    service.steps.push(calls({ callId: 'a', tool: 'open' }), says('went on'))
    await service.prompt(id, { prompt: 'go', unattended: true })
    const [request] = await asked(service, 1)
    expect(request?.['metadata']).toMatchObject({ deniedAfterMs: 10 * 60_000 })
    await service.effects.clock.advanceAsync(10 * 60_000 - 1)
    expect(pending(service)).toEqual([request])
    await service.effects.clock.advanceAsync(1)
    await service.idle(id)
    expect(toolParts(service.messages(id)[1])).toMatchObject([
      { state: { error: 'Nobody answered the request in time, so it was denied.' } },
    ])
    expect(service.store.interactions.pending()).toEqual([])
    expect(ran).toEqual([])
    const replied = await service.until(({ type }) => type === 'permission.replied')
    expect(replied.data).toMatchObject({ requestID: request?.['id'], reply: 'reject', reason: 'timeout' })
    expect(service.store.interactions.expired([id], 10).map(({ request: { id: requestId } }) => requestId)).toEqual([request?.['id']])
    expect(service.store.interactions.expired(['ses_other'], 10)).toEqual([])
  })

  it('is asked for every need in turn, at most four times', async () => {
    const ran: string[] = []
    const needs = (value: string) => Array.from({ length: Number(value) }, (_, index) => need(`group${index}`, 'x'))
    const config = { permission: { '*': 'allow', 'group*': 'ask' } }
    const service = await startTestService({ tools: [opener(ran, needs)], config })
    const id = await service.session()
    service.steps.push(
      calls({ callId: 'a', tool: 'open', input: { value: '2' } }),
      calls({ callId: 'b', tool: 'open', input: { value: '5' } }),
      says('done'),
    )
    await service.prompt(id, 'go')
    for (let at = 0; at < 6; at++)
      service.runtime.interactions.replyPermission((await asked(service, at + 1))[at]?.['id'], { reply: 'once' })
    await service.idle(id)
    expect((await asked(service, 6)).map(({ permission }) => permission)).toEqual([
      'group0',
      'group1',
      'group0',
      'group1',
      'group2',
      'group3',
    ])
    expect(ran).toEqual(['2'])
    expect(toolParts(service.messages(id)[2])).toMatchObject([{ state: { status: 'error' } }])
  })
})

describe('rules', () => {
  it('that deny are final, also for approvals and the bypass', async () => {
    const ran: string[] = []
    const config = { permission: { '*': 'allow', open: { '*': 'allow', secret: 'deny' } }, dangerouslySkipPermissions: true }
    const service = await startTestService({ tools: [opener(ran)], config })
    const id = await service.session()
    service.store.transact('power', () =>
      service.store.approvals.put('local', `global:${service.directory}`, [{ permission: '*', pattern: '*', action: 'allow' }]),
    )
    service.steps.push(
      calls({ callId: 'a', tool: 'open', input: { value: 'secret' } }, { callId: 'b', tool: 'open', input: { value: 'plain' } }),
      says('ok'),
    )
    await service.prompt(id, 'go')
    await service.idle(id)
    expect(ran).toEqual(['plain'])
    expect(toolParts(service.messages(id)[1])?.[0]).toMatchObject({
      state: { status: 'error', error: 'A permission rule denies open for secret.' },
    })
  })

  it('are skipped where they ask when the installation says so, but not for an explicit need', async () => {
    const ran: string[] = []
    const needs = (value: string) => [need('open', value, value === 'etc' ? { explicit: 'a protected file' } : {})]
    const service = await startTestService({ tools: [opener(ran, needs)], config: { ...ASKING, dangerouslySkipPermissions: true } })
    const id = await service.session()
    service.steps.push(
      calls({ callId: 'a', tool: 'open', input: { value: 'x' } }, { callId: 'b', tool: 'open', input: { value: 'etc' } }),
      says('ok'),
    )
    await service.prompt(id, 'go')
    const [request] = await asked(service, 1)
    expect(request).toMatchObject({ patterns: ['etc'], always: [], metadata: { explicit: 'a protected file' } })
    service.runtime.interactions.replyPermission(request?.['id'], { reply: 'always' })
    await service.idle(id)
    expect(ran.toSorted()).toEqual(['etc', 'x'])
    expect(service.store.approvals.get('local', `global:${service.directory}`)).toEqual([])
  })

  it('of an explicit need are not satisfied by allow rules or approvals', async () => {
    const service = await startTestService({ tools: [opener([], (value) => [need('open', value, { explicit: 'because' })])] })
    const id = await service.session({ permission: [{ permission: '*', pattern: '*', action: 'allow' }] })
    service.store.transact('power', () =>
      service.store.approvals.put('local', `global:${service.directory}`, [{ permission: '*', pattern: '*', action: 'allow' }]),
    )
    service.steps.push(calls({ callId: 'a', tool: 'open' }))
    await service.prompt(id, 'go')
    expect(await asked(service, 1)).toHaveLength(1)
    await service.runtime.sessions.abort(id)
  })

  it('of the prompt hide the tools it refuses', async () => {
    const ran: string[] = []
    const other: PlayedTool = { id: 'other', invoke: async () => ({ title: '', output: '' }) }
    const service = await startTestService({ tools: [opener(ran), other] })
    const id = await service.session()
    service.steps.push(calls({ callId: 'a', tool: 'open' }), says('ok'), says('again'))
    await service.prompt(id, { prompt: 'go', tools: { open: false, other: true } })
    await service.idle(id)
    expect(ran).toEqual([])
    expect(service.requests[0]?.tools.map((tool) => tool.id)).toEqual(['other'])
    await service.prompt(id, 'next')
    await service.idle(id)
    expect(service.requests.at(-1)?.tools.map((tool) => tool.id)).toEqual(['open', 'other'])
  })

  it('ask at the third identical call in a row', async () => {
    const ran: string[] = []
    const service = await startTestService({ tools: [opener(ran)], config: { permission: { '*': 'allow', doom_loop: 'ask' } } })
    const id = await service.session()
    const same = (callId: string) => calls({ callId, tool: 'open', input: { value: 'x' } })
    service.steps.push(same('a'), same('b'), same('c'), says('done'))
    await service.prompt(id, 'go')
    const [request] = await asked(service, 1)
    expect(request).toMatchObject({ permission: 'doom_loop', patterns: ['open'], tool: { callID: 'c' } })
    expect(ran).toEqual(['x', 'x'])
    service.runtime.interactions.replyPermission(request?.['id'], { reply: 'reject' })
    await service.idle(id)
    expect(ran).toEqual(['x', 'x'])
  })
})

it('shows a caller only the requests of sessions it may use', async () => {
  const service = await startTestService({ tools: [opener([])], config: ASKING })
  const id = await service.session()
  service.steps.push(calls({ callId: 'a', tool: 'open' }))
  await service.prompt(id, 'go')
  await asked(service, 1)
  const { interactions, sessions } = service.runtime
  for (const stranger of [
    { ...TRUSTED_CALLER, tenantId: 'other' },
    { ...TRUSTED_CALLER, directoryPrefixes: ['/elsewhere'] },
  ]) {
    expect(interactions.permissions(stranger, undefined)).toEqual([])
    expect(interactions.permissions(stranger, id)).toEqual([])
    expect(sessions.status(stranger)).toEqual({})
  }
  expect(interactions.permissions({ ...TRUSTED_CALLER, directoryPrefixes: [service.directory] }, id)).toHaveLength(1)
  expect(Object.keys(sessions.status(TRUSTED_CALLER))).toEqual([id])
  await sessions.abort(id)
})

describe('a need that does no harm', () => {
  it('is not asked about, and what a rule denies of it stays denied', async () => {
    const ran: string[] = []
    const tool = opener(ran, (value) => [need('open', value, { harmless: true })])
    const service = await startTestService({ tools: [tool], config: { permission: { open: { '*': 'ask', secret: 'deny' } } } })
    const id = await service.session()
    service.steps.push(
      calls({ callId: 'a', tool: 'open', input: { value: 'x' } }),
      calls({ callId: 'b', tool: 'open', input: { value: 'secret' } }),
      says('done'),
    )
    await service.prompt(id, 'go')
    await service.idle(id)
    expect(ran).toEqual(['x'])
    expect(service.events.filter(({ type }) => type === 'permission.asked')).toEqual([])
  })
})
