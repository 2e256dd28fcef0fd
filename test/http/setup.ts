import { createHttpServer } from '../../src/http/server.js'
import * as z from 'zod'
import type { HttpServer, HttpServerOptions } from '../../src/http/server.js'
import { createTokens } from '../../src/http/admission/tokens.js'
import type { Log } from '../../src/ports/effects.js'
import type { RouteContract } from '../../src/protocol/route.js'
import { createFakeClock } from '../../src/simulation/clock.js'
import { WORKFLOW } from '../fakes/operations.js'
import { FOREIGN_REQUEST_ID, FOREIGN_SESSION_ID, PART, REQUEST_ID, SESSION_ID, createFakeRuntime } from '../fakes/runtime.js'

export const TOKEN = 'correct-horse'
export const BEARER = { authorization: `Bearer ${TOKEN}` }

const silent: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }

/** A server over a fake runtime and a clock that stands still; trusted mode unless `tokens` are given. */
export function createTestServer(options: Partial<HttpServerOptions> = {}): HttpServer {
  return createHttpServer({
    runtime: createFakeRuntime(),
    tokens: createTokens({}),
    clock: createFakeClock(),
    log: silent,
    allowedHosts: [],
    allowedOrigins: [],
    ...options,
  })
}

export const withToken = { tokens: createTokens({ SVC_AGENT_TOKEN: TOKEN }) }

/** Of operations that cannot be called without. */
const BODIES: Readonly<Record<string, unknown>> = {
  'v2.sessions.revert': { messageId: 'msg_1' },
  'v2.sessions.control.claim': { leaseSeconds: 30 },
  'v2.subagents.tasks.stop': {},
  'v2.plugins.goals.research': { url: 'https://here.test' },
  'v2.pluginSettings.secrets.set': { value: 'a-long-secret' },
  'v2.plugins.lsp.touch': { file: 'a.ts' },
  'v2.plugins.vcs.apply': { patch: '--- /dev/null' },
  'v2.plugins.mcp.add': { name: 'files', config: { type: 'local', command: 'files' } },
  'v2.plugins.mcp.auth.callback.post': { code: 'c' },
  'v2.plugins.mcp.config': { enabled: false },
  'v2.plugins.mcp.tools.call': { a: 1 },
  'v2.plugins.pty.create': {},
  'v2.plugins.pty.update': { title: 'New title' },
  'v2.providers.auth.set': { type: 'api', key: 'k' },
  'v2.providers.connections.create': { label: 'Work', credential: { type: 'api', key: 'k' } },
  'v2.providers.connections.rename': { label: 'Play' },
  'v2.providers.oauth.authorize': { method: 'browser' },
  'v2.sessions.external.import': { provider: 'opencode', externalSessionId: 'one' },
  'v2.sessions.external.options.set': { configId: 'model', value: 'large' },
  'v2.external.options.previewSelected': { selectedOptions: { model: 'large' } },
  'v2.providers.oauth.callback': { method: 'browser', attemptId: 'attempt_1' },
  'v2.config.update': { model: 'svc/offline' },
  'v2.interactions.permissions.reply': { reply: 'once' },
  'v2.interactions.questions.reply': { answers: [['yes']] },
  'v2.sessions.update': { title: 'New title' },
  'v2.sessions.prompt': { prompt: 'hello' },
  'v2.sessions.promptAsync': { parts: [{ type: 'text', text: 'hello' }] },
  'v2.sessions.commands.execute': { command: 'init' },
  'v2.sessions.export': { workspaceRoot: '/work' },
  'v2.sessions.shell': { command: 'true' },
  'v2.sessions.summarize': {},
  'v2.sessions.parts.update': PART,
  'v2.management.skills.install': { id: 'reviewer', content: 'Review.' },
  'v2.management.skills.create': { content: 'Review.' },
  'v2.management.skills.update': { content: 'Review.' },
  'v2.management.workspaces.create': { root: '/srv/work' },
  'v2.management.workspaces.update': { name: 'work' },
  'v2.management.repositories.create': { kind: 'existing', path: '/srv/work' },
  'v2.management.repositories.update': { name: 'work' },
  'v2.management.agents.create': { content: 'Review.' },
  'v2.management.agents.update': { content: 'Review.' },
  'v2.management.commands.create': { content: 'Review $1.' },
  'v2.management.commands.update': { content: 'Review $1.' },
  'v2.plugins.workflows.create': WORKFLOW,
  'v2.plugins.workflows.update': WORKFLOW,
  'v2.plugins.workflows.patch': { name: 'New name' },
}

/** Values of what a query must have. */
const QUERY: Readonly<Record<string, string>> = {
  q: 'hello',
  provider: 'opencode',
  file: 'a.ts',
  line: '0',
  character: '0',
  start_line: '0',
  end_line: '1',
}

function queryOf({ query }: RouteContract): string {
  const names = query instanceof z.ZodObject ? Object.keys(query.shape).filter((name) => Object.hasOwn(QUERY, name)) : []
  return names.length === 0 ? '' : `?${names.map((name) => `${name}=${QUERY[name]}`).join('&')}`
}

/** A request every operation accepts, with the objects the caller owns (or, if `foreign`, does not). */
export function requestOf(contract: RouteContract, foreign = false) {
  const values: Readonly<Record<string, string>> = {
    session_id: foreign ? FOREIGN_SESSION_ID : SESSION_ID,
    provider_id: 'local',
    connection_id: 'conn_1',
    answer_id: 'ans_1',
    request_id: foreign ? FOREIGN_REQUEST_ID : REQUEST_ID,
    artifact_id: 'art_1',
    message_id: 'msg_1',
    part_id: 'prt_1',
    name: 'build',
    plugin_id: 'dev.example.notes',
    pty_id: 'pty_1',
    job_id: 'job_1',
    workflow_id: WORKFLOW.id,
    server: 'bash',
    formatter: 'prettier',
    run_id: 'wfr_1_a',
    id: 'reviewer',
    version: '0'.repeat(64),
  }
  const url = `${contract.path.replace(/\{(\w+)\}/g, (_all, name: string) => values[name] ?? '')}${queryOf(contract)}`
  const body = BODIES[contract.id]
  const credential: Readonly<Record<string, string>> = isForOperator(contract) ? BEARER : {}
  if (contract.binaryBody !== undefined) {
    return { method: contract.method, url, payload: 'bytes', headers: { 'content-type': contract.binaryBody.mediaType } }
  }
  if (body === undefined) return { method: contract.method, url, headers: credential }
  return { method: contract.method, url, payload: JSON.stringify(body), headers: { ...credential, 'content-type': 'application/json' } }
}

export function isForOperator({ access }: RouteContract): boolean {
  return access.class === 'operator' || (access.class === 'directory' && access.operator === true)
}
