// Holds http-contract §2.9; sessions-events §2.15.
/** Sessions go from one state directory to another, and a bundle that cannot be taken leaves nothing behind. */
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import type { Message, SessionQueueInfo } from '../../../src/protocol/message/message.js'
import type { Artifact } from '../../../src/protocol/system/artifact.js'
import type { Session, SessionPage } from '../../../src/protocol/session/session.js'
import { createGate, finish, hold, type ModelServer, reply, startModelServer, text, type Script } from '../../fixtures/model-server.js'
import { Database } from '../../../src/store/disk/driver.js'
import { makePlace, withModel } from '../server/place.js'
import { openScene, type Scene, type Server } from '../server/server.js'

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

async function start(script: Script): Promise<{ readonly scene: Scene; readonly server: Server; readonly model: ModelServer }> {
  const model = await startModelServer(script)
  cleanups.push(() => model.close())
  const scene = openScene(makePlace())
  cleanups.push(() => scene.close())
  scene.place.configure(withModel(model.url))
  return { scene, server: await scene.start(), model }
}

interface Bundle {
  readonly version: number
  readonly session: Session
  readonly messages: Message[]
  readonly queuedPrompts: unknown[]
}

const textsOf = (messages: readonly Message[]) =>
  messages.map(({ parts }) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(''))

test('a session is exported, imported elsewhere and goes on there; nothing is left of a bundle that is refused', async () => {
  const gate = createGate()
  const from = await start([reply(text('A lighthouse.'), finish('stop')), reply(hold(gate), text('never'), finish('stop'))])
  const { id } = await from.server.createSession({ title: 'Harbour', permission: [{ permission: 'bash', pattern: '*', action: 'allow' }] })
  await from.server.prompt(id, { prompt: 'What is at the harbour?' })
  await from.server.call('POST', `/v2/sessions/${id}/wait`)
  await from.server.prompt(id, { prompt: 'Held up' })
  await from.model.request(1)
  await from.server.prompt(id, { prompt: 'Go on there' }, 'prompt-async')
  const exported = await from.server.call('POST', '/v2/sessions/export', { workspaceRoot: from.scene.place.repo })
  expect(exported.status).toBe(200)
  const { bundles } = exported.body as { readonly bundles: Bundle[] }
  expect(bundles).toMatchObject([
    { version: 1, workspaceRoot: from.scene.place.repo, session: { title: 'Harbour' }, queuedPrompts: [{ delivery: 'queue' }] },
  ])
  const none = async (request: object) => (await from.server.call('POST', '/v2/sessions/export', request)).status
  expect((await from.server.call('POST', '/v2/sessions/export', { workspaceRoot: from.scene.place.root })).text).toBe('{"bundles":[]}')
  expect([
    await none({ workspaceRoot: 'relative' }),
    await none({ workspaceRoot: `${from.scene.place.root}/nowhere` }),
    await none({ workspaceRoot: from.scene.place.repo, sessionId: 'ses_none' }),
  ]).toEqual([400, 400, 404])
  await from.server.call('POST', `/v2/sessions/${id}/abort`)
  gate.open()

  const to = await start([reply(text('A ship.'), finish('stop'))])
  const target = to.scene.place.repo
  const send = (bundle: unknown, rest: object = { targetWorkspaceRoot: target }) =>
    to.server.call('POST', '/v2/sessions/import', { bundle, ...rest })
  const [bundle] = bundles
  const whole = JSON.stringify({ bundle, targetWorkspaceRoot: target })
  const refusals = [
    await send({ ...bundle, version: 2 }),
    await send({ ...bundle, messages: [...(bundle?.messages ?? []), { info: { role: 'nobody' }, parts: [] }] }),
    await to.server.call('POST', '/v2/sessions/import', whole.slice(0, -20)),
    await to.server.call('POST', '/v2/sessions/import', whole.replace('"parts":[', '"parts":[}')),
    await send(bundle, {}),
    await send({}),
    await send(bundle, { targetWorkspaceRoot: target, wake: true }),
    await send({ ...bundle, messages: [...(bundle?.messages ?? []), bundle?.messages[0]] }),
    await send(bundle, { targetWorkspaceRoot: `${target}/nowhere` }),
    await send(bundle, { targetWorkspaceRoot: `${target}\0` }),
  ]
  expect(refusals.map(({ status }) => status)).toEqual([422, 400, 400, 400, 400, 400, 400, 422, 400, 400])
  expect(refusals.map(({ text: told }) => told)).toMatchObject([
    expect.stringContaining('version 2; this svc reads version 1'),
    expect.stringContaining('bundle.messages.4.info.role'),
    expect.stringContaining('ends before it is whole'),
    expect.stringContaining('is not JSON'),
    expect.stringContaining('targetWorkspaceRoot'),
    expect.stringContaining('bundle.version'),
    expect.stringContaining('wake'),
    expect.stringContaining('twice'),
    expect.anything(),
    expect.stringContaining('NUL'),
  ])
  expect((await to.server.get<SessionPage>('/v2/sessions?archived=true')).items).toEqual([])

  const answer = await send(bundle)
  const { sessionId } = answer.body as { readonly sessionId: string }
  expect([answer.status, sessionId === id]).toEqual([200, false])
  await to.server.call('POST', `/v2/sessions/${sessionId}/wait`)
  const held = await to.server.get<SessionQueueInfo>(`/v2/sessions/${sessionId}/queue`)
  expect(held).toMatchObject({ count: 1, running: false, worker: false, items: [{ text: 'Go on there', held: true }] })
  expect(textsOf(await to.server.messages(sessionId))).toEqual(['What is at the harbour?', 'A lighthouse.', 'Held up'])
  expect(await to.server.get<Session>(`/v2/sessions/${sessionId}`)).toMatchObject({ title: 'Harbour', directory: target, imported: true })
  expect(await to.server.get<Session>(`/v2/sessions/${sessionId}`)).not.toHaveProperty('permission')
  const released = await to.server.call('POST', `/v2/sessions/${sessionId}/queue/release?messageId=${held.items[0]?.messageId}`)
  expect(released.body).toMatchObject({ released: 1 })
  await to.server.call('POST', `/v2/sessions/${sessionId}/wait`)
  const messages = await to.server.messages(sessionId)
  expect(textsOf(messages)).toEqual(['What is at the harbour?', 'A lighthouse.', 'Held up', 'Go on there', 'A ship.'])
  expect(messages[1]?.info).toMatchObject({ parentId: messages[0]?.info.id, path: { cwd: target, root: target } })
  const old = new Set(bundle?.messages.map(({ info }) => info.id))
  expect(messages.filter(({ info }) => old.has(info.id))).toEqual([])
  expect(JSON.stringify((await to.model.request(0)).body?.messages)).toContain('A lighthouse.')
})

interface BundledArtifact {
  readonly info: Artifact
  readonly content: readonly string[]
}

test('artifacts travel with a bundle when asked for, and one that is not what it tells refuses the import', async () => {
  const from = await start([reply(text('Seen.'), finish('stop'))])
  const { id } = await from.server.createSession()
  const other = await from.server.createSession()
  const bytes = randomBytes(700_001)
  const upload = async (content: Uint8Array, name: string, sessionId: string) =>
    (
      await from.server.call('POST', '/v2/artifacts', content, {
        'content-type': 'image/png',
        'x-svc-filename': name,
        'x-svc-session-id': sessionId,
      })
    ).body as Artifact
  const picture = await upload(bytes, 'picture.png', id)
  await upload(new Uint8Array(), 'empty', id)
  await upload(Buffer.from('of another session'), 'other', other.id)
  await from.server.prompt(id, {
    parts: [
      { type: 'text', text: 'Look' },
      { type: 'file', mime: 'text/plain', url: picture.downloadUrl, filename: 'picture.png' },
    ],
    noReply: true,
  })
  const exported = async (more: object) =>
    (
      (await from.server.call('POST', '/v2/sessions/export', { workspaceRoot: from.scene.place.repo, ...more })).body as {
        readonly bundles: (Bundle & { readonly artifacts?: BundledArtifact[] })[]
      }
    ).bundles
  expect((await exported({})).map((each) => each.artifacts)).toEqual([undefined, undefined])
  const [bundle, ...rest] = await exported({ artifacts: true, sessionId: id })
  if (bundle?.artifacts === undefined) throw new Error('there is no bundle with artifacts')
  const { artifacts } = bundle
  expect([rest, artifacts.map(({ info }) => info.filename).toSorted()]).toEqual([[], ['empty', 'picture.png']])
  expect(artifacts.find(({ info }) => info.id === picture.id)?.content).toHaveLength(4)

  const to = await start([])
  const send = (changed: unknown) =>
    to.server.call('POST', '/v2/sessions/import', { bundle: { ...bundle, artifacts: changed }, targetWorkspaceRoot: to.scene.place.repo })
  const [one] = artifacts
  const forged = (change: (each: BundledArtifact) => object) => artifacts.map((each) => (each.info.id === picture.id ? change(each) : each))
  const refusals = [
    await send(forged(({ info, content }) => ({ info, content: content.slice(1) }))),
    await send(forged(({ info, content }) => ({ info, content: [...content, 'QUJD'] }))),
    await send(forged(({ info, content }) => ({ info, content: [...content.slice(1), content[0]] }))),
    await send(forged(({ info, content }) => ({ info: { ...info, sha256: '0'.repeat(64) }, content }))),
    await send(forged(({ info, content }) => ({ info, content: ['no base64!', ...content] }))),
    await send(forged(({ info, content }) => ({ info: { ...info, size: 1e12 }, content }))),
    await send(forged(({ info, content }) => ({ content, info })).toReversed()),
    await send([{ info: { ...one?.info, size: 'many' }, content: [] }]),
  ]
  expect(refusals.map(({ status }) => status)).toEqual([422, 422, 422, 422, 400, 422, 422, 400])
  expect(refusals.map(({ text: told }) => told)).toMatchObject(
    ['bytes where', 'more than', 'other bytes', 'other bytes', 'not base64', 'more than', 'before it tells', 'info.size'].map((part) =>
      expect.stringContaining(part),
    ),
  )
  const stored = () => {
    const folder = join(to.scene.place.state, 'artifacts', 'local')
    return existsSync(folder) ? readdirSync(folder) : []
  }
  expect([stored(), await to.server.get('/v2/artifacts')]).toEqual([[], []])

  // Names say nothing of places: an id becomes no path, and a name is cleaned.
  const sly = forged(({ info, content }) => ({ info: { ...info, id: '../../planted', filename: '../../planted.png' }, content }))
  const { sessionId } = (await send(sly)).body as { readonly sessionId: string }
  const arrived = await to.server.get<Artifact[]>(`/v2/artifacts?sessionId=${sessionId}`)
  expect(arrived.map(({ filename }) => filename).toSorted()).toEqual(['....planted.png', 'empty'])
  expect(stored().toSorted()).toEqual(arrived.map((each) => each.id).toSorted())
  const copy = arrived.find(({ size }) => size === bytes.length)
  expect(copy).toMatchObject({ sha256: picture.sha256, mediaType: 'image/png', sessionId })
  const content = await fetch(`${to.server.url}${copy?.downloadUrl}`)
  expect(Buffer.from(await content.arrayBuffer()).equals(bytes)).toBe(true)
  const messages = await to.server.messages(sessionId)
  expect(messages[0]?.parts.find((part) => part.type === 'file')).toMatchObject({ url: copy?.downloadUrl })
})

/** Messages in the rows. */
function stored({ place }: Scene): unknown {
  const rows = new Database(join(place.state, 'agent.sqlite3'), { readonly: true })
  try {
    return rows.prepare('select count(*) from messages').pluck().get()
  } finally {
    rows.close()
  }
}

test('what a bundle says of files is not believed: undo writes nothing of it', async () => {
  const { scene, server } = await start([reply(text('Done.'), finish('stop'))])
  const { id } = await server.createSession()
  await server.prompt(id, { prompt: 'write it' })
  await server.call('POST', `/v2/sessions/${id}/wait`)
  const { bundles } = (await server.call('POST', '/v2/sessions/export', { workspaceRoot: scene.place.repo })).body as {
    readonly bundles: Bundle[]
  }
  const planted = join(scene.place.root, 'planted')
  const content = Buffer.from('planted\n')
  const state = {
    exists: true,
    contentBase64: content.toString('base64'),
    sha256: createHash('sha256').update(content).digest('hex'),
    mode: 0o644,
  }
  const metadata = { snapshots: [{ path: planted, absolute: true, before: state, after: { exists: false } }] }
  const forged = (bundles[0]?.messages ?? []).map((message) =>
    message.info.role === 'user'
      ? message
      : {
          ...message,
          parts: [
            ...message.parts,
            {
              id: 'prt_forged',
              messageId: message.info.id,
              sessionId: id,
              type: 'tool',
              callId: 'call_forged',
              tool: 'write',
              metadata,
              state: { status: 'completed', input: {}, output: 'ok', title: 'write', metadata, time: { start: 1, end: 2 } },
            },
          ],
        },
  )
  const answer = await server.call('POST', '/v2/sessions/import', {
    bundle: { ...bundles[0], messages: forged },
    targetWorkspaceRoot: scene.place.repo,
  })
  const { sessionId } = answer.body as { readonly sessionId: string }
  expect(JSON.stringify(await server.messages(sessionId))).not.toContain(planted)
  expect(await server.call('POST', `/v2/sessions/${sessionId}/undo`)).toMatchObject({
    status: 409,
    text: expect.stringContaining('bundle'),
  })
  expect(existsSync(planted)).toBe(false)
})

test('what a killed server had begun to import is gone after its next start', async () => {
  const { scene, server } = await start([])
  const { id } = await server.createSession()
  await server.prompt(id, { prompt: 'kept', noReply: true })
  const { bundles } = (await server.call('POST', '/v2/sessions/export', { workspaceRoot: scene.place.repo })).body as { bundles: Bundle[] }
  const [first = ''] = JSON.stringify({ bundle: bundles[0], targetWorkspaceRoot: scene.place.repo }).split('"queuedPrompts"')
  const begun = fetch(`${server.url}/v2/sessions/import`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    duplex: 'half',
    body: new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(first)) }),
  } as RequestInit).catch(() => undefined)
  // The server answers others meanwhile, and shows nothing of what arrives.
  while (stored(scene) !== 2) await server.get('/v2/health')
  expect((await server.get<SessionPage>('/v2/sessions')).items.map((session) => session.id)).toEqual([id])
  await server.kill()
  await begun
  const next = await scene.start()
  expect((await next.get<SessionPage>('/v2/sessions?archived=true')).items.map((session) => session.id)).toEqual([id])
  expect(stored(scene)).toBe(1)
})
