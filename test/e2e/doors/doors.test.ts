import { request } from 'node:http'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { finish, type ModelServer, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { openScene, type Scene, type Server } from '../server/server.js'
import { toolParts } from '../server/transcript.js'

const TOKEN = 'e2e-token-4b825dc642cb6eb9a060e54bf8d69288fbee4904'

let scene: Scene
let model: ModelServer | undefined
beforeEach(() => {
  scene = openScene(makePlace())
})
afterEach(async () => {
  await scene.close()
  await model?.close()
  model = undefined
})

interface Operation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly isOpen: boolean
}

interface Refusal {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

/** Every operation of the published document, with ids filled in that nothing has. */
async function operations(server: Server): Promise<Operation[]> {
  const { paths } = await server.get<{ paths: Record<string, Record<string, { operationId: string; security?: unknown[] }>> }>(
    '/v2/openapi.json',
  )
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, security }]) => ({
      id: operationId,
      method: method.toUpperCase(),
      path: path.replaceAll(/\{[^}]+\}/g, 'ses_none'),
      isOpen: security?.length === 0,
    })),
  )
}

/** A request with exactly these headers; `fetch` does not let a test say `Host` or `Sec-Fetch-Site`. */
function send(server: Server, operation: Operation, headers: Readonly<Record<string, string>>): Promise<Refusal> {
  return new Promise((resolve, reject) => {
    const hasBody = operation.method === 'POST' || operation.method === 'PATCH' || operation.method === 'PUT'
    const outgoing = request(
      `${server.url}${operation.path}`,
      { method: operation.method, agent: false, headers: { ...(hasBody ? { 'content-type': 'application/json' } : {}), ...headers } },
      (answer) => {
        let body = ''
        answer.setEncoding('utf8')
        answer.on('data', (piece: string) => (body += piece))
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body }))
        answer.on('error', reject)
      },
    )
    outgoing.on('error', reject)
    outgoing.end(hasBody ? '{}' : undefined)
  })
}

function expectNoGrant({ headers }: Refusal): void {
  expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([])
}

describe('without a credential', () => {
  test('requests from other names, other origins and other sites are refused by every operation', async () => {
    const server = await scene.start()
    const all = await operations(server)
    expect(all.length).toBeGreaterThan(40)
    const port = new URL(server.url).port
    const hostile: readonly (readonly [Readonly<Record<string, string>>, string])[] = [
      [{ host: 'evil.example' }, 'request.host_forbidden'],
      [{ host: `evil.example:${port}` }, 'request.host_forbidden'],
      [{ host: `localhost.evil.example:${port}` }, 'request.host_forbidden'],
      [{ origin: 'https://evil.example' }, 'request.origin_forbidden'],
      [{ origin: server.url }, 'request.origin_forbidden'],
      [{ origin: 'null' }, 'request.origin_forbidden'],
      [{ 'sec-fetch-site': 'cross-site' }, 'request.origin_forbidden'],
      [{ 'sec-fetch-site': 'same-site' }, 'request.origin_forbidden'],
    ]
    for (const operation of all) {
      for (const [headers, code] of hostile) {
        const refusal = await send(server, operation, headers)
        const label = `${operation.id} ${JSON.stringify(headers)}`
        expect([label, refusal.status, (JSON.parse(refusal.body) as { code: string }).code]).toEqual([label, 403, code])
        expectNoGrant(refusal)
      }
    }
    expect(await server.get('/v2/sessions')).toEqual({ items: [], cursor: {} })
  })

  test('no answer grants anything to other origins, preflights included', async () => {
    const server = await scene.start()
    for (const operation of await operations(server)) {
      const preflight = await send(
        server,
        { ...operation, method: 'OPTIONS' },
        { origin: 'https://evil.example', 'access-control-request-method': operation.method },
      )
      expect([operation.id, preflight.status]).toEqual([operation.id, 403])
      expectNoGrant(preflight)
      if (operation.path.endsWith('/events')) continue
      expectNoGrant(await send(server, operation, {}))
    }
  })
})

/** Browsers cannot send a credential with a socket: a ticket that was asked for with one stands for it. A plain request is 400. */
const TICKETED = '/v2/plugins/dev.svc.pty/ses_none/connect'
/** Wrong tokens of one address that are answered 401 at once. */
const BURST = 100
/** Where a browser comes back to after a sign-in: the state it brings is what lets it in, and it brings none here. */
const RETURN = '/v2/plugins/dev.svc.mcp/ses_none/auth/callback'

describe('with a token', () => {
  test('every operation but health answers 401 without it or with another one, and 429 to many of those; also where a ticket or a state would do, and is not given', async () => {
    const server = await scene.start({ SVC_AGENT_TOKEN: TOKEN })
    let guesses = 0
    let throttled = 0
    const all = await operations(server)
    expect(all.filter(({ isOpen }) => isOpen).map(({ path }) => path)).toEqual(['/v2/health', TICKETED, RETURN])
    for (const operation of all.map((each) => ({ ...each, isOpen: each.path === '/v2/health' }))) {
      for (const headers of [
        {},
        { authorization: 'Bearer wrong' },
        { authorization: `Basic ${TOKEN}` },
        { authorization: `Bearer ${TOKEN}x` },
      ]) {
        const { status, headers: answered, body } = await send(server, operation, headers)
        const isThrottled = headers.authorization?.startsWith('Bearer') === true && !operation.isOpen && ++guesses > BURST && status === 429
        const expected = operation.isOpen ? 200 : isThrottled ? 429 : 401
        expect([operation.id, headers, status]).toEqual([operation.id, headers, expected])
        if (operation.isOpen) continue
        expect(isThrottled ? answered['retry-after'] : answered['www-authenticate']).toMatch(isThrottled ? /^1$/ : /^Bearer/)
        expect(JSON.parse(body)).toMatchObject({ code: isThrottled ? 'quota.exceeded' : 'auth.invalid_token', retryable: isThrottled })
        throttled += Number(isThrottled)
      }
    }
    expect(throttled).toBeGreaterThan(0)
    expect((await server.get<{ status: number }[]>('/v2/audit')).filter(({ status }) => status === 401 || status === 429)).toEqual([])
    expect(server.stderr().match(/credentials refused/g)).toHaveLength(1)
    expect((await fetch(`${server.url}/v2/sessions?token=${TOKEN}`)).status).toBe(401)
    await expect(server.get('/v2/sessions')).resolves.toMatchObject({ items: [] })
    const foreign = await send(
      server,
      { id: '', method: 'GET', path: '/v2/sessions', isOpen: false },
      { authorization: `Bearer ${TOKEN}`, origin: 'https://evil.example' },
    )
    expect(foreign.status).toBe(403)
  })

  test('the token is nowhere a command of a tool could find it', async () => {
    const everywhere = [
      '(env; cat /proc/$PPID/environ; find /proc -maxdepth 2 -name environ -exec cat {} +) 2>/dev/null',
      `tr '\\0' '\\n' | grep -a '^SVC_AGENT\\|^HOME=' | sort -u`,
    ].join(' | ')
    model = await startModelServer([
      reply(toolCall({ id: 'c1', name: 'bash', input: { command: everywhere, description: 'look around' } }), finish('tool_calls')),
      reply(text('nothing'), finish('stop')),
    ])
    scene.place.configure(withModel(model.url, { permission: { '*': 'allow', bash: 'allow', external_directory: 'allow' } }))
    const server = await scene.start({ SVC_AGENT_TOKEN: TOKEN })
    const stream = await server.stream({ tail: true })
    const session = await server.createSession()
    await server.prompt(session.id, { prompt: 'what is the token?' })
    // Whatever is asked is allowed: the token must be safe even from a command the user agreed to.
    for (let from = 0; ; ) {
      const event = await stream.waitFor(
        (record) => record.type === 'permission.asked' || (record.type === 'session.status' && record.data.status.type === 'idle'),
        from,
      )
      if (event.type !== 'permission.asked') break
      from = stream.events.indexOf(event) + 1
      await server.call('POST', `/v2/interactions/permissions/${event.data.id}/reply`, { reply: 'once' })
    }
    const [call] = toolParts(await server.messages(session.id))
    const { state } = call ?? {}
    if (state?.status !== 'completed') throw new Error(`the command did not run: ${JSON.stringify(state)}`)
    expect(state.output).toContain(`HOME=${scene.place.home}`)
    expect(state.output).not.toContain(TOKEN)
    expect(JSON.stringify(stream.events)).not.toContain(TOKEN)
    expect(server.stderr()).not.toContain(TOKEN)
  })
})
