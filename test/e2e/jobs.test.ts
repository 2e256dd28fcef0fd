/** Commands in the background as a client sees them: listed, told once, cancelled, gone with their session and their server. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Message } from '../../src/protocol/message/message.js'
import type { SessionRuntimeSnapshot } from '../../src/protocol/session/session.js'
import { finish, type ModelServer, type ModelServerRequest, reply, startModelServer, text, toolCall } from '../fixtures/model-server.js'
import { whyNoBubblewrap } from './bubblewrap.js'
import { makePlace, withModel } from './place.js'
import { mentioning, untilNone } from './processes.js'
import { openScene, type Scene, type Server } from './server.js'
import type { AnyEvent, Stream } from './stream.js'

let scene: Scene
let model: ModelServer
let server: Server
let stream: Stream

/** `please <tool> <JSON of its input>` calls the tool. */
function answer({ body }: ModelServerRequest): ReturnType<typeof reply> {
  const last = body?.messages.at(-1)
  const asked = typeof last?.['content'] === 'string' ? last['content'] : JSON.stringify(last?.['content'] ?? '')
  const wanted = last?.role === 'user' ? /please (\w+) (\{.*\})/.exec(asked) : null
  if (wanted === null) return reply(text('Noted.'), finish('stop'))
  const [, name = '', input = ''] = wanted
  return reply(toolCall({ id: 'call_1', name, input: JSON.parse(input.replaceAll('\\"', '"')) as object }), finish('tool_calls'))
}

beforeAll(async () => {
  model = await startModelServer(answer)
  scene = openScene(makePlace())
  scene.place.configure(withModel(model.url, { permission: { '*': 'allow' } }))
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

/** A session with a command in the background that mentions its mark, with a child in a session of its own; idle again. */
async function started(mark: string, command = `setsid sleep 300.${mark} & sleep 301.${mark}`): Promise<{ id: string; jobId: string }> {
  const { id } = await server.createSession()
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
  scene.place.write('go', 'now')
  const end = await stream.waitFor(ended(id), from)
  expect(end.data).toMatchObject({ jobID: jobId, taskID: jobId, parentSessionID: id, status: 'error', exitCode: 3, result: 'done-4711' })
  await stream.waitFor(finished(id), from)
  const [notice, ...others] = told(await server.messages(id))
  expect(others).toEqual([])
  expect(notice).toContain(`job_id: ${jobId}`)
  expect(notice).toContain('done-4711')
  expect((await runtime(id)).runningBackgroundTasks).toEqual([])
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
  expect(await untilNone(() => mentioning('.5200'), 5000)).toEqual([])
  await stream.waitFor(finished(cancelled.id), from)
  expect(told(await server.messages(cancelled.id)).map((notice) => notice.split('\n')[0])).toEqual([
    'A command you started in the background was stopped by the user.',
  ])
  expect(told(await server.messages(archived.id))).toEqual([])
  expect(await server.statuses()).toEqual({})
  expect((await server.call('DELETE', `/v2/sessions/${cancelled.id}/jobs/${cancelled.jobId}`)).status).toBe(409)
  expect((await server.call('DELETE', `/v2/sessions/${archived.id}/jobs/${cancelled.jobId}`)).status).toBe(404)
})

test.skipIf(whyNoBubblewrap() !== undefined)('the sandbox is a tool where there is one, whatever the configuration says', async () => {
  const { id } = await server.createSession()
  const from = stream.events.length
  const outside = `${scene.place.root}/outside`
  await server.prompt(id, { prompt: `please sandbox_exec ${JSON.stringify({ command: `touch inside; touch ${outside} || echo walled` })}` })
  await stream.idle(id, from)
  const calls = (await server.messages(id)).flatMap(({ parts }) => parts.filter((part) => part.type === 'tool'))
  expect(calls).toMatchObject([{ tool: 'sandbox_exec', state: { status: 'completed', metadata: { sandbox: { network: false } } } }])
  expect(scene.place.read('inside')).toBe('')
})

test('when the server is killed its commands end, and each is told as interrupted exactly once', async () => {
  const { id, jobId } = await started('53001')
  await server.kill()
  expect(await untilNone(() => mentioning('.53001'), 5000)).toEqual([])
  for (let start = 0; start < 2; start++) {
    server = await scene.start()
    await expect.poll(async () => (await runtime(id)).execution?.finished, { timeout: 10_000 }).toBe(true)
    await expect.poll(async () => told(await server.messages(id)).length, { timeout: 10_000 }).toBe(1)
    if (start === 0) await server.stop()
  }
  expect(told(await server.messages(id))[0]).toContain(`job_id: ${jobId}`)
  expect(told(await server.messages(id))[0]).toContain('status: interrupted')
  expect(mentioning('.53001')).toEqual([])
})
