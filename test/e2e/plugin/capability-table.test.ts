/**
 * Every capability in every way a plugin comes to the host, tried on the built program: usable where it is declared, trusted, granted and
 * brokered, refused by name where one of these is missing, and shown as granted nowhere else. Cells come from the lists of the program.
 * Holds service.md Authentication 11; plugin-protocol §2.2 to §2.4.
 */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { createServer, type Server as HttpServer } from 'node:http'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { HOST_CAPABILITIES, type HostCapability, type PluginManifest } from '../../../src/protocol/plugin/plugin.js'
import type { ModelServer } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { configurePlugin, deletePackage, lifecycleOf, packageRoot, untilState, writePackage } from '../server/plugins.js'
import { openScene, PROGRAM, type Scene, type Server } from '../server/server.js'
import { COLUMNS, EVERY_METHOD, successesOf } from './capability-cells.js'
import { asking, hostFiles, ID, startHostModel } from './host.js'

type Column = (typeof COLUMNS)[number]

const UNSANDBOXED = { SVC_AGENT_PLUGIN_SANDBOX: 'off' }
const SECRETS = [{ alias: 'token', purpose: 'to sign' }]
const tried = new Set<string>()
const cell = (capability: HostCapability, way: string): void => void tried.add(`${capability} / ${way}`)

let scene: Scene
let server: Server
let model: ModelServer
let web: HttpServer
let host = ''

beforeAll(async () => {
  model = await startHostModel()
  web = createServer((_request, response) => void response.end('here')).listen(0, '127.0.0.1')
  await once(web, 'listening')
  const address = web.address()
  host = `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
})
afterAll(async () => {
  web.closeAllConnections()
  web.close()
  await model.close()
})
beforeEach(() => {
  scene = openScene(makePlace())
  scene.place.configure(withModel(model.url))
})
afterEach(() => scene.close())

/** Approves what lies on disk for `capabilities`, to run as it has it. */
async function trust(id: string, { scope, native }: Column, capabilities: readonly HostCapability[], scopeId: string): Promise<void> {
  const { revision, digest } = (await lifecycleOf(server, id)) ?? {}
  const how = native === true ? { digest, nativeApproved: true } : { executableApproved: true, luaApproved: true }
  const place = {
    workspaceId: scene.place.repo,
    packageId: id,
    scope,
    ...(scope === 'session' && { scopeId }),
    ...(scope === 'user' && { scopeId: userInfo().username }),
  }
  const record = { ...place, revision, capabilities, ...how }
  configurePlugin(scene.place, id, (entry) => ({ ...entry, options: { hosts: [host], trust: [record] } }))
}

/** Starts the server with the plugin, which declares these and is trusted with them; answers a session that it serves. */
async function serve(column: Column, capabilities: readonly HostCapability[]): Promise<string> {
  const { place } = scene
  const { form, lua, native, scope } = column
  const { runtime, files } = hostFiles({ lua, native })
  const agent = { ...runtime, scope, capabilities, secrets: SECRETS, eventNamespaces: [ID] }
  writePackage(place, ID, { agent, files })
  if (form === 'entry') {
    for (const name of ['plugin.mjs', 'wire.mjs']) cpSync(join(packageRoot(place, ID), name), join(place.root, name))
    deletePackage(place, ID)
    const serves = [process.execPath, join(place.root, 'plugin.mjs')]
    // An entry has the network unless it says that it has not.
    const network = capabilities.includes('network')
    configurePlugin(place, ID, () => ({ options: { serve: serves, sandbox: false, capabilities, network, hosts: [host] } }))
  }
  server = await scene.start(UNSANDBOXED)
  const { id } = await server.createSession()
  if (form === 'entry') {
    await untilActive()
    return id
  }
  const stream = await server.stream({ tail: true })
  await trust(ID, column, capabilities, id)
  await lifecycleOf(server, ID)
  if (scope === 'session') await server.prompt(id, { prompt: 'hello' })
  await untilState(stream, ID, 'active')
  stream.close()
  const configure = [PROGRAM, 'plugin', 'configure', ID, '--set', 'token']
  execFileSync(process.execPath, configure, { env: place.env, cwd: place.repo, input: 'a-secret-of-a-test\n' })
  return id
}

async function untilActive(): Promise<void> {
  await expect.poll(async () => (await listed())?.active).toBe(true)
}

async function listed(): Promise<PluginManifest | undefined> {
  return (await server.get<PluginManifest[]>('/v2/plugins')).find(({ id }) => id === ID)
}

/** What the program says this plugin was granted. */
async function shownAsGranted({ form }: Column): Promise<readonly string[] | undefined> {
  return form === 'entry' ? (await listed())?.capabilities : (await lifecycleOf(server, ID))?.grantedCapabilities
}

const errorOf = (answer: unknown): string | undefined =>
  typeof answer === 'object' && answer !== null && 'error' in answer ? String(answer.error) : undefined

describe.each(COLUMNS)('$name', (column) => {
  const { name, refused } = column
  const isHeld = (capability: HostCapability): boolean => !refused[capability]?.startsWith('no broker')
  const held = HOST_CAPABILITIES.filter(isHeld)

  test('uses what it declares, is trusted with, and something provides', async () => {
    const session = await serve(column, held)
    expect((await shownAsGranted(column))?.toSorted()).toEqual(held.toSorted())
    const cases = successesOf(`http://${host}/`).filter(({ method }) => isHeld(method.capability))
    const answers = await asking(
      server,
      session,
      cases.flatMap(({ asks }) => asks),
    )
    let at = 0
    const outcomes = cases.map(({ method: { method, capability }, asks }) => {
      const errors = answers.slice(at, (at += asks.length)).flatMap((answer) => errorOf(answer) ?? [])
      const why = refused[capability]
      if (why !== undefined && errors.some((error) => error.includes(why))) return [method, why]
      return [method, asks.length === 0 ? 'never asked' : (errors[0] ?? 'usable')]
    })
    expect(outcomes).toEqual(cases.map(({ method: { method, capability } }) => [method, refused[capability] ?? 'usable']))
    expect(existsSync(join(scene.place.repo, 'written.txt'))).toBe(held.includes('workspace-write'))
    for (const capability of held) cell(capability, name)
  })

  test('is refused every method of what it does not declare', async () => {
    const session = await serve(column, [])
    expect(await shownAsGranted(column)).toEqual([])
    const answers = await asking(
      server,
      session,
      EVERY_METHOD.map(({ ask }) => ask),
    )
    const refusals = EVERY_METHOD.map(({ method }, index) => [method.method, errorOf(answers[index])])
    expect(refusals).toEqual(
      EVERY_METHOD.map(({ method: { method, capability } }) => [
        method,
        expect.stringMatching(new RegExp(`${method} is not available: the capability \\w+ is not granted .*"${capability}"`)) as string,
      ]),
    )
    for (const { method } of EVERY_METHOD) cell(method.capability, `${name}, not declared`)
  })
})

describe.each(COLUMNS.filter(({ form }) => form !== 'entry'))('a package: $name', (column) => {
  const { name, lua, native, scope, refused } = column
  const isHeld = (capability: HostCapability): boolean => !refused[capability]?.startsWith('no broker')

  test('does not start with what it is not trusted with, or what nothing provides', async () => {
    const { runtime, files } = hostFiles({ lua, native })
    const idOf = (capability: HostCapability, way: string) => `test.${way}-${capability}`
    for (const capability of HOST_CAPABILITIES) {
      for (const way of ['untrusted', 'whole'])
        writePackage(scene.place, idOf(capability, way), { agent: { ...runtime, scope, capabilities: [capability] }, files })
    }
    server = await scene.start(UNSANDBOXED)
    const { id } = await server.createSession()
    const unprovided = HOST_CAPABILITIES.filter((capability) => !isHeld(capability))
    for (const capability of HOST_CAPABILITIES) await trust(idOf(capability, 'untrusted'), column, [], id)
    for (const capability of unprovided) await trust(idOf(capability, 'whole'), column, [capability], id)
    const stateOf = async (capability: HostCapability, way: string) => lifecycleOf(server, idOf(capability, way))
    for (const capability of HOST_CAPABILITIES) {
      expect(await stateOf(capability, 'untrusted')).toMatchObject({
        state: 'permission-required',
        leaseActive: false,
        grantedCapabilities: [],
        diagnostics: expect.arrayContaining([
          expect.objectContaining({ message: `the capability ${capability} is not approved` }),
        ]) as unknown[],
      })
      cell(capability, `${name}, not trusted`)
    }
    for (const capability of unprovided) {
      expect(await stateOf(capability, 'whole')).toMatchObject({
        state: 'failed',
        leaseActive: false,
        grantedCapabilities: [],
        diagnostics: [expect.objectContaining({ message: `no broker here for ${capability} in the scope ${scope}` })],
      })
      cell(capability, name)
    }
  })
})

test('nothing built in is shown with a capability of plugins, and a package that calls itself native is granted none', async () => {
  const id = 'test.native'
  writePackage(scene.place, id, { agent: { runtime: 'native', capabilities: HOST_CAPABILITIES }, files: {} })
  server = await scene.start(UNSANDBOXED)
  const builtIn = (await server.get<PluginManifest[]>('/v2/plugins')).filter(({ internal }) => internal)
  expect(builtIn.length).toBeGreaterThan(0)
  expect(builtIn.flatMap(({ capabilities }) => capabilities.filter((name) => HOST_CAPABILITIES.some((each) => each === name)))).toEqual([])
  expect(await lifecycleOf(server, id)).toMatchObject({ leaseActive: false, grantedCapabilities: [] })
  for (const capability of HOST_CAPABILITIES) cell(capability, 'of itself')
})

test('the table of the documents says what was tried, and every cell of it was', () => {
  const page = readFileSync(new URL('../../../docs/plugin-host.md', import.meta.url), 'utf8')
  const rows = page.split('\n').map((line) => line.split('|').map((part) => part.trim()))
  const head = rows.find((row) => row.includes('Lua') && row.includes('program')) ?? []
  for (const capability of HOST_CAPABILITIES) {
    const row = rows.find((each) => each[1] === `\`${capability}\`` && each.length === head.length) ?? []
    for (const { name, refused } of COLUMNS) {
      const said = row[head.indexOf(name)]
      expect([capability, name, said === 'yes']).toEqual([capability, name, refused[capability] === undefined])
      expect(tried).toContain(`${capability} / ${name}`)
      expect(tried).toContain(`${capability} / ${name}, not declared`)
    }
  }
  process.stdout.write(`${tried.size} cells of ${HOST_CAPABILITIES.length} capabilities tried\n`)
})
