import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { PermissionRequest, QuestionRequest } from '../../src/protocol/interaction.js'
import { finish, type ModelServer, reply, startModelServer, text, toolCall } from '../fixtures/model-server.js'
import { makePlace, withModel } from './place.js'
import { type Answer, openScene, type Scene, type Server } from './server.js'

interface Operation {
  readonly operationId: string
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: object }>> }>>
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: object
}

const TOKEN = 'a-token-for-the-contract'

let scene: Scene
let model: ModelServer
beforeEach(() => {
  scene = openScene(makePlace())
})
afterEach(async () => {
  await scene.close()
  await model.close()
})

/** Checks answers of a running server against the document it publishes, with a validator that is not ours. */
function checker(document: Document) {
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema({ ...document, $id: 'document' })
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  const seen = new Set<string>()
  return {
    unseen: () => operations.map(({ operation }) => operation.operationId).filter((id) => !seen.has(id)),
    check(id: string, answer: Pick<Answer, 'status' | 'body' | 'text'>): void {
      const found = operations.find(({ operation }) => operation.operationId === id)
      if (found === undefined) throw new Error(`${id} is not in the document`)
      const response = found.operation.responses[String(answer.status)]
      expect(response, `${id} answered ${answer.status}: ${answer.text}`).toBeDefined()
      seen.add(id)
      if (response?.content?.['application/json']?.schema === undefined) return
      const escape = (part: string) => part.replaceAll('~', '~0').replaceAll('/', '~1')
      const pointer = `#/paths/${escape(found.path)}/${found.method.toLowerCase()}/responses/${answer.status}/content/application~1json/schema`
      const validate = ajv.getSchema(`document${pointer}`)
      if (validate === undefined) throw new Error(`no schema at ${pointer}`)
      const valid = validate(answer.body)
      expect(validate.errors ?? [], `${id}: ${answer.text.slice(0, 2000)}`).toEqual([])
      expect(valid).toBe(true)
    },
  }
}

test('every answer of every operation agrees with the published document', async () => {
  const ask = (id: string, name: string, input: object) => reply(toolCall({ id, name, input }), finish('tool_calls'))
  model = await startModelServer([
    reply(text('hello'), finish('stop')),
    ask('call_w', 'write', { filePath: 'a.txt', content: 'a\n' }),
    ask('call_q', 'question', { questions: [{ question: 'Which?', options: [] }] }),
    ask('call_r', 'question', { questions: [{ question: 'Sure?', options: [] }] }),
    ask('call_t', 'todowrite', { todos: [{ content: 'x', status: 'pending', priority: 'high' }] }),
    reply(text('done'), finish('stop')),
  ])
  scene.place.configure(withModel(model.url, { permission: { '*': 'allow', edit: 'ask' } }))
  const server = await scene.start({ SVC_AGENT_TOKEN: TOKEN })
  const document = (await server.get<Document>('/v2/openapi.json')) satisfies Document
  const { check, unseen } = checker(document)
  const call = async (id: string, method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>) => {
    const answer = await server.call(method, path, body, headers)
    check(id, answer)
    return answer.body
  }

  await readOnly(call)
  const stream = await server.stream({ tail: true })
  const session = (await call('v2.sessions.create', 'POST', '/v2/sessions', { title: 'Contract' })) as { id: string }
  const at = `/v2/sessions/${session.id}`
  await call('v2.sessions.prompt', 'POST', `${at}/prompt`, { prompt: 'one' })
  await call('v2.sessions.wait', 'POST', `${at}/wait`)
  await call('v2.sessions.promptAsync', 'POST', `${at}/prompt-async`, { prompt: 'two' })
  const permission = await stream.waitFor((event) => event.type === 'permission.asked')
  await call('v2.sessions.status', 'GET', '/v2/sessions/status')
  await call('v2.sessions.runtime', 'GET', `${at}/runtime`)
  await call('v2.sessions.queue.list', 'GET', `${at}/queue`)
  await server.prompt(session.id, { prompt: 'later' }, 'prompt-async')
  await call('v2.sessions.queue.pop', 'POST', `${at}/queue/pop`)
  await call('v2.sessions.queue.clear', 'DELETE', `${at}/queue`)
  await call('v2.interactions.permissions.list', 'GET', `/v2/interactions/permissions?sessionId=${session.id}`)
  const permissionId = (permission.data as PermissionRequest).id
  await call('v2.interactions.permissions.reply', 'POST', `/v2/interactions/permissions/${permissionId}/reply`, { reply: 'once' })
  const first = await stream.waitFor((event) => event.type === 'question.asked')
  await call('v2.interactions.questions.list', 'GET', '/v2/interactions/questions')
  const questionId = (first.data as QuestionRequest).id
  await call('v2.interactions.questions.reply', 'POST', `/v2/interactions/questions/${questionId}/reply`, { answers: [['this']] })
  const second = await stream.waitFor((event) => event.type === 'question.asked', stream.events.indexOf(first) + 1)
  await call('v2.interactions.questions.reject', 'POST', `/v2/interactions/questions/${(second.data as QuestionRequest).id}/reject`)
  await server.call('POST', `${at}/wait`)

  await call('v2.sessions.todos', 'GET', `${at}/todos`)
  await call('v2.sessions.context', 'GET', `${at}/context`)
  await call('v2.sessions.messages', 'GET', `${at}/messages?slim=true&order=desc&limit=3`)
  await messages(server, call, session.id)
  await call('v2.sessions.get', 'GET', at)
  await call('v2.sessions.update', 'PATCH', at, { title: 'Renamed', time: { archived: 1 } })
  await call('v2.sessions.pin', 'POST', `${at}/pin`)
  await call('v2.sessions.children', 'GET', `${at}/children`)
  await call('v2.sessions.list', 'GET', '/v2/sessions?roots=true&archived=true')
  await call('v2.sessions.abort', 'POST', `${at}/abort`)
  await artifacts(call, session.id)
  await workflows(call)
  await terminals(call, (answer) => check('v2.plugins.pty.connect', answer), server)
  for (const path of Object.keys(STREAMS)) await streams(server, path, check)
  await call('v2.sessions.delete', 'DELETE', at)
  check('v2.sessions.get', await server.call('GET', at))
  expect(unseen()).toEqual([])
})

type Call = (id: string, method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>) => Promise<unknown>

async function readOnly(call: Call): Promise<void> {
  const reads: readonly (readonly [string, string])[] = [
    ['v2.health', '/v2/health'],
    ['v2.meta.get', '/v2/meta'],
    ['v2.openapi.get', '/v2/openapi.json'],
    ['v2.runtime.get', '/v2/runtime'],
    ['v2.identity.get', '/v2/identity'],
    ['v2.capabilities.list', '/v2/capabilities'],
    ['v2.audit.list', '/v2/audit'],
    ['v2.directories.list', '/v2/directories'],
    ['v2.agents.list', '/v2/agents'],
    ['v2.agents.get', '/v2/agents/build'],
    ['v2.commands.list', '/v2/commands'],
    ['v2.skills.list', '/v2/skills'],
    ['v2.tools.list', '/v2/tools'],
    ['v2.config.get', '/v2/config'],
    ['v2.config.defaults', '/v2/config/defaults'],
    ['v2.config.validate', '/v2/config/validate'],
    ['v2.providers.list', '/v2/providers'],
    ['v2.providers.configured', '/v2/providers/configured'],
    ['v2.executionActivity.list', '/v2/execution-activity'],
    ['v2.plugins.list', '/v2/plugins'],
    ['v2.plugins.lifecycle', '/v2/plugins/lifecycle'],
    ['v2.plugins.get', '/v2/plugins/dev.svc.files/manifest'],
    ['v2.inspector.tree', '/v2/inspector/tree'],
    ['v2.inspector.machines', '/v2/inspector/machines'],
    ['v2.inspector.trace', '/v2/inspector/trace'],
  ]
  for (const [id, path] of reads) await call(id, 'GET', path)
  await call('v2.config.update', 'PATCH', '/v2/config', { username: 'somebody' })
}

async function messages(server: Server, call: Call, sessionId: string): Promise<void> {
  const at = `/v2/sessions/${sessionId}/messages`
  const [user] = await server.messages(sessionId)
  const [part] = user?.parts ?? []
  if (user === undefined || part === undefined) throw new Error('the first message has no part')
  await call('v2.sessions.messages.get', 'GET', `${at}/${user.info.id}`)
  await call('v2.sessions.parts.update', 'PATCH', `${at}/${user.info.id}/parts/${part.id}`, { ...part, text: 'changed' })
  await call('v2.sessions.parts.delete', 'DELETE', `${at}/${user.info.id}/parts/${part.id}`)
  await call('v2.sessions.messages.delete', 'DELETE', `${at}/${user.info.id}`)
}

async function artifacts(call: Call, sessionId: string): Promise<void> {
  const headers = { 'content-type': 'text/plain', 'x-svc-filename': 'a.txt', 'x-svc-session-id': sessionId }
  const made = (await call('v2.artifacts.create', 'POST', '/v2/artifacts', 'some bytes', headers)) as { id: string }
  await call('v2.artifacts.list', 'GET', `/v2/artifacts?sessionId=${sessionId}`)
  await call('v2.artifacts.get', 'GET', `/v2/artifacts/${made.id}`)
  await call('v2.artifacts.content', 'GET', `/v2/artifacts/${made.id}/content`)
  await call('v2.artifacts.delete', 'DELETE', `/v2/artifacts/${made.id}`)
}

async function workflows(call: Call): Promise<void> {
  const at = '/v2/plugins/dev.svc.workflows'
  const schedule = { frequency: 'daily', interval: 1, timezone: 'UTC', time: '03:00' }
  const definition = { id: 'contract', name: 'Contract', active: false, schedule, prompt: 'hello', model: OFFLINE }
  await call('v2.plugins.workflows.create', 'POST', at, definition)
  await call('v2.plugins.workflows.list', 'GET', at)
  await call('v2.plugins.workflows.get', 'GET', `${at}/contract`)
  await call('v2.plugins.workflows.update', 'PUT', `${at}/contract`, { ...definition, name: 'Renamed' })
  await call('v2.plugins.workflows.patch', 'PATCH', `${at}/contract`, { prompt: 'list' })
  await call('v2.plugins.workflows.preview', 'GET', `${at}/contract/preview`)
  await call('v2.plugins.workflows.activate', 'POST', `${at}/contract/activate`)
  await call('v2.plugins.workflows.pause', 'POST', `${at}/contract/pause`)
  const run = (await call('v2.plugins.workflows.run', 'POST', `${at}/contract/run`)) as { id: string }
  await call('v2.plugins.workflows.history', 'GET', `${at}/contract/runs?limit=5`)
  await call('v2.plugins.workflows.runs.get', 'GET', `${at}/contract/runs/${run.id}`)
  await call('v2.plugins.workflows.runs.retry', 'POST', `${at}/contract/runs/${run.id}/retry`)
  await call('v2.plugins.workflows.delete', 'DELETE', `${at}/contract`)
}

async function terminals(call: Call, connected: (answer: Answer) => void, server: Server): Promise<void> {
  const at = '/v2/plugins/dev.svc.pty'
  await call('v2.plugins.pty.shells', 'GET', `${at}/shells`)
  const made = (await call('v2.plugins.pty.create', 'POST', at, { command: ['/bin/sh'] })) as { id: string }
  await call('v2.plugins.pty.list', 'GET', at)
  await call('v2.plugins.pty.get', 'GET', `${at}/${made.id}`)
  await call('v2.plugins.pty.update', 'PUT', `${at}/${made.id}`, { title: 'renamed', size: { cols: 100, rows: 30 } })
  await call('v2.plugins.pty.connectToken', 'POST', `${at}/${made.id}/connect-token`, undefined, { 'x-svc-ticket': '1' })
  connected(await server.call('GET', `${at}/${made.id}/connect?ticket=none`))
  await call('v2.plugins.pty.remove', 'DELETE', `${at}/${made.id}`)
}

const OFFLINE = { providerId: 'svc', id: 'offline' }

const STREAMS: Readonly<Record<string, string>> = {
  '/v2/events?tail=true': 'v2.events.subscribe',
  '/v2/session-catalog/events': 'v2.sessionCatalog.subscribe',
  '/v2/execution-activity/events': 'v2.executionActivity.events',
  '/v2/inspector/events': 'v2.inspector.events',
}

async function streams(
  server: Server,
  path: string,
  check: (id: string, answer: Pick<Answer, 'status' | 'body' | 'text'>) => void,
): Promise<void> {
  const aborter = new AbortController()
  const response = await fetch(`${server.url}${path}`, { signal: aborter.signal, headers: { authorization: `Bearer ${TOKEN}` } })
  expect(response.headers.get('content-type')).toContain('text/event-stream')
  check(STREAMS[path] ?? path, { status: response.status, body: undefined, text: '' })
  aborter.abort()
}
