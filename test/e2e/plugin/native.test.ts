/**
 * Native code of packages on the built program: packed, added, approved by name, called, changed on disk, switched off, and crashed in every
 * way that leaves the server what it was, or does not. Holds decision 45; plugin-protocol §2.1; service.md Plugins; threat-model C7.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ModelServer } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { configurePlugin, lifecycleOf, packageRoot, untilState, writePackage } from '../server/plugins.js'
import { openScene, PROGRAM, type Scene, type Server } from '../server/server.js'
import { toolParts } from '../server/transcript.js'
import { startToolModel } from './native.js'

const ID = 'test.inside'

let scene: Scene
let model: ModelServer

beforeAll(async () => {
  model = await startToolModel()
})
afterAll(() => model.close())
beforeEach(() => {
  scene = openScene(makePlace())
  scene.place.configure(withModel(model.url))
})
afterEach(() => scene.close())

/** A tool for each way to be called; what it says tells in which process it is. */
const PLUGIN = `import { writeFileSync } from 'node:fs'
export const plugin = {
  tools: [
    tool('where', async () => \`\${VERSION} in \${process.pid}\`),
    tool('throw', () => { throw new Error('of the tool') }),
    tool('later', async () => { setTimeout(() => { throw new TypeError('too late') }, 1); return 'armed' }),
    tool('reject', async () => { setTimeout(async () => { throw new TypeError('nobody waits') }, 1); return 'armed' }),
    tool('print', async () => { console.log('said aloud'); return 'printed' }),
    tool('break', async () => { const { now } = Date; Date.now = () => { throw new Error('no time') }; return 'broken' }),
    tool('flood', async ({ to }) => {
      let times = 0
      setInterval(() => { if (++times === 50) writeFileSync(to, ''); throw new Error('again') }, 1)
      return 'armed'
    }),
    tool('leave', async () => { setTimeout(() => process.exit(7), 1); return 'leaving' }),
    tool('after', async (input, { host }) => {
      setInterval(() => host.events.publish({ namespace: '${ID}', name: 'tick', payload: {} }).catch((error) => writeFileSync(input.to, error.message)), 5)
      return 'ticking'
    }),
  ],
}
const VERSION = 'first'
function tool(id, execute) {
  return { id, description: id, parameters: { type: 'object' }, execute: (input, context) => execute(input, context) }
}
`
const MAIN = `process.exit(4) // the runtime beside it is not what runs`
const AGENT = {
  runtime: 'process',
  command: ['node', 'main.js'],
  capabilities: ['event-publish'],
  eventNamespaces: [ID],
  native: { entrypoint: 'plugin.js', apiVersion: 2 },
}
const FILES = { 'plugin.js': PLUGIN, 'main.js': MAIN, 'package.json': '{"type":"module"}' }

const svc = (...args: string[]): string =>
  execFileSync(process.execPath, [PROGRAM, ...args], { env: scene.place.env, cwd: scene.place.repo, encoding: 'utf8', stdio: 'pipe' })

/** What a command says where it does not succeed. */
function refusal(...args: string[]): string {
  try {
    return `did: ${svc(...args)}`
  } catch (error) {
    return (error as { stderr: string }).stderr
  }
}

/** Approves its native code as it lies on disk, as `svc plugin trust --native` does. */
async function trust(server: Server): Promise<void> {
  const { revision, digest } = (await lifecycleOf(server, ID)) ?? {}
  const what = { workspaceId: scene.place.repo, packageId: ID, revision, digest, capabilities: ['event-publish'] }
  configurePlugin(scene.place, ID, (entry) => ({ ...entry, options: { trust: { ...what, nativeApproved: true } } }))
}

async function approved(server: Server, approve = trust): Promise<void> {
  const stream = await server.stream({ tail: true })
  await approve(server)
  await lifecycleOf(server, ID)
  await untilState(stream, ID, 'active')
  stream.close()
}

/** Has the model call the tool; answers what the call came to. */
async function call(server: Server, tool: string, input: object = {}): Promise<string> {
  const { id } = await server.createSession()
  await server.prompt(id, { prompt: `calls ${JSON.stringify({ tool, input })}` })
  await server.call('POST', `/v2/sessions/${id}/wait`)
  const state = toolParts(await server.messages(id)).at(-1)?.state
  return state?.status === 'completed' ? state.output : state?.status === 'error' ? `error: ${state.error}` : JSON.stringify(state)
}

async function serving(files: Readonly<Record<string, string>> = FILES, env: Readonly<Record<string, string>> = {}): Promise<Server> {
  writePackage(scene.place, ID, { agent: AGENT, files })
  const server = await scene.start(env)
  await approved(server)
  return server
}

describe('native code', () => {
  test('is packed, added and approved by name, and runs in the process of the server', async () => {
    const source = join(scene.place.root, 'source')
    execFileSync('mkdir', [source])
    for (const [name, text] of Object.entries(FILES)) writeFileSync(join(source, name), text)
    writeFileSync(join(source, 'svc-plugin.json'), JSON.stringify({ id: ID, name: ID, version: '1.0.0', apiVersion: 1, agent: AGENT }))
    const archive = join(scene.place.root, 'inside.tgz')
    svc('plugin', 'pack', source, '--output', archive)
    const server = await scene.start()
    svc('plugin', 'add', archive)
    expect(await lifecycleOf(server, ID)).toMatchObject({
      state: 'permission-required',
      native: { entrypoint: 'plugin.js', approved: false },
    })
    await approved(server, async () => void svc('plugin', 'trust', ID, '--native', '--yes'))
    expect(await lifecycleOf(server, ID)).toMatchObject({
      state: 'active',
      native: { approved: true, words: expect.stringContaining('everything that svc itself may') as string },
    })
    expect(await call(server, 'where')).toBe(`first in ${server.pid}`)
    expect(await call(server, 'throw')).toContain('of the tool')
    expect(await lifecycleOf(server, ID)).toMatchObject({ state: 'active' })
  })

  test('is not run by an approval of the package as a program, nor by a workspace', async () => {
    writePackage(scene.place, ID, { agent: AGENT, files: FILES })
    const server = await scene.start()
    const info = await lifecycleOf(server, ID)
    const trust = {
      workspaceId: scene.place.repo,
      packageId: ID,
      revision: info?.revision,
      digest: info?.digest,
      capabilities: ['event-publish'],
      nativeApproved: true,
    }
    scene.place.write('.svc/svc.json', JSON.stringify({ plugins: { [ID]: { options: { trust } } } }))
    expect(await lifecycleOf(server, ID)).toMatchObject({ state: 'permission-required', leaseActive: false })
    svc('plugin', 'trust', ID, '--yes')
    await expect.poll(async () => (await lifecycleOf(server, ID))?.diagnostics[0]?.message).toContain('exited with code 4')
    const { digest: _digest, ...undetermined } = trust
    scene.place.configure(withModel(model.url, { plugins: { [ID]: { options: { trust: undetermined } } } }))
    expect(await lifecycleOf(server, ID)).toMatchObject({ state: 'permission-required', leaseActive: false, native: { approved: false } })
  })

  test('goes on as it was approved when its files change, and the new content waits', async () => {
    const server = await serving()
    const root = packageRoot(scene.place, ID)
    writeFileSync(join(root, 'plugin.js'), PLUGIN.replace("'first'", "'second'"))
    expect(await lifecycleOf(server, ID)).toMatchObject({ state: 'update-available', leaseActive: true, native: { approved: false } })
    expect(await call(server, 'where')).toBe(`first in ${server.pid}`)
    await approved(server)
    expect(await call(server, 'where')).toBe(`second in ${server.pid}`)
  })

  test('prints to its own log', async () => {
    const server = await serving()
    let stdout = ''
    server.child.stdout?.on('data', (text: string) => (stdout += text))
    expect(await call(server, 'print')).toBe('printed')
    await expect.poll(() => server.stderr()).toContain('"line":"said aloud"')
    expect(stdout).toBe('')
  })

  test.each([
    ['later', 'It threw outside of any call: TypeError: too late (plugin.js:6)'],
    ['reject', 'It left a promise rejected: TypeError: nobody waits (plugin.js:7)'],
  ])('that fails on its own (%s) is told as what it is and retired, and the server goes on', async (tool, reason) => {
    const server = await serving()
    const stream = await server.stream({ tail: true })
    await call(server, tool)
    const info = await untilState(stream, ID, 'degraded')
    stream.close()
    expect(info.diagnostics).toEqual([expect.objectContaining({ code: 'degraded', message: reason })])
    expect(server.stderr()).toContain('a native plugin has failed, and is retired')
    expect(await server.get('/v2/health')).toMatchObject({ healthy: true })
  })

  test('that goes on failing after its end is told of once more, and no more', async () => {
    const server = await serving()
    const to = join(scene.place.root, 'fifty')
    await call(server, 'flood', { to })
    await expect.poll(() => existsSync(to)).toBe(true)
    expect(server.stderr().split('a native plugin has failed').length - 1).toBe(2)
    expect(await server.get('/v2/health')).toMatchObject({ healthy: true })
  })

  test('that breaks the server ends it with a line that says who it was, and what was committed is there', async () => {
    const server = await serving()
    const { id } = await server.createSession({ title: 'kept' })
    await call(server, 'break').catch(() => undefined)
    expect(await server.ended).toMatchObject({ code: 1 })
    expect(server.stderr()).toContain(`svc: the native plugin ${ID} has broken the server, which ends.`)
    const again = await scene.start()
    expect(await again.get(`/v2/sessions/${id}`)).toMatchObject({ title: 'kept' })
  })

  test('that ends the process is named', async () => {
    const server = await serving()
    await call(server, 'leave').catch(() => undefined)
    expect(await server.ended).toMatchObject({ code: 7 })
    expect(server.stderr()).toContain(`svc: the native plugin ${ID} has ended the process`)
  })

  test('that is switched off is refused whatever it still asks', async () => {
    const server = await serving()
    const to = join(scene.place.root, 'refused.txt')
    expect(await call(server, 'after', { to })).toBe('ticking')
    svc('plugin', 'disable', ID)
    expect(await lifecycleOf(server, ID)).toMatchObject({ state: 'disabled', leaseActive: false })
    await expect.poll(() => existsSync(to) && readFileSync(to, 'utf8')).toMatch(/retired|shut down/)
    expect(await call(server, 'where')).not.toContain('first')
  })

  test('does not run where plugins run in a sandbox', async () => {
    writePackage(scene.place, ID, { agent: AGENT, files: FILES })
    const server = await scene.start({ SVC_AGENT_PLUGIN_SANDBOX: 'required' })
    await trust(server)
    await expect.poll(async () => (await lifecycleOf(server, ID))?.state).toBe('failed')
    expect((await lifecycleOf(server, ID))?.diagnostics[0]?.message).toContain('native code runs in none')
  })

  test('imports nothing from outside of its package', async () => {
    const outside = join(scene.place.root, 'node_modules/outside')
    execFileSync('mkdir', ['-p', outside])
    writeFileSync(join(outside, 'index.js'), 'module.exports = 1')
    writePackage(scene.place, ID, { agent: AGENT, files: { ...FILES, 'plugin.js': `import 'outside'\n${PLUGIN}` } })
    const server = await scene.start()
    await trust(server)
    await expect.poll(async () => (await lifecycleOf(server, ID))?.state).toBe('failed')
    expect((await lifecycleOf(server, ID))?.diagnostics[0]?.message).toContain('"outside" is not in the package')
  })

  test('is made by a factory for its package and interface, started once and shut down once', async () => {
    const log = join(scene.place.root, 'log.txt')
    const factory = `import { appendFileSync } from 'node:fs'
const say = (text) => appendFileSync(${JSON.stringify(log)}, text + '\\n')
export default {
  descriptor: { id: '${ID}', apiVersion: 2 },
  create: ({ pluginId, signal }) => ({
    start() { say('start ' + pluginId); return { readiness: 'degraded', reason: 'half of it' } },
    contributions: { tools: [{ id: 'where', description: 'w', parameters: { type: 'object' }, execute: () => 'made' }] },
    shutdown() { say('shutdown') },
  }),
}
`
    const server = await serving({ ...FILES, 'plugin.js': factory })
    expect(await call(server, 'where')).toBe('made')
    expect((await lifecycleOf(server, ID))?.diagnostics).toEqual([
      expect.objectContaining({ message: expect.stringContaining('half of it') as string }),
    ])
    svc('plugin', 'disable', ID)
    await expect.poll(() => readFileSync(log, 'utf8')).toBe(`start ${ID}\nshutdown\n`)
  })

  test('is refused by the command where there is none', async () => {
    const { native: _native, ...agent } = AGENT
    writePackage(scene.place, ID, { agent, files: FILES })
    expect(refusal('plugin', 'trust', ID, '--native', '--yes')).toContain('has no native part')
    await Promise.resolve()
  })
})
