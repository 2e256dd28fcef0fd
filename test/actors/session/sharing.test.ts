import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Caller, PLUGIN_CALLER, TRUSTED_CALLER } from '../../../src/protocol/caller.js'
import type { Message } from '../../../src/protocol/message/message.js'
import { gate, says, startTestService, type TestService } from '../../fakes/service.js'

const USAGE = { input: 1, output: 1, reasoning: 0, cache: { read: 0, write: 0 } }
const OTHER: Caller = { ...TRUSTED_CALLER, subject: 'hosted:local', directoryPrefixes: ['/'] }

async function turn(service: TestService, id: string, text: string): Promise<void> {
  service.steps.push(says(`answer to ${text}`))
  await service.runtime.sessions.submitPrompt(TRUSTED_CALLER, id, { prompt: text }, 'prompt')
  await service.runtime.sessions.wait(id, new AbortController().signal)
}

const messages = (service: TestService, id: string) => JSON.parse(service.runtime.sessions.context(id).rawJson) as Message[]

/** What a conversation says and how its messages hang together, whatever they are called. */
function shape(list: readonly Message[]) {
  const at = (id: string) => list.findIndex(({ info }) => info.id === id)
  return list.map(({ info, parts }) => ({
    role: info.role,
    parent: info.role === 'assistant' ? at(info.parentId) : undefined,
    parts: parts.map(({ id: _id, messageId, sessionId: _session, ...part }) => ({ ...part, of: at(messageId) })),
  }))
}

describe('a fork', () => {
  it('is a child with the same conversation under ids of its own, told once', async () => {
    const service = await startTestService()
    const id = await service.session({ title: 'Plans', permission: [{ permission: 'bash', pattern: '*', action: 'deny' }] })
    await turn(service, id, 'one')
    await turn(service, id, 'two')
    service.runtime.sessions.pin(id, true)
    const before = service.events.length
    const fork = await service.runtime.sessions.fork(id, {})
    expect(service.events.slice(before).map(({ type }) => type)).toEqual(['session.created'])
    const {
      id: _id,
      slug: _slug,
      time: _time,
      pinned: _pinned,
      executionID: _e,
      executionRootSessionID: _r,
      ...same
    } = service.runtime.sessions.get(id)
    expect(fork).toMatchObject({ ...same, parentId: id, title: 'Fork - Plans' })
    expect(fork).not.toHaveProperty('pinned')
    expect(fork).not.toHaveProperty('executionID')
    expect(shape(messages(service, fork.id))).toEqual(shape(messages(service, id)))
    const ids = (list: readonly Message[]) => list.flatMap(({ info, parts }) => [info.id, ...parts.map((part) => part.id)])
    expect(new Set([...ids(messages(service, id)), ...ids(messages(service, fork.id))]).size).toBe(2 * ids(messages(service, id)).length)
    await turn(service, fork.id, 'three')
    expect(messages(service, id)).toHaveLength(4)
    expect(messages(service, fork.id)).toHaveLength(6)
    expect(service.runtime.sessions.children(id).items.map((child) => child.id)).toEqual([fork.id])
  })

  it('ends with the message it is made up to, and knows no other', async () => {
    const service = await startTestService()
    const id = await service.session()
    await turn(service, id, 'one')
    await turn(service, id, 'two')
    const [, answer] = messages(service, id)
    const fork = await service.runtime.sessions.fork(id, { messageId: answer?.info.id })
    expect(shape(messages(service, fork.id))).toEqual(shape(messages(service, id).slice(0, 2)))
    await expect(service.runtime.sessions.fork(id, { messageId: 'msg_none' })).rejects.toMatchObject({ code: 'resource.not_found' })
    await expect(service.runtime.sessions.fork('ses_none', {})).rejects.toMatchObject({ code: 'resource.not_found' })
  })

  it('leaves out the answer that is being generated', async () => {
    const service = await startTestService()
    const id = await service.session()
    const release = gate()
    service.steps.push(async (push) => {
      push({ type: 'text', delta: 'working' })
      await release.promise
      push({ type: 'finish', reason: 'stop', usage: USAGE })
    })
    await service.runtime.sessions.submitPrompt(TRUSTED_CALLER, id, { prompt: 'go' }, 'prompt')
    await service.until(({ type }) => type === 'message.part.delta')
    const fork = await service.runtime.sessions.fork(id, {})
    expect(messages(service, fork.id).map(({ info }) => info.role)).toEqual(['user'])
    const open = messages(service, id).at(-1)?.info.id
    await expect(service.runtime.sessions.fork(id, { messageId: open })).rejects.toMatchObject({ code: 'resource.conflict' })
    release.open()
    await service.runtime.sessions.wait(id, new AbortController().signal)
  })
})

describe('control of a session', () => {
  it('is held, kept, given up and taken over, and both hear of it', async () => {
    const service = await startTestService()
    const id = await service.session()
    const { sessions } = service.runtime
    const now = service.effects.clock.now()
    expect(sessions.control(id)).toBeNull()
    const held = sessions.claimControl(TRUSTED_CALLER, id, { leaseSeconds: 15 })
    expect(held).toEqual({
      sessionId: id,
      controllerSubject: 'local',
      actorType: 'human',
      leaseExpiresAt: now + 15_000,
      revision: 1,
      updated: now,
    })
    expect(() => sessions.claimControl(OTHER, id, { leaseSeconds: 60 })).toThrow('local controls this session until')
    expect(() => sessions.releaseControl(OTHER, id, undefined)).toThrow('local controls this session until')
    await expect(sessions.submitPrompt(OTHER, id, { prompt: 'hi' }, 'prompt')).rejects.toMatchObject({
      code: 'resource.conflict',
      details: { currentRevision: 1 },
    })
    expect(sessions.claimControl(TRUSTED_CALLER, id, { expectedRevision: 1, leaseSeconds: 15 }).revision).toBe(2)
    expect(() => sessions.claimControl(TRUSTED_CALLER, id, { expectedRevision: 1, leaseSeconds: 15 })).toThrow('revision 2, not 1')
    await service.effects.clock.advanceAsync(15_000)
    expect(sessions.control(id)).toBeNull()
    const taken = sessions.claimControl(OTHER, id, { expectedRevision: 2, leaseSeconds: 300 })
    expect(taken).toMatchObject({ controllerSubject: 'hosted:local', actorType: 'service-account', revision: 3 })
    expect(sessions.releaseControl(OTHER, id, 3)).toBe(true)
    expect(sessions.releaseControl(OTHER, id, undefined)).toBe(false)
    const told = service.events.filter(({ type }) => type === 'session.control.updated').map(({ data }) => data)
    expect(told).toMatchObject([
      { control: { revision: 1 } },
      { control: { revision: 2 } },
      { control: { revision: 3 } },
      { control: null },
    ])
    expect(sessions.claimControl(TRUSTED_CALLER, id, { leaseSeconds: 15 }).revision).toBe(5)
    expect(sessions.participants(id).map(({ subject, firstSeenAt, lastSeenAt }) => [subject, firstSeenAt, lastSeenAt])).toEqual([
      ['local', now, now + 15_000],
      ['hosted:local', now + 15_000, now + 15_000],
    ])
  })

  it('of a fork keeps others from deleting it with what it was forked from, also when it is claimed while that is stopped', async () => {
    const service = await startTestService()
    const { sessions } = service.runtime
    const id = await service.session()
    const fork = await sessions.fork(id, {})
    const held = sessions.claimControl(OTHER, fork.id, { leaseSeconds: 300 })
    await expect(sessions.delete(TRUSTED_CALLER, id)).rejects.toMatchObject({ code: 'resource.conflict', details: { sessionId: fork.id } })
    sessions.releaseControl(OTHER, fork.id, held.revision)
    const deleting = sessions.delete(TRUSTED_CALLER, id)
    sessions.claimControl(OTHER, fork.id, { leaseSeconds: 300 })
    await expect(deleting).rejects.toMatchObject({ code: 'resource.conflict', details: { sessionId: fork.id } })
    expect(sessions.get(fork.id).parentId).toBe(id)
    expect(await sessions.delete(OTHER, id)).toBe(true)
  })

  it('keeps nothing from the work the session does by itself', async () => {
    const service = await startTestService()
    const { sessions } = service.runtime
    const id = await service.session()
    sessions.claimControl(OTHER, id, { leaseSeconds: 300 })
    service.steps.push(says('done'))
    await sessions.submitPrompt(PLUGIN_CALLER, id, { prompt: 'go on' }, 'prompt')
    await sessions.wait(id, new AbortController().signal)
    expect(messages(service, id)).toHaveLength(2)
    await expect(sessions.submitPrompt(TRUSTED_CALLER, id, { prompt: 'mine' }, 'prompt')).rejects.toMatchObject({
      code: 'resource.conflict',
    })
  })

  it('counts those who prompt as participants', async () => {
    const service = await startTestService()
    const id = await service.session()
    expect(service.runtime.sessions.participants(id)).toEqual([])
    await turn(service, id, 'one')
    expect(service.runtime.sessions.participants(id)).toMatchObject([{ subject: 'local', actorType: 'human' }])
  })
})

describe('directories a session could move to', () => {
  it('complete what was typed', async () => {
    const service = await startTestService()
    const id = await service.session()
    for (const name of ['src/inner', 'srv', 'docs', '.hidden']) mkdirSync(join(service.directory, name), { recursive: true })
    const options = async (query?: string, limit?: number, caller = TRUSTED_CALLER) =>
      (await service.runtime.sessions.directoryOptions(caller, id, { query, limit })).map((path) =>
        path.slice(service.directory.length + 1),
      )
    expect(await options()).toEqual(['docs', 'src', 'srv'])
    expect(await options('SR')).toEqual(['src', 'srv'])
    expect(await options('sr', 1)).toEqual(['src'])
    expect(await options('src/')).toEqual(['src/inner'])
    expect(await options(`${service.directory}/d`)).toEqual(['docs'])
    expect(await options('.')).toEqual(['.hidden'])
    expect(await options('nowhere/x')).toEqual([])
    expect(await options('', undefined, { ...TRUSTED_CALLER, directoryPrefixes: ['/nowhere'] })).toEqual([])
  })
})
