/**
 * The HTTP server: one Fastify instance, assembled from its parts (threat-model H1, H8–H10).
 *
 * Owns the listening socket, the connections and the event streams on them; knows no operation.
 */
import { createAlarm } from '../kernel/alarm.js'
import websocket from '@fastify/websocket'
import { fastify } from 'fastify'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Clock, Log } from '../ports/effects.js'
import type { Runtime } from '../ports/facades.js'
import { SvcError } from '../protocol/errors.js'
import { LIMITS } from '../protocol/limits.js'
import { systemRoutes as systemContracts } from '../protocol/system/system.js'
import { readParent, traceOf } from '../protocol/trace-context.js'
import { ptyRoutes } from '../protocol/terminal/pty.js'
import { createAgentCheck, type PeerPorts } from './admission/agents.js'
import { createAdmission } from './admission/admission.js'
import { auditPath, createAudit } from './admission/audit.js'
import { createBinder } from './bind.js'
import { acceptJsonBodies } from './request/body.js'
import { createOpenCalls } from './calls.js'
import { createDoors, isLoopbackName } from './admission/doors.js'
import { sendError } from './answer/errors.js'
import { createStanding } from './admission/standing.js'
import { createGate } from './admission/gate.js'
import { createInterims } from './answer/interim.js'
import { createGuesses } from './admission/guesses.js'
import { createTenantQuotas } from './admission/quotas.js'
import { createPace } from './pace.js'
import { artifactRoutes } from './routes/artifacts.js'
import { exportRoutes, importRoutes } from './routes/bundles.js'
import { catalogRoutes } from './routes/catalog.js'
import { connectionRoutes } from './routes/connections.js'
import { signInRoutes } from './routes/sign-ins.js'
import { configRoutes } from './routes/config.js'
import { contributedRoutes } from './contributed/contributed.js'
import { eventRoutes } from './routes/events.js'
import { type InspectorPage, inspectorRoutes } from './routes/inspector.js'
import { interactionRoutes } from './routes/interactions.js'
import { managementRoutes } from './routes/management.js'
import { messageRoutes } from './routes/messages.js'
import { pluginRoutes } from './routes/plugins.js'
import { sessionRoutes } from './routes/sessions.js'
import { systemRoutes } from './routes/system.js'
import { terminalRoutes, terminalSocket } from './routes/terminals.js'
import { delegationRoutes } from './routes/delegation.js'
import { formatterRoutesOf } from './routes/formatters.js'
import { lspRoutesOf } from './routes/lsp.js'
import { searchRoutesOf } from './routes/search.js'
import { mcpRoutesOf } from './routes/mcp.js'
import { vcsRoutesOf } from './routes/vcs.js'
import { workflowRoutes } from './routes/workflows.js'
import { boundSockets } from './sockets/sockets.js'
import { createEventStreams } from './streams/sse.js'
import { type Tickets, createTickets } from './sockets/tickets.js'
import { takeTurns } from './request/pipeline.js'
import { originForm } from './request/target.js'
import type { TokenSource } from './admission/tokens.js'
import type { OperationCheck } from './admission/operations.js'
import { refuseExpectation, refuseUnreadable } from './answer/unreadable.js'
import { Incoming, followUpgrades } from './sockets/upgrades.js'
import type { Upgrades } from './sockets/upgrades.js'
import { SOCKET_OPTIONS, createBridges } from './sockets/websocket.js'

export interface HttpServerOptions {
  readonly runtime: Runtime
  readonly tokens: TokenSource
  readonly clock: Clock
  readonly log: Log
  /** Further names for the Host header: `name` or `name:port`. */
  readonly allowedHosts: readonly string[]
  /** Browser origins that may read answers: `scheme://host[:port]`. */
  readonly allowedOrigins: readonly string[]
  /** Listening beyond loopback without a credential is refused unless the operator insists (H1). */
  readonly allowUnauthenticatedRemote?: boolean
  /** The files of the inspector; without them there is no page. */
  readonly inspectorPage?: () => Promise<InspectorPage>
  /** Whether a program of an agent holds the other end of a connection; without it nobody is taken for one. */
  readonly isAgent?: (peer: PeerPorts) => Promise<boolean>
  /** Which operations there are for whom on this server; without it nothing is refused by it. */
  readonly operations?: OperationCheck
  /** Runs a callback at the end of the present turn of the event loop; replaceable in tests. */
  readonly soon?: (run: () => void) => void
}

export interface HttpServer {
  /** Resolves once connections are accepted; `port` 0 takes any free one. */
  /** `socket` is the descriptor of one that listens already, and whose address counts then. */
  listen(address: Address & { readonly socket?: number | undefined }): Promise<Address>
  /** Refuses new calls, ends streams and waits, answers what is in flight; after `deadlineMs` cuts what is left. */
  close(deadlineMs: number): Promise<void>
  readonly inject: FastifyInstance['inject']
  /** Open event streams, for counters. */
  readonly streams: number
  /** Open sockets, for counters. */
  readonly sockets: number
}

interface Address {
  readonly host: string
  readonly port: number
}

const CHECK_INTERVAL = 5000
const REPORT_INTERVAL = 60_000

/** Throws `config.invalid` for lists that cannot be understood. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { runtime, tokens, clock, log } = options
  let bound: { host: string; port: number } | undefined
  const calls = createOpenCalls()
  const streams = createEventStreams({ clock, soon: options.soon ?? setImmediate })
  const doors = createDoors({ bound: () => bound, allowedHosts: options.allowedHosts, allowedOrigins: options.allowedOrigins })
  const bridges = createBridges({ clock })
  const tickets = createTickets(runtime.plugins, ptyRoutes.connect.id)
  const { app, upgrades } = createApp(clock, log, tickets)
  const refusedSockets = reporter('connections refused: too many', clock, log)
  const sockets = boundSockets(app.server, (address) => refusedSockets({ address }))
  const refusedCredentials = reporter('credentials refused', clock, log)
  const guesses = createGuesses(clock)
  const checkAgent = createAgentCheck(options.isAgent ?? (async () => false))
  const quotas = createTenantQuotas(clock)
  const onRefusedCredential = () => refusedCredentials({})
  const gate = createGate({ doors, tokens, calls, sockets, guesses, quotas, upgrades, checkAgent, onRefusedCredential })
  const audit = createAudit(runtime.system, log)
  const begin = beginningBy(gate, createPace(LIMITS.http.begunInTurn, setImmediate))

  app.decorateRequest('caller', null)
  app.decorateRequest('allowedOrigin', undefined)
  app.decorateRequest('audited', false)
  app.decorateRequest('checkPerson', undefined)
  app.decorateRequest('admitted', null)
  app.decorateRequest('contributed', null)
  app.addHook('onRequest', (request, reply, done) => {
    tickets.arrive(request.raw)
    upgrades.endWith(request, reply)
    reply.raw.once('close', () => audit.recordLeft(request, reply.raw))
    begin(request, reply, done)
  })
  app.addHook('onResponse', (request, reply, done) => {
    audit.record(request, reply.statusCode)
    runtime.metrics.answered(...measured(request, reply))
    log.debug('answered', lineOf(request, reply))
    done()
  })
  app.setErrorHandler((error, request, reply) => sendError(request, reply, error, log))
  app.setNotFoundHandler((request, reply) => sendError(request, reply, new SvcError('resource.not_found'), log))

  const admission = createAdmission(runtime, options.operations)
  const standing = createStanding(clock, tokens)
  const parts = { admission, streams, audit, calls, interims: createInterims(clock), standing }
  const bind = createBinder(app, parts)
  bindRoutes(bind, options, admission)
  app.register(async (scope) => importRoutes(scope, createBinder(scope, parts), runtime, admission))
  app.register(async (scope) => artifactRoutes(scope, createBinder(scope, parts), runtime, admission))
  app.register(async (scope) => {
    // Sockets end with `bridges`; errors on an open socket close it, with the code that says why, before they are told here.
    await scope.register(websocket, { options: SOCKET_OPTIONS, errorHandler: () => undefined, preClose: (done) => done() })
    const socketParts = { admission, audit, standing, calls, upgrades, bridges }
    terminalSocket(scope, { tickets, quotas, ...socketParts })
    contributedRoutes(scope, { runtime, ...socketParts })
  })

  return {
    async listen({ host, port, socket }) {
      if (socket === undefined && !mayBind(host, options)) throw openBind(host)
      // Node takes a descriptor before an address, and Fastify hands on what it does not know.
      await app.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port, ...(socket !== undefined && { fd: socket }) })
      const address = app.server.address()
      const at = typeof address === 'object' && address !== null ? address : undefined
      if (socket !== undefined && (at === undefined || !mayBind(at.address, options))) {
        await app.close()
        throw openBind(`the socket it was given (${at?.address ?? 'none of TCP'})`)
      }
      bound = { host: socket === undefined ? host : (at?.address ?? host), port: at?.port ?? port }
      return bound
    },
    async close(deadlineMs) {
      calls.close()
      streams.endAll()
      bridges.endAll()
      sockets.dropWaiting()
      const deadline = createAlarm(clock, () => {
        app.server.closeAllConnections()
        upgrades.destroyAll()
      })
      deadline.set(deadlineMs)
      await app.close()
      deadline.end()
    },
    inject: app.inject.bind(app),
    get streams() {
      return streams.size
    },
    get sockets() {
      return bridges.size
    },
  }
}

/** Lets a request begin in its turn once it is through the gate; of health, at once. One that is answered there does not begin. */
function beginningBy(gate: ReturnType<typeof createGate>, pace: ReturnType<typeof createPace>) {
  return (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
    const refuse = (error: unknown) => done(error instanceof Error ? error : new SvcError('server.internal'))
    const begin = (isAnswered: boolean) => {
      if (isAnswered) return
      if (request.routeOptions.config.contract?.id === systemContracts.health.id) done()
      else pace(request.caller?.tenantId ?? '', () => done())
    }
    let passed: ReturnType<typeof gate>
    try {
      passed = gate(request, reply)
    } catch (error) {
      return refuse(error)
    }
    if (passed instanceof Promise) passed.then(begin, refuse)
    else begin(passed)
  }
}

/** Every route but those of bodies and sockets. */
function bindRoutes(
  bind: ReturnType<typeof createBinder>,
  { runtime, inspectorPage }: HttpServerOptions,
  admission: ReturnType<typeof createAdmission>,
): void {
  systemRoutes(bind, runtime)
  catalogRoutes(bind, runtime)
  connectionRoutes(bind, runtime)
  signInRoutes(bind, runtime)
  configRoutes(bind, runtime)
  sessionRoutes(bind, runtime, admission)
  messageRoutes(bind, runtime)
  interactionRoutes(bind, runtime)
  eventRoutes(bind, runtime)
  inspectorRoutes(bind, runtime, inspectorPage)
  pluginRoutes(bind, runtime)
  managementRoutes(bind, runtime)
  workflowRoutes(bind, runtime)
  terminalRoutes(bind, runtime)
  vcsRoutesOf(bind, runtime, admission)
  lspRoutesOf(bind, runtime, admission)
  formatterRoutesOf(bind, runtime)
  searchRoutesOf(bind, runtime)
  mcpRoutesOf(bind, runtime)
  delegationRoutes(bind, runtime)
  exportRoutes(bind, runtime, admission)
}

/** Contracts are validated by `bind.ts`. Naming factories keeps Fastify from loading its own, which costs 50 ms at start. */
const NO_SCHEMA_COMPILERS = { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } }

function noCompiler(): never {
  throw new Error('no JSON Schema is declared to Fastify')
}

function createApp(clock: Clock, log: Log, tickets: Tickets): { readonly app: FastifyInstance; readonly upgrades: Upgrades } {
  const boot = clock.now().toString(36)
  let requests = 0
  const nextId = () => `${boot}-${(++requests).toString(36)}`
  const app = fastify({
    logger: false,
    schemaController: NO_SCHEMA_COMPILERS,
    bodyLimit: LIMITS.http.jsonBody,
    requestTimeout: LIMITS.http.bodyTimeout,
    keepAliveTimeout: LIMITS.http.keepAlive,
    forceCloseConnections: false,
    return503OnClosing: false,
    exposeHeadRoutes: false,
    requestIdHeader: false,
    genReqId: nextId,
    routerOptions: { maxParamLength: LIMITS.http.url },
    rewriteUrl: (request) => originForm(request.url ?? '', request.headers.host),
    frameworkErrors: (error, request, reply) => {
      tickets.arrive(request.raw)
      upgrades.endWith(request, reply)
      sendError(request, reply, error, log)
    },
    clientErrorHandler: (error, socket) => refuseUnreadable(error.code, socket, nextId()),
    http: {
      IncomingMessage: Incoming,
      maxHeaderSize: LIMITS.http.headerBlock,
      headersTimeout: LIMITS.http.headersTimeout,
      connectionsCheckingInterval: CHECK_INTERVAL,
      requireHostHeader: false,
    },
  })
  app.server.on('checkExpectation', (request, answer) => {
    tickets.arrive(request)
    refuseExpectation(answer, nextId())
  })
  takeTurns(app.server)
  const upgrades = followUpgrades(app.server)
  acceptJsonBodies(app)
  return { app, upgrades }
}

function mayBind(host: string, { tokens, allowUnauthenticatedRemote, log }: HttpServerOptions): boolean {
  if (!tokens.trusted || isLoopbackName(host)) return true
  if (allowUnauthenticatedRemote !== true) return false
  log.warn('listening beyond loopback without a credential: everybody who can reach this address can run programs here', { host })
  return true
}

function openBind(where: string): SvcError {
  const message = `Listening on ${where} without a credential would let everybody in: set SVC_AGENT_TOKEN, or use 127.0.0.1.`
  return new SvcError('config.invalid', message)
}

/** Logs a kind of refusal at most once a minute, with how often it happened. */
function reporter(message: string, clock: Clock, log: Log): (fields: Record<string, unknown>) => void {
  let count = 0
  let lastReport = Number.NEGATIVE_INFINITY
  return (fields) => {
    count++
    const now = clock.monotonic()
    if (now - lastReport < REPORT_INTERVAL) return
    log.warn(message, { ...fields, count })
    lastReport = now
    count = 0
  }
}

/** What is counted of a call; how long somebody listened to a stream says nothing. */
function measured(request: FastifyRequest, { statusCode, elapsedTime }: FastifyReply): Parameters<Runtime['metrics']['answered']> {
  const { contract } = request.routeOptions.config
  return [contract?.id, statusCode, contract?.success.mediaType === 'text/event-stream' ? undefined : elapsedTime]
}

/** What is logged of it, with the trace of its caller. */
function lineOf({ id: requestId, method, url, headers }: FastifyRequest, { statusCode: status, elapsedTime }: FastifyReply) {
  const trace = traceOf(headers)
  const ids = trace === undefined ? {} : { traceId: readParent(trace)?.traceId }
  return { requestId, method, path: auditPath(url), status, ms: Math.round(elapsedTime), ...ids }
}
