/** Commands in the background as a client sees them: listed, told once, cancelled, gone with their session and their server. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Message } from '../../../src/protocol/message/message.js'
import type { SessionPage, SessionRuntimeSnapshot } from '../../../src/protocol/session/session.js'
import type { SubagentTask } from '../../../src/protocol/session/subagent.js'
import { finish, type ModelServer, type ModelServerRequest, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { lackingSandbox } from '../server/bubblewrap.js'
import { makePlace, withModel } from '../server/place.js'
import { mentioning, untilNone } from '../server/processes.js'
import { openScene, type Scene, type Server } from '../server/server.js'
import type { AnyEvent, Stream } from '../server/stream.js'

const NO_SANDBOX = lackingSandbox()

let scene: Scene
let model: ModelServer
let server: Server
let stream: Stream

const task = (prompt: string, index: number, agent: string) =>
  toolCall({
    id: `call_${index}`,
    index,
    name: 'task',
    input: { description: prompt, prompt, subagent_type: agent, background: index > 0 },
  })

/** What each task of a storm does: a command in its call, one in the background, a request, nothing. */
const LEAVES: Readonly<Record<string, readonly [string, object]>> = {
  'storm-run': ['bash', { command: 'setsid sleep 300.54001 & sleep 301.54001' }],
  'storm-job': ['background_task', { description: 'serve', command: 'setsid sleep 302.54001 & sleep 303.54001' }],
  'storm-ask': ['write', { filePath: 'asked.txt', content: 'x' }],
}

/** `please <tool> <JSON of its input>` calls the tool; a storm delegates to four, each of which delegates to four. */
function answer({ body }: ModelServerRequest): ReturnType<typeof reply> {
  const last = body?.messages.at(-1)
  const asked = typeof last?.['content'] === 'string' ? last['content'] : JSON.stringify(last?.['content'] ?? '')
  if (last?.role === 'user' && asked.includes('storm-root'))
    return reply(...[0, 1, 2, 3].flatMap((index) => task('storm-branch', index, 'boss')), finish('tool_calls'))
  if (last?.role === 'user' && asked.includes('storm-branch'))
    return reply(...['storm-say', ...Object.keys(LEAVES)].flatMap((leaf, index) => task(leaf, index, 'general')), finish('tool_calls'))
  const leaf = last?.role === 'user' ? LEAVES[/storm-\w+/.exec(asked)?.[0] ?? ''] : undefined
  if (leaf !== undefined) return reply(toolCall({ id: 'call_1', name: leaf[0], input: leaf[1] }), finish('tool_calls'))
  const wanted = last?.role === 'user' ? /please (\w+) (\{.*\})/.exec(asked) : null
  if (wanted === null) return reply(text('Noted.'), finish('stop'))
  const [, name = '', input = ''] = wanted
  return reply(toolCall({ id: 'call_1', name, input: JSON.parse(input.replaceAll('\\"', '"')) as object }), finish('tool_calls'))
}

beforeAll(async () => {
  model = await startModelServer(answer)
  scene = openScene(makePlace())
  scene.place.configure(
    withModel(model.url, {
      permission: { '*': 'allow', edit: { '*': 'allow', 'asked.txt': 'ask' } },
      agent: { boss: { mode: 'all', description: 'delegates', permission: { task: 'allow' } } },
    }),
  )
  server = await scene.start()
  stream = await server.stream({ tail: true })
})
afterAll(async () => {
  await scene.close()
  await model.close()
})

const runtime = (id: string) => server.get<SessionRuntimeSnapshot>(`/v2/sessions/${id}/runtime`)
const told = (messages: readonly Message[]) =>
  messages
    .filter(({ info }) => info.role === 'user' && info.system?.startsWith('<svc-runtime-notification>') === true)
    .map(({ parts }) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(''))
const ended = (id: string) => (event: AnyEvent) => event.type === 'session.background_task.completed' && event.data.sessionID === id
const finished = (root: string) => (event: AnyEvent) =>
  event.type === 'session.execution.updated' && event.data.sessionID === root && event.data.snapshot.finished

const sleeping = (mark: string) => `setsid sleep 300.${mark} & sleep 301.${mark}`

/** A session with a command in the background that mentions its mark, with a child in a session of its own; idle again. */
async function started(mark: string, command = sleeping(mark)): Promise<{ id: string; jobId: string }> {
  const { id } = await server.createSession()
  return startedIn(id, mark, command)
}

async function startedIn(id: string, mark: string, command = sleeping(mark)): Promise<{ id: string; jobId: string }> {
  const from = stream.events.length
  await server.prompt(id, { prompt: `please background_task ${JSON.stringify({ description: mark, command })}` })
  await stream.idle(id, from)
  const { runningBackgroundTasks = [], execution } = await runtime(id)
  expect(runningBackgroundTasks).toMatchObject([{ sessionId: id }])
  expect(execution?.finished).toBe(false)
  return { id, jobId: runningBackgroundTasks[0]?.jobId ?? '' }
}

test('a command outlives its call and is told once, with what it printed, when it has ended', async () => {
  const from = stream.events.length
  scene.place.write('go', '')
  const { id, jobId } = await started('4711', 'until test -s go; do sleep 0.02; done; echo done-4711; exit 3')
  expect(stream.events.slice(from).find(({ type }) => type === 'session.background_tasks.updated')?.data).toMatchObject({
    sessionID: id,
    runningBackgroundTasks: [{ jobID: jobId, sessionID: id }],
  })
  const { items } = await server.get<SessionPage>('/v2/sessions')
  expect(items.find((session) => session.id === id)?.catalogActivity).toBe('background')
  scene.place.write('go', 'now')
  const end = await stream.waitFor(ended(id), from)
  expect(end.data).toMatchObject({ jobID: jobId, taskID: jobId, parentSessionID: id, status: 'error', exitCode: 3, result: 'done-4711' })
  await stream.waitFor(finished(id), from)
  const [notice, ...others] = told(await server.messages(id))
  expect(others).toEqual([])
  expect(notice).toContain(`job_id: ${jobId}`)
  expect(notice).toContain('<background_task_error>')
  expect(notice).toContain('done-4711')
  const call = (await server.messages(id)).flatMap(({ parts }) => parts.filter((part) => part.type === 'tool'))[0]
  expect(call?.state).toMatchObject({ output: expect.stringContaining(`job_id: ${jobId}\nstatus: running\n`) })
  const wire = JSON.stringify([await server.messages(id), stream.events.slice(from), await runtime(id)])
  expect(wire).not.toMatch(/\bpid\b/)
  expect((await runtime(id)).runningBackgroundTasks).toEqual([])
})

test('a fork with a command in the background is kept once that has ended', async () => {
  const { id } = await server.createSession()
  const fork = (await server.call('POST', `/v2/sessions/${id}/fork`, {})).body as { readonly id: string }
  const { jobId } = await startedIn(fork.id, '50001')
  const apart = () => server.call('DELETE', `/v2/sessions/${id}?keepForks=true`)
  expect(await apart()).toMatchObject({ status: 409, body: { code: 'resource.conflict', details: { sessionId: fork.id } } })
  const from = stream.events.length
  await server.call('DELETE', `/v2/sessions/${fork.id}/jobs/${jobId}`)
  await stream.waitFor(finished(id), from)
  expect((await apart()).status).toBe(200)
  expect((await runtime(fork.id)).rootSessionId).toBe(fork.id)
})

test('what is cancelled, deleted or archived leaves no process', async () => {
  const jobs = await Promise.all(['52001', '52002', '52003'].map((mark) => started(mark)))
  const [cancelled, deleted, archived] = jobs
  if (cancelled === undefined || deleted === undefined || archived === undefined) throw new Error('no jobs')
  expect(mentioning('.5200').length).toBeGreaterThanOrEqual(6)
  const from = stream.events.length
  const answered = await server.call('DELETE', `/v2/sessions/${cancelled.id}/jobs/${cancelled.jobId}`)
  expect([answered.status, answered.body]).toEqual([200, { jobId: cancelled.jobId, status: 'stopping' }])
  await server.call('DELETE', `/v2/sessions/${deleted.id}`)
  await server.call('PATCH', `/v2/sessions/${archived.id}`, { time: { archived: 1 } })
  expect(await untilNone(() => mentioning('.5200'))).toEqual([])
  await stream.waitFor(finished(cancelled.id), from)
  expect(told(await server.messages(cancelled.id)).map((notice) => notice.split('\n')[0])).toEqual([
    'A command you started in the background was stopped by the user.',
  ])
  expect(told(await server.messages(archived.id))).toEqual([])
  expect(await server.statuses()).toEqual({})
  expect((await server.call('DELETE', `/v2/sessions/${cancelled.id}/jobs/${cancelled.jobId}`)).status).toBe(409)
  expect((await server.call('DELETE', `/v2/sessions/${archived.id}/jobs/${cancelled.jobId}`)).status).toBe(404)
})

test('twenty delegations leave no session, process, request or status: one branch aborted, one stopped, one deleted, one steered', async () => {
  const TASKS = '/v2/plugins/dev.svc.subagents/sessions'
  const { id } = await server.createSession()
  await server.prompt(id, { prompt: 'storm-root' })
  await expect.poll(async () => (await runtime(id)).branches.length).toBe(20)
  await expect.poll(async () => (await runtime(id)).runningBackgroundTasks?.length).toBe(4)
  const { branches } = await runtime(id)
  const below = (parent: string) => branches.filter(({ parentSessionId }) => parentSessionId === parent).map(({ sessionId }) => sessionId)
  const [aborted = '', stopped = '', deleted = '', steered = ''] = below(id)
  const gone = [deleted, ...below(deleted)]
  await Promise.all([
    server.call('POST', `/v2/sessions/${aborted}/abort`),
    server.call('POST', `${TASKS}/${id}/stop`, { taskId: stopped }),
    server.call('DELETE', `/v2/sessions/${deleted}`),
    ...[steered, ...below(steered)].map((each) => server.prompt(each, { prompt: 'and another thing' })),
  ])
  await server.call('POST', `${TASKS}/${id}/stop`, {})
  expect(await untilNone(() => mentioning('.54001'))).toEqual([])
  await expect.poll(async () => server.statuses()).toEqual({})
  expect(await server.get('/v2/interactions/permissions')).toEqual([])
  const after = await runtime(id)
  expect([after.branches.map(({ status }) => status).filter((status) => status === 'outstanding'), after.runningBackgroundTasks]).toEqual([
    [],
    [],
  ])
  expect(after.execution?.finished).toBe(true)
  const tasks = await server.get<SubagentTask[]>(`${TASKS}/${id}/tasks`)
  expect([tasks.length, tasks.filter(({ status }) => status === 'running' || status === 'pending')]).toEqual([15, []])
  expect(await Promise.all(gone.map(async (each) => (await server.call('GET', `/v2/sessions/${each}`)).status))).toEqual(
    gone.map(() => 404),
  )
})

test.skipIf(NO_SANDBOX !== '')(`the sandbox is a tool where there is one, whatever the configuration says${NO_SANDBOX}`, async () => {
  const { id } = await server.createSession()
  const from = stream.events.length
  const outside = `${scene.place.root}/outside`
  await server.prompt(id, { prompt: `please sandbox_exec ${JSON.stringify({ command: `touch inside; touch ${outside} || echo walled` })}` })
  await stream.idle(id, from)
  const calls = (await server.messages(id)).flatMap(({ parts }) => parts.filter((part) => part.type === 'tool'))
  expect(calls).toMatchObject([{ tool: 'sandbox_exec', state: { status: 'completed', metadata: { sandbox: { network: false } } } }])
  expect(scene.place.read('inside')).toBe('')
})

test('when the server is killed or stopped its commands end, and each is told as interrupted exactly once', async () => {
  const killed = await started('53001')
  await server.kill()
  expect(await untilNone(() => mentioning('.53001'))).toEqual([])
  server = await scene.start()
  stream = await server.stream({ tail: true })
  const stopped = await started('53002')
  expect(await server.stop()).toMatchObject({ code: 0 })
  expect(mentioning('.53002')).toEqual([])
  server = await scene.start()
  for (const { id, jobId } of [killed, stopped]) {
    await expect.poll(async () => told(await server.messages(id)).length).toBeGreaterThan(0)
    await expect.poll(async () => (await runtime(id)).execution?.finished).toBe(true)
    const [notice, ...others] = told(await server.messages(id))
    expect(others).toEqual([])
    expect(notice).toContain(`job_id: ${jobId}`)
    expect(notice).toContain('status: interrupted')
  }
  expect(mentioning('.5300')).toEqual([])
})
