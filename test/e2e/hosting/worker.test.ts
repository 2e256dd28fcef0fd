// Holds subsystems d.9; threat-model T1, T2, T5: the built program as a worker of a controller.
import { spawn } from 'node:child_process'
import { createServer, type IncomingMessage, type Server as HttpServer } from 'node:http'
import { chmodSync, existsSync, mkdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { WorkerBootstrap } from '../../../src/protocol/hosting/worker.js'
import { bootstrapAt, signWorker, workerClaims, workerKeys } from '../../fakes/workers.js'
import { createGate, finish, hold, type ModelServer, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { makePlace, type Place, withModel } from '../server/place.js'
import { openScene, PROGRAM, type Scene, type Server } from '../server/server.js'
import { openStream } from '../server/stream.js'
import { textOf, toolParts } from '../server/transcript.js'

const { seed, bytes } = workerKeys()
let scene: Scene
let place: Place
let model: ModelServer
beforeEach(async () => {
  place = makePlace()
  chmodSync(place.state, 0o700)
  scene = openScene(place)
  model = await startModelServer([])
})
afterEach(async () => {
  await scene.close()
  await model.close()
})

/** Files of a worker, beside its root. */
function filesOf(more: Partial<WorkerBootstrap> = {}) {
  const bootstrap = bootstrapAt(Date.now(), { root: place.repo, ...more })
  const [boot, key] = [join(place.root, 'bootstrap.json'), join(place.root, 'verifier')]
  writeFileSync(boot, JSON.stringify(bootstrap))
  writeFileSync(key, bytes)
  return { bootstrap, boot, key, flags: ['--worker-bootstrap', boot, '--worker-verification-key-file', key] }
}

interface Worker {
  readonly server: Server
  readonly bootstrap: WorkerBootstrap
  /** What a request shows. */
  as(more?: Readonly<Record<string, unknown>>): { readonly authorization: string }
  ask(method: string, path: string, body?: unknown, more?: Readonly<Record<string, unknown>>): Promise<unknown>
}

async function startWorker({
  env = {},
  flags = [],
  ...more
}: Partial<WorkerBootstrap> & { env?: Record<string, string>; flags?: readonly string[] } = {}): Promise<Worker> {
  const files = filesOf(more)
  const server = await scene.start(env, 0, [...files.flags, ...flags])
  const as: Worker['as'] = (claims) => ({
    authorization: `Bearer ${signWorker(workerClaims(files.bootstrap, Date.now(), { ...claims }), seed)}`,
  })
  return {
    server,
    bootstrap: files.bootstrap,
    as,
    async ask(method, path, body, claims) {
      const answer = await server.call(method, path, body, as(claims))
      if (answer.status >= 300) throw new Error(`${method} ${path} was answered ${answer.status}: ${answer.text}`)
      return answer.body
    },
  }
}

async function begin(worker: Worker, prompt: string) {
  const stream = await openStream(worker.server.url, { tail: true }, worker.as())
  const { id } = (await worker.ask('POST', '/v2/sessions', { title: 'a test' })) as { id: string }
  await worker.ask('POST', `/v2/sessions/${id}/prompt`, { prompt })
  return { stream, id }
}

describe('a worker', () => {
  test('says who it is to whoever shows a token for it, and nothing but its deployment to others', async () => {
    const { server, bootstrap, ask, as } = await startWorker()
    expect(await ask('GET', '/v2/runtime')).toEqual({ deployment: 'workspace-worker', executionAvailable: true, worker: bootstrap })
    expect(await server.get('/v2/health')).toMatchObject({
      healthy: true,
      deployment: 'workspace-worker',
      executionAvailable: true,
      hostedControlPlane: false,
      tenantResolver: 'worker',
    })
    const codeOf = async (headers: Readonly<Record<string, string>>) => (await server.call('GET', '/v2/runtime', undefined, headers)).status
    expect([
      await codeOf({}),
      await codeOf(as({ runtimeGeneration: 4 })),
      await codeOf(as({ tenantId: 'other' })),
      await codeOf(as({ scopes: ['agent:use'] })),
    ]).toEqual([401, 401, 401, 403])
    expect(await ask('GET', '/v2/audit')).toMatchObject([
      { tenantId: 'acme', path: '/v2/runtime', status: 403 },
      { tenantId: 'acme', status: 200 },
    ])
    expect(readlinkSync(`/proc/${server.pid}/cwd`)).toBe(place.repo)
  })

  test('has one workspace, of which whoever has its root hears and administers everything', async () => {
    const worker = await startWorker()
    const admin = { scopes: ['workspace:admin', 'agent:read'] }
    const stream = await openStream(worker.server.url, { tail: true }, worker.as())
    await worker.ask('PATCH', '/v2/config', { model: 'svc/offline' }, admin)
    await stream.waitFor((event) => event.type === 'config.updated')
    expect(await worker.ask('GET', '/v2/plugins/dev.svc.workflows')).toMatchObject({ workflows: [] })
    expect(await worker.ask('GET', '/v2/inspector/tree', undefined, admin)).toMatchObject({ actors: expect.any(Array) as unknown })
    const { id } = (await worker.ask('POST', '/v2/sessions', { title: 'a test' })) as { id: string }
    await worker.ask('POST', `/v2/sessions/${id}/control`, { leaseSeconds: 30 })
    expect(await worker.ask('GET', `/v2/sessions/${id}/participants`)).toMatchObject([{ subject: 'user:ada', actorType: 'human' }])
  })

  test('hands none of its secrets to what agents start', async () => {
    await model.close()
    model = await startModelServer([
      reply(toolCall({ id: 'c1', name: 'bash', input: { command: 'env', description: 'look' } }), finish('tool_calls')),
      reply(text('seen'), finish('stop')),
    ])
    place.configure(withModel(model.url, { permission: { bash: 'allow' } }))
    const env = {
      SECRET_KEY: 'secret-of-the-host',
      DATABASE_URL: 'postgres://me:secret-of-the-host@db',
      SVC_AGENT_WEBSEARCH_KEY: 'secret-of-the-host',
      CLOUD_TOKEN: 'secret-of-the-host',
      LC_TEST: 'harmless',
    }
    const worker = await startWorker({ env })
    const { stream, id } = await begin(worker, 'look')
    await stream.idle(id)
    const messages = (await worker.ask('GET', `/v2/sessions/${id}/context`)) as Parameters<typeof toolParts>[0]
    const [part] = toolParts(messages)
    const output = JSON.stringify(part?.state)
    expect([output.includes('LC_TEST=harmless'), output.includes('secret-of-the-host'), output.includes('SVC_AGENT_STATE_DIR')]).toEqual([
      true,
      false,
      false,
    ])
    const environ = readFileSync(`/proc/${worker.server.pid}/environ`, 'latin1')
    expect(environ.includes('secret-of-the-host')).toBe(false)
  })

  test('ends at the expiry of its bootstrap, after a turn that is under way has come to its end; streams end with their token', async () => {
    await model.close()
    const gate = createGate()
    model = await startModelServer([reply(text('half'), hold(gate), text(' and whole'), finish('stop'))])
    place.configure(withModel(model.url))
    const worker = await startWorker({ expiresAt: Math.floor(Date.now() / 1000) + 30 })
    const { stream, id } = await begin(worker, 'go on')
    const short = await openStream(worker.server.url, { tail: true }, worker.as({ expiresAt: Math.floor(Date.now() / 1000) + 2 }))
    await stream.waitFor((event) => event.type === 'message.part.delta')
    await short.ended
    const refused = await untilRefused(worker)
    expect(refused).toEqual([409, 'lifecycle.closed'])
    expect((await worker.ask('GET', '/v2/runtime')) as object).toMatchObject({ deployment: 'workspace-worker' })
    gate.open()
    expect(await worker.server.ended).toEqual({ code: 0, signal: null })
    const later = await startWorker({ runtimeGeneration: 4 })
    const messages = (await later.ask('GET', `/v2/sessions/${id}/context`)) as Parameters<typeof textOf>[0][]
    expect(messages.map((message) => textOf(message))).toEqual(['go on', 'half and whole'])
  })

  test('ends on SIGTERM once its turn has ended, and its replacement goes on from the same place', async () => {
    await model.close()
    const gate = createGate()
    model = await startModelServer([reply(text('half'), hold(gate), text(' and whole'), finish('stop')), reply(text('on'), finish('stop'))])
    place.configure(withModel(model.url))
    const worker = await startWorker()
    const { stream, id } = await begin(worker, 'go on')
    await stream.waitFor((event) => event.type === 'message.part.delta')
    worker.server.child.kill('SIGTERM')
    expect(await untilRefused(worker)).toEqual([409, 'lifecycle.closed'])
    gate.open()
    expect(await worker.server.ended).toEqual({ code: 0, signal: null })
    const next = await startWorker({ runtimeGeneration: 4 })
    expect((await next.server.call('GET', '/v2/runtime', undefined, worker.as())).status).toBe(401)
    const again = await openStream(next.server.url, { tail: true }, next.as())
    await next.ask('POST', `/v2/sessions/${id}/prompt`, { prompt: 'and on' })
    await again.idle(id)
    const messages = (await next.ask('GET', `/v2/sessions/${id}/context`)) as Parameters<typeof textOf>[0][]
    expect(messages.map((message) => textOf(message))).toEqual(['go on', 'half and whole', 'and on', 'on'])
  })
})

/** What is answered to something new once the worker has said that it ends. */
async function untilRefused({ server, as }: Worker): Promise<unknown[]> {
  await expect.poll(() => server.stderr()).toContain('the worker ends: nothing new is taken on')
  const answer = await server.call('POST', '/v2/sessions', { title: 'more' }, as())
  return [answer.status, (answer.body as { code?: string }).code]
}

describe('a worker is not started', () => {
  /** What it prints on standard error, and its exit code. */
  function refused(flags: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<[code: number | null, text: string]> {
    const child = spawn(process.execPath, [PROGRAM, 'serve', '--port', '0', ...flags], {
      cwd: place.root,
      env: { ...place.env, ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let told = ''
    child.stderr.setEncoding('utf8').on('data', (more: string) => (told += more))
    return new Promise((resolve) => child.once('close', (code) => resolve([code, told])))
  }

  test('with one of its files only, or as a control plane', async () => {
    const { boot, key, flags } = filesOf()
    expect(await refused(['--worker-bootstrap', boot])).toEqual([
      2,
      expect.stringContaining('--worker-verification-key-file is missing') as string,
    ])
    expect(await refused(['--worker-verification-key-file', key])).toEqual([
      2,
      expect.stringContaining('--worker-bootstrap is missing') as string,
    ])
    expect(await refused([...flags, '--control-plane'])).toEqual([2, expect.stringContaining('control plane or a worker') as string])
    expect(await refused([...flags, '--web'])).toEqual([2, expect.stringContaining('--web') as string])
    expect(await refused([...flags, '--worker-broker', 'https://host.example'])).toEqual([
      2,
      expect.stringContaining('--worker-broker-token-file is missing') as string,
    ])
  })

  const linked = (path: string) => {
    symlinkSync(path, `${path}.link`)
    return `${path}.link`
  }
  const within = (path: string) => {
    const copy = join(place.repo, 'copy')
    writeFileSync(copy, readFileSync(path))
    return copy
  }
  type Files = ReturnType<typeof filesOf>
  const flagsOf = (boot: string, key: string) => ['--worker-bootstrap', boot, '--worker-verification-key-file', key]

  test.each<[what: string, flags: (files: Files) => readonly string[], why: string]>([
    ['by a bootstrap that is a link', ({ boot, key }) => flagsOf(linked(boot), key), 'is a link'],
    ['by a key that is a link', ({ boot, key }) => flagsOf(boot, linked(key)), 'is a link'],
    ['by a directory', ({ key }) => flagsOf(place.state, key), 'is no regular file'],
    ['by a file that is not there', ({ key }) => flagsOf(join(place.root, 'none'), key), 'cannot be read'],
    ['by a bootstrap within the root', ({ boot, key }) => flagsOf(within(boot), key), 'lies within the root'],
    ['by a key within the root', ({ boot, key }) => flagsOf(boot, within(key)), 'lies within the root'],
  ])('%s', async (_what, flags, why) => {
    expect(await refused(flags(filesOf()))).toEqual([1, expect.stringContaining(why) as string])
  })

  test.each<[what: string, content: (bootstrap: WorkerBootstrap) => unknown, why: string]>([
    ['that is too large', (bootstrap) => `${JSON.stringify(bootstrap)}${' '.repeat(16_384)}`, 'has more than 16384 bytes'],
    ['that is no JSON', () => '{"version":1,', 'is no JSON'],
    ['with a member that none has', (bootstrap) => ({ ...bootstrap, extra: 1 }), '"extra"'],
    ['without a member', (bootstrap) => ({ ...bootstrap, runtimeId: undefined }), '"runtimeId"'],
    ['in milliseconds', (bootstrap) => ({ ...bootstrap, expiresAt: Date.now() }), '"expiresAt"'],
    ['that has expired', (bootstrap) => ({ ...bootstrap, expiresAt: 1 }), 'has expired'],
    ['for "/"', (bootstrap) => ({ ...bootstrap, root: '/' }), 'may not be "/"'],
    ['for a directory that is not there', (bootstrap) => ({ ...bootstrap, root: '/nowhere/at/all' }), 'no directory'],
    ['for another name of a directory', (bootstrap) => ({ ...bootstrap, root: linked(place.repo) }), 'another name'],
  ])('by a bootstrap %s', async (_what, content, why) => {
    const { boot, bootstrap, flags } = filesOf()
    const said = content(bootstrap)
    writeFileSync(boot, typeof said === 'string' ? said : JSON.stringify(said))
    expect(await refused(flags)).toEqual([1, expect.stringContaining(why) as string])
  })

  test.each([
    ['of 31 bytes', bytes.subarray(1), 'exactly 32 bytes'],
    ['of 33 bytes', Buffer.concat([bytes, Buffer.from('\n')]), 'has more than 32 bytes'],
    ['for which everybody could sign', Buffer.alloc(32), 'exactly 32 bytes'],
  ])('with a key %s', async (_what, content, why) => {
    const { key, flags } = filesOf()
    writeFileSync(key, content)
    expect(await refused(flags)).toEqual([1, expect.stringContaining(why) as string])
  })

  test('where its own files lie within the root, or others may look into them; nor beside other credentials', async () => {
    const { flags } = filesOf()
    const within = join(place.repo, 'state')
    expect(await refused(flags, { SVC_AGENT_STATE_DIR: within })).toEqual([1, expect.stringContaining('lies within the root') as string])
    expect(existsSync(within)).toBe(false)
    expect(await refused(flags, { XDG_CONFIG_HOME: place.repo })).toEqual([1, expect.stringContaining('lies within the root') as string])
    expect(await refused(flags, { SVC_AGENT_AUTH_PATH: join(place.repo, 'auth.json') })).toEqual([
      1,
      expect.stringContaining('lies within the root') as string,
    ])
    const open = join(place.root, 'open')
    mkdirSync(open, { mode: 0o755 })
    chmodSync(open, 0o755)
    writeFileSync(join(open, 'of-others'), '')
    expect(await refused(flags, { SVC_AGENT_STATE_DIR: open })).toEqual([1, expect.stringContaining('0700') as string])
    expect(await refused(flags, { SVC_AGENT_TOKEN: 'operator' })).toEqual([1, expect.stringContaining('SVC_AGENT_TOKEN is set') as string])
  })
})

describe('a worker that is lent credentials', () => {
  let host: HttpServer
  let asked: { bearer: string | undefined; body: Record<string, unknown> }[]
  let answer: { status: number; body: object }
  beforeEach(async () => {
    asked = []
    answer = {
      status: 200,
      body: { version: 1, provider: 'lent', apiKey: 'sk-of-the-host', expiresAt: Math.floor(Date.now() / 1000) + 600 },
    }
    host = createServer((request: IncomingMessage, response) => {
      let body = ''
      request.setEncoding('utf8').on('data', (more: string) => (body += more))
      request.on('end', () => {
        asked.push({ bearer: request.headers.authorization, body: JSON.parse(body) as Record<string, unknown> })
        response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body))
      })
    })
    await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve))
  })
  afterEach(async () => {
    host.closeAllConnections()
    await new Promise((resolve) => host.close(resolve))
  })

  function lending() {
    const address = host.address()
    const file = join(place.root, 'host-token')
    writeFileSync(file, 'bearer-of-this-generation\n', { mode: 0o600 })
    place.configure({
      model: 'lent/scripted',
      provider: {
        lent: {
          npm: '@ai-sdk/openai-compatible',
          auth: 'required',
          options: { baseURL: model.url },
          models: { scripted: { limit: { context: 100_000, output: 4000 } } },
        },
      },
    })
    return {
      file,
      flags: [
        '--worker-broker',
        `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/v1/credentials`,
        '--worker-broker-token-file',
        file,
      ],
    }
  }

  test('calls models with them, asks once, and keeps them nowhere', async () => {
    await model.close()
    model = await startModelServer([reply(text('one'), finish('stop')), reply(text('two'), finish('stop'))])
    const { file, flags } = lending()
    const worker = await startWorker({ flags })
    rmSync(file) // it was read
    const { stream, id } = await begin(worker, 'go on')
    await stream.idle(id)
    const at = stream.events.length
    await worker.ask('POST', `/v2/sessions/${id}/prompt`, { prompt: 'again' })
    await stream.idle(id, at)
    expect(model.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer sk-of-the-host', 'Bearer sk-of-the-host'])
    const { tenantId, workspaceId, runtimeId, runtimeGeneration } = worker.bootstrap
    expect(asked).toEqual([
      {
        bearer: 'Bearer bearer-of-this-generation',
        body: { version: 1, tenantId, workspaceId, runtimeId, runtimeGeneration, provider: 'lent' },
      },
    ])
    expect(await worker.server.get('/v2/health')).toMatchObject({ providerCredentialStore: 'host' })
    const found = spawn('grep', ['-rl', 'sk-of-the-host', place.state, place.repo, place.home], { stdio: ['ignore', 'pipe', 'ignore'] })
    let files = ''
    found.stdout.setEncoding('utf8').on('data', (more: string) => (files += more))
    await new Promise((resolve) => found.once('close', resolve))
    expect([files, worker.server.stderr().includes('sk-of-the-host')]).toEqual(['', false])
  })

  test('says why no model can be called when its host refuses', async () => {
    answer = { status: 410, body: {} }
    const worker = await startWorker({ flags: lending().flags })
    const { stream, id } = await begin(worker, 'go on')
    await stream.idle(id)
    const messages = (await worker.ask('GET', `/v2/sessions/${id}/context`)) as { info: { error?: { message?: string } } }[]
    expect(messages.at(-1)?.info.error?.message).toContain('this generation of the worker is over (410)')
    expect([asked.length, model.requests.length]).toEqual([1, 0])
  })
})
