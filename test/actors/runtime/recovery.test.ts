// Holds sessions-events §2.17.
import { describe, expect, it } from 'vitest'
import { recover } from '../../../src/actors/runtime/recovery.js'
import { assemble } from '../../../src/actors/runtime/assembly.js'
import { TRUSTED_CALLER } from '../../../src/protocol/caller.js'
import type { AssistantInfo } from '../../../src/protocol/message/message.js'
import { openStore } from '../../../src/store/open.js'
import type { Store } from '../../../src/store/store.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { NO_NATIVE_CODE } from '../../fakes/native-code.js'
import { gate, says, startTestService } from '../../fakes/service.js'

const place = (id: string) => ({ id, sessionId: 'ses_crashed', messageId: 'msg_open' })
const ZERO = { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } }

/** Rows as a process leaves them that was killed in the middle of a tool call, with a prompt waiting. */
function crash(store: Store, directory: string): void {
  const session = {
    slug: 'calm-otter',
    projectId: 'global',
    directory,
    title: 'Crashed',
    version: '0',
    time: { created: 1, updated: 1 },
    agent: 'build',
    svcTenantId: 'local',
  }
  const info: AssistantInfo = {
    role: 'assistant',
    id: 'msg_open',
    sessionId: 'ses_crashed',
    time: { created: 2 },
    parentId: 'msg_user',
    mode: 'primary',
    agent: 'build',
    path: { cwd: directory, root: directory },
    cost: 0,
    tokens: ZERO,
    modelId: 'one',
    providerId: 'played',
  }
  store.transact('power', () => {
    store.sessions.insert({ ...session, id: 'ses_crashed' })
    store.sessions.insert({ ...session, id: 'ses_quiet' })
    store.messages.append(
      {
        role: 'user',
        id: 'msg_user',
        sessionId: 'ses_crashed',
        time: { created: 1 },
        agent: 'build',
        model: { providerId: 'played', modelId: 'one' },
      },
      [{ id: 'prt_user', sessionId: 'ses_crashed', messageId: 'msg_user', type: 'text', text: 'do it' }],
    )
    store.messages.append(info, [
      { ...place('prt_1'), type: 'step-start' },
      { ...place('prt_2'), type: 'text', text: 'so far', time: { start: 2 } },
      { ...place('prt_3'), type: 'reasoning', text: 'hm', time: { start: 2 } },
      {
        ...place('prt_4'),
        type: 'tool',
        tool: 'echo',
        callId: 'a',
        state: { status: 'running', input: { value: 'x' }, time: { start: 3 } },
      },
      {
        ...place('prt_5'),
        type: 'tool',
        tool: 'echo',
        callId: 'b',
        state: { status: 'completed', input: {}, output: 'o', title: 't', metadata: {}, time: { start: 3, end: 4 } },
      },
    ])
    store.runs.begin({ id: 'evt_run', sessionId: 'ses_crashed', startedAt: 2, unattended: false })
    store.executions.put({
      executionId: 'evt_execution',
      rootSessionId: 'ses_crashed',
      rootMessageId: 'msg_user',
      completedMs: 5,
      activeSegments: { evt_segment: 2 },
      revision: 1,
      finished: false,
    })
    for (const kind of ['permission', 'question'] as const) {
      const request = {
        id: `${kind}_1`,
        sessionId: 'ses_crashed',
        messageId: 'msg_open',
        title: 't',
        permission: 'p',
        patterns: [],
        always: [],
        questions: [],
      }
      store.interactions.insert({ id: request.id, kind, sessionId: 'ses_crashed', runId: 'evt_run', state: 'pending', request, created: 3 })
    }
  })
}

function enqueue(store: Store, messageId: string): void {
  store.transact('power', () =>
    store.queue.append({
      id: `row_${messageId}`,
      sessionId: 'ses_crashed',
      delivery: 'queue',
      request: { messageId, parts: [{ type: 'text', text: messageId }], noReply: false },
      created: 4,
    }),
  )
}

function prepare() {
  const effects = createFakeEffects()
  const store = openStore({ directory: ':memory:', now: () => effects.clock.now() })
  crash(store, effects.paths.cwd)
  return { effects, store }
}

describe('after a crash', () => {
  it('everything that was under way is ended, with its events, and asks cannot be answered', async () => {
    const { effects, store } = prepare()
    const service = await startTestService({ effects, store })
    expect(store.runs.running()).toEqual([])
    expect(store.messages.get('msg_open')).toMatchObject({
      info: { finish: 'error', error: { interrupted: true }, time: { completed: expect.any(Number) } },
      parts: [
        { type: 'step-start' },
        { text: 'so far', time: { end: expect.any(Number) } },
        { text: 'hm', time: { end: expect.any(Number) } },
        { callId: 'a', state: { status: 'error', input: { value: 'x' } }, metadata: { interrupted: true } },
        { callId: 'b', state: { status: 'completed', output: 'o' } },
        { type: 'step-finish', reason: 'aborted' },
      ],
    })
    expect(store.executions.unfinished()).toEqual([])
    expect(store.interactions.pending()).toEqual([])
    const rows = store.events.after(0, 100).map(({ type }) => type)
    expect(rows.toSorted()).toEqual([
      'message.part.updated',
      'message.part.updated',
      'message.part.updated',
      'message.part.updated',
      'message.updated',
      'permission.replied',
      'question.rejected',
      'session.execution.updated',
      'session.status',
    ])
    const { interactions, sessions } = service.runtime
    expect(interactions.permissions(TRUSTED_CALLER, undefined)).toEqual([])
    expect(interactions.replyPermission('permission_1', { reply: 'once' })).toBe(true)
    expect(interactions.rejectQuestion('question_1')).toBe(true)
    expect(store.events.after(0, 100)).toHaveLength(rows.length)
    expect(sessions.status(TRUSTED_CALLER)).toEqual({})
    service.steps.push(says('on'))
    await service.prompt('ses_crashed', 'go on')
    await service.idle('ses_crashed')
    expect(service.requests[0]?.messages.filter(({ role }) => role === 'tool')).toMatchObject([
      { results: [{ isError: true }, { isError: false }] },
    ])
  })

  it('prompts that had not started run once, in order', async () => {
    const { effects, store } = prepare()
    enqueue(store, 'msg_b')
    enqueue(store, 'msg_c')
    const service = await startTestService({ effects, store, steps: [says('b'), says('c')] })
    await service.idle('ses_crashed')
    expect(service.requests).toHaveLength(2)
    expect(
      service
        .messages('ses_crashed')
        .map(({ info }) => info.id)
        .filter((id) => ['msg_b', 'msg_c'].includes(id)),
    ).toEqual(['msg_b', 'msg_c'])
    expect(store.executions.unfinished()).toEqual([])
    await service.prompt('ses_crashed', { messageId: 'msg_b', prompt: 'msg_b' })
    expect(store.queue.count('ses_crashed')).toBe(0)
  })

  it('recovering again changes nothing more', async () => {
    const { effects, store } = prepare()
    const { core } = await assemble({
      effects,
      store,
      plugins: [],
      programs: { node: process.execPath, luaSandbox: '', toolbox: '', native: NO_NATIVE_CODE },
      version: '0',
    })
    recover(core)
    const events = store.events.after(0, 1000)
    const message = store.messages.get('msg_open')
    recover(core)
    expect(store.events.after(0, 1000)).toEqual(events)
    expect(store.messages.get('msg_open')).toEqual(message)
  })

  it('a run killed for real is found and ended by the next start', async () => {
    const effects = createFakeEffects()
    const directory = `${effects.paths.state}/data`
    const first = await startTestService({ effects, store: openStore({ directory, now: () => effects.clock.now() }) })
    const id = await first.session()
    first.steps.push(async (push) => {
      push({ type: 'text', delta: 'half' })
      await gate().promise
    })
    await first.prompt(id, 'go')
    await first.until(({ type }) => type === 'message.part.delta')
    await effects.clock.advanceAsync(1000)
    const before = first.running.counters()['sequence'] ?? 0
    first.running.kill()
    await effects.clock.advanceAsync(200)
    await first.running.ended
    const second = await startTestService({ effects, store: openStore({ directory, now: () => effects.clock.now() }) })
    expect(second.messages(id)[1]).toMatchObject({
      info: { finish: 'error', error: { interrupted: true } },
      parts: [{}, { text: 'half' }, { reason: 'aborted' }],
    })
    expect(second.running.counters()['sequence']).toBeGreaterThan(before)
    const replayed = second.store.events.after(before, 100)
    expect(replayed.map(({ type }) => type)).toContain('session.status')
  })
})
