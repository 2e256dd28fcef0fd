/**
 * Routes and sockets that plugins contribute, behind one wildcard (plugin-protocol §8.2, §8.3; threat-model H8, T3, T4).
 *
 * I1 Order: the gate; the directory the call names; the plugin's route; the session and workspace it leads to; the body; the handler.
 * I2 A socket is opened on the plugin's side before the client's upgrade is answered; a refusal is an ordinary answer.
 * I3 What was opened is closed when the connection ends, whether or not it ever became a socket.
 */
import { cutWhenUnread } from '../answer/unread.js'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import * as z from 'zod'
import type { Runtime } from '../../ports/facades.js'
import type { PluginRouteMatch } from '../../ports/plugins.js'
import { mayUseDirectory } from '../../protocol/caller.js'
import type { Caller } from '../../protocol/caller.js'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import { fieldNames, parseRequest } from '../../protocol/text/parse.js'
import { directoryHeaders, directoryQuery } from '../../protocol/shared.js'
import type { Admission } from '../admission/admission.js'
import type { Audit } from '../admission/audit.js'
import { refuseStrangers } from '../admission/hosted.js'
import type { Standing } from '../admission/standing.js'
import type { OpenCalls } from '../calls.js'
import { fieldsOf } from '../request/fields.js'
import { answerOf } from './plugin-answer.js'
import { pluginHeaders, pluginQuery } from './plugin-request.js'
import { canonicalPath } from '../request/target.js'
import { checkHandshake } from '../sockets/upgrades.js'
import type { Upgrades } from '../sockets/upgrades.js'
import { messagePeer } from '../sockets/peers.js'
import type { Peer } from '../sockets/peers.js'
import type { Bridges } from '../sockets/websocket.js'

declare module 'fastify' {
  interface FastifyRequest {
    contributed: Contributed | null
  }
}

interface Contributed {
  readonly pluginId: string
  readonly match: PluginRouteMatch
  /** The plugin's side of a socket, once it is open. */
  peer: Peer | undefined
}

export interface ContributedParts {
  readonly runtime: Runtime
  readonly admission: Admission
  readonly audit: Audit
  readonly standing: Standing
  readonly calls: OpenCalls
  readonly upgrades: Upgrades
  readonly bridges: Bridges
}

const SWITCHING_PROTOCOLS = 101
const Query = z.looseObject({ ...directoryQuery, workspaceId: z.string().min(1).max(256).optional(), sessionId: z.string().optional() })
const QUERY_NAMES = fieldNames(Query)
const HEADER_NAMES = fieldNames(directoryHeaders)
const PATHS = ['/v2/plugins/:pluginId', '/v2/plugins/:pluginId/*'] as const
const OTHER_METHODS = ['POST', 'PUT', 'PATCH', 'DELETE'] as const

/** `scope` is a Fastify instance that knows sockets. */
export function contributedRoutes(scope: FastifyInstance, parts: ContributedParts): void {
  const { runtime, admission, audit, standing, calls, upgrades, bridges } = parts

  async function select(request: FastifyRequest): Promise<void> {
    const caller = callerOf(request)
    const query = parseRequest(Query, 'query', fieldsOf(request.query, QUERY_NAMES, 'query parameter'))
    const headers = parseRequest(directoryHeaders, 'header', fieldsOf(request.headers, HEADER_NAMES, 'header'))
    const named = {
      params: {},
      directory: query.directory,
      directoryHeader: headers['x-svc-directory'],
      scope: undefined,
      sessionId: query.sessionId,
    }
    await refuseStrangers(undefined, caller, named, admission.execution)
    admission.operation(undefined, caller, { method: upgrades.asks(request) ? 'CONNECT' : request.method, scope: undefined })
    await admission.admit({ class: 'caller' }, caller, named)
    const path = canonicalPath(request.raw.url ?? '')
    const pluginId = path.split('/')[3] ?? ''
    const match = await runtime.plugins.match(caller, {
      pluginId,
      method: request.method,
      upgrade: upgrades.asks(request),
      path,
      query: pluginQuery(request.query),
      headers: pluginHeaders(request.headers),
      directory: await admission.namedDirectory(caller, named),
      workspaceId: query.workspaceId,
    })
    if (match.sessionId !== undefined) admission.session(caller, match.sessionId)
    if (!mayUseDirectory(caller, match.directory)) throw new SvcError('auth.directory_forbidden')
    request.contributed = { pluginId, match, peer: undefined }
  }

  async function answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { pluginId, match } = contributedOf(request)
    const response = await calls.settled(reply.raw, () => match.handle(request.body ?? null, calls.signalOf(reply.raw)))
    const { status, headers, text } = answerOf(pluginId, response)
    if (calls.closing) reply.header('connection', 'close')
    if (text !== undefined && text.length > LIMITS.http.largeAnswer) cutWhenUnread(reply.raw)
    return reply.code(status).headers(headers).send(text)
  }

  async function open(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
    if (!upgrades.asks(request)) return undefined
    const contributed = contributedOf(request)
    if (contributed.match.kind === 'route') return answer(request, reply)
    checkHandshake(request)
    const { socket } = request.raw
    const signal = calls.signalOf(reply.raw)
    const peer = messagePeer(await calls.settled(reply.raw, () => upgrades.watching(request, () => contributed.match.open(signal))))
    if (signal.aborted || socket.destroyed) {
      peer.close()
      signal.throwIfAborted()
    }
    socket.once('close', () => peer.close())
    contributed.peer = peer
    return undefined
  }

  for (const url of PATHS) {
    scope.route({
      method: 'GET',
      url,
      onRequest: select,
      preValidation: open,
      handler: answer,
      wsHandler(client, request) {
        audit.record(request, SWITCHING_PROTOCOLS)
        const { peer } = contributedOf(request)
        if (peer === undefined) return client.terminate()
        standing.followSocket(callerOf(request), client)
        bridges.join(client, peer)
      },
    })
    scope.route({ method: [...OTHER_METHODS], url, bodyLimit: LIMITS.plugins.routeBody, onRequest: select, handler: answer })
  }
}

function contributedOf({ contributed }: FastifyRequest): Contributed {
  if (contributed === null) throw new SvcError('server.internal', 'The route ran before it was selected.')
  return contributed
}

function callerOf({ caller }: FastifyRequest): Caller {
  if (caller === null) throw new SvcError('server.internal', 'The route ran before the gate.')
  return caller
}
