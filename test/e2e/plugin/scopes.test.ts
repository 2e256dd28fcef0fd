/**
 * Every kind of contribution of a package, in every scope, on the built program: listed where the session is named, used in it and in
 * those below it, and nowhere else when its scope is a session. Cells are made of the two lists.
 * Holds plugin-protocol §3.4, §4.7; service.md Authentication 11.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PluginScope } from '../../../src/protocol/plugin/plugin.js'
import type { Session } from '../../../src/protocol/session/session.js'
import { makePlace } from '../server/place.js'
import { configurePlugin, lifecycleOf, untilState, writePackage } from '../server/plugins.js'
import { openScene, type Scene, type Server } from '../server/server.js'
import { textOf, toolParts } from '../server/transcript.js'

/** One of each kind, named after the scope. */
const lua = (scope: string) => `
local function service(kind, key, list) return { { id = "${scope}." .. kind, [key] = function() return list end } } end
return {
  tools = { { id = "${scope}_tool", description = "Answers.", execute = function() return { output = "tool of ${scope}" } end } },
  hooks = { ["tool.after"] = function(call)
    call.value.metadata = call.value.metadata or {}
    call.value.metadata["${scope}"] = true
    return call.value
  end },
  services = {
    agents = service("agents", "list", { agents = { { name = "${scope}-agent", mode = "all" } } }),
    commands = service("commands", "list", { { name = "${scope}-command", template = "hello from ${scope}" } }),
    skills = service("skills", "list", { { id = "${scope}-skill", name = "${scope}-skill", path = "/etc/hostname" } }),
    providers = { {
      descriptor = { id = "${scope}-provider", name = "P", models = { "m" } },
      metadata = function() return { limit = { context = 100000, output = 1000 } } end,
      stream = function() return {
        { type = "text-delta", id = "t", delta = "provider of ${scope}" },
        { type = "finish", finish = "stop", inputTokens = 1, outputTokens = 1 },
      } end,
    } },
  },
}`

const SCOPES = PluginScope.options
const WHERE = ['no session', 'own session', 'child', 'child of the child', 'other session'] as const
type Where = (typeof WHERE)[number]
const FAMILY: readonly Where[] = ['own session', 'child', 'child of the child']

let scene: Scene
let server: Server
const sessions = new Map<Where, Session>()

beforeAll(async () => {
  scene = openScene(makePlace())
  const { place } = scene
  place.configure({ model: 'svc/offline', permission: { '*': 'allow' } })
  for (const scope of SCOPES) {
    const agent = { runtime: 'lua', entrypoint: 'main.lua', command: [], scope }
    writePackage(place, `test.${scope}`, { agent, files: { 'main.lua': lua(scope) } })
  }
  server = await scene.start()
  const own = await server.createSession()
  const child = await server.createSession({ parentId: own.id })
  sessions.set('own session', own)
  sessions.set('child', child)
  sessions.set('child of the child', await server.createSession({ parentId: child.id }))
  sessions.set('other session', await server.createSession())
  const stream = await server.stream({ tail: true })
  for (const scope of SCOPES) {
    const id = `test.${scope}`
    const { revision, scopeId } = (await lifecycleOf(server, id)) ?? {}
    const named = scope === 'session' ? own.id : scopeId
    const trust = {
      workspaceId: place.repo,
      packageId: id,
      scope,
      revision,
      luaApproved: true,
      ...(named !== undefined && { scopeId: named }),
    }
    configurePlugin(place, id, () => ({ options: { trust: [trust] } }))
  }
  await lifecycleOf(server, 'test.session')
  for (const scope of SCOPES.filter((each) => each !== 'session')) await untilState(stream, `test.${scope}`, 'active')
  stream.close()
})
afterAll(() => scene.close())

const query = (where: Where) => (where === 'no session' ? '' : `?sessionId=${sessions.get(where)?.id ?? ''}`)
const named = async (path: string, where: Where, key = 'name') =>
  (await server.get<Record<string, unknown>[]>(`${path}${query(where)}`)).map((each) => each[key])

const LISTED: Readonly<Record<string, (scope: string, where: Where) => Promise<boolean>>> = {
  agent: async (scope, where) => (await named('/v2/agents', where)).includes(`${scope}-agent`),
  command: async (scope, where) => (await named('/v2/commands', where)).includes(`${scope}-command`),
  skill: async (scope, where) => (await named('/v2/skills', where)).includes(`${scope}-skill`),
  tool: async (scope, where) => (await named('/v2/tools', where, 'id')).includes(`${scope}_tool`),
  provider: async (scope, where) => {
    const { all, connected } = await server.get<{ all: { id: string }[]; connected: string[] }>(`/v2/providers${query(where)}`)
    return all.some(({ id }) => id === `${scope}-provider`) && connected.includes(`${scope}-provider`)
  },
  'configured provider': async (scope, where) => {
    const { providers } = await server.get<{ providers: { id: string }[] }>(`/v2/providers/configured${query(where)}`)
    return providers.some(({ id }) => id === `${scope}-provider`)
  },
}

/** What was said last in a session after a prompt that must be admitted; undefined where it was refused as unknown. */
async function said(id: string, path: 'prompt' | 'commands', body: object) {
  const { status, body: answer } = await server.call('POST', `/v2/sessions/${id}/${path}`, body)
  if (status === 400) {
    expect(answer).toMatchObject({ code: 'request.invalid' })
    return undefined
  }
  expect(status).toBeLessThan(300)
  await server.call('POST', `/v2/sessions/${id}/wait`)
  return server.messages(id)
}
const script = (tool: string, input: object) => `go\n\`\`\`svc-script\n${JSON.stringify({ tool, input })}\n{"text":"done"}\n\`\`\``
const called = async (id: string, tool: string, input: object) =>
  toolParts((await said(id, 'prompt', { prompt: script(tool, input) })) ?? []).at(-1)?.state

const USED: Readonly<Record<string, (scope: string, id: string) => Promise<boolean>>> = {
  agent: async (scope, id) => (await said(id, 'prompt', { prompt: 'hi', agent: `${scope}-agent` }))?.at(-1)?.info.role === 'assistant',
  command: async (scope, id) => {
    const messages = await said(id, 'commands', { arguments: '', command: `${scope}-command` })
    return messages?.some((message) => textOf(message) === `hello from ${scope}`) === true
  },
  skill: async (scope, id) => (await called(id, 'skill', { name: `${scope}-skill` }))?.status === 'completed',
  tool: async (scope, id) => {
    const state = await called(id, `${scope}_tool`, {})
    return state?.status === 'completed' && state.output === `tool of ${scope}`
  },
  hook: async (scope, id) => {
    const state = await called(id, 'read', { filePath: 'README.md' })
    return state?.status === 'completed' && (state.metadata as Record<string, unknown> | undefined)?.[scope] === true
  },
  provider: async (scope, id) => {
    const messages = await said(id, 'prompt', { prompt: 'hi', model: { providerId: `${scope}-provider`, modelId: 'm' } })
    return textOf(messages?.at(-1)) === `provider of ${scope}`
  },
}

const isThere = (scope: string, where: Where) => scope !== 'session' || FAMILY.includes(where)

test.each(Object.keys(LISTED).flatMap((kind) => SCOPES.map((scope) => ({ kind, scope }))))(
  'the $kind of a package of the scope $scope is listed where it can be used',
  async ({ kind, scope }) => {
    const cells = await Promise.all(WHERE.map(async (where) => [where, await LISTED[kind]?.(scope, where)]))
    expect(cells).toEqual(WHERE.map((where) => [where, isThere(scope, where)]))
  },
)

test.each(Object.keys(USED).flatMap((kind) => SCOPES.map((scope) => ({ kind, scope }))))(
  'the $kind of a package of the scope $scope is used by whom it is for',
  async ({ kind, scope }) => {
    const cells: unknown[] = []
    for (const [where, { id }] of sessions) cells.push([where, await USED[kind]?.(scope, id)])
    expect(cells).toEqual([...sessions.keys()].map((where) => [where, isThere(scope, where)]))
  },
)
