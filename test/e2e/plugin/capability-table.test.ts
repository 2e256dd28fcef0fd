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
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  HOST_CAPABILITIES,
  type HostCapability,
  type PackageLifecycleInfo,
  type PluginManifest,
} from '../../../src/protocol/plugin/plugin.js'
import type { ModelServer } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { configurePlugin, configurePlugins, deletePackage, lifecycleOf, packageRoot, untilState, writePackage } from '../server/plugins.js'
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
/** A place and a server for the tests of one way. */
async function open(prepare: () => void = () => undefined): Promise<void> {
  scene = openScene(makePlace())
  scene.place.configure(withModel(model.url))
  prepare()
  server = await scene.start(UNSANDBOXED)
}

type Lifecycles = ReadonlyMap<string, PackageLifecycleInfo>
const lifecycles = async (): Promise<Lifecycles> =>
  new Map((await server.get<PackageLifecycleInfo[]>('/v2/plugins/lifecycle')).map((info) => [info.packageId, info]))

/** Approves what lies on disk, each package for its capabilities, to run as the column has it. */
async function trust(
  wanted: Readonly<Record<string, readonly HostCapability[]>>,
  { scope, native }: Column,
  scopeId: string,
): Promise<void> {
  const known = await lifecycles()
  const entryOf = (id: string, capabilities: readonly HostCapability[]) => {
    const { revision, digest } = known.get(id) ?? {}
    const how = native === true ? { digest, nativeApproved: true } : { executableApproved: true, luaApproved: true }
    const place = {
      workspaceId: scene.place.repo,
      packageId: id,
      scope,
      ...(scope === 'session' && { scopeId }),
      ...(scope === 'user' && { scopeId: userInfo().username }),
    }
    return (entry: Record<string, unknown>) => ({
      ...entry,
      options: { hosts: [host], trust: [{ ...place, revision, capabilities, ...how }] },
    })
  }
  configurePlugins(scene.place, Object.fromEntries(Object.entries(wanted).map(([id, each]) => [id, entryOf(id, each)])))
}

/** Serves the plugin, which declares these and is trusted with them, in place of what was served before; answers a session that it serves. */
async function serve(column: Column, capabilities: readonly HostCapability[]): Promise<string> {
  const { place } = scene
  const { form, lua, native, scope } = column
  const { runtime, files } = hostFiles({ lua, native })
  const agent = { ...runtime, scope, capabilities, secrets: SECRETS, eventNamespaces: [ID] }
  if (form === 'entry') {
    // What ran before goes on answering for a while: a server of its own.
    await open(() => serveEntry(capabilities))
    onTestFinished(() => scene.close())
    const { id } = await server.createSession()
    await untilActive()
    return id
  }
  writePackage(place, ID, { agent, files })
  const { id } = await server.createSession()
  const stream = await server.stream({ tail: true })
  await trust({ [ID]: capabilities }, column, id)
  await lifecycles()
  if (scope === 'session') await server.prompt(id, { prompt: 'hello' })
  await untilState(stream, ID, 'active')
  stream.close()
  return id
}

/** A program that the configuration names. */
function serveEntry(capabilities: readonly HostCapability[]): void {
  const { place } = scene
  const { files } = hostFiles({})
  writePackage(place, ID, { files })
  for (const name of ['plugin.mjs', 'wire.mjs']) cpSync(join(packageRoot(place, ID), name), join(place.root, name))
  deletePackage(place, ID)
  const serves = [process.execPath, join(place.root, 'plugin.mjs')]
  // An entry has the network unless it says that it has not.
  const network = capabilities.includes('network')
  configurePlugin(place, ID, () => ({ options: { serve: serves, sandbox: false, capabilities, network, hosts: [host] } }))
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
  const { form, name, lua, native, scope, refused } = column
  const isHeld = (capability: HostCapability): boolean => !refused[capability]?.startsWith('no broker')
  const held = HOST_CAPABILITIES.filter(isHeld)

  if (form === 'package') {
    beforeAll(() => open())
    afterAll(() => scene.close())
  }

  test('uses what it declares, is trusted with, and something provides', async () => {
    const session = await serve(column, held)
    if (form !== 'entry') {
      const configure = [PROGRAM, 'plugin', 'configure', ID, '--set', 'token']
      execFileSync(process.execPath, configure, { env: scene.place.env, cwd: scene.place.repo, input: 'a-secret-of-a-test\n' })
    }
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

  if (form !== 'package') return
  test('does not start with what it is not trusted with, or what nothing provides', async () => {
    deletePackage(scene.place, ID)
    const { runtime, files } = hostFiles({ lua, native })
    const idOf = (capability: HostCapability, way: string) => `test.${way}-${capability}`
    for (const capability of HOST_CAPABILITIES) {
      for (const way of ['untrusted', 'whole'])
        writePackage(scene.place, idOf(capability, way), { agent: { ...runtime, scope, capabilities: [capability] }, files })
    }
    const { id } = await server.createSession()
    const unprovided = HOST_CAPABILITIES.filter((capability) => !isHeld(capability))
    const untrusted = HOST_CAPABILITIES.map((capability) => [idOf(capability, 'untrusted'), []] as const)
    const whole = unprovided.map((capability) => [idOf(capability, 'whole'), [capability]] as const)
    await trust(Object.fromEntries([...untrusted, ...whole]), column, id)
    const states = await lifecycles()
    const stateOf = (capability: HostCapability, way: string) => states.get(idOf(capability, way))
    for (const capability of HOST_CAPABILITIES) {
      expect(stateOf(capability, 'untrusted')).toMatchObject({
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
      expect(stateOf(capability, 'whole')).toMatchObject({
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
  onTestFinished(() => scene.close())
  await open(() => writePackage(scene.place, id, { agent: { runtime: 'native', capabilities: HOST_CAPABILITIES }, files: {} }))
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
