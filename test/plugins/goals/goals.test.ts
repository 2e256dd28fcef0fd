// Holds subsystems j.
/** When a goal goes on, when it stops, and what models are told of it. */
import { expect, test } from 'vitest'
import { goalsPlugin } from '../../../src/plugins/goals/goals.plugin.js'
import type { Hook } from '../../../src/ports/contributions.js'
import type { NativePlugin } from '../../../src/ports/plugin.js'
import { TRUSTED_CALLER } from '../../../src/protocol/caller.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import type { GoalResponse, SessionGoal } from '../../../src/protocol/session/goal.js'
import { openStore } from '../../../src/store/open.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { calls, gate, type PlayedStep, says, startTestService, type TestService } from '../../fakes/service.js'

const NOTICE = '<svc-runtime-notification>'
const { idleRuns, cost } = LIMITS.goals
const WORKING = 4

/** A tool whose outcome is what it was called with; every run of `working` does something new. */
async function start({ env = {}, config = {} }: { env?: Record<string, string>; config?: Record<string, unknown> } = {}) {
  const fetched: unknown[] = []
  const fetch = async (_url: unknown, init?: { body?: unknown }) => {
    const { url } = JSON.parse(String(init?.body)) as { url: string }
    fetched.push(url)
    if (url.includes('broken')) return new Response('no', { status: 500 })
    return Response.json({ success: true, data: { markdown: `${url} says </note> ${'x'.repeat(LIMITS.goals.note)}` } })
  }
  const effects = createFakeEffects({ fetch: fetch as unknown as typeof globalThis.fetch })
  const tool = { id: 'work', invoke: async ({ value }: { value: string }) => ({ title: 'done', output: value }) }
  const service = await startTestService({ effects, plugins: [goalsPlugin({ env })], tools: [tool], config })
  return { service, fetched, id: await service.session() }
}

async function call(service: TestService, id: string, operation: string, body?: unknown): Promise<SessionGoal | null> {
  const { signal } = new AbortController()
  const asked = { caller: TRUSTED_CALLER, directory: '', params: { session_id: id }, query: {}, headers: {}, body, signal }
  return ((await service.runtime.plugins.call(`v2.plugins.goals.${operation}`, asked)) as GoalResponse).goal
}

const working = (value: string): PlayedStep[] => [calls({ callId: `c${value}`, tool: 'work', input: { value } }), says('more to do')]
const prompts = (service: TestService, id: string) => service.messages(id).filter(({ info }) => info.role === 'user').length
const rests = (service: TestService, id: string, fits: (goal: SessionGoal) => boolean) =>
  service.until(({ type, data }) => {
    const { sessionID, info } = data as { sessionID?: string; info?: { goal?: SessionGoal } }
    return type === 'session.updated' && sessionID === id && info?.goal !== undefined && fits(info.goal)
  })
const isBlocked = ({ status }: SessionGoal) => status === 'blocked'
/** Lets whatever follows from what has happened happen. */
const settle = async ({ effects }: TestService) => {
  for (let turn = 0; turn < 20; turn++) await effects.clock.advanceAsync(0)
}

test('goes on while something new is done, and a little longer; set again it counts anew', async () => {
  const { service, id } = await start()
  for (let run = 0; run < WORKING; run++) service.steps.push(...working(String(run)))
  for (let run = 0; run < idleRuns; run++) service.steps.push(says('I think'))
  await call(service, id, 'set', { text: 'all of it' })
  await service.prompt(id, 'begin')
  await rests(service, id, isBlocked)
  expect([prompts(service, id), service.steps.length]).toEqual([WORKING + idleRuns, 0])
  expect((await call(service, id, 'get'))?.summary).toContain(`${idleRuns} runs in a row made no progress`)
  const again = await call(service, id, 'set', { text: 'all of it' })
  expect(again).toMatchObject({ status: 'active', summary: '' })
  service.steps.push(calls({ callId: 'end', tool: 'complete_goal', input: { status: 'blocked', summary: 'No key.' } }), says('bye'))
  await service.prompt(id, 'go on')
  await rests(service, id, ({ summary }) => summary === 'No key.')
  await service.idle(id)
  await settle(service)
  expect([prompts(service, id), (await call(service, id, 'get'))?.status]).toEqual([WORKING + idleRuns + 1, 'blocked'])
})

test('between two of its runs the session is not idle for a moment, and who waits for it waits for the goal', async () => {
  const { service, id } = await start()
  service.steps.push(...working('a'), ...working('b'), ...working('c'))
  for (let run = 0; run < idleRuns; run++) service.steps.push(says('I think'))
  await call(service, id, 'set', { text: 'all of it' })
  await service.prompt(id, 'begin')
  await service.idle(id)
  expect((await call(service, id, 'get'))?.status).toBe('blocked')
  expect([prompts(service, id), service.steps.length]).toEqual([3 + idleRuns, 0])
  const told = service.events.flatMap(({ type, data }) => {
    if (type === 'session.status') return [(data['status'] as { type: string }).type]
    return type === 'session.execution.updated' ? [(data['snapshot'] as { finished: boolean }).finished ? 'finished' : 'open'] : []
  })
  expect(told.filter((word) => word === 'idle' || word === 'finished')).toEqual(['idle', 'finished'])
  expect(told.slice(-2)).toEqual(['idle', 'finished'])
})

test('an abort, and a run that fails, end it and its session in one commit', async () => {
  const { service, id } = await start()
  const held = gate()
  service.steps.push(...working('a'), async () => held.promise)
  await call(service, id, 'set', { text: 'all of it' })
  await service.prompt(id, 'begin')
  await service.until(({ type, data }) => type === 'message.updated' && service.messages(id).length > 3 && data['sessionID'] === id)
  await service.runtime.sessions.abort(id)
  expect(await call(service, id, 'get')).toMatchObject({ status: 'active', paused: true })
  held.open()
  service.steps.splice(0, service.steps.length, () => Promise.reject(new Error('no key')))
  await call(service, id, 'set', { text: 'once more' })
  await service.prompt(id, 'again')
  await service.idle(id)
  expect(await call(service, id, 'get')).toMatchObject({ status: 'blocked', summary: expect.stringContaining('no key') })
})

/** Resolves when a run of a new session with a goal is under way of which nothing is said before `held` opens. */
async function startHeld(held: ReturnType<typeof gate>, options: Parameters<typeof startTestService>[0] = {}) {
  const asked = gate()
  const hooks: Readonly<Record<string, Hook>> = {
    'chat.messages': async (_context, value) => {
      asked.open()
      await held.promise
      return value
    },
  }
  const slow: NativePlugin = { id: 'test.slow', name: 'Slow', start: () => ({ hooks }) }
  const service = await startTestService({ ...options, plugins: [goalsPlugin({ env: {} }), slow] })
  const id = await service.session()
  await call(service, id, 'set', { text: 'all of it' })
  await service.prompt(id, 'begin')
  await asked.promise
  return { service, id }
}

test('an abort before anything was said ends it as well', async () => {
  const held = gate()
  const { service, id } = await startHeld(held)
  await service.runtime.sessions.abort(id)
  held.open()
  expect(await call(service, id, 'get')).toMatchObject({ status: 'active', paused: true, summary: 'Paused: its run was aborted.' })
})

test('stops at its cost, after a failed run, and where the same is done again and again', async () => {
  const dear = {
    one: { name: 'One', toolCall: true, limit: { context: 100_000, output: 1000 }, cost: { input: (cost / 10) * 1e6, output: 0 } },
  }
  const { service, id } = await start({
    config: { provider: { played: { npm: 'played', auth: 'none', options: { baseURL: 'http://127.0.0.1:9/v1' }, models: dear } } },
  })
  service.steps.push(...working('a'))
  await call(service, id, 'set', { text: 'dear' })
  await service.prompt(id, 'begin')
  await rests(service, id, isBlocked)
  expect((await call(service, id, 'get'))?.summary).toBe(
    `Stopped: its runs have cost ${(2 * cost).toFixed(2)}, and ${cost} is the most they may.`,
  )

  const cheap = await start()
  const failing = cheap.id
  cheap.service.steps.push(...working('a'), () => Promise.reject(new Error('the model is gone')))
  await call(cheap.service, failing, 'set', { text: 'failing' })
  await cheap.service.prompt(failing, 'begin')
  await rests(cheap.service, failing, isBlocked)
  expect([prompts(cheap.service, failing), (await call(cheap.service, failing, 'get'))?.summary]).toEqual([
    2,
    'Stopped: a run failed: the model is gone',
  ])

  const same = await cheap.service.session()
  for (let run = 0; run < 4; run++) cheap.service.steps.push(...working('same'))
  await call(cheap.service, same, 'set', { text: 'same' })
  await cheap.service.prompt(same, 'begin')
  await rests(cheap.service, same, isBlocked)
  expect([prompts(cheap.service, same), cheap.service.steps.length]).toEqual([4, 0])
})

test('a paused one is not gone on with; resumed, it goes on after the next run, unattended as that was', async () => {
  const { service, id } = await start()
  const held = gate()
  service.steps.push(async (push, signal, request) => {
    await held.promise
    await says('one')(push, signal, request)
  })
  await call(service, id, 'set', { text: 'slowly' })
  await service.prompt(id, 'begin')
  await service.until(({ type }) => type === 'message.updated')
  expect(await call(service, id, 'set', { paused: true })).toMatchObject({ paused: true, status: 'active' })
  held.open()
  await service.idle(id)
  await settle(service)
  expect(prompts(service, id)).toBe(1)
  await call(service, id, 'set', { paused: false })
  await settle(service)
  expect(prompts(service, id)).toBe(1)
  const end = { callId: 'e', tool: 'complete_goal', input: { summary: 'Done.' } }
  service.steps.push(...working('b'), calls(end), says('bye'))
  await service.prompt(id, { prompt: 'now', unattended: true })
  await rests(service, id, ({ status }) => status === 'complete')
  await service.idle(id)
  expect(prompts(service, id)).toBe(3)
  expect(service.store.runs.last(id)).toMatchObject({ status: 'completed', unattended: true })
})

test('a compaction and a session without a goal begin nothing', async () => {
  const { service, id } = await start()
  service.steps.push(says('none'))
  await service.prompt(id, 'hello')
  await service.idle(id)
  await call(service, id, 'set', { text: 'later' })
  const other = await service.session()
  service.steps.push(says('none'))
  await service.prompt(other, 'hello')
  await service.idle(other)
  service.steps.push(says('A summary of what was said.'))
  await service.runtime.sessions.compact(id, new AbortController().signal)
  expect(service.steps).toEqual([])
  await settle(service)
  expect([prompts(service, other), service.messages(id).filter(({ info }) => info.role === 'user' && info.system === NOTICE)]).toEqual([
    1,
    [],
  ])
})

test('models are told of it in every step; the tool is there only with it; text cannot end its marks early', async () => {
  const { service, fetched, id } = await start({ env: { FIRECRAWL_API_KEY: 'k' } })
  const systemOf = () => (service.requests.at(-1)?.messages ?? []).flatMap((each) => (each.role === 'system' ? [each.text] : []))
  const toolsOf = () => service.requests.at(-1)?.tools.map(({ id: tool }) => tool) ?? []
  service.steps.push(says('hello'))
  await service.prompt(id, 'hello')
  await service.idle(id)
  expect([systemOf().join('\n').includes('goal'), toolsOf().includes('complete_goal')]).toEqual([false, false])
  const urls = ['https://a.test', 'https://broken.test']
  const goal = await call(service, id, 'set', { text: 'x </goal> y', paused: true, researchUrls: urls })
  expect(fetched).toEqual(urls)
  expect(goal?.research).toMatchObject([{ source: 'https://a.test', captured: service.effects.clock.now() }])
  expect(goal?.research[0]?.content).toHaveLength(LIMITS.goals.note)
  await expect(call(service, id, 'research', { url: 'https://broken.test' })).rejects.toMatchObject({ code: 'request.unprocessable' })
  await expect(call(service, id, 'research', { url: 'file:///etc/passwd' })).rejects.toMatchObject({ code: 'request.invalid' })
  expect(await call(service, id, 'research', { url: 'http://b.test' })).toMatchObject({ research: [{}, { source: 'http://b.test' }] })
  service.steps.push(says('hello'))
  await service.prompt(id, 'hello')
  await service.idle(id)
  const [, section = ''] = systemOf()
  expect([section.split('</goal>').length, section.split('</note>').length]).toEqual([2, 3])
  expect(section).toContain('It is paused')
  expect(toolsOf()).toContain('complete_goal')
})

test('rows that a kill left without a session are removed by the next start', async () => {
  const effects = createFakeEffects()
  const store = openStore({ directory: effects.paths.state, now: () => effects.clock.now() })
  const known = { isTold: false, isParked: true, continued: 0, idle: 0, costBefore: 0, known: [], since: 0, sessionId: 'ses_gone' }
  store.transact('process', () => store.pluginRows.put('dev.svc.goals', 'pursuit', { id: 'ses_gone', group: '', sort: 0, data: known }))
  const service = await startTestService({ effects, store, plugins: [goalsPlugin({ env: {} })] })
  await settle(service)
  expect(store.pluginRows.list('dev.svc.goals', 'pursuit')).toEqual([])
})

test('a run that a kill took before anything was said is gone on from by the next start', async () => {
  const effects = createFakeEffects()
  const store = openStore({ directory: effects.paths.state, now: () => effects.clock.now() })
  const { id } = await startHeld(gate(), { effects, store })
  const next = await startTestService({ effects, store, plugins: [goalsPlugin({ env: {} })] })
  next.steps.push(...Array.from({ length: idleRuns }, () => says('I think')))
  await rests(next, id, isBlocked)
  expect(prompts(next, id)).toBe(idleRuns)
})

test('what a kill took that nobody had prompted, as a compaction, is not gone on from', async () => {
  const effects = createFakeEffects()
  const store = openStore({ directory: effects.paths.state, now: () => effects.clock.now() })
  const killed = await startTestService({ effects, store, plugins: [goalsPlugin({ env: {} })] })
  const id = await killed.session()
  await call(killed, id, 'set', { text: 'all of it' })
  const run = { id: 'run_1', sessionId: id, startedAt: effects.clock.now(), unattended: false }
  store.transact('process', () => store.runs.begin(run))
  const next = await startTestService({ effects, store, plugins: [goalsPlugin({ env: {} })] })
  await settle(next)
  expect(store.runs.last(id)?.status).toBe('interrupted')
  expect([prompts(next, id), await call(next, id, 'get')]).toMatchObject([0, { status: 'active', paused: false }])
})

test('a deleted session takes its goal along', async () => {
  const { service, id } = await start()
  await call(service, id, 'set', { text: 'gone soon' })
  expect(service.store.pluginRows.list('dev.svc.goals', 'pursuit')).toHaveLength(1)
  await service.runtime.sessions.delete(TRUSTED_CALLER, id)
  await settle(service)
  expect(service.store.pluginRows.list('dev.svc.goals', 'pursuit')).toEqual([])
  await expect(call(service, id, 'get')).rejects.toMatchObject({ code: 'resource.not_found' })
})
