/**
 * From a request below `/v2/plugins/<id>` to the contributed route or socket it means (plugin-protocol §8.2).
 *
 * I1 Plugins of a workspace are asked for, and so may start, only once the caller may use that workspace.
 * I2 A session route runs for a session of the caller, in the workspace of that session, and for no other.
 * I3 Every handler runs under a lease of its generation, every socket until it is closed; what they throw or answer is
 *    checked before it leaves.
 */
import { cut } from '../../../kernel/cut.js'
import { LOCAL_TENANT, mayUseDirectory, type Owned, owns } from '../../../protocol/caller.js'
import type { Caller } from '../../../protocol/caller.js'
import { SvcError } from '../../../protocol/errors.js'
import type { ErrorCode } from '../../../protocol/errors.js'
import { RouteResponse } from '../../../protocol/plugin/plugin-services.js'
import type { RouteRequest } from '../../../protocol/plugin/plugin-requests.js'
import type { PluginCall, PluginRouteMatch, Plugins } from '../../../ports/plugins.js'
import { SESSION_PARAMETER, matchRoute, parameterSegments } from '../registry/route-match.js'
import type { RouteMatch } from '../registry/route-match.js'
import type { PluginSocket } from '../../../ports/contributions.js'
import { underLease } from './socket-lease.js'
import type { WorkspacePlugins } from '../../../ports/view.js'
import { messageOf } from '../../../protocol/message-of.js'

type UnmatchedCall = Omit<PluginCall, 'body'>

export interface PluginCallParts {
  readonly plugins: Pick<WorkspacePlugins, 'ready'>
  /** Tenant and canonical directory of a session; undefined when unknown. */
  session(id: string): Owned | undefined
  /** Canonical directory of calls that name none. */
  readonly workingDirectory: string
}

interface Place {
  readonly directory: string
  readonly match: RouteMatch | undefined
}

/**
 * The `match` of the facade. Throws `resource.not_found`, `auth.directory_forbidden`, `auth.session_forbidden` and
 * the `plugin.session_…` codes; handlers throw `plugin.route_failed`, `plugin.invalid_response`,
 * `plugin.generation_closed`, sockets `plugin.websocket_rejected`, and both every other code a handler chose.
 */
export function createPluginCalls({ plugins, session, workingDirectory }: PluginCallParts): Plugins['match'] {
  async function matchIn(directory: string, sessionId: string | undefined, call: UnmatchedCall): Promise<Place> {
    const view = await plugins.ready(directory, sessionId, (known) => matchRoute(known, call) !== undefined)
    return { directory, match: matchRoute(view, call) }
  }

  /** Sessions that segments of the path name; throws when one of them is somebody else's. */
  function namedSessions(caller: Caller, path: string): readonly (Owned & { readonly id: string })[] {
    return parameterSegments(path).flatMap((id) => {
      const owner = session(id)
      if (owner === undefined) return []
      refuseForeign(caller, owner)
      return [{ ...owner, id }]
    })
  }

  async function find(caller: Caller, call: UnmatchedCall): Promise<Place> {
    for (const { id, directory } of namedSessions(caller, call.path)) {
      if (call.directory !== undefined && call.directory !== directory) continue
      const place = await matchIn(directory, id, call)
      if (boundSession(place.match) === id) return place
    }
    const directory = call.directory ?? workingDirectory
    if (!mayUseDirectory(caller, directory)) throw new SvcError('auth.directory_forbidden')
    return matchIn(directory, undefined, call)
  }

  /** The session of a session route. */
  function checkedSession(caller: Caller, { directory, match }: Place): string | undefined {
    if (match?.registered.contribution.descriptor.scope !== 'session') return undefined
    const sessionId = boundSession(match)
    if (sessionId === undefined) throw new SvcError('plugin.session_scope_required')
    const owner = session(sessionId)
    if (owner === undefined) throw new SvcError('plugin.session_not_found')
    refuseForeign(caller, owner)
    if (owner.directory !== directory) throw new SvcError('plugin.session_workspace_mismatch')
    return sessionId
  }

  return async (caller, call): Promise<PluginRouteMatch> => {
    const place = await find(caller, call)
    const sessionId = checkedSession(caller, place)
    const { directory, match } = place
    if (match === undefined) throw noSuchRoute(call)
    const request = (body: unknown): RouteRequest => ({
      ...requestOf(caller, call),
      workspace: directory,
      sessionId: sessionId ?? null,
      generation: match.registered.generation,
      path: match.params,
      body,
    })
    return {
      kind: match.kind,
      directory,
      sessionId,
      async handle(body, signal) {
        if (match.kind !== 'route') throw noSuchRoute(call)
        const { registered } = match
        const answer = await told('plugin.route_failed', call.pluginId, signal, () =>
          registered.use(() => registered.contribution.handle(request(body), signal)),
        )
        const checked = RouteResponse.safeParse(answer)
        if (checked.success) return checked.data
        throw new SvcError('plugin.invalid_response', `The plugin ${call.pluginId} answered with an invalid status or invalid headers.`)
      },
      async open(signal) {
        if (match.kind !== 'socket') throw noSuchRoute(call)
        const { registered } = match
        return told('plugin.websocket_rejected', call.pluginId, signal, () =>
          underLease(registered, () => registered.contribution.open(request(null), signal), heldSocket),
        )
      },
    }
  }
}

function heldSocket(socket: PluginSocket, left: () => void): PluginSocket {
  return {
    outbound: socket.outbound,
    receive: (message) => socket.receive(message),
    close() {
      left()
      socket.close()
    },
  }
}

const MESSAGE_LENGTH = 500

/** Errors a handler chose from the catalogue pass; every other failure becomes `code`, with its text. */
async function told<T>(code: ErrorCode, pluginId: string, signal: AbortSignal, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof SvcError && error.code !== 'plugin.failed' && error.code !== 'server.internal') throw error
    const reason = messageOf(error)
    const what = code === 'plugin.websocket_rejected' ? 'refused the socket' : 'failed to answer'
    throw new SvcError(
      code,
      `The plugin ${pluginId} ${what}: ${cut(reason, MESSAGE_LENGTH, '').toWellFormed()}`,
      { pluginId },
      { cause: error },
    )
  }
}

function boundSession(match: RouteMatch | undefined): string | undefined {
  if (match?.registered.contribution.descriptor.scope !== 'session') return undefined
  return match.params[SESSION_PARAMETER]
}

function refuseForeign(caller: Caller, owner: Owned): void {
  if (!owns(caller, owner)) throw new SvcError('auth.session_forbidden')
}

function requestOf(caller: Caller, { query, headers, workspaceId }: UnmatchedCall) {
  const hosted = caller.tenantId !== LOCAL_TENANT
  return { tenantId: hosted ? caller.tenantId : null, hosted, workspaceId: workspaceId ?? null, actor: caller.subject, query, headers }
}

function noSuchRoute({ pluginId, method, path }: UnmatchedCall): SvcError {
  return new SvcError('resource.not_found', `The plugin ${pluginId} offers no ${method} ${path} here.`)
}
