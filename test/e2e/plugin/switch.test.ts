import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { PluginManifest } from '../../../src/protocol/plugin/plugin.js'
import type { Capability } from '../../../src/protocol/system/system.js'
import { makePlace } from '../server/place.js'
import { descendants } from '../server/processes.js'
import { toolProgram, writePackage } from '../server/plugins.js'
import { openScene, type Scene, type Server } from '../server/server.js'
import type { AnyEvent } from '../server/stream.js'
import { connect, createTerminal } from '../terminal/terminals.js'
import { momentText, saveBeforeDue } from '../server/moments.js'

const WORKFLOWS = 'dev.svc.workflows'
const OFF = 'disabled by installation config'

let scene: Scene
beforeEach(() => {
  scene = openScene(makePlace())
})
afterEach(() => scene.close())

const switches = (...off: readonly string[]) => ({
  permission: { '*': 'allow' },
  plugins: Object.fromEntries(off.map((id) => [id, { enabled: false }])),
})

async function capabilities(server: Server): Promise<Record<string, Capability>> {
  return Object.fromEntries((await server.get<Capability[]>('/v2/capabilities')).map((each) => [each.id, each]))
}

async function manifest(server: Server, id: string): Promise<PluginManifest | undefined> {
  return (await server.get<PluginManifest[]>('/v2/plugins')).find((each) => each.id === id)
}

/** Active, and due once. */
function writeWorkflow(repo: string, id: string, at: number, prompt = 'Say something.'): void {
  const file = join(repo, `.svc/workflows/${id}.md`)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `---\nid: ${id}\nname: ${id}\nactive: true\nschedule: { at: "${momentText(at)}" }\n---\n\n${prompt}\n`)
}

const runOf =
  (id: string, status = 'completed') =>
  (each: AnyEvent) =>
    each.type === 'workflow.run.updated' && each.data.run.workflowId === id && each.data.run.status === status

test('every built-in plugin is listed with its prefix and what it needs, and what is absent with the reason', async () => {
  const server = await scene.start()
  const all = await server.get<Capability[]>('/v2/capabilities')
  expect(all.every(({ enabled, reason }) => enabled === (reason === undefined))).toBe(true)
  expect(all.flatMap(({ id, enabled, reason }) => (enabled ? [] : [[id, reason]]))).toEqual([
    ['svc.websearch', '"websearch" is not offered: SVC_AGENT_WEBSEARCH_ENDPOINT names no search service'],
  ])
  expect(all.map(({ id, source, apiPrefix, disableable, requires }) => [id, source, apiPrefix, disableable, requires])).toEqual([
    ['svc.sessions', 'core', '/v2/sessions', false, undefined],
    ['svc.events', 'core', '/v2/events', false, undefined],
    ['svc.permissions', 'core', '/v2/interactions', false, undefined],
    ['svc.identity', 'core', '/v2/identity', false, undefined],
    ['svc.directories', 'core', '/v2/directories', false, undefined],
    ['svc.config', 'core', '/v2/config', false, undefined],
    ['svc.agents', 'core', '/v2/agents', false, undefined],
    ['svc.commands', 'core', '/v2/commands', false, undefined],
    ['svc.skills', 'core', '/v2/skills', false, undefined],
    ['svc.providers', 'core', '/v2/providers', false, undefined],
    ['svc.artifacts', 'core', '/v2/artifacts', false, undefined],
    ['svc.tools.workspace', 'plugin', '/v2/tools', true, undefined],
    ['svc.tools.shell', 'plugin', '/v2/tools', true, undefined],
    ['svc.interactions', 'plugin', '/v2/interactions', true, ['svc.permissions']],
    ['svc.providers.openai-compatible', 'plugin', '/v2/providers', true, ['svc.providers', 'svc.config']],
    ['svc.providers.openai', 'plugin', '/v2/providers', true, ['svc.providers', 'svc.config']],
    ['svc.providers.anthropic', 'plugin', '/v2/providers', true, ['svc.providers', 'svc.config']],
    ['svc.providers.google', 'plugin', '/v2/providers', true, ['svc.providers', 'svc.config']],
    ['svc.providers.offline', 'plugin', '/v2/providers', true, ['svc.providers']],
    ['svc.pty', 'plugin', '/v2/plugins/dev.svc.pty', true, undefined],
    ['svc.vcs', 'plugin', '/v2/plugins/dev.svc.vcs', true, undefined],
    ['svc.lsp', 'plugin', '/v2/plugins/dev.svc.lsp', true, undefined],
    ['svc.mcp', 'plugin', '/v2/plugins/dev.svc.mcp', true, undefined],
    ['svc.external', 'plugin', '/v2/external', true, undefined],
    ['svc.semantic', 'plugin', '/v2/plugins/dev.svc.semantic', true, ['svc.sessions', 'svc.providers']],
    ['svc.subagents', 'plugin', '/v2/plugins/dev.svc.subagents', true, ['svc.sessions', 'svc.agents']],
    ['svc.goals', 'plugin', '/v2/plugins/dev.svc.goals', true, ['svc.sessions']],
    ['svc.tools.memory', 'plugin', '/v2/tools', true, undefined],
    ['svc.tools.skills', 'plugin', '/v2/tools', true, ['svc.skills']],
    ['svc.tools.artifacts', 'plugin', '/v2/tools', true, ['svc.artifacts']],
    ['svc.tools.documentation', 'plugin', '/v2/tools', true, undefined],
    ['svc.websearch', 'plugin', '/v2/tools', true, undefined],
    ['svc.workflows', 'plugin', '/v2/plugins/dev.svc.workflows', true, ['svc.config', 'svc.agents']],
  ])
  expect(await manifest(server, WORKFLOWS)).toMatchObject({
    internal: true,
    active: true,
    version: (await server.get<{ serverVersion: string }>('/v2/meta')).serverVersion,
    capabilities: ['svc.workflows'],
    requires: ['svc.config', 'svc.agents'],
    eventNamespaces: ['workflow'],
    apiPrefix: '/v2/plugins/dev.svc.workflows',
  })
})

test('docs/plugins.md names every built-in plugin that can be switched off', async () => {
  const server = await scene.start()
  const [, section = ''] = readFileSync(new URL('../../../docs/plugins.md', import.meta.url), 'utf8').split('\n### Switching off\n')
  const builtIn = (await server.get<PluginManifest[]>('/v2/plugins')).filter(({ internal }) => internal).map(({ id }) => id)
  const named = [...(section.split('\n\n')[0] ?? '').matchAll(/`(dev\.svc\.[\w-]+)`/g)].map(([, id = '']) => id)
  expect(named.toSorted()).toEqual(builtIn.toSorted())
})

test('workflows that are off when the server starts fire nothing; switched on they do, and off again they end', async () => {
  scene.place.configure(switches(WORKFLOWS))
  const server = await scene.start()
  const stream = await server.stream({ tail: true })
  await server.createSession()
  const missed = Math.ceil(Date.now() / 1000) * 1000
  writeWorkflow(scene.place.repo, 'missed', missed)
  expect((await capabilities(server))['svc.workflows']).toMatchObject({ enabled: false, reason: OFF })
  expect(await manifest(server, WORKFLOWS)).toMatchObject({ enabled: false, active: false, reason: OFF })
  const refused = await server.call('GET', '/v2/plugins/dev.svc.workflows')
  const message = expect.stringContaining(`${WORKFLOWS} is not there: ${OFF}`) as string
  expect([refused.status, refused.body]).toEqual([501, expect.objectContaining({ code: 'feature.not_implemented', message })])
  await expect.poll(() => Date.now()).toBeGreaterThan(missed)

  scene.place.configure(switches())
  await expect.poll(async () => (await manifest(server, WORKFLOWS))?.active).toBe(true)
  await server.get('/v2/plugins/dev.svc.workflows')
  await saveBeforeDue(stream, (at) => writeWorkflow(scene.place.repo, 'first', at))
  await stream.waitFor(runOf('first'))
  expect(stream.events.filter((each) => each.type === 'workflow.run.updated' && each.data.run.workflowId === 'missed')).toEqual([])

  await saveBeforeDue(stream, (at) => writeWorkflow(scene.place.repo, 'long', at, 'run sleep 601'))
  const sleeping = () => descendants(server.pid).filter(({ command }) => command.includes('sleep 601'))
  await expect.poll(sleeping).not.toEqual([])
  scene.place.configure(switches(WORKFLOWS))
  const interrupted = await stream.waitFor(runOf('long', 'interrupted'))
  expect(interrupted.data).toMatchObject({ run: { error: 'Scheduled workflows were switched off before the run had ended.' } })
  await expect.poll(sleeping).toEqual([])
  await expect.poll(async () => (await manifest(server, WORKFLOWS))?.enabled).toBe(false)
  expect((await server.call('GET', '/v2/plugins/dev.svc.workflows')).status).toBe(501)
  scene.place.configure(switches())
  await expect.poll(async () => (await manifest(server, WORKFLOWS))?.generation).toBe(2)
  await saveBeforeDue(stream, (at) => writeWorkflow(scene.place.repo, 'second', at))
  await stream.waitFor(runOf('second'))
})

test('terminals end when they are switched off, and tools are offered no more', async () => {
  scene.place.configure(switches())
  const server = await scene.start()
  const stream = await server.stream({ tail: true })
  const terminal = await createTerminal(server, { command: ['/bin/sh', '-c', 'exec sleep 600'] })
  const viewer = await connect(server, terminal.id)
  await expect.poll(() => descendants(server.pid).filter(({ command }) => command.includes('sleep'))).not.toEqual([])
  scene.place.configure(switches('dev.svc.pty', 'dev.svc.shell'))
  await stream.waitFor(({ type }) => type === 'pty.deleted')
  await viewer.closed
  expect(descendants(server.pid).filter(({ command }) => command.includes('sleep 600'))).toEqual([])
  expect((await server.call('POST', '/v2/plugins/dev.svc.pty', {})).status).toBe(501)
  expect((await server.get<{ id: string }[]>('/v2/tools')).map(({ id }) => id)).not.toContain('bash')
  expect(await capabilities(server)).toMatchObject({
    'svc.pty': { enabled: false, reason: OFF },
    'svc.tools.shell': { enabled: false, reason: OFF },
    'svc.tools.workspace': { enabled: true },
  })
})

test('a workspace that switches workflows off has none that fire, and others have theirs', async () => {
  const { place } = scene
  place.configure(switches())
  const narrow = join(place.root, 'narrow')
  mkdirSync(join(narrow, '.svc'), { recursive: true })
  const server = await scene.start()
  const stream = await server.stream({ tail: true })
  const list = (directory: string) => server.call('GET', '/v2/plugins/dev.svc.workflows', undefined, { 'x-svc-directory': directory })
  expect([(await list(narrow)).status, (await list(place.repo)).status]).toEqual([200, 200])
  writeFileSync(join(narrow, '.svc/config.json'), JSON.stringify({ plugins: { [WORKFLOWS]: false } }))
  await expect.poll(async () => (await list(narrow)).status).toBe(501)
  const at = Math.ceil(Date.now() / 1000) * 1000 + 1000
  writeWorkflow(narrow, 'narrow', at)
  await stream.waitFor((each) => each.type === 'workflow.updated')
  await expect.poll(() => Date.now()).toBeGreaterThan(at)
  await saveBeforeDue(stream, (due) => writeWorkflow(place.repo, 'wide', due))
  await stream.waitFor(runOf('wide'))
  const runs = stream.events.flatMap((each) => (each.type === 'workflow.run.updated' ? [each.data.run.workflowId] : []))
  expect(new Set(runs)).toEqual(new Set(['wide']))
})

test('a package and an entry that are switched off are listed with the reason, and serve once they are on', async () => {
  const { place } = scene
  const program = join(place.root, 'plugin.mjs')
  writeFileSync(program, toolProgram('greet', 'hello'))
  const options = { serve: [process.execPath, program], sandbox: false }
  const id = 'dev.example.pack'
  writePackage(place, id, { files: { 'plugin.mjs': toolProgram('pack', 'hello') } })
  place.configure({ plugins: { 'test.entry': { enabled: false, options }, [id]: false } })
  const server = await scene.start()
  const off = { enabled: false, active: false, reason: OFF }
  expect([await manifest(server, 'test.entry'), await manifest(server, id)]).toMatchObject([off, off])
  place.configure({ plugins: { 'test.entry': { options } } })
  await expect.poll(async () => (await manifest(server, 'test.entry'))?.active).toBe(true)
  place.configure({ plugins: { 'test.entry': { enabled: false, options } } })
  await expect.poll(() => manifest(server, 'test.entry')).toMatchObject(off)
  await expect.poll(() => descendants(server.pid).filter(({ command }) => command.includes(program))).toEqual([])
})
