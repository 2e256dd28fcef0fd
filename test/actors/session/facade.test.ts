// Holds sessions-events §2.1, §2.2, §2.3, §2.10.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { TRUSTED_CALLER } from '../../../src/protocol/caller.js'
import type { Session } from '../../../src/protocol/session/session.js'
import { calls, gate, type PlayedTool, says, startTestService, type TestService } from '../../fakes/service.js'

const USAGE = { input: 1, output: 1, reasoning: 0, cache: { read: 0, write: 0 } }
const list = (service: TestService, query: Parameters<TestService['runtime']['sessions']['list']>[1]) =>
  JSON.parse(service.runtime.sessions.list(TRUSTED_CALLER, query).rawJson) as { items: Session[]; cursor: { next?: string } }

/** A step that says something and waits until it is released or aborted. */
function held(service: TestService) {
  const release = gate()
  service.steps.push(async (push, signal) => {
    push({ type: 'text', delta: 'working' })
    await Promise.race([release.promise, new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))])
    push({ type: 'finish', reason: 'stop', usage: USAGE })
  })
  return release
}

const generating = (service: TestService) => service.until(({ type }) => type === 'message.part.delta')

describe('creating a session', () => {
  it('fills in what is not given', async () => {
    const service = await startTestService()
    const session = await service.runtime.sessions.create(TRUSTED_CALLER, service.directory, {})
    expect(session).toEqual({
      id: expect.stringMatching(/^ses_/),
      slug: expect.stringMatching(/^[a-z]+-[a-z]+$/),
      projectId: 'global',
      directory: service.directory,
      title: `New session - ${service.effects.clock.now()}`,
      version: '0.0.0-test',
      time: { created: service.effects.clock.now(), updated: service.effects.clock.now() },
      agent: 'build',
      model: { providerId: 'played', id: 'one' },
      svcTenantId: 'local',
    })
    expect(service.runtime.sessions.get(session.id)).toEqual(session)
    expect(service.events.at(-1)).toMatchObject({ type: 'session.created', data: { sessionID: session.id, info: session } })
    const child = await service.runtime.sessions.create(TRUSTED_CALLER, service.directory, { parentId: session.id })
    expect(child).toMatchObject({ parentId: session.id, title: `Child session - ${service.effects.clock.now()}` })
    expect(service.runtime.sessions.children(session.id).items).toEqual([{ ...child, catalogActivity: 'idle' }])
  })

  it('refuses a workspace that nobody has registered; its own directory is one', async () => {
    const service = await startTestService()
    await expect(service.session({ workspaceId: 'ws_none' })).rejects.toMatchObject({
      code: 'request.unprocessable',
      details: { workspaceId: 'ws_none' },
    })
    const { runtime, directory } = service
    await runtime.management.workspaces.create(TRUSTED_CALLER, { root: directory, id: 'ws_one' })
    const parentId = await service.session({ workspaceId: 'ws_one' })
    await runtime.management.workspaces.delete(TRUSTED_CALLER, 'ws_one', undefined)
    await service.session({ workspaceId: 'ws_one', parentId })
    await service.session({ workspaceId: directory })
  })

  it('makes no session on an external agent by itself', async () => {
    const service = await startTestService()
    const none = { code: 'request.invalid' }
    await expect(service.session({ externalProvider: 'claude' })).rejects.toMatchObject(none)
    await expect(service.session({ externalOptions: {} })).rejects.toMatchObject(none)
    await service.session()
  })

  it('refuses an unknown parent or agent and a parent of another tenant', async () => {
    const service = await startTestService()
    const id = await service.session()
    const { sessions } = service.runtime
    await expect(sessions.create(TRUSTED_CALLER, service.directory, { parentId: 'ses_x' })).rejects.toMatchObject({
      code: 'resource.not_found',
    })
    await expect(sessions.create(TRUSTED_CALLER, service.directory, { agent: 'nobody' })).rejects.toMatchObject({ code: 'request.invalid' })
    await expect(sessions.create({ ...TRUSTED_CALLER, tenantId: 'other' }, service.directory, { parentId: id })).rejects.toMatchObject({
      code: 'auth.session_forbidden',
    })
  })
})

describe('the list of sessions', () => {
  it('is newest first, page by page, with what each is doing', async () => {
    const service = await startTestService()
    const ids: string[] = []
    for (let at = 0; at < 5; at++) {
      ids.unshift(await service.session({ title: `Title ${at}` }))
      await service.effects.clock.advanceAsync(1)
    }
    const first = list(service, { roots: 'true', limit: 2 })
    const second = list(service, { roots: 'true', limit: 2, cursor: first.cursor.next })
    const third = list(service, { roots: 'true', limit: 2, cursor: second.cursor.next })
    expect([first, second, third].map(({ items }) => items.map(({ id }) => id))).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)])
    expect(third.cursor).toEqual({})
    expect(() => list(service, { cursor: 'v1:nonsense' })).toThrow('not one this server gave out')
    expect(list(service, { search: 'TITLE 3' }).items.map(({ title }) => title)).toEqual(['Title 3'])
    const [newest = ''] = ids
    const child = await service.session({ parentId: newest })
    expect(list(service, { roots: '1' }).items).toHaveLength(5)
    expect(list(service, {}).items).toHaveLength(6)
    const release = held(service)
    await service.prompt(child, 'go')
    await generating(service)
    const activities = Object.fromEntries(list(service, { roots: 'true' }).items.map(({ id, catalogActivity }) => [id, catalogActivity]))
    expect(activities).toMatchObject({ [newest]: 'running', [ids[1] ?? '']: 'idle' })
    release.open()
    await service.idle(child)
  })

  it('hides archived roots unless asked for them', async () => {
    const service = await startTestService()
    const id = await service.session()
    const { sessions } = service.runtime
    expect((await sessions.update(TRUSTED_CALLER, id, { time: { archived: 5 } })).time.archived).toBe(5)
    expect(list(service, {}).items).toEqual([])
    expect(list(service, { archived: 'true' }).items).toHaveLength(1)
    expect((await sessions.update(TRUSTED_CALLER, id, { title: 'Still' })).time.archived).toBe(5)
    expect((await sessions.update(TRUSTED_CALLER, id, { time: { archived: 0 } })).time).not.toHaveProperty('archived')
    expect(list(service, {}).items).toMatchObject([{ title: 'Still' }])
  })
})

describe('changing a session', () => {
  it('moves it to another directory, with both events, but not while it runs', async () => {
    const service = await startTestService()
    const id = await service.session()
    mkdirSync(join(service.directory, 'sub'))
    const { sessions } = service.runtime
    const release = held(service)
    await service.prompt(id, 'go')
    await generating(service)
    await expect(sessions.update(TRUSTED_CALLER, id, { directory: 'sub' })).rejects.toMatchObject({ code: 'resource.conflict' })
    release.open()
    await service.idle(id)
    const moved = await sessions.update(TRUSTED_CALLER, id, { directory: '"sub"' })
    expect(moved.directory).toBe(join(service.directory, 'sub'))
    expect(service.events.slice(-2)).toMatchObject([
      { type: 'session.updated', data: { info: moved } },
      { type: 'session.moved', data: { previousDirectory: service.directory, directory: moved.directory, switchWorkspace: false } },
    ])
    const scoped = { ...TRUSTED_CALLER, directoryPrefixes: [service.directory] }
    await expect(sessions.update(scoped, id, { directory: '../..' })).rejects.toMatchObject({ code: 'auth.directory_forbidden' })
    await expect(sessions.update(TRUSTED_CALLER, id, { directory: 'nowhere' })).rejects.toMatchObject({ code: 'request.invalid_directory' })
    await expect(sessions.update(TRUSTED_CALLER, id, { agent: 'nobody' })).rejects.toMatchObject({ code: 'request.invalid' })
  })

  it('toggles its pin', async () => {
    const service = await startTestService()
    const id = await service.session()
    const { sessions } = service.runtime
    expect(sessions.pin(id, undefined)).toMatchObject({ pinned: true })
    expect(sessions.pin(id, true)).toMatchObject({ pinned: true })
    expect(sessions.pin(id, undefined)).not.toHaveProperty('pinned')
    expect(sessions.get(id)).not.toHaveProperty('pinned')
  })
})

describe('deleting a session', () => {
  it('ends the runs of its family and removes it, children first', async () => {
    const service = await startTestService()
    const root = await service.session()
    const child = await service.session({ parentId: root })
    held(service)
    await service.prompt(child, 'go')
    await generating(service)
    await service.prompt(child, { prompt: 'later', delivery: 'queue' })
    expect(await service.runtime.sessions.delete(TRUSTED_CALLER, root)).toBe(true)
    const deleted = service.events.filter(({ type }) => type === 'session.deleted').map(({ data }) => [data['sessionID'], data['tenantID']])
    expect(deleted).toEqual([
      [child, 'local'],
      [root, 'local'],
    ])
    expect(() => service.runtime.sessions.get(child)).toThrow('There is no session')
    expect(service.runtime.sessions.status(TRUSTED_CALLER)).toEqual({})
    expect(service.store.runs.running()).toEqual([])
    expect(service.store.executions.unfinished()).toEqual([])
    expect(service.running.counters()).toMatchObject({ liveMessages: 0 })
    expect(service.requests).toHaveLength(1)
    await expect(service.prompt(root, 'hi')).rejects.toMatchObject({ code: 'resource.not_found' })
  })

  it('keeps its forks on request: each becomes a root, with all that came from it, in the same commit', async () => {
    const service = await startTestService()
    const { sessions } = service.runtime
    const root = await service.session()
    const subagent = await service.session({ parentId: root })
    service.store.transact('process', () =>
      service.store.sessions.update({ ...sessions.get(subagent), delegation: { agent: [], refused: [] } }),
    )
    const fork = await sessions.fork(root, {})
    const below = await sessions.fork(fork.id, {})
    await service.prompt(fork.id, 'before')
    await service.idle(fork.id)
    const from = service.events.length
    await sessions.delete(TRUSTED_CALLER, root, { keepsForks: true })
    const told = service.events.slice(from).map(({ type, data }) => [type, data['sessionID']])
    expect(told).toEqual([
      ['session.updated', fork.id],
      ['session.deleted', subagent],
      ['session.deleted', root],
    ])
    expect(sessions.get(fork.id)).not.toHaveProperty('parentId')
    expect(sessions.get(below.id).parentId).toBe(fork.id)
    expect(list(service, { roots: 'true' }).items).toMatchObject([{ id: fork.id }])
    await service.prompt(below.id, 'after')
    await service.idle(below.id)
    expect(sessions.runtime(fork.id).usage).toEqual(sessions.runtime(below.id).usage)
    await sessions.delete(TRUSTED_CALLER, fork.id)
    expect(list(service, {}).items).toEqual([])
  })

  it('waits for nothing of a fork that is to be kept, and refuses while that runs', async () => {
    const service = await startTestService()
    const { sessions } = service.runtime
    const root = await service.session()
    const fork = await sessions.fork(root, {})
    const release = held(service)
    await service.prompt(fork.id, 'go')
    await generating(service)
    const refused = {
      code: 'resource.conflict',
      message: `${fork.id} is running, of a fork that is to be kept; try again when it is idle.`,
    }
    await expect(sessions.delete(TRUSTED_CALLER, root, { keepsForks: true })).rejects.toMatchObject(refused)
    expect(sessions.get(fork.id).parentId).toBe(root)
    release.open()
    await service.idle(fork.id)
    expect(await sessions.delete(TRUSTED_CALLER, root, { keepsForks: true })).toBe(true)
  })

  it('removes prompts that arrive meanwhile', async () => {
    const service = await startTestService()
    const id = await service.session()
    held(service)
    await service.prompt(id, 'go')
    await generating(service)
    const deleting = service.runtime.sessions.delete(TRUSTED_CALLER, id)
    const late = service.prompt(id, 'late').catch(() => undefined)
    await service.effects.clock.advanceAsync(5000)
    await Promise.all([deleting, late])
    expect(() => service.runtime.sessions.get(id)).toThrow('There is no session')
  })
})

describe('the runtime of a session', () => {
  it('tells execution, status and todos', async () => {
    const service = await startTestService()
    const id = await service.session()
    const { sessions } = service.runtime
    expect(sessions.runtime(id)).toMatchObject({ rootSessionId: id, execution: null, branches: [] })
    expect(sessions.todos(id)).toEqual([])
    const release = held(service)
    await service.prompt(id, 'go')
    await generating(service)
    const status = sessions.status(TRUSTED_CALLER)[id]
    expect(status).toMatchObject({ type: 'busy', runID: expect.any(String), startedAt: expect.any(Number) })
    expect(Object.keys(sessions.runtime(id).execution?.activeSegments ?? {})).toHaveLength(1)
    await service.effects.clock.advanceAsync(500)
    release.open()
    await service.idle(id)
    const first = sessions.runtime(id).execution
    expect(first).toMatchObject({ finished: true, completedMs: 500, activeSegments: {} })
    expect(sessions.get(id)).toMatchObject({ executionID: first?.executionId, executionRootSessionID: id })
    const child = await service.session({ parentId: id })
    service.steps.push(says('x'))
    await service.prompt(child, 'go')
    await service.idle(child)
    const second = sessions.runtime(id).execution?.executionId
    expect(second).not.toBe(first?.executionId)
    expect(sessions.get(child)).toMatchObject({ executionID: second, executionRootSessionID: id })
    await expect(sessions.fork(child, {})).resolves.not.toHaveProperty('executionID')
  })
})

it('an execution counts the time of the model, not that of its tools', async () => {
  const release = gate()
  const slow: PlayedTool = { id: 'slow', invoke: () => release.promise.then(() => ({ title: '', output: '' })) }
  const service = await startTestService({ tools: [slow] })
  const id = await service.session()
  const execution = () => service.runtime.sessions.runtime(id).execution
  service.steps.push(calls({ callId: 'a', tool: 'slow' }), says('x'))
  await service.prompt(id, 'go')
  await service.until(({ type, data }) => type === 'message.part.updated' && JSON.stringify(data).includes('"status":"running"'))
  expect(Object.keys(execution()?.activeSegments ?? {})).toHaveLength(1)
  await service.effects.clock.advanceAsync(5000)
  expect(execution()).toMatchObject({ finished: false, completedMs: 0, activeSegments: {} })
  release.open()
  await service.idle(id)
  expect(execution()).toMatchObject({ finished: true, completedMs: 0, activeSegments: {} })
})

it('the last word about a child says that it has completed', async () => {
  const service = await startTestService()
  const root = await service.session()
  const child = await service.session({ parentId: root })
  service.steps.push(says('x'))
  await service.prompt(child, 'go')
  await service.idle(child)
  const words = service.events
    .filter(({ type }) => type === 'session.execution.updated')
    .map(({ data }) => [data['snapshot'].finished, data['runtime'].branches[0].status])
  expect(words[0]).toEqual([false, 'outstanding'])
  expect(words.at(-1)).toEqual([true, 'completed'])
})

describe('messages', () => {
  it('are paged in both orders, and slim ones carry no snapshots', async () => {
    const service = await startTestService()
    const id = await service.session()
    service.steps.push(says('one'), says('two'))
    await service.prompt(id, 'first')
    await service.idle(id)
    await service.prompt(id, 'second')
    await service.idle(id)
    const ids = service.messages(id).map(({ info }) => info.id)
    const page = (query: Parameters<TestService['runtime']['sessions']['messages']>[1]) => {
      const { items, cursor } = JSON.parse(service.runtime.sessions.messages(id, query).rawJson) as {
        items: { info: { id: string } }[]
        cursor: { next?: string }
      }
      return { ids: items.map(({ info }) => info.id), next: cursor.next }
    }
    expect(page({ limit: 3 })).toEqual({ ids: ids.slice(0, 3), next: ids[2] })
    expect(page({ limit: 3, cursor: ids[2] })).toEqual({ ids: ids.slice(3), next: undefined })
    expect(page({ order: 'desc', limit: 1 })).toEqual({ ids: ids.slice(3), next: ids[3] })
    expect(page({ order: 'desc', cursor: ids[1] })).toEqual({ ids: ids.slice(0, 1), next: undefined })
    expect(page({ cursor: 'msg_unknown' }).ids).toEqual(ids)
  })

  it('cannot be changed while they are generated, and afterwards only as the rules say', async () => {
    const service = await startTestService()
    const id = await service.session()
    const { sessions } = service.runtime
    const release = held(service)
    await service.prompt(id, 'go')
    await generating(service)
    const [, open] = service.messages(id)
    const messageId = open?.info.id ?? ''
    const text = open?.parts.find((part) => part.type === 'text')
    if (text?.type !== 'text') throw new Error('no text part')
    expect(() => sessions.deleteMessage(id, messageId)).toThrow(expect.objectContaining({ code: 'resource.conflict' }))
    expect(() => sessions.deletePart(id, messageId, text.id)).toThrow(expect.objectContaining({ code: 'resource.conflict' }))
    expect(() => sessions.updatePart(id, messageId, text.id, text)).toThrow(expect.objectContaining({ code: 'resource.conflict' }))
    release.open()
    await service.idle(id)
    expect(() => sessions.updatePart(id, messageId, 'prt_other', text)).toThrow(expect.objectContaining({ code: 'request.invalid' }))
    expect(() => sessions.updatePart(id, messageId, text.id, { ...text, type: 'reasoning', time: { start: 1 } })).toThrow(
      expect.objectContaining({ code: 'request.unprocessable' }),
    )
    const longer = { ...text, text: 'x'.repeat(2 * 1024 * 1024) }
    expect(() => sessions.updatePart(id, messageId, text.id, longer)).toThrow(expect.objectContaining({ code: 'request.unprocessable' }))
    const changed = { ...text, text: 'rewritten' }
    expect(sessions.updatePart(id, messageId, text.id, changed)).toEqual(changed)
    expect(service.events.at(-1)).toMatchObject({ type: 'message.part.updated', data: { part: changed } })
    service.steps.push(says('ok'))
    await service.prompt(id, 'next')
    await service.idle(id)
    expect(JSON.stringify(service.requests[1]?.messages)).toContain('rewritten')
    expect(sessions.deletePart(id, messageId, text.id)).toBe(true)
    expect(service.events.at(-1)).toMatchObject({ type: 'message.part.removed', data: { partID: text.id } })
    expect(sessions.deleteMessage(id, messageId)).toBe(true)
    expect(service.events.at(-1)).toMatchObject({ type: 'message.removed', data: { messageID: messageId } })
    expect(() => sessions.message(id, messageId)).toThrow(expect.objectContaining({ code: 'resource.not_found' }))
  })
})

describe('the queue', () => {
  it('is shown, popped and cleared, each with its events', async () => {
    const service = await startTestService()
    const id = await service.session()
    const { sessions } = service.runtime
    expect(sessions.queue(id)).toEqual({ sessionId: id, count: 0, running: false, worker: false, items: [] })
    expect(sessions.popQueue(id)).toMatchObject({ removed: 0 })
    const release = held(service)
    await service.prompt(id, 'go')
    await generating(service)
    for (const prompt of ['one\n  line', 'two', 'three']) await service.prompt(id, { prompt, delivery: 'queue' })
    expect(sessions.queue(id)).toMatchObject({
      count: 3,
      running: true,
      worker: true,
      items: [{ index: 0, text: 'one line', partCount: 1, noReply: false, agent: null, model: null }, { text: 'two' }, { text: 'three' }],
    })
    expect(sessions.status(TRUSTED_CALLER)[id]).toMatchObject({ queue: { count: 3, preview: 'one line' } })
    expect(sessions.popQueue(id)).toMatchObject({ removed: 1, queue: { count: 2 } })
    expect(service.events.slice(-2)).toMatchObject([
      { type: 'session.queue.updated', data: { action: 'pop', removed: 1, request: { parts: [{ text: 'one\n  line' }] } } },
      { type: 'session.status', data: { status: { type: 'busy', queue: { count: 2, preview: 'two' } } } },
    ])
    await service.prompt(id, { prompt: 'four', delivery: 'queue', messageId: 'msg_four' })
    expect(sessions.popQueue(id, 'msg_four')).toMatchObject({
      removed: 1,
      queue: { count: 2, items: [{ text: 'two' }, { text: 'three' }] },
    })
    expect(sessions.popQueue(id, 'msg_four')).toMatchObject({ removed: 0, queue: { count: 2 } })
    expect(sessions.clearQueue(id)).toMatchObject({ removed: 2, queue: { count: 0 } })
    expect(service.events.slice(-2)).toMatchObject([
      { type: 'session.queue.updated', data: { action: 'clear', removed: 2 } },
      { type: 'session.status', data: { queue: 0 } },
    ])
    release.open()
    await service.idle(id)
    expect(service.requests).toHaveLength(1)
  })
})

it('waiting for a busy session ends when the caller goes away', async () => {
  const service = await startTestService()
  const id = await service.session()
  const release = held(service)
  await service.prompt(id, 'go')
  const gone = new AbortController()
  const waiting = service.runtime.sessions.wait(id, gone.signal)
  gone.abort()
  await expect(waiting).rejects.toThrow('aborted')
  await expect(service.runtime.sessions.wait(id, AbortSignal.abort())).rejects.toThrow('aborted')
  await generating(service)
  release.open()
  await service.idle(id)
})
