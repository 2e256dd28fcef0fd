// Holds subsystems d.1, d.5, d.6; threat-model T2, T3, T4, T5, T7: every operation of the contract for every kind of credential.
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { openSigned } from '../../src/actors/tenancy/signed/signed.js'
import { createTokenIndex } from '../../src/actors/tenancy/tenants/token-index.js'
import { EXECUTING, OPEN_TO_HOSTED } from '../../src/http/admission/hosted.js'
import { createTokens } from '../../src/http/admission/tokens.js'
import type { CredentialSource } from '../../src/ports/credentials.js'
import { API } from '../../src/protocol/api.js'
import type { RouteContract } from '../../src/protocol/route.js'
import type { ExecutionPolicy } from '../../src/protocol/session/execution-policy.js'
import { createFakeClock } from '../../src/simulation/clock.js'
import { createFakeEffects } from '../fakes/effects.js'
import { createFakeRuntime, FOREIGN_SESSION_ID, SESSION_ID } from '../fakes/runtime.js'
import { claimsAt, DAEMON_KEY, sign } from '../fakes/signed.js'
import { createTestServer, isForOperator, requestOf, TOKEN } from './setup.js'

const effects = createFakeEffects()
const clock = createFakeClock()
const index = createTokenIndex([
  { token: 'of-acme', tenantId: 'acme', directoryPrefixes: ['/srv'] },
  { token: 'of-other', tenantId: 'other', directoryPrefixes: ['/srv'] },
  { token: 'of-nowhere', tenantId: 'acme', directoryPrefixes: [] },
  { token: 'of-spent', tenantId: 'spent', directoryPrefixes: ['/srv'], requestsPerMinute: 0 },
  { token: 'of-busy', tenantId: 'busy', directoryPrefixes: ['/srv'], maxInFlight: 0 },
])
const file: CredentialSource = {
  callerOf: index.callerOf,
  stands: (caller) => (caller.until === undefined ? index.has(caller) : undefined),
}
const signed = await openSigned({ effects: { ...effects, clock }, fixed: DAEMON_KEY, file: '/none', isShared: false })

/** A session of `acme` is the caller's own, one of `somebody` a foreign one; nobody has a third. */
const base = createFakeRuntime()
let isHosted = true
const runtime = {
  ...base,
  system: { ...base.system, hostedExecution: async () => policy },
  sessions: {
    ...base.sessions,
    owner(id: string) {
      if (id === SESSION_ID) return { tenantId: 'acme', directory: '/srv/space', workspaceId: 'ws1', isHosted }
      return id === FOREIGN_SESSION_ID ? { tenantId: 'somebody', directory: '/srv/space' } : undefined
    },
  },
}
const server = createTestServer({ runtime, clock, tokens: createTokens({ SVC_AGENT_TOKEN: TOKEN }, { file, signed }) })
afterAll(() => server.close(0))

const now = clock.now()
const CREDENTIALS = {
  none: undefined,
  wrong: 'no-such-token',
  acme: 'of-acme',
  other: 'of-other',
  nowhere: 'of-nowhere',
  signed: sign(claimsAt(now)),
  hostedSigned: sign(claimsAt(now, { hosted: true, tenantId: 'other' })),
  ofWorkspace: sign(claimsAt(now, { workspaceId: 'ws1' })),
  ofOtherWorkspace: sign(claimsAt(now, { workspaceId: 'ws2' })),
  hostedOfWorkspace: sign(claimsAt(now, { workspaceId: 'ws1', hosted: true })),
  hostedOfOtherWorkspace: sign(claimsAt(now, { workspaceId: 'ws2', hosted: true })),
  forged: sign(claimsAt(now), 'another-key'),
  expired: sign(claimsAt(now - 200_000)),
  early: sign(claimsAt(now + 60_000)),
} as const
type Kind = keyof typeof CREDENTIALS
const NOBODY: readonly Kind[] = ['none', 'wrong', 'forged', 'expired', 'early']

/** What the door of an operation may be asked with; streams are left open, and sockets need a connection. */
const ASKED = API.filter(({ success }) => success.mediaType !== 'text/event-stream' && success.status !== 101)
const isOpen = ({ access }: RouteContract) => access.class === 'open'
const namesSession = ({ access }: RouteContract) => access.class === 'session' || access.class === 'interaction'

type Which = 'own' | 'foreign' | 'absent'

let asked = 0
const hasDirectory = ({ id, headers }: RouteContract) =>
  id === 'v2.sessions.export' || (headers instanceof z.ZodObject && 'x-svc-directory' in headers.shape)

async function ask(contract: RouteContract, credential: string | undefined, which: Which = 'own', directory = '/srv/space') {
  const { headers, url, ...request } = requestOf(contract, which === 'foreign')
  const { authorization: _, ...others } = headers as Readonly<Record<string, string>>
  const address = asked++ // each from another one: who guesses much is answered otherwise
  const answer = await server.inject({
    ...request,
    ...(contract.id === 'v2.sessions.export' && { payload: JSON.stringify({ workspaceRoot: directory }) }),
    remoteAddress: `10.${address >> 16}.${(address >> 8) & 255}.${address & 255}`,
    url: which === 'absent' ? url.replace(SESSION_ID, 'ses_absent').replace('per_mine', 'per_absent') : url,
    headers: {
      ...others,
      'x-svc-directory': directory,
      ...(credential !== undefined && { authorization: `Bearer ${credential}` }),
    },
  })
  const body = answer.headers['content-type']?.toString().startsWith('application/json') === true ? answer.json<Refusal>() : undefined
  return { status: answer.statusCode, code: body?.code, message: body?.message, text: answer.body }
}
interface Refusal {
  readonly code?: string
  readonly message?: string
}

const codeIn = (answer: { json<T>(): T }): string | undefined => answer.json<Refusal>().code

test('what is listed for hosted callers is in the contract, and nothing of it is for the operator', () => {
  const byId = new Map<string, RouteContract>(API.map((contract) => [contract.id, contract]))
  for (const id of [...OPEN_TO_HOSTED, ...EXECUTING]) expect([id, byId.has(id)]).toEqual([id, true])
  for (const id of [...OPEN_TO_HOSTED, ...EXECUTING]) {
    const access = byId.get(id)?.access
    expect([id, access?.class]).not.toEqual([id, 'operator'])
    expect([id, access?.class]).not.toEqual([id, 'local'])
    expect([id, OPEN_TO_HOSTED.has(id) !== EXECUTING.has(id)]).toEqual([id, true])
    expect(access).not.toMatchObject({ operator: true })
  }
})

test.each(NOBODY)('%s: every operation but the open ones is 401, with one text', async (kind) => {
  const texts = new Set<string>()
  for (const contract of ASKED.filter((each) => !isOpen(each))) {
    for (const which of ['own', 'foreign', 'absent'] as const) {
      const { status, code, message } = await ask(contract, CREDENTIALS[kind], which)
      expect([contract.id, which, status, code]).toEqual([contract.id, which, 401, 'auth.invalid_token'])
      texts.add(message ?? '')
    }
  }
  expect([...texts]).toEqual(['A valid bearer token is required.'])
})

/** What an operation answers, in words. */
async function judged(...asking: Parameters<typeof ask>): Promise<string> {
  return inWords(await ask(...asking))
}
const inWords = ({ status, code }: Awaited<ReturnType<typeof ask>>): string => (status < 300 ? 'let in' : `${status} ${code}`)

const OF_OTHERS = '403 auth.session_forbidden'

test('the operator is let in by every operation (the positive control), and finds sessions of tenants forbidden', async () => {
  for (const contract of ASKED.filter((each) => !isOpen(each))) {
    expect([contract.id, await judged(contract, TOKEN)]).toEqual([contract.id, namesSession(contract) ? OF_OTHERS : 'let in'])
  }
})

let policy: ExecutionPolicy = 'disabled'

/** What a hosted caller is answered. */
function expectedOf(contract: RouteContract, which: Which, { owns, hasNoDirectory }: { owns: boolean; hasNoDirectory: boolean }): string {
  if (EXECUTING.has(contract.id) && policy === 'disabled') return '501 feature.not_implemented'
  if (!OPEN_TO_HOSTED.has(contract.id) && !EXECUTING.has(contract.id)) return '403 auth.hosted_route_forbidden'
  if (contract.access.class === 'session' && which === 'absent') return '404 resource.not_found'
  if (namesSession(contract) && which !== 'absent' && (which === 'foreign' || !owns)) return OF_OTHERS
  return hasNoDirectory && hasDirectory(contract) ? '403 auth.directory_forbidden' : 'let in'
}

describe.each(['acme', 'other', 'nowhere', 'hostedSigned', 'hostedOfWorkspace', 'hostedOfOtherWorkspace'] as const)(
  'the hosted caller %s',
  (kind) => {
    const owns = kind === 'acme' || kind === 'hostedOfWorkspace'
    test.each(['disabled', 'sandbox', 'native'] as const)(
      'is let in where it is listed, with what it owns, where execution is %s; the rest is refused, in the same words whatever it is called',
      async (now) => {
        onTestFinished(() => void (policy = 'disabled'))
        policy = now
        const texts = new Map<string, Set<string>>()
        for (const contract of ASKED.filter((each) => !isOpen(each))) {
          for (const which of ['own', 'foreign', 'absent'] as const) {
            const expected = expectedOf(contract, which, { owns, hasNoDirectory: kind === 'nowhere' })
            const answer = await ask(contract, CREDENTIALS[kind], which)
            expect([contract.id, which, inWords(answer)]).toEqual([contract.id, which, expected])
            if (answer.code === undefined || which === 'absent') continue
            texts.set(answer.code, (texts.get(answer.code) ?? new Set()).add(answer.message ?? ''))
            expect(answer.text).not.toContain('A session')
          }
        }
        expect(Object.fromEntries([...texts].map(([code, all]) => [code, [...all]]))).toMatchObject({
          'auth.session_forbidden': ['The session belongs to somebody else.'],
          'auth.hosted_route_forbidden': ['This operation is not for hosted callers.'],
          ...(now === 'disabled' && { 'feature.not_implemented': ['Execution is off for hosted callers on this server.'] }),
        })
      },
    )

    test('is let into no directory of others, and has to name its own', async () => {
      for (const contract of API.filter(({ id, access }) => OPEN_TO_HOSTED.has(id) && access.class === 'directory')) {
        for (const directory of ['/elsewhere', '/srvice', '/']) {
          const answer = await judged(contract, CREDENTIALS[kind], 'own', directory)
          expect([contract.id, directory, answer]).toEqual([contract.id, directory, '403 auth.directory_forbidden'])
        }
        const { url, ...request } = requestOf(contract)
        const headers = { ...request.headers, authorization: `Bearer ${CREDENTIALS[kind]}` }
        expect([contract.id, codeIn(await server.inject({ ...request, url, headers }))]).toEqual([
          contract.id,
          'auth.directory_scope_required',
        ])
      }
      const headers = { authorization: `Bearer ${CREDENTIALS[kind]}` }
      expect(codeIn(await server.inject({ url: '/v2/capabilities?scope=installation', headers }))).toBe('auth.hosted_route_forbidden')
    })

    test('listens to events of a session it names, and only of its own', async () => {
      const headers = { authorization: `Bearer ${CREDENTIALS[kind]}` }
      const code = async (url: string) => codeIn(await server.inject({ url, headers }))
      expect(await code('/v2/events')).toBe('auth.session_scope_required')
      expect(await code(`/v2/events?sessionId=${FOREIGN_SESSION_ID}`)).toBe('auth.session_forbidden')
    })

    test('calls no route that a plugin contributes', async () => {
      const headers = { authorization: `Bearer ${CREDENTIALS[kind]}`, 'x-svc-directory': '/srv/space' }
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const) {
        const answer = await server.inject({ method, url: '/v2/plugins/dev.example.notes/list', headers })
        expect([answer.statusCode, codeIn(answer)]).toEqual([403, 'auth.hosted_route_forbidden'])
      }
    })

    test('is told whether agents work for it, and which capabilities are not for it', async () => {
      const headers = { authorization: `Bearer ${CREDENTIALS[kind]}` }
      expect((await server.inject({ url: '/v2/runtime', headers })).json()).toMatchObject({ executionAvailable: false })
      policy = 'sandbox'
      expect((await server.inject({ url: '/v2/runtime', headers })).json()).toMatchObject({ executionAvailable: true })
      policy = 'disabled'
      const all = await server.inject({ url: '/v2/capabilities?directory=/srv/space', headers })
      const off = all.statusCode === 200 ? all.json<{ enabled: boolean; reason?: string }[]>().filter(({ enabled }) => !enabled) : []
      expect(off.map(({ reason }) => reason)).toEqual(off.map(() => 'not for hosted callers'))
    })
  },
)

test('a hosted caller reads what somebody of its tenant made who is not hosted, and changes nothing of it', async () => {
  policy = 'native'
  onTestFinished(() => {
    policy = 'disabled'
    isHosted = true
  })
  isHosted = false
  for (const contract of ASKED.filter((each) => namesSession(each) && (OPEN_TO_HOSTED.has(each.id) || EXECUTING.has(each.id)))) {
    const expected = contract.method === 'GET' ? 'let in' : OF_OTHERS
    expect([contract.id, await judged(contract, CREDENTIALS.acme)]).toEqual([contract.id, expected])
    expect([contract.id, await judged(contract, CREDENTIALS.signed)]).toEqual([contract.id, 'let in'])
  }
})

test.each(['of-spent', 'of-busy'])(
  '%s, whose quota is used up, is told so by every operation, in one text, whatever object it names',
  async (credential) => {
    const texts = new Set<string>()
    for (const contract of ASKED.filter((each) => !isOpen(each))) {
      for (const which of ['own', 'foreign', 'absent'] as const) {
        const { status, code, message } = await ask(contract, credential, which)
        expect([contract.id, which, status, code]).toEqual([contract.id, which, 429, 'quota.exceeded'])
        texts.add(message ?? '')
      }
    }
    expect(texts.size).toBe(1)
    const isAsked = ({ access }: RouteContract) => access.class === 'open' && access.credential !== undefined
    for (const contract of ASKED.filter((each) => isOpen(each) && !isAsked(each)))
      expect([contract.id, (await ask(contract, credential)).status]).not.toEqual([contract.id, 429])
  },
)

test.each([
  ['signed', true],
  ['ofWorkspace', true],
  ['ofOtherWorkspace', false],
] as const)(
  '%s, a caller of the daemon that is not hosted, is let in by everything but what is for the operator, with what it owns',
  async (kind, owns) => {
    const expected = (contract: RouteContract): string => {
      const { access } = contract
      if (isForOperator(contract) || (access.class === 'directory' && access.local === true)) return '403 request.forbidden'
      if (namesSession(contract) && !owns) return OF_OTHERS
      return access.class === 'local' ? '501 feature.not_implemented' : 'let in'
    }
    for (const contract of ASKED.filter((each) => !isOpen(each)))
      expect([contract.id, await judged(contract, CREDENTIALS[kind])]).toEqual([contract.id, expected(contract)])
    for (const contract of ASKED.filter(namesSession))
      expect([contract.id, await judged(contract, CREDENTIALS[kind], 'foreign')]).toEqual([contract.id, OF_OTHERS])
  },
)

test('five thousand credentials that were changed get 401 or 403, and nothing else', async () => {
  const good = [TOKEN, CREDENTIALS.acme, CREDENTIALS.signed, CREDENTIALS.hostedSigned]
  const random = effects.random
  const pick = (below: number) => (random.bytes(4).reduce((sum, byte) => sum * 256 + byte, 0) >>> 0) % below
  const CHARACTERS = 'ABCyz019-_.=+/~ '
  const mutate = (text: string): string => {
    const at = pick(text.length)
    const character = CHARACTERS[pick(CHARACTERS.length)] ?? ''
    switch (pick(6)) {
      case 0:
        return text.slice(0, at) + text.slice(at + 1)
      case 1:
        return text.slice(0, at) + character + text.slice(at + 1)
      case 2:
        return text.slice(0, at) + character + text.slice(at)
      case 3:
        return text.slice(0, at)
      case 4:
        return text + text.slice(at)
      default:
        return text.slice(at) + text.slice(0, at)
    }
  }
  const statuses = new Map<number, number>()
  for (let index = 0; index < 5000; index++) {
    const original = good[index % good.length] ?? ''
    const changed = mutate(original)
    if (good.includes(changed.trim())) continue
    const { statusCode } = await server.inject({
      url: '/v2/sessions',
      remoteAddress: `192.${index >> 12}.${(index >> 6) & 63}.${index & 63}`,
      headers: { authorization: `Bearer ${changed}` },
    })
    statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1)
  }
  expect([...statuses.keys()].filter((status) => ![401, 403].includes(status))).toEqual([])
  expect(statuses.get(401)).toBeGreaterThan(4000)
  for (const credential of good)
    expect((await server.inject({ url: '/v2/sessions', headers: { authorization: `Bearer ${credential}` } })).statusCode).toBe(200)
})
