// Holds plugin-protocol §8.2.
import { describe, expect, test } from 'vitest'
import type { PluginCall } from '../../../src/ports/plugins.js'
import type { PluginSocket } from '../../../src/ports/contributions.js'
import { createPluginCalls } from '../../../src/actors/plugin/calls/plugin-calls.js'
import { validateRoute } from '../../../src/actors/plugin/registry/route-match.js'
import type { RegistryView, Stamp } from '../../../src/ports/view.js'
import type { Caller } from '../../../src/protocol/caller.js'
import { SvcError } from '../../../src/protocol/errors.js'
import type { RouteDescriptor } from '../../../src/protocol/plugin/plugin-frame.js'
import type { RouteRequest } from '../../../src/protocol/plugin/plugin-requests.js'

const PLUGIN = 'dev.example.notes'
const PREFIX = `/v2/plugins/${PLUGIN}`
const CALLER: Caller = { subject: 'ada', tenantId: 'local', authenticated: true, operator: true, directoryPrefixes: undefined }
const NARROW: Caller = { ...CALLER, directoryPrefixes: ['/srv/a'] }
const SESSIONS: Readonly<Record<string, { tenantId: string; directory: string }>> = {
  ses_a: { tenantId: 'local', directory: '/srv/a' },
  ses_b: { tenantId: 'local', directory: '/srv/b' },
  ses_foreign: { tenantId: 'other', directory: '/srv/a' },
}

interface Setup {
  readonly routes?: readonly Partial<RouteDescriptor>[]
  /** Directories where the plugin runs; everywhere when absent. */
  readonly runsIn?: readonly string[]
  readonly handle?: (request: RouteRequest, signal: AbortSignal) => Promise<unknown>
  readonly open?: () => Promise<PluginSocket>
  readonly use?: Stamp['use']
}

function setup({ routes = [{}], runsIn, handle, open, use = (work) => work() }: Setup = {}) {
  const asked: (readonly [string, string | undefined])[] = []
  const requests: RouteRequest[] = []
  const stamp: Stamp = { pluginId: PLUGIN, generation: 7, reach: { type: 'everywhere' }, use, open: true }
  const descriptors = routes.map((changes) =>
    validateRoute(PLUGIN, { id: 'notes', method: 'GET', path: '/notes', scope: 'workspace', ...changes }),
  )
  const view: Pick<RegistryView, 'routes' | 'sockets'> = {
    routes: descriptors.map((descriptor) => ({
      ...stamp,
      contribution: {
        descriptor,
        priority: 0,
        async handle(request, signal) {
          requests.push(request)
          const answer = handle === undefined ? { status: 200, headers: {}, body: 'ok' } : await handle(request, signal)
          return answer as { status: number; headers: Record<string, string>; body: unknown }
        },
      },
    })),
    sockets: descriptors.map((descriptor) => ({
      ...stamp,
      contribution: { descriptor, priority: 0, open: () => (open === undefined ? Promise.reject(new Error('no')) : open()) },
    })),
  }
  const empty = { routes: [], sockets: [] }
  const match = createPluginCalls({
    plugins: {
      async ready(directory, sessionId) {
        asked.push([directory, sessionId])
        // Only what is looked at is filled in.
        return (runsIn === undefined || runsIn.includes(directory) ? view : empty) as RegistryView
      },
    },
    session: (id) => SESSIONS[id],
    workingDirectory: '/srv/work',
  })
  return { asked, requests, match }
}

const call = (path: string, changes: Partial<PluginCall> = {}): Omit<PluginCall, 'body'> => ({
  pluginId: PLUGIN,
  method: 'GET',
  upgrade: false,
  path: `${PREFIX}${path}`,
  query: {},
  headers: {},
  directory: undefined,
  workspaceId: undefined,
  ...changes,
})
const signal = new AbortController().signal
const bySession = { path: '/sessions/:session_id/notes', scope: 'session' } as const

describe('the workspace of a call', () => {
  test('is the directory that was named', async () => {
    const { asked, match } = setup()
    expect(await match(CALLER, call('/notes', { directory: '/srv/a' }))).toMatchObject({
      kind: 'route',
      directory: '/srv/a',
      sessionId: undefined,
    })
    expect(asked).toEqual([['/srv/a', undefined]])
  })

  test('is that of the session in the path of a session route', async () => {
    const { asked, match } = setup({ routes: [bySession], runsIn: ['/srv/b'] })
    expect(await match(CALLER, call('/sessions/ses_b/notes'))).toMatchObject({ directory: '/srv/b', sessionId: 'ses_b' })
    expect(asked).toEqual([['/srv/b', 'ses_b']])
  })

  test('is the working directory when a segment names a session that the route does not ask for', async () => {
    const { asked, match } = setup({ routes: [{ path: '/log/:name' }] })
    expect(await match(CALLER, call('/log/ses_b'))).toMatchObject({ directory: '/srv/work', sessionId: undefined })
    expect(asked).toEqual([
      ['/srv/b', 'ses_b'],
      ['/srv/work', undefined],
    ])
  })

  test('is asked for no plugin unless the caller may use it', async () => {
    const { asked, match } = setup({ routes: [{}, bySession] })
    await expect(match(NARROW, call('/notes'))).rejects.toMatchObject({ code: 'auth.directory_forbidden' })
    await expect(match(NARROW, call('/notes', { directory: '/srv/ab' }))).rejects.toMatchObject({ code: 'auth.directory_forbidden' })
    await expect(match(NARROW, call('/sessions/ses_b/notes'))).rejects.toMatchObject({ code: 'auth.session_forbidden' })
    await expect(match(CALLER, call('/sessions/ses_foreign/notes'))).rejects.toMatchObject({ code: 'auth.session_forbidden' })
    expect(asked).toEqual([])
    expect(await match(NARROW, call('/sessions/ses_a/notes'))).toMatchObject({ directory: '/srv/a' })
  })
})

describe('a session route', () => {
  test.each([
    ['/sessions/ses_none/notes', undefined, 'plugin.session_not_found'],
    ['/sessions/ses_b/notes', '/srv/a', 'plugin.session_workspace_mismatch'],
    ['/sessions/ses_foreign/notes', '/srv/a', 'auth.session_forbidden'],
  ])('%s in %s is refused with %s', async (path, directory, code) => {
    const { match, requests } = setup({ routes: [bySession] })
    await expect(match(CALLER, call(path, { directory }))).rejects.toMatchObject({ code })
    expect(requests).toEqual([])
  })

  test('without a session in its path needs one', async () => {
    const calls = createPluginCalls({
      plugins: {
        ready: async () =>
          ({
            routes: [
              {
                pluginId: PLUGIN,
                generation: 1,
                reach: { type: 'session', directory: '/srv/work', sessionId: 'ses_a' },
                use: (work: () => Promise<unknown>) => work(),
                open: true,
                contribution: {
                  descriptor: validateRoute(PLUGIN, { id: 'n', method: 'GET', path: '/notes', scope: 'session' }, 'session'),
                  priority: 0,
                  handle: () => Promise.reject(new Error('never')),
                },
              },
            ],
            sockets: [],
          }) as unknown as RegistryView,
      },
      session: () => undefined,
      workingDirectory: '/srv/work',
    })
    await expect(calls(CALLER, call('/notes'))).rejects.toMatchObject({ code: 'plugin.session_scope_required' })
  })
})

describe('a handler', () => {
  test('is told who calls, where, and what was sent', async () => {
    const { match, requests } = setup({ routes: [bySession] })
    const found = await match(
      CALLER,
      call('/sessions/ses_a/notes', { query: { tag: ['x'] }, headers: { accept: '*/*' }, workspaceId: 'w1' }),
    )
    expect(await found.handle({ a: 1 }, signal)).toEqual({ status: 200, headers: {}, body: 'ok' })
    expect(requests).toEqual([
      {
        tenantId: null,
        hosted: false,
        workspaceId: 'w1',
        workspace: '/srv/a',
        sessionId: 'ses_a',
        actor: 'ada',
        generation: 7,
        path: { session_id: 'ses_a' },
        query: { tag: ['x'] },
        headers: { accept: '*/*' },
        body: { a: 1 },
      },
    ])
  })

  test('is told the tenant of a hosted caller', async () => {
    const { match, requests } = setup()
    await (await match({ ...CALLER, tenantId: 't1' }, call('/notes'))).handle(null, signal)
    expect(requests[0]).toMatchObject({ tenantId: 't1', hosted: true })
  })

  test.each([
    [new Error('the child exited'), 'plugin.route_failed', `The plugin ${PLUGIN} failed to answer: the child exited`],
    [new SvcError('plugin.failed', 'timed out'), 'plugin.route_failed', `The plugin ${PLUGIN} failed to answer: timed out`],
    [new SvcError('plugin.generation_closed'), 'plugin.generation_closed', 'The plugin generation has been retired.'],
    [new SvcError('resource.not_found', 'No such note.'), 'resource.not_found', 'No such note.'],
  ])('that fails with %s answers %s', async (failure, code, message) => {
    const { match } = setup({ handle: () => Promise.reject(failure) })
    await expect((await match(CALLER, call('/notes'))).handle(null, signal)).rejects.toMatchObject({ code, message })
  })

  test.each([{ status: 'ok' }, { headers: {} }, { status: 200, headers: { a: 1 } }, null])(
    'that answers %j is at fault',
    async (answer) => {
      const { match } = setup({ handle: async () => answer })
      await expect((await match(CALLER, call('/notes'))).handle(null, signal)).rejects.toMatchObject({ code: 'plugin.invalid_response' })
    },
  )

  test('that is aborted fails with the reason', async () => {
    const controller = new AbortController()
    const { match } = setup({
      handle(_request, given) {
        controller.abort(new SvcError('lifecycle.closed'))
        return Promise.reject(new Error(String(given.aborted)))
      },
    })
    await expect((await match(CALLER, call('/notes'))).handle(null, controller.signal)).rejects.toMatchObject({ code: 'lifecycle.closed' })
  })

  test('of a route nobody offers here does not exist', async () => {
    const { match } = setup({ runsIn: [] })
    await expect(match(CALLER, call('/notes'))).rejects.toMatchObject({ code: 'resource.not_found' })
  })
})

describe('a socket', () => {
  const peer: PluginSocket = { outbound: (async function* () {})(), receive: () => undefined, close: () => undefined }

  test('keeps the lease of its generation until it is closed', async () => {
    const log: string[] = []
    const { match } = setup({
      open: async () => ({ ...peer, close: () => void log.push('closed') }),
      async use(work) {
        log.push('leased')
        const result = await work()
        log.push('released')
        return result
      },
    })
    const found = await match(CALLER, call('/notes', { upgrade: true }))
    expect(found.kind).toBe('socket')
    const socket = await found.open(signal)
    expect(log).toEqual(['leased'])
    socket.close()
    await Promise.resolve()
    await Promise.resolve()
    expect(log).toEqual(['leased', 'closed', 'released'])
  })

  test('that the plugin refuses says why', async () => {
    const { match } = setup({ open: () => Promise.reject(new Error('not today')) })
    await expect((await match(CALLER, call('/notes', { upgrade: true }))).open(signal)).rejects.toMatchObject({
      code: 'plugin.websocket_rejected',
      message: `The plugin ${PLUGIN} refused the socket: not today`,
    })
  })

  test('is no route, and a route is no socket', async () => {
    const { match } = setup({ open: async () => peer })
    await expect((await match(CALLER, call('/notes', { upgrade: true }))).handle(null, signal)).rejects.toMatchObject({
      code: 'resource.not_found',
    })
    await expect((await match(CALLER, call('/notes'))).open(signal)).rejects.toMatchObject({ code: 'resource.not_found' })
  })
})
