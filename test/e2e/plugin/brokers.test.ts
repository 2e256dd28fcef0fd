// Holds service.md Authentication 11; plugin-protocol §2.4, §2.5, §3.6, §4.8; threat-model N1, K1, K2.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener, type Server as HttpServer } from 'node:http'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makePlace } from '../server/place.js'
import { approve, configurePlugin, lifecycleOf, untilState, writePackage } from '../server/plugins.js'
import { openScene, PROGRAM, type Scene, type Server } from '../server/server.js'

const ID = 'dev.example.asks'
const VALUE = 'sk-e2e-very-secret-0123456789'

let scene: Scene
let server: Server
const servers: HttpServer[] = []
beforeEach(async () => {
  scene = openScene(makePlace())
  scene.place.configure({})
  server = await scene.start({ SVC_LOG: 'debug' })
})
afterEach(async () => {
  for (const each of servers.splice(0)) {
    each.closeAllConnections()
    each.close()
  }
  await scene.close()
})

async function record(
  listener: RequestListener,
): Promise<{ readonly host: string; readonly url: string; readonly seen: IncomingMessage[] }> {
  const seen: IncomingMessage[] = []
  const recording = createServer((request, response) => {
    seen.push(request)
    listener(request, response)
  }).listen(0, '127.0.0.1')
  servers.push(recording)
  await once(recording, 'listening')
  const address = recording.address()
  const host = `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
  return { host, url: `http://${host}`, seen }
}

const echo: RequestListener = (request, response) =>
  void response.writeHead(200, { 'x-said': request.headers['authorization'] ?? '' }).end(JSON.stringify(request.headers))

interface Asked {
  readonly result?: { readonly output?: Record<string, unknown> }
  readonly error?: string
}

async function install(
  agent: object,
  options: object,
  files: Readonly<Record<string, string>> = { 'plugin.mjs': 'fixture:asks-brokers.mjs' },
) {
  const stream = await server.stream({ tail: true })
  writePackage(scene.place, ID, { agent: { sandbox: false, ...agent }, files })
  configurePlugin(scene.place, ID, () => ({ options: { sandbox: false, ...options } }))
  await approve(server, scene.place, ID)
  await lifecycleOf(server, ID)
  await untilState(stream, ID, 'active')
  stream.close()
}

async function ask(method: string, params: object): Promise<Asked> {
  const { status, body, text } = await server.call('POST', `/v2/plugins/${ID}/ask`, { method, params })
  if (status !== 200) throw new Error(text)
  return body as Asked
}

const request = (operation: string, input: object) => ask('host.network.request', { operation, input })

function svc(
  args: readonly string[],
  input?: string,
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [PROGRAM, ...args], { env: scene.place.env, cwd: scene.place.repo }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    )
    child.stdin?.end(input ?? '')
  })
}

function* filesBelow(directory: string): Generator<string> {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name)
    const stat = statSync(path)
    if (stat.isDirectory()) yield* filesBelow(path)
    else if (stat.isFile()) yield path
  }
}

describe('the network', () => {
  test('is reached by a program through the host, to hosts the installation lists and the manifest names', async () => {
    const { host, url, seen } = await record(echo)
    await install({ capabilities: ['network', 'config-read'], network: { hosts: [host] } }, { hosts: [host, '127.0.0.1'] })
    expect((await request('fetch', { url: `${url}/a` })).result?.output).toMatchObject({ status: 200, url: `${url}/a`, truncated: false })
    expect((await request('fetch', { url: 'http://127.0.0.1:1/' })).error).toContain('is not one of the hosts that the manifest names')
    expect((await request('fetch', { url: server.url })).error).toContain('is this server')
    expect(seen).toHaveLength(1)
    expect(await lifecycleOf(server, ID)).toMatchObject({
      grantedCapabilities: ['network', 'config-read'],
      requests: [
        { capability: 'network', words: `use the network: only ${host}` },
        { capability: 'config-read', words: 'read the effective configuration' },
      ],
    })
  })

  test('holds up nothing else that a plugin asks for', async () => {
    let release = (): void => undefined
    const { host, url, seen } = await record((_request, response) => (release = () => void response.end('late')))
    await install({ capabilities: ['network', 'config-read'] }, { hosts: [host] })
    const slow = request('fetch', { url })
    while (seen.length === 0) await new Promise((resolve) => setImmediate(resolve))
    expect(await ask('host.config.get', { key: 'nothing' })).toEqual({ result: null })
    release()
    expect((await slow).result?.output).toMatchObject({ body: 'late' })
  })

  test('is reached by a script in Lua', async () => {
    const { host, url } = await record(echo)
    const script = `
return {
  routes = { {
    descriptor = { id = 'ask', method = 'POST', path = '/ask', scope = 'workspace' },
    handle = function(request)
      local ok, answer = pcall(svc.host.network_request, request.body.params)
      if not ok then return { status = 200, body = { error = tostring(answer) } } end
      return { status = 200, body = { result = answer } }
    end,
  } },
}`
    await install(
      { runtime: 'lua', entrypoint: 'agent.lua', command: [], capabilities: ['network'] },
      { hosts: [host] },
      { 'agent.lua': script },
    )
    expect((await request('fetch', { url, method: 'POST', body: 'x' })).result?.output).toMatchObject({ status: 200 })
    expect((await request('fetch', { url: 'http://127.0.0.1:1/' })).error).toContain('leads to this machine')
    const opened = await request('open', { url })
    const opaqueId = opened.result?.output?.['opaqueId']
    expect((await request('read', { opaqueId })).result?.output).toMatchObject({ answer: { status: 200 }, end: false })
    expect((await request('close', { opaqueId })).result?.output).toEqual({ closed: true })
  })

  test('is let go of when the plugin is switched off in the middle of each call', async () => {
    const closed: Promise<unknown>[] = []
    const { host, url, seen } = await record((asked, response) => {
      closed.push(once(response, 'close'))
      if (asked.url === '/begun') response.write('begun')
    })
    await install({ capabilities: ['network'] }, { hosts: [host] })
    const stream = await server.stream({ tail: true })
    await request('open', { url: `${url}/begun` })
    await request('open', { url, method: 'POST', upload: true })
    const hanging = server.call('POST', `/v2/plugins/${ID}/ask`, {
      method: 'host.network.request',
      params: { operation: 'fetch', input: { url } },
    })
    while (seen.length < 3) await new Promise((resolve) => setImmediate(resolve))
    configurePlugin(scene.place, ID, (entry) => {
      const { trust: _, ...options } = entry['options'] as Record<string, unknown>
      return { ...entry, options }
    })
    await lifecycleOf(server, ID)
    await untilState(stream, ID, 'permission-required')
    await Promise.all(closed)
    // Its last words may still be in time.
    expect((await hanging).text).toMatch(/plugin instance is retired|plugin\.(?:route_failed|generation_closed)/)
  })
})

describe('a secret', () => {
  const secrets = (host: string) => [
    { alias: 'token', purpose: 'to ask the recording server', hosts: [host] },
    { alias: 'other', purpose: 'to sign' },
  ]

  test('is given by the operator, used by its alias, and told to nobody', async () => {
    const { host, url, seen } = await record(echo)
    await install({ capabilities: ['network', 'secret-use', 'config-read'], secrets: secrets(host) }, { hosts: [host] })
    const input = { url, credential: { alias: 'token' } }
    expect((await request('fetch', input)).error).toContain('has no value')

    const given = await svc(['plugin', 'configure', ID, '--set', 'token'], `${VALUE}\n`)
    expect(given).toMatchObject({ code: 1, stdout: expect.stringMatching(/token +set/) as string }) // the other one is missing
    const needs = 'still needs the secret other (to sign)'
    expect((await svc(['plugin', 'doctor', ID])).stdout).toContain(needs)
    expect(await svc(['plugin', 'configure', ID, '--set', 'other', '--json'], `${VALUE}-other`)).toMatchObject({ code: 0 })
    expect((await svc(['plugin', 'doctor', ID])).stdout).not.toContain('still needs')
    const settings = await svc(['plugin', 'configure', ID, '--json'])
    expect(JSON.parse(settings.stdout)).toMatchObject({
      secrets: [
        { alias: 'token', isSet: true },
        { alias: 'other', isSet: true },
      ],
    })
    // Without the token of the operator nobody looks, and nobody gives.
    expect((await server.call('GET', `/v2/plugin-settings/${ID}`)).status).toBe(401)
    expect((await server.call('PUT', `/v2/plugin-settings/${ID}/secrets/other`, { value: VALUE })).status).toBe(401)

    const answer = await request('fetch', input)
    expect(seen.at(-1)?.headers['authorization']).toBe(`Bearer ${VALUE}`)
    expect(answer.result?.output).toMatchObject({ status: 200, headers: { 'x-said': 'Bearer [redacted]' } })
    expect(
      (await ask('host.secret.use', { operation: 'sign', input: { alias: 'other', text: 'x' } })).result?.output?.['signature'],
    ).toMatch(/^[0-9a-f]{64}$/)
    expect((await ask('host.secret.read', { operation: 'get', input: { alias: 'token' } })).error).toContain('SecretRead is not granted')
    const all = await ask('host.config.get', { key: '' })

    const shown = [JSON.stringify([answer, all, settings, given]), server.stderr()]
    for (const path of ['/v2/inspector/tree', '/v2/inspector/trace', '/v2/plugins', '/v2/plugins/lifecycle', '/v2/config', '/v2/logs'])
      shown.push((await server.call('GET', path)).text)
    shown.push((await server.call('GET', `/v2/plugins/${ID}/seen`)).text)
    expect(shown.filter((text) => text.includes(VALUE))).toEqual([])
    const { state, configFile } = scene.place
    const holding = [...filesBelow(state), ...filesBelow(dirname(configFile))].filter((path) => readFileSync(path).includes(VALUE))
    expect(holding).toEqual([join(state, 'plugin-auth.json')])
    expect(statSync(join(state, 'plugin-auth.json')).mode & 0o777).toBe(0o600)

    expect(await svc(['plugin', 'configure', ID, '--unset', 'token'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('taken back') as string,
    })
    expect((await request('fetch', input)).error).toContain('has no value')
    expect((await svc(['plugin', 'configure', ID, '--set', 'unknown'], VALUE)).stderr).toContain('declares no secret "unknown"')
    expect((await svc(['plugin', 'configure', ID, '--set', 'token'], 'short')).stderr).toContain('at least 8 characters')
  })

  test('is read by whom the capability is granted, and only its own', async () => {
    await install({ capabilities: ['secret-read'], secrets: [{ alias: 'token', purpose: 'to be read' }] }, {})
    await svc(['plugin', 'configure', ID, '--set', 'token'], VALUE)
    expect(await ask('host.secret.read', { operation: 'get', input: { alias: 'token' } })).toEqual({ result: { output: { value: VALUE } } })
    expect((await ask('host.secret.read', { operation: 'get', input: { alias: 'other' } })).error).toContain('declares no secret "other"')
    expect((await ask('host.secret.use', { operation: 'list' })).error).toContain('SecretUse is not granted')
    const holding = [...filesBelow(scene.place.state)].filter((path) => readFileSync(path).includes(VALUE))
    expect(holding).toEqual([join(scene.place.state, 'plugin-auth.json')])
  })
})

describe('its own config', () => {
  const settings = {
    type: 'object',
    properties: { level: { type: 'integer', maximum: 3 }, deep: { type: 'object' } },
    additionalProperties: false,
  }

  test('is changed by the plugin where the manifest allows it, kept, and no reason to start it anew', async () => {
    await install({ capabilities: ['config-write', 'config-read'], settings }, {})
    const before = await lifecycleOf(server, ID)
    const set = (key: string, value: unknown) => ask('host.config.set', { key, value })
    expect(await set('level', 2)).toEqual({ result: {} })
    expect(await set('deep.a', [1])).toEqual({ result: {} })
    expect((await set('level', 9)).error).toContain('the settings of the package do not allow it: level must be at most 3')
    expect((await set('more', 1)).error).toContain('do not allow it')
    expect((await set('__proto__.x', 1)).error).toContain('is no key of a config')
    expect((await set('', [])).error).toContain('a whole config is an object')
    const written = () => JSON.parse(readFileSync(join(dirname(scene.place.configFile), 'config.json'), 'utf8')) as unknown
    expect(written()).toMatchObject({ plugins: { [ID]: { options: { config: { level: 2, deep: { a: [1] } } } } } })
    expect(await ask('host.config.get', { key: 'plugins' })).toMatchObject({
      result: { [ID]: { options: { config: { level: 2, deep: { a: [1] } } } } },
    })
    const now = await lifecycleOf(server, ID)
    expect([now?.state, now?.generation]).toEqual(['active', before?.generation])
  })
})
