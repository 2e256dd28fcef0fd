// Holds subsystems d.3, d.5, d.6; threat-model T1, T3, T4, T5: tenants of a real server, and what each sees of the others.
import { mkdirSync, realpathSync, renameSync, rmdirSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { EXECUTING, OPEN_TO_HOSTED } from '../../../src/http/admission/hosted.js'
import { API } from '../../../src/protocol/api.js'
import type { Session } from '../../../src/protocol/session/session.js'
import { claimsAt, DAEMON_KEY, sign } from '../../fakes/signed.js'
import { makePlace } from '../server/place.js'
import { type Answer, openScene, type Scene, type Server } from '../server/server.js'
import { openStream } from '../server/stream.js'

const OPERATOR = 'operator-token-1'
let scene: Scene
let file: string
beforeEach(() => {
  scene = openScene(makePlace())
  file = join(scene.place.root, 'tokens.json')
})
afterEach(() => scene.close())

const at = (name: string): string => join(scene.place.root, name)
function folder(name: string): string {
  mkdirSync(at(name), { recursive: true })
  return realpathSync(at(name))
}
const writeTokens = (...tokens: object[]) => writeFileSync(file, JSON.stringify({ tokens }), { mode: 0o600 })
const start = (env: Readonly<Record<string, string>> = {}) =>
  scene.start({ SVC_AGENT_AUTH_CONFIG: file, SVC_AGENT_TOKEN: OPERATOR, SVC_DAEMON_TOKEN: DAEMON_KEY, ...env })

/** Asks as somebody, about a directory. */
const as =
  (server: Server, token: string, directory: string) =>
  (method: string, path: string, body?: unknown): Promise<Answer> =>
    server.call(method, path, body, { authorization: `Bearer ${token}`, 'x-svc-directory': directory })
const codeOf = ({ status, body }: Answer) => [status, (body as { code?: string } | undefined)?.code]

/** Two tenants that may use the same directory, and one that shares the tenant of the first and nothing else. */
async function tenants() {
  const [shared, apart] = [folder('shared'), folder('apart')]
  writeTokens(
    { token: 'token-a', tenantId: 'a', directoryPrefixes: [shared] },
    { token: 'token-b', tenantId: 'b', directoryPrefixes: [shared, apart] },
    { token: 'token-c', tenantId: 'a', directoryPrefixes: [apart] },
  )
  const server = await start()
  const [a, b, c] = [as(server, 'token-a', shared), as(server, 'token-b', shared), as(server, 'token-c', apart)]
  const mine = (await a('POST', '/v2/sessions', { title: 'of a' })).body as Session
  const theirs = (await b('POST', '/v2/sessions', { title: 'of b' })).body as Session
  return { server, shared, apart, a, b, c, mine, theirs }
}

test('every operation of a session answers 403 in one text to others, 404 to nobody, and to its owner neither', async () => {
  const { server, shared, a, b, c, mine } = await tenants()
  const operator = as(server, OPERATOR, shared)
  const texts = new Set<string>()
  const ofSessions = API.filter(({ id, access }) => access.class === 'session' && OPEN_TO_HOSTED.has(id))
  expect(ofSessions.length).toBeGreaterThan(25)
  const pathOf = (path: string, id: string) =>
    path
      .replace('{session_id}', id)
      .replaceAll(/\{\w+\}/g, 'x_1')
      .concat(path.endsWith('/directory-options') ? '?q=x' : '')
  for (const { id, method, path } of ofSessions) {
    const body = method === 'POST' || method === 'PATCH' || method === 'PUT' ? {} : undefined
    for (const other of [b, c, operator]) {
      const answer = await other(method, pathOf(path, mine.id), body)
      expect([id, ...codeOf(answer)]).toEqual([id, 403, 'auth.session_forbidden'])
      texts.add((answer.body as { message: string }).message)
      expect(answer.text).not.toContain('of a')
    }
    for (const anybody of [a, b]) expect([id, (await anybody(method, pathOf(path, 'ses_absent'), body)).status]).toEqual([id, 404])
  }
  expect([...texts]).toEqual(['The session belongs to somebody else.'])
  for (const { id, method, path } of ofSessions.filter((each) => each.method === 'GET'))
    expect([id, (await a(method, pathOf(path, mine.id))).status]).not.toEqual([id, 403])
  for (const { id, method, path } of API.filter((each) => EXECUTING.has(each.id))) {
    expect([id, ...codeOf(await a(method, pathOf(path, mine.id), { prompt: 'x' }))]).toEqual([id, 501, 'feature.not_implemented'])
  }
  expect((await a('GET', `/v2/sessions/${mine.id}`)).body).toMatchObject({ title: 'of a', svcTenantId: 'a' })
  expect((await a('PATCH', `/v2/sessions/${mine.id}`, { title: 'still of a' })).status).toBe(200)
})

test('lists, counts, searches, streams and the audit hold what is of the caller, and nothing else', async () => {
  const { server, shared, apart, a, b, c, mine, theirs } = await tenants()
  const operator = as(server, OPERATOR, shared)
  const local = (await operator('POST', '/v2/sessions', { title: 'of the operator' })).body as Session
  const upload = async (token: string, directory: string) =>
    (
      (
        await server.call('POST', '/v2/artifacts', 'bytes', {
          authorization: `Bearer ${token}`,
          'content-type': 'text/plain',
          'x-svc-directory': directory,
        })
      ).body as { id: string }
    ).id
  const [ofA, ofB] = [await upload('token-a', shared), await upload('token-b', shared)]
  const ids = async (ask: typeof a, path: string) => JSON.stringify((await ask('GET', path)).body)
  for (const path of [
    '/v2/sessions',
    '/v2/sessions?archived=true&search=of',
    '/v2/sessions/status',
    '/v2/execution-activity',
    '/v2/interactions/permissions',
    '/v2/artifacts',
    '/v2/audit',
    `/v2/plugins/dev.svc.semantic/search?q=of`,
  ]) {
    for (const [ask, foreign] of [
      [a, [theirs.id, local.id, ofB]],
      [b, [mine.id, local.id, ofA]],
      [c, [mine.id, theirs.id, local.id, ofB]],
      [operator, [mine.id, theirs.id, ofA, ofB]],
    ] as const) {
      const told = await ids(ask, path)
      for (const id of foreign) expect([path, told.includes(id)]).toEqual([path, false])
    }
  }
  expect(await ids(a, '/v2/sessions')).toContain(mine.id)
  expect(await ids(b, '/v2/sessions')).toContain(theirs.id)
  expect(await ids(c, '/v2/sessions')).not.toContain(mine.id)
  expect(await ids(operator, '/v2/sessions')).toContain(local.id)
  expect(await ids(a, '/v2/artifacts')).toContain(ofA)
  expect((await operator('GET', '/v2/audit')).text).not.toMatch(/"tenantId":"[abc]"/)
  expect(JSON.parse((await a('GET', '/v2/audit')).text)).toEqual(
    expect.arrayContaining([expect.objectContaining({ tenantId: 'a', path: '/v2/sessions' })]),
  )
  for (const [method, path] of [
    ['GET', ''],
    ['GET', '/content'],
    ['DELETE', ''],
  ] as const) {
    expect([path, ...codeOf(await b(method, `/v2/artifacts/${ofA}${path}`))]).toEqual([path, 403, 'request.forbidden'])
    expect([path, (await b(method, `/v2/artifacts/art_absent${path}`)).status]).toEqual([path, 404])
  }
  expect((await a('GET', `/v2/artifacts/${ofA}/content`)).text).toBe('bytes')

  const identity = (token: string) => ({ authorization: `Bearer ${token}`, 'x-svc-directory': shared })
  const catalogs = await Promise.all(
    ['token-a', 'token-b'].map((token) => openStream(server.url, {}, identity(token), '/v2/session-catalog/events')),
  )
  const stream = await openStream(server.url, { sessionId: mine.id, since: 0 }, identity('token-a'))
  await a('PATCH', `/v2/sessions/${mine.id}`, { title: 'renamed by a' })
  await b('PATCH', `/v2/sessions/${theirs.id}`, { title: 'renamed by b' })
  await catalogs[0]?.waitFor((event) => JSON.stringify(event).includes('renamed by a'))
  await catalogs[1]?.waitFor((event) => JSON.stringify(event).includes('renamed by b'))
  await stream.waitFor((event) => JSON.stringify(event).includes('renamed by a'))
  expect(JSON.stringify(catalogs[0]?.events)).not.toContain(theirs.id)
  expect(JSON.stringify(catalogs[1]?.events)).not.toContain(mine.id)
  expect(JSON.stringify(stream.events)).not.toContain(theirs.id)
  for (const each of [...catalogs, stream]) each.close()

  for (const ask of [a, b, c]) {
    expect(codeOf(await ask('POST', '/v2/sessions', { parentId: local.id }))).toEqual([403, 'auth.session_forbidden'])
    expect((await ask('POST', '/v2/sessions/export', { workspaceRoot: scene.place.repo })).status).toBe(403)
  }
  expect(codeOf(await as(server, 'token-a', apart)('POST', '/v2/sessions', {}))).toEqual([403, 'auth.directory_forbidden'])
})

test('a directory that becomes a link to elsewhere after it was allowed leads nowhere', async () => {
  const { server, shared, a, mine } = await tenants()
  const below = folder('shared/below')
  const inside = as(server, 'token-a', below)
  expect((await inside('GET', '/v2/agents')).status).toBe(200)
  renameSync(below, at('moved'))
  symlinkSync(scene.place.repo, at('shared/below'))
  expect(codeOf(await inside('GET', '/v2/agents'))).toEqual([403, 'auth.directory_forbidden'])
  expect(codeOf(await inside('POST', '/v2/sessions', {}))).toEqual([403, 'auth.directory_forbidden'])
  expect(codeOf(await a('PATCH', `/v2/sessions/${mine.id}`, { directory: at('shared/below') }))[0]).not.toBe(200)
  renameSync(shared, at('shared-before'))
  symlinkSync(scene.place.repo, at('shared'))
  expect(codeOf(await a('GET', '/v2/agents'))).toEqual([403, 'auth.directory_forbidden'])
})

test('a link that is swapped ten thousand times under a prefix never leads outside', async () => {
  const { server, shared } = await tenants()
  const outside = folder('outside')
  mkdirSync(join(outside, '.svc/agents'), { recursive: true })
  writeFileSync(join(outside, '.svc/agents/spy.md'), '---\ndescription: of others\nmode: primary\n---\nSpy.\n')
  const name = join(shared, 'swapped')
  const inside = as(server, 'token-a', name)
  let isOver = false
  const swaps = (async () => {
    for (let turn = 0; turn < 10_000; turn++) {
      symlinkSync(outside, name)
      if (turn % 20 === 10) await new Promise(setImmediate)
      unlinkSync(name)
      mkdirSync(name)
      if (turn % 20 === 0) await new Promise(setImmediate)
      rmdirSync(name)
    }
    symlinkSync(outside, name)
    isOver = true
  })()
  const statuses = new Set<number>()
  const made: string[] = []
  const ask = async () => {
    for (let at = 0; !isOver; at++) {
      const { status, text } = await inside('GET', '/v2/agents')
      statuses.add(status)
      expect([status, text.includes('spy'), text.includes(outside)]).toEqual([status, false, false])
      if (at % 10 !== 0) continue
      const { body } = await inside('POST', '/v2/sessions', {})
      made.push((body as Partial<Session>).directory ?? name)
    }
  }
  await Promise.all([swaps, ...Array.from({ length: 4 }, ask)])
  expect([...statuses].filter((status) => ![200, 400, 403, 404].includes(status))).toEqual([])
  expect([...new Set(made)]).toEqual([name])
  expect(codeOf(await inside('GET', '/v2/agents'))).toEqual([403, 'auth.directory_forbidden'])
  const operator = as(server, OPERATOR, name)
  expect((await operator('GET', '/v2/agents')).text).toContain('spy')
  expect((await as(server, 'token-a', shared)('GET', '/v2/sessions')).text).not.toContain(outside)
})

test('a token that is taken out of the file ends its streams within seconds, and those of others go on; a file that is broken changes nothing', async () => {
  const { server, shared, mine, theirs } = await tenants()
  const open = (token: string, session: Session) =>
    openStream(server.url, { sessionId: session.id, tail: true }, { authorization: `Bearer ${token}`, 'x-svc-directory': shared })
  const [ofA, ofB] = [await open('token-a', mine), await open('token-b', theirs)]
  const resolver = async () => (await server.get<{ tenantResolver: string }>('/v2/health')).tenantResolver
  expect(await resolver()).toBe('token-file')
  writeFileSync(file, '{"tokens": [\n', { mode: 0o600 })
  while ((await resolver()) !== 'token-file-outdated');
  expect((await as(server, 'token-a', shared)('GET', `/v2/sessions/${mine.id}`)).status).toBe(200)
  writeTokens({ token: 'token-b', tenantId: 'b', directoryPrefixes: [shared, at('apart')] })
  await ofA.ended
  expect(codeOf(await as(server, 'token-a', shared)('GET', `/v2/sessions/${mine.id}`))).toEqual([401, 'auth.invalid_token'])
  expect(await resolver()).toBe('token-file')
  await as(server, 'token-b', shared)('PATCH', `/v2/sessions/${theirs.id}`, { title: 'goes on' })
  await ofB.waitFor((event) => JSON.stringify(event).includes('goes on'))
  expect(server.stderr()).toContain('the token file cannot be used')
  ofB.close()
})

test('a credential of the daemon opens what it says until it ends, and its streams end with it', async () => {
  const shared = folder('shared')
  writeTokens()
  const server = await start()
  const claims = claimsAt(Date.now(), { directoryPrefixes: [shared] })
  const ask = as(server, sign(claims), shared)
  const session = (await ask('POST', '/v2/sessions', { title: 'signed' })).body as Session
  expect(session).toMatchObject({ svcTenantId: 'acme' })
  const short = sign({ ...claims, expiresAt: Math.floor(Date.now() / 1000) + 3 })
  const stream = await openStream(server.url, { sessionId: session.id, tail: true }, { authorization: `Bearer ${short}` })
  await stream.ended
  expect(codeOf(await as(server, short, shared)('GET', `/v2/sessions/${session.id}`))).toEqual([401, 'auth.invalid_token'])
  expect((await ask('GET', `/v2/sessions/${session.id}`)).status).toBe(200)
  expect(codeOf(await as(server, sign(claims, 'another'), shared)('GET', '/v2/sessions'))).toEqual([401, 'auth.invalid_token'])
})

test('a credential of one workspace sees what is of that workspace, and puts there what it makes', async () => {
  const shared = folder('shared')
  writeTokens()
  const server = await start()
  const of = (workspaceId: string | null) => as(server, sign(claimsAt(Date.now(), { directoryPrefixes: [shared], workspaceId })), shared)
  const [one, two, all] = [of('ws1'), of('ws2'), of(null)]
  const mine = (await one('POST', '/v2/sessions', { title: 'of one' })).body as Session
  expect(mine).toMatchObject({ workspaceId: 'ws1', svcTenantId: 'acme' })
  const none = (await all('POST', '/v2/sessions', { title: 'of none' })).body as Session
  expect(codeOf(await one('POST', '/v2/sessions', { workspaceId: 'ws2' }))).toEqual([403, 'request.forbidden'])
  for (const session of [mine, none]) {
    expect(codeOf(await two('GET', `/v2/sessions/${session.id}`))).toEqual([403, 'auth.session_forbidden'])
    expect(codeOf(await two('POST', '/v2/sessions', { parentId: session.id }))).toEqual([403, 'auth.session_forbidden'])
    expect((await all('GET', `/v2/sessions/${session.id}`)).status).toBe(200)
  }
  for (const path of ['/v2/sessions', '/v2/sessions?search=of', '/v2/execution-activity']) {
    const told = (await two('GET', path)).text
    expect([path, [mine, none].filter(({ id }) => told.includes(id))]).toEqual([path, []])
  }
  expect((await one('GET', '/v2/sessions')).text).toContain(mine.id)
  expect((await one('GET', '/v2/sessions')).text).not.toContain(none.id)
  const child = (await one('POST', '/v2/sessions', { parentId: mine.id })).body as Session
  expect(child).toMatchObject({ workspaceId: 'ws1' })
  expect((await one('POST', `/v2/sessions/${mine.id}/fork`, {})).body).toMatchObject({ workspaceId: 'ws1' })
})

test.each([
  [
    '{"tokens":[\n{"token":"secret-token-1","tenantId":"a","maxSessions":-2}]}',
    /tokens\.json: line 2: tokens\[0\]\.maxSessions has to be a whole number, 0 or more/,
  ],
  ['{"tokens":[{"token":"secret-token-1"}]}', /line 1: tokens\[0\]\.tenantId has to be of type string/],
  ['not json', /line 1: is not JSON/],
])('a token file that cannot be taken word for word stops the start, with file, line and reason: %s', async (text, reason) => {
  writeFileSync(file, text, { mode: 0o600 })
  const error = await start().catch((cause: unknown) => String(cause))
  expect(error).toMatch(reason)
  expect(error).not.toContain('secret-token-1')
})
