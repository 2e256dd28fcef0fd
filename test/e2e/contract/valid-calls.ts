/** One valid call of every operation, with what has to be there before. Where the answer says little, its effect is looked at too. */
import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import type { SessionRuntimeSnapshot } from '../../../src/protocol/session/session.js'
import type { Artifact } from '../../../src/protocol/system/artifact.js'
import type { WorkflowRun } from '../../../src/protocol/workflow/workflow.js'
import type { Answer } from '../server/server.js'
import { createTerminal } from '../terminal/terminals.js'
import { CONNECTION_CALLS } from './connection-calls.js'
import { LSP_CALLS } from './lsp-calls.js'
import { MCP_CALLS } from './mcp-calls.js'
import { SESSION_CALLS } from './session-calls.js'
import { connectTerminal, firstRecord } from './sockets.js'
import { sessionOf, talked, type ValidCall, type World, PLUGIN } from './world.js'

const get =
  (path: string): ValidCall =>
  ({ server }) =>
    server.call('GET', path)

/** The first record of a stream is looked at too. */
const streaming =
  (id: string, path: string): ValidCall =>
  async (world, contract) => {
    const { answer, record } = await firstRecord(world, path, () => sessionOf(world))
    contract.success(id, answer)
    contract.streamed(id, record)
    return answer
  }

const BYTES = 'some bytes'
const ARTIFACTS = '/v2/artifacts'

function upload({ server }: World): Promise<Answer> {
  return server.call('POST', ARTIFACTS, BYTES, { 'content-type': 'text/plain', 'x-svc-filename': 'a.txt' })
}

/** On an artifact that was uploaded; `after` looks at what became of it. */
const onArtifact =
  (method: string, path: string, after?: (answer: Answer, id: string, world: World) => Promise<void> | void): ValidCall =>
  async (world) => {
    const { id } = (await upload(world)).body as Artifact
    const answer = await world.server.call(method, `${ARTIFACTS}/${id}${path}`)
    await after?.(answer, id, world)
    return answer
  }

const isTheUpload = ({ text }: Answer) => {
  if (text !== BYTES) throw new Error(`the artifact is ${text}`)
}

const isGone = async (at: string, { server }: World) => {
  const { status } = await server.call('GET', at)
  if (status !== 404) throw new Error(`what was deleted is answered ${status}`)
}

const SUBAGENTS = '/v2/plugins/dev.svc.subagents/sessions'

/** A session that was told what became of the task it delegated. */
async function delegated(world: World) {
  const session = await talked(world, 'please delegate')
  await world.stream.waitFor((event) => event.type === 'session.subtask.completed' && event.data.sessionID === session.id)
  await world.server.call('POST', `${session.at}/wait`)
  return session
}

const WORKFLOWS = '/v2/plugins/dev.svc.workflows'
let made = 0

function createWorkflow({ server }: World, id: string, prompt = 'hello'): Promise<Answer> {
  const schedule = { frequency: 'daily', interval: 1, timezone: 'UTC', time: '03:00' }
  return server.call('POST', WORKFLOWS, { id, name: 'Contract', active: false, schedule, prompt })
}

async function workflowOf(world: World, prompt?: string): Promise<string> {
  const id = `contract-${made++}`
  await createWorkflow(world, id, prompt)
  return `${WORKFLOWS}/${id}`
}

const onWorkflow =
  (method: string, path: string, body?: object): ValidCall =>
  async (world) =>
    world.server.call(method, `${await workflowOf(world)}${path}`, body)

/** On one that was activated: others cannot be paused. */
const onActive =
  (method: string, path: string): ValidCall =>
  async (world) => {
    const at = await workflowOf(world)
    await world.server.call('POST', `${at}/activate`)
    return world.server.call(method, `${at}${path}`)
  }

/** On a run that has failed, which may be retried. */
const onRun =
  (method: string, path: string): ValidCall =>
  async (world) => {
    const at = await workflowOf(world, 'please fail')
    const { id } = (await world.server.call('POST', `${at}/run`)).body as WorkflowRun
    await world.stream.waitFor(
      (event) => event.type === 'workflow.run.updated' && event.data.run.id === id && event.data.run.status === 'failed',
    )
    return world.server.call(method, `${at}/runs/${id}${path}`)
  }

const onOwn =
  (method: string, path: string, body?: object): ValidCall =>
  async ({ server }) =>
    server.call(method, `/v2/sessions/${(await server.createSession()).id}${path}`, body)

const PAGE = 'https://page.test/a'

/** Of a session that has a goal. */
const onGoal =
  (method: string, path: string, body?: object): ValidCall =>
  async ({ server }) => {
    const at = `/v2/plugins/dev.svc.goals/${(await server.createSession()).id}`
    await server.call('POST', at, { text: 'A goal.' })
    return server.call(method, `${at}${path}`, body)
  }

const MANAGED = '/v2/management'

/** On a resource of a kind that was just made. */
const onManaged =
  (method: string, kind: string, body?: object): ValidCall =>
  async (world) => {
    const at = `${MANAGED}/${kind}/made-${made++}`
    if (method !== 'POST') await world.server.call('POST', at, { content: `Do $1 of ${kind}.` })
    const answer = await world.server.call(method, at, body)
    if (method === 'DELETE') await isGone(at, world)
    return answer
  }

const managedCalls = (kind: string): Record<string, ValidCall> => ({
  [`v2.management.${kind}.list`]: get(`${MANAGED}/${kind}`),
  [`v2.management.${kind}.get`]: onManaged('GET', kind),
  [`v2.management.${kind}.create`]: onManaged('POST', kind, {
    content: 'Look at $1.',
    ...(kind === 'skills' ? { description: 'Looks.' } : { frontmatter: { description: 'Looks.' } }),
  }),
  [`v2.management.${kind}.update`]: onManaged('PUT', kind, { content: 'Look again at $1.' }),
  [`v2.management.${kind}.delete`]: onManaged('DELETE', kind),
})

/** On a skill of several versions. */
const onVersion =
  (method: string, path: (version: string) => string): ValidCall =>
  async (world) => {
    const at = `${MANAGED}/skills/made-${made++}`
    await world.server.call('POST', at, { content: 'First.', files: { 'a/b.txt': 'one' } })
    const [{ id } = { id: '' }] = await world.server.get<{ id: string }[]>(`${at}/versions`)
    await world.server.call('PUT', at, { content: 'Second.' })
    return world.server.call(method, `${at}/versions${path(id)}`)
  }

/** A directory that nobody has registered. */
function directoryOf({ scene }: World, isRepository: boolean): string {
  const name = `registered-${made++}`
  scene.place.write(`../${name}/README.md`, 'hello')
  const root = resolve(scene.place.repo, '..', name)
  if (isRepository) execFileSync('git', ['init', '--quiet', root], { env: scene.place.env })
  return root
}

const register = async (world: World, kind: string): Promise<Answer> => {
  const root = directoryOf(world, kind === 'repositories')
  return world.server.call('POST', `${MANAGED}/${kind}`, kind === 'repositories' ? { kind: 'existing', path: root } : { root })
}

/** A clone of a repository with one commit. */
async function clone(world: World): Promise<Answer> {
  const root = directoryOf(world, true)
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, env: world.scene.place.env })
  git('add', '.')
  git('-c', 'user.name=test', '-c', 'user.email=test@localhost', 'commit', '--quiet', '-m', 'begin')
  return world.server.call('POST', `${MANAGED}/repositories`, { kind: 'clone', remoteUrl: `file://${root}` })
}

const onRegistered =
  (method: string, kind: string, body?: object): ValidCall =>
  async (world) => {
    const { id } = (await register(world, kind)).body as { id: string }
    const answer = await world.server.call(method, `${MANAGED}/${kind}/${id}`, body)
    if (method === 'DELETE') await isGone(`${MANAGED}/${kind}/${id}`, world)
    return answer
  }

const registeredCalls = (kind: string): Record<string, ValidCall> => ({
  [`v2.management.${kind}.create`]: (world) => (kind === 'repositories' ? clone(world) : register(world, kind)),
  [`v2.management.${kind}.list`]: async (world) => {
    await register(world, kind)
    return world.server.call('GET', `${MANAGED}/${kind}`)
  },
  [`v2.management.${kind}.get`]: onRegistered('GET', kind),
  [`v2.management.${kind}.update`]: onRegistered('PUT', kind, { name: 'renamed' }),
  [`v2.management.${kind}.delete`]: onRegistered('DELETE', kind),
})

const PATCH = '--- /dev/null\n+++ b/patched.txt\n@@ -0,0 +1 @@\n+patched\n'

const TERMINALS = '/v2/plugins/dev.svc.pty'

const onTerminal =
  (method: string, path: string, body?: object, headers?: Readonly<Record<string, string>>): ValidCall =>
  async ({ server }) => {
    const { id } = await createTerminal(server, { command: ['/bin/sh'] })
    return server.call(method, `${TERMINALS}/${id}${path}`, body, headers)
  }

export const VALID_CALLS: Readonly<Record<string, ValidCall>> = {
  'v2.sessions.external.catalog': get('/v2/sessions/external/catalog?provider=opencode'),
  'v2.sessions.external.import': ({ server }) =>
    server.call('POST', '/v2/sessions/external/import', { provider: 'opencode', externalSessionId: 'session-listed' }),
  'v2.sessions.external.options.get': async ({ server }) =>
    server.call('GET', `/v2/sessions/${(await server.createSession({ externalProvider: 'opencode' })).id}/external/options`),
  'v2.sessions.external.options.set': async ({ server }) =>
    server.call('POST', `/v2/sessions/${(await server.createSession({ externalProvider: 'opencode' })).id}/external/options`, {
      configId: 'model',
      value: 'large',
    }),
  'v2.external.options.preview': get('/v2/external/options/preview?provider=opencode'),
  'v2.external.options.previewSelected': ({ server }) =>
    server.call('POST', '/v2/external/options/preview?provider=opencode', { selectedOptions: { model: 'large', effort: 'high' } }),
  'v2.health': get('/v2/health'),
  'v2.meta.get': get('/v2/meta'),
  'v2.openapi.get': get('/v2/openapi.json'),
  'v2.runtime.get': get('/v2/runtime'),
  'v2.identity.get': get('/v2/identity'),
  'v2.capabilities.list': get('/v2/capabilities'),
  'v2.metrics.get': get('/v2/metrics'),
  'v2.audit.list': get('/v2/audit'),
  'v2.directories.list': get('/v2/directories'),
  'v2.agents.list': get('/v2/agents'),
  'v2.agents.get': get('/v2/agents/build'),
  'v2.commands.list': get('/v2/commands'),
  'v2.skills.list': get('/v2/skills'),
  'v2.tools.list': get('/v2/tools'),
  'v2.config.get': get('/v2/config'),
  'v2.config.defaults': get('/v2/config/defaults'),
  'v2.config.validate': get('/v2/config/validate'),
  'v2.config.update': ({ server }) => server.call('PATCH', '/v2/config', { username: 'somebody' }),
  'v2.providers.list': get('/v2/providers'),
  'v2.providers.configured': get('/v2/providers/configured'),
  'v2.executionActivity.list': async (world) => {
    await talked(world)
    return world.server.call('GET', '/v2/execution-activity')
  },
  'v2.plugins.list': get('/v2/plugins'),
  'v2.plugins.lifecycle': get('/v2/plugins/lifecycle'),
  'v2.plugins.get': get('/v2/plugins/dev.svc.files/manifest'),
  'v2.pluginSettings.get': get(`/v2/plugin-settings/${PLUGIN}`),
  'v2.pluginSettings.secrets.set': ({ server }) =>
    server.call('PUT', `/v2/plugin-settings/${PLUGIN}/secrets/token`, { value: 'a-secret-of-the-contract' }),
  'v2.pluginSettings.secrets.delete': async ({ server }) => {
    await server.call('PUT', `/v2/plugin-settings/${PLUGIN}/secrets/token`, { value: 'a-secret-of-the-contract' })
    const answer = await server.call('DELETE', `/v2/plugin-settings/${PLUGIN}/secrets/token`)
    if (answer.body !== true) throw new Error('there was no secret')
    return answer
  },
  'v2.inspector.tree': get('/v2/inspector/tree'),
  'v2.inspector.machines': get('/v2/inspector/machines'),
  'v2.inspector.lines': get('/v2/inspector/lines?plugin=dev.svc.files%40built-in'),
  'v2.inspector.trace': get('/v2/inspector/trace'),

  'v2.events.subscribe': streaming('v2.events.subscribe', '/v2/events?tail=true'),
  'v2.sessionCatalog.subscribe': streaming('v2.sessionCatalog.subscribe', '/v2/session-catalog/events'),
  'v2.executionActivity.events': streaming('v2.executionActivity.events', '/v2/execution-activity/events'),
  'v2.inspector.events': streaming('v2.inspector.events', '/v2/inspector/events'),

  ...SESSION_CALLS,
  ...CONNECTION_CALLS,
  ...LSP_CALLS,
  ...MCP_CALLS,

  'v2.artifacts.create': upload,
  'v2.artifacts.list': async (world) => {
    await upload(world)
    return world.server.call('GET', ARTIFACTS)
  },
  'v2.artifacts.get': onArtifact('GET', ''),
  'v2.artifacts.content': onArtifact('GET', '/content', isTheUpload),
  'v2.artifacts.delete': onArtifact('DELETE', '', (_answer, id, world) => isGone(`${ARTIFACTS}/${id}`, world)),

  ...managedCalls('agents'),
  ...managedCalls('commands'),
  ...managedCalls('skills'),
  'v2.management.skills.install': ({ server }) =>
    server.call('POST', `${MANAGED}/skills/install`, { id: `made-${made++}`, content: 'Do.' }),
  'v2.management.skills.versions.list': onVersion('GET', () => ''),
  'v2.management.skills.versions.get': onVersion('GET', (version) => `/${version}`),
  'v2.management.skills.versions.restore': onVersion('POST', (version) => `/${version}/restore`),
  ...registeredCalls('workspaces'),
  ...registeredCalls('repositories'),

  'v2.plugins.workflows.create': (world) => createWorkflow(world, `created-${made++}`),
  'v2.plugins.workflows.list': get(WORKFLOWS),
  'v2.plugins.workflows.get': onWorkflow('GET', ''),
  'v2.plugins.workflows.update': async (world) => {
    const at = await workflowOf(world)
    const { definition } = await world.server.get<{ definition: object }>(at)
    return world.server.call('PUT', at, { ...definition, name: 'Renamed' })
  },
  'v2.plugins.workflows.patch': onWorkflow('PATCH', '', { prompt: 'list' }),
  'v2.plugins.workflows.preview': onWorkflow('GET', '/preview'),
  'v2.plugins.workflows.activate': onWorkflow('POST', '/activate'),
  'v2.plugins.workflows.pause': onActive('POST', '/pause'),
  'v2.plugins.workflows.run': onWorkflow('POST', '/run'),
  'v2.plugins.workflows.history': async (world) => {
    const at = await workflowOf(world)
    await world.server.call('POST', `${at}/run`)
    return world.server.call('GET', `${at}/runs?limit=5`)
  },
  'v2.plugins.workflows.runs.get': onRun('GET', ''),
  'v2.plugins.workflows.runs.retry': onRun('POST', '/retry'),
  'v2.plugins.workflows.delete': async (world) => {
    const at = await workflowOf(world)
    const answer = await world.server.call('DELETE', at)
    await isGone(at, world)
    return answer
  },

  'v2.sessions.jobs.cancel': async (world) => {
    const { id, at } = await talked(world, 'please serve')
    const { runningBackgroundTasks = [] } = await world.server.get<SessionRuntimeSnapshot>(`${at}/runtime`)
    const answer = await world.server.call('DELETE', `${at}/jobs/${runningBackgroundTasks[0]?.jobId ?? ''}`)
    if (!answer.text.includes('stopping')) return answer
    await world.stream.waitFor((event) => event.type === 'session.background_task.completed' && event.data.sessionID === id)
    return answer
  },

  'v2.subagents.tasks.list': async (world) => {
    const { id, at } = await delegated(world)
    const tasks = await world.server.call('GET', `${SUBAGENTS}/${id}/tasks`)
    if (!tasks.text.includes('look')) throw new Error(`the tasks of ${at} are ${tasks.text}`)
    return tasks
  },
  'v2.subagents.tasks.stop': async (world) => {
    const { id } = await delegated(world)
    return world.server.call('POST', `${SUBAGENTS}/${id}/stop`, {})
  },
  'v2.plugins.goals.get': onGoal('GET', ''),
  'v2.plugins.goals.set': onGoal('POST', '', { text: 'A goal.', researchUrls: [PAGE] }),
  'v2.plugins.goals.clear': async (world, contract) => {
    const answer = await onGoal('DELETE', '')(world, contract)
    if (!answer.text.includes('"goal":null')) throw new Error(`a cleared goal is ${answer.text}`)
    return answer
  },
  'v2.plugins.goals.research': async (world, contract) => {
    const answer = await onGoal('POST', '/research', { url: PAGE })(world, contract)
    if (!answer.text.includes('What the page says.')) throw new Error(`the notes are ${answer.text}`)
    return answer
  },
  'v2.plugins.semantic.search': async (world) => {
    const { id } = await talked(world, 'where is the giraffe')
    const found = await world.server.call('GET', `/v2/plugins/dev.svc.semantic/search?q=giraffe&sessionId=${id}`)
    if (!found.text.includes('where is the giraffe')) throw new Error(`what was found is ${found.text}`)
    return found
  },
  'v2.plugins.vcs.get': get('/v2/plugins/dev.svc.vcs'),
  'v2.plugins.vcs.status': get('/v2/plugins/dev.svc.vcs/status'),
  'v2.plugins.vcs.diff': get('/v2/plugins/dev.svc.vcs/diff'),
  'v2.plugins.vcs.diff.raw': async ({ server, scene }) => {
    scene.place.write('README.md', `${Date.now()}\n`)
    return server.call('GET', '/v2/plugins/dev.svc.vcs/diff/raw')
  },
  'v2.plugins.vcs.apply': ({ server }) => server.call('POST', '/v2/plugins/dev.svc.vcs/apply', { patch: PATCH }),
  'v2.sessions.fork': onOwn('POST', '/fork', {}),
  'v2.sessions.directoryOptions': onOwn('GET', '/directory-options?query=s&limit=10'),
  'v2.sessions.participants.list': async ({ server }) => {
    const at = `/v2/sessions/${(await server.createSession()).id}`
    await server.call('POST', `${at}/control`, {})
    return server.call('GET', `${at}/participants`)
  },
  'v2.sessions.control.get': async ({ server }) => {
    const at = `/v2/sessions/${(await server.createSession()).id}/control`
    await server.call('POST', at, {})
    return server.call('GET', at)
  },
  'v2.sessions.control.claim': onOwn('POST', '/control', { leaseSeconds: 30 }),
  'v2.sessions.control.release': onOwn('DELETE', '/control'),
  'v2.sessions.diff': async ({ server }) => server.call('GET', `/v2/sessions/${(await server.createSession()).id}/diff`),
  'v2.plugins.pty.shells': get(`${TERMINALS}/shells`),
  'v2.plugins.pty.create': ({ server }) => server.call('POST', TERMINALS, { command: ['/bin/sh'] }),
  'v2.plugins.pty.list': get(TERMINALS),
  'v2.plugins.pty.get': onTerminal('GET', ''),
  'v2.plugins.pty.update': onTerminal('PUT', '', { title: 'renamed', size: { cols: 100, rows: 30 } }),
  'v2.plugins.pty.connectToken': onTerminal('POST', '/connect-token', undefined, { 'x-svc-ticket': '1' }),
  'v2.plugins.pty.connect': connectTerminal,
  'v2.plugins.pty.remove': onTerminal('DELETE', ''),
}

/** Makes the valid call of an operation; throws when its answer is not the one that the document promises for it. */
export async function callValidly(world: World, contract: Parameters<ValidCall>[1], id: string): Promise<void> {
  const call = VALID_CALLS[id]
  if (call === undefined) throw new Error(`nobody knows a valid call of ${id}`)
  contract.success(id, await call(world, contract))
}
