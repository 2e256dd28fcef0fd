// Holds subsystems l.4.
/** A worker that answers a session, and what it asks at the desk of the step. */
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { NativeHost, NativePlugin, ToolContribution } from '../../../src/ports/plugin.js'
import { defineTool } from '../../../src/ports/plugin.js'
import type { SessionWorker } from '../../../src/ports/provider-adapter.js'
import { TRUSTED_CALLER } from '../../../src/protocol/caller.js'
import { ZERO_USAGE } from '../../../src/protocol/message/token-usage.js'
import { startTestService } from '../../fakes/service.js'

type Work = SessionWorker<ToolContribution>['work']

/** A plugin of that name whose worker does `work`, and a session that it answers. */
async function answeredBy(work: Work) {
  let host: NativeHost | undefined
  const plugin: NativePlugin = {
    id: 'dev.svc.worker',
    name: 'Worker',
    start(given) {
      host = given
      const worker = { id: 'external', create: () => ({ work }) }
      return { providers: [{ npm: [], worker, create: () => ({ generate: () => Promise.reject(new Error('it is no model')) }) }] }
    },
  }
  const service = await startTestService({
    plugins: [plugin],
    tools: [
      { id: 'greet', invoke: async ({ value }) => ({ title: 'Greet', output: `hello ${value}` }) },
      {
        id: 'sends',
        needs: () => [{ permission: 'sends', patterns: ['*'], title: 'Send' }],
        invoke: async () => ({ title: '', output: 'sent' }),
      },
      {
        id: 'waits',
        invoke: (_, { signal }) => aborted(signal),
      },
    ],
  })
  const external = { runtime: 'acp', provider: 'codex', agent: 'codex', status: 'created' }
  const session = await host?.sessions.create(
    service.directory,
    { permission: [{ permission: 'sends', pattern: '*', action: 'deny' }] },
    { externalAgent: external },
  )
  if (session === undefined) throw new Error('there is no session')
  const callsOf = () => service.messages(session.id).flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool' ? [part] : [])))
  return { service, id: session.id, callsOf }
}

/** Rejects when it aborts, or has. */
async function aborted(signal: AbortSignal): Promise<never> {
  signal.throwIfAborted()
  return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))))
}

const finish = { type: 'finish', reason: 'stop', usage: ZERO_USAGE } as const

describe('a worker', () => {
  it('is told what was said since the last answer, and no step follows its calls', async () => {
    const prompts: string[] = []
    const { service, id, callsOf } = await answeredBy(async ({ prompt }, push, desk) => {
      prompts.push(prompt)
      const end = await desk.call({ tool: 'greet', input: { value: prompt } })
      push({ type: 'text', delta: end.ok ? end.output : end.error })
      push(finish)
    })
    for (const prompt of ['one', 'two']) {
      await service.prompt(id, prompt)
      await service.idle(id)
    }
    expect(prompts).toEqual(['one', 'two'])
    expect(callsOf()).toMatchObject([
      { tool: 'greet', state: { status: 'completed', output: 'hello one' } },
      { tool: 'greet', state: { status: 'completed', output: 'hello two' } },
    ])
    expect(service.messages(id).filter(({ info }) => info.role === 'assistant')).toHaveLength(2)
  })

  it('is told what the rules deny, what there is not, and what does not fit', async () => {
    const ends: unknown[] = []
    const { service, id, callsOf } = await answeredBy(async (_, push, desk) => {
      for (const call of [
        { tool: 'sends', input: { value: 'x' } },
        { tool: 'nothing', input: {} },
        { tool: 'greet', input: { value: 1 } },
      ])
        ends.push(await desk.call(call))
      push(finish)
    })
    await service.prompt(id, 'go')
    await service.idle(id)
    expect(ends).toMatchObject([
      { ok: false, error: expect.stringContaining('no tool "sends"') as string },
      { ok: false, error: expect.stringContaining('no tool "nothing"') as string },
      { ok: false, error: expect.stringContaining('not valid') as string },
    ])
    expect(callsOf()).toEqual([])
  })

  it('may bring a tool for one call, which asks for a call of its own and leaves no part', async () => {
    const tool = defineTool({
      id: 'external_agent',
      description: '',
      input: z.strictObject({}),
      permission: 'external_agent',
      needs: async () => [{ permission: 'external_agent', patterns: ['execute: make'], title: 'make' }],
      invoke: async () => ({ title: '', output: '' }),
    })
    const ends: boolean[] = []
    const { service, id, callsOf } = await answeredBy(async (_, push, desk) => {
      push({ type: 'tool-call', callId: 'own', tool: 'execute', input: '{}', executed: true })
      ends.push((await desk.call({ tool, input: {}, of: 'own' })).ok)
      push(finish)
    })
    await service.prompt(id, 'go')
    await service.until(({ type }) => type === 'permission.asked')
    const [request] = service.runtime.interactions.permissions(TRUSTED_CALLER, id)
    expect(request).toMatchObject({ permission: 'external_agent', tool: { callID: 'own' } })
    service.runtime.interactions.replyPermission(request?.id ?? '', { reply: 'once' })
    await service.idle(id)
    expect(ends).toEqual([true])
    expect(callsOf().map(({ callId }) => callId)).toEqual(['own'])
  })

  it('may stop a call of its own; all of them end with the turn', async () => {
    const ends: boolean[] = []
    const { service, id, callsOf } = await answeredBy(async (_, push, desk, signal) => {
      const stop = new AbortController()
      const stopped = desk.call({ tool: 'waits', input: { value: '' }, signal: stop.signal })
      await service.until(() => callsOf().some(({ state }) => state.status === 'running'))
      stop.abort()
      ends.push((await stopped).ok)
      ends.push((await desk.call({ tool: 'waits', input: { value: '' } })).ok)
      push({ type: 'text', delta: `late, and the turn is ${signal.aborted ? 'over' : 'on'}` })
    })
    await service.prompt(id, 'go')
    await service.until(() => ends.length === 1)
    expect(await service.runtime.sessions.abort(id)).toBe(true)
    await service.idle(id)
    expect(ends).toEqual([false, false])
    expect(JSON.stringify(service.messages(id))).not.toContain('late')
  })

  it('keeps the conversation itself: however full its window is, nothing is compacted', async () => {
    let turns = 0
    const { service, id } = await answeredBy(async (_, push) => {
      turns++
      push({ type: 'text', delta: 'done' })
      push({ ...finish, usage: { ...ZERO_USAGE, total: 900_000, contextLimit: 1_000_000 } })
    })
    for (const prompt of ['one', 'two']) {
      await service.prompt(id, prompt)
      await service.idle(id)
    }
    expect(turns).toBe(2)
    expect(service.events.filter(({ type }) => type === 'session.context.updated')).toEqual([])
    expect(service.messages(id).map(({ info }) => (info.role === 'user' ? 'user' : (info.error?.message ?? info.finish)))).toEqual([
      'user',
      'stop',
      'user',
      'stop',
    ])
  })

  it.each(['finished', 'aborted'])(
    'leaves calls open by the hundred: a part of them is closed in a turn of the loop, when it has %s',
    async (how) => {
      const MOST = 64
      let opened = 0
      const { service, id, callsOf } = await answeredBy(async (_, push, _desk, signal) => {
        for (; opened < 500; opened++) push({ type: 'tool-call', callId: `own-${opened}`, tool: 'execute', input: '{}', executed: true })
        if (how === 'finished') push(finish)
        else await aborted(signal)
      })
      const closed = () => service.events.filter(({ data }) => isClosed(data)).length
      const perTurn: number[] = []
      let known = 0
      let isOver = false
      const look = () => {
        perTurn.push(closed() - known)
        known = closed()
        if (!isOver) setImmediate(look)
      }
      look()
      await service.prompt(id, 'go')
      if (how === 'aborted') {
        await service.until(() => opened === 500)
        await service.runtime.sessions.abort(id)
      }
      await service.idle(id)
      isOver = true
      look()
      expect(callsOf().map(({ state }) => state.status)).toEqual(Array.from({ length: 500 }, () => 'error'))
      expect(Math.max(...perTurn)).toBeLessThanOrEqual(MOST)
    },
  )
})

function isClosed({ part }: Readonly<Record<string, unknown>>): boolean {
  return JSON.stringify(part ?? null).includes('"interrupted":true')
}
