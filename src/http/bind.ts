/**
 * From a contract and a handler to a route. Order (threat-model H8): the gate has run (doors, who calls);
 * then path, query and headers are parsed and access is decided; then the body is read; then it is decided whether somebody else
 * controls the session, and the handler runs.
 */
import { cutWhenUnread } from './answer/unread.js'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { EventSubscription, FrameSink, RawJson } from '../ports/facades.js'
import type { Caller } from '../protocol/caller.js'
import { SvcError } from '../protocol/errors.js'
import { TRIMMED_HEADER } from '../protocol/event/event.js'
import { LIMITS } from '../protocol/limits.js'
import { fieldNames, parseRequest } from '../protocol/text/parse.js'
import type { Answer, Parsed, RouteContract, Schema } from '../protocol/route.js'
import { type TraceContext, traceOf } from '../protocol/trace-context.js'
import type { Admission } from './admission/admission.js'
import type { Audit } from './admission/audit.js'
import { refuseStrangers } from './admission/hosted.js'
import type { Standing } from './admission/standing.js'
import { JSON_TYPE } from './answer/errors.js'
import { fieldsOf } from './request/fields.js'
import { answerHeaders } from './request/headers.js'
import type { OpenCalls } from './calls.js'
import type { Interims } from './answer/interim.js'
import { sendPieces } from './streams/pieces.js'
import type { EventStreams } from './streams/sse.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    contract?: RouteContract
  }
  interface FastifyRequest {
    /** Who calls; null until the gate has asked. */
    caller: Caller | null
    /** The listed origin the request comes from. */
    allowedOrigin: string | undefined
    audited: boolean
    /** Rejects when a program of an agent asks; nothing where there is no token. */
    checkPerson: (() => Promise<void>) | undefined
    admitted: Admitted | null
  }
}

interface Admitted {
  readonly directory: string
  readonly params: unknown
  readonly query: unknown
  readonly headers: unknown
}

/** One admitted call, as a handler sees it. */
export interface Call<P extends Schema, Q extends Schema, H extends Schema, I extends Schema> {
  readonly caller: Caller
  /** Canonical directory of a `directory` operation; '' for every other. */
  readonly directory: string
  readonly params: Parsed<P>
  readonly query: Parsed<Q>
  readonly headers: Parsed<H>
  readonly body: Parsed<I>
  /** Aborts when the client leaves or the server stops. */
  readonly signal: AbortSignal
  /** Of which trace of its caller it is part. */
  readonly trace: TraceContext | undefined
}

/** Who calls an open operation without being asked who it is: may see what is open, and nothing else. */
const NOBODY: Caller = { subject: '', tenantId: '', authenticated: false, operator: false, directoryPrefixes: [] }

type Promised<T> = T | Promise<T>

export interface Binder {
  /** Answers JSON, or nothing for 204. */
  json<P extends Schema, Q extends Schema, H extends Schema, I extends Schema, O extends Schema>(
    contract: RouteContract<P, Q, H, I, O>,
    handle: (call: Call<P, Q, H, I>) => Promised<Answer<O> | RawJson>,
  ): void
  /** Answers a stream of events; what `subscribe` throws is an ordinary error answer. */
  events<P extends Schema, Q extends Schema, H extends Schema, I extends Schema, O extends Schema>(
    contract: RouteContract<P, Q, H, I, O>,
    subscribe: (call: Call<P, Q, H, I>, sink: FrameSink) => EventSubscription,
  ): void
  /** For bodies and answers that are bytes: the handler uses request and reply itself. */
  raw<P extends Schema, Q extends Schema, H extends Schema, I extends Schema, O extends Schema>(
    contract: RouteContract<P, Q, H, I, O>,
    handle: (call: Call<P, Q, H, I>, request: FastifyRequest, reply: FastifyReply) => Promise<void>,
  ): void
}

export interface BinderParts {
  readonly admission: Admission
  readonly streams: EventStreams
  readonly audit: Audit
  readonly calls: OpenCalls
  readonly interims: Interims
  readonly standing: Standing
}

export function createBinder(app: FastifyInstance, { admission, streams, audit, calls, interims, standing }: BinderParts): Binder {
  function route(contract: RouteContract, handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>): void {
    const paramNames = fieldNames(contract.params)
    app.route({
      method: contract.method,
      url: contract.path.replace(/\{(\w+)\}/g, ':$1'),
      config: { contract },
      bodyLimit: contract.body?.maxBytes ?? LIMITS.http.jsonBody,
      onRequest: admitterOf(contract, admission),
      handler(request, reply) {
        admission.control(contract, callerOf(request), fieldsOf(request.params, paramNames, 'path parameter'))
        const checked = isForPersons(contract, request.body) ? request.checkPerson?.() : undefined
        return checked === undefined ? handler(request, reply) : checked.then(() => handler(request, reply))
      },
    })
  }

  return {
    json(contract, handle) {
      const { status } = contract.success
      route(contract, async (request, reply) => {
        const call = callOf(contract, request, reply, calls)
        const answered = interims.begin(reply.raw)
        let value: unknown
        try {
          const given = handle(call)
          value = given instanceof Promise ? await given : given
        } catch (error) {
          throw calls.failure(reply.raw, error)
        } finally {
          answered()
        }
        if (calls.closing) reply.header('connection', 'close')
        reply.code(status)
        if (status === 204) return reply.send()
        if (isRawJson(value) && value.pieces !== undefined) {
          await sendPieces(request, reply, value.pieces(), { 'content-type': JSON_TYPE })
          return reply
        }
        const text = isRawJson(value) ? value.rawJson : JSON.stringify(value)
        if (text.length > LIMITS.http.largeAnswer) cutWhenUnread(reply.raw)
        return reply.type(JSON_TYPE).send(text)
      })
    },
    events(contract, subscribe) {
      route(contract, async (request, reply) => {
        const call = callOf(contract, request, reply, calls)
        const stream = streams.create(reply.raw, call.caller.subject)
        const subscription = subscribe(call, stream)
        reply.hijack()
        const { trimmed } = subscription
        const headers = {
          ...answerHeaders(request.id, request.allowedOrigin),
          ...(trimmed !== undefined && { [TRIMMED_HEADER]: String(trimmed) }),
        }
        const forget = standing.follow(call.caller, () => stream.end())
        stream.open(headers, (how) => {
          forget()
          subscription.close(how)
        })
        audit.record(request, contract.success.status)
      })
    },
    raw(contract, handle) {
      route(contract, async (request, reply) => {
        const call = callOf(contract, request, reply, calls)
        await calls.settled(reply.raw, () => handle(call, request, reply))
        return reply
      })
    },
  }
}

/** Parses path, query and headers of a contract and decides access, before the body is read. */
export function admitterOf(contract: RouteContract, admission: Admission): (request: FastifyRequest) => Promise<void> {
  const paramNames = fieldNames(contract.params)
  const queryNames = fieldNames(contract.query)
  const headerNames = fieldNames(contract.headers)
  return async (request) => {
    const params = fieldsOf(request.params, paramNames, 'path parameter')
    const query = fieldsOf(request.query, queryNames, 'query parameter')
    const headers = fieldsOf(request.headers, headerNames, 'header')
    const parsed = {
      params: contract.params && parseRequest(contract.params, 'path', params),
      query: contract.query && parseRequest(contract.query, 'query', query),
      headers: contract.headers && parseRequest(contract.headers, 'header', headers),
    }
    const named = {
      params,
      directory: query['directory'],
      directoryHeader: headers['x-svc-directory'],
      scope: query['scope'],
      sessionId: query['sessionId'],
      isChange: contract.method !== 'GET',
    }
    const refusal = refuseStrangers(contract, callerOf(request), named, admission.execution)
    if (refusal !== undefined) await refusal
    admission.operation(contract, callerOf(request), { method: request.method, scope: named.scope })
    const directory = await admission.admit(contract.access, callerOf(request), named)
    request.admitted = { directory, ...parsed }
  }
}

/** The call of an admitted request. */
export function callOf<P extends Schema, Q extends Schema, H extends Schema, I extends Schema, O extends Schema>(
  contract: RouteContract<P, Q, H, I, O>,
  request: FastifyRequest,
  reply: FastifyReply,
  calls: OpenCalls,
): Call<P, Q, H, I> {
  const { admitted } = request
  if (admitted === null) throw new SvcError('server.internal', 'The route ran before its admission.')
  return new AdmittedCall<P, Q, H, I>(request, reply, calls, admitted, bodyOf(contract, request))
}

/**
 * A class, and not an object with functions of its own that answer its fields: such are kept where V8 keeps the shapes of objects, and what they
 * know with them, which is the whole request, until everything is collected.
 */
class AdmittedCall<P extends Schema, Q extends Schema, H extends Schema, I extends Schema> implements Call<P, Q, H, I> {
  readonly caller: Caller
  readonly directory: string
  readonly params: Parsed<P>
  readonly query: Parsed<Q>
  readonly headers: Parsed<H>
  readonly body: Parsed<I>
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply
  readonly #calls: OpenCalls

  constructor(request: FastifyRequest, reply: FastifyReply, calls: OpenCalls, admitted: Admitted, body: unknown) {
    this.caller = callerOf(request)
    this.directory = admitted.directory
    // Parsed by these very schemas in `admitterOf`.
    this.params = admitted.params as Parsed<P>
    this.query = admitted.query as Parsed<Q>
    this.headers = admitted.headers as Parsed<H>
    this.body = body as Parsed<I>
    this.#request = request
    this.#reply = reply
    this.#calls = calls
  }

  get signal(): AbortSignal {
    return this.#calls.signalOf(this.#reply.raw)
  }

  get trace(): TraceContext | undefined {
    return traceOf(this.#request.headers)
  }
}

/** What only a person may say. */
function isForPersons({ personFields = [] }: RouteContract, body: unknown): boolean {
  return typeof body === 'object' && body !== null && personFields.some((name) => name in body)
}

function bodyOf({ body, ownPageFields }: RouteContract, request: FastifyRequest): unknown {
  const { body: value, headers, allowedOrigin } = request
  if (body === undefined) return undefined
  // The gate has let an origin pass that is not listed: it is our own.
  if (ownPageFields !== undefined && headers.origin !== undefined && allowedOrigin === undefined) refuseOthers(value, ownPageFields)
  if (value !== undefined) return parseRequest(body.schema, 'body', value)
  if (body.required) throw new SvcError('request.invalid', 'A JSON body is required.')
  return parseRequest(body.schema, 'body', {})
}

function refuseOthers(value: unknown, fields: readonly string[]): void {
  const other = typeof value === 'object' && value !== null ? Object.keys(value).find((name) => !fields.includes(name)) : undefined
  if (other !== undefined)
    throw new SvcError('request.origin_forbidden', `A page of this server may set ${fields.join(', ')} here, and not "${other}".`)
}

function callerOf(request: FastifyRequest): Caller {
  return request.caller ?? NOBODY
}

function isRawJson(value: unknown): value is RawJson {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'rawJson')
}
