/**
 * What every request passes before its route: the canonical target, single headers, the doors, and the
 * question who calls (threat-model H2–H9). Runs once, before any body byte is read.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { SvcError } from '../../protocol/errors.js'
import type { OpenCalls } from '../calls.js'
import type { AgentCheck } from './agents.js'
import type { RouteContract } from '../../protocol/route.js'
import type { Doors } from './doors.js'
import type { Guesses } from './guesses.js'
import { notFound } from './lost.js'
import { isVisitor, sendHome } from './visitor.js'
import { PREFLIGHT_HEADERS, answerHeaders, refuseRepeatedHeaders } from '../request/headers.js'
import type { Sockets } from '../sockets/sockets.js'
import { canonicalPath } from '../request/target.js'
import type { TenantQuotas } from './quotas.js'
import { type TokenSource, isGuess } from './tokens.js'
import type { Upgrades } from '../sockets/upgrades.js'

export interface GateParts {
  readonly doors: Doors
  readonly tokens: TokenSource
  readonly calls: OpenCalls
  readonly sockets: Sockets
  readonly guesses: Guesses
  readonly quotas: TenantQuotas
  readonly upgrades: Pick<Upgrades, 'asks'>
  /** What programs of agents may not ask for; asked only where there is a token. */
  readonly checkAgent: AgentCheck
  /** Told about every refused credential. */
  readonly onRefusedCredential: () => void
}

/** Lets a request through, or throws or rejects with what refuses it; waits where something has to be looked up. Answers true when it is answered already: a preflight, or a person who looks for a page. */
export function createGate({ doors, tokens, calls, sockets, guesses, quotas, upgrades, checkAgent, onRefusedCredential }: GateParts) {
  /** Waits where the credential has to be looked up. */
  function authenticate(request: FastifyRequest): Promise<void> | undefined {
    const { authorization } = request.headers
    const refuse = (error: unknown): never => {
      onRefusedCredential()
      if (error instanceof SvcError && error.code !== 'auth.invalid_token') throw error // it is no guess
      throw isGuess(authorization) ? guesses.refusal(request.raw.socket.remoteAddress ?? '') : error
    }
    try {
      const caller = tokens.authenticate(authorization)
      if (caller instanceof Promise) return caller.then((known) => void (request.caller = known), refuse)
      request.caller = caller
      return undefined
    } catch (error) {
      return refuse(error)
    }
  }

  function count(request: FastifyRequest, reply: FastifyReply): void {
    if (request.caller !== null) quotas.count(request.caller, upgrades.asks(request) ? request.raw.socket : reply.raw)
  }

  async function lost(request: FastifyRequest, reply: FastifyReply, path: string): Promise<boolean> {
    await identify(request, tokens)
    count(request, reply)
    if (!isVisitor(request, path)) throw notFound(request.method, path)
    sendHome(reply)
    return true
  }

  /** Of who is known by now. */
  function pass(request: FastifyRequest, reply: FastifyReply, path: string, isOpenTo: boolean): boolean | Promise<boolean> {
    if (!isOpenTo) count(request, reply)
    const checked = isOpenTo || tokens.trusted ? undefined : checkedAgent(request, path)
    return checked === undefined ? admitted(request, reply, path, isOpenTo) : checked.then(() => admitted(request, reply, path, isOpenTo))
  }

  function checkedAgent(request: FastifyRequest, path: string): Promise<void> | undefined {
    request.checkPerson = () => checkAgent.person(request.raw)
    return checkAgent.operation(request.raw, request.routeOptions.config.contract?.path ?? path)
  }

  function admitted(request: FastifyRequest, reply: FastifyReply, path: string, isOpenTo: boolean): boolean {
    sockets.admit(request.raw.socket, request.caller?.authenticated === true)
    if (sockets.isReserved(request.raw.socket)) {
      reply.header('connection', 'close')
      if (!isOpenTo && request.caller?.authenticated !== true)
        throw new SvcError('quota.exceeded', 'All connections of this server are in use; the last ones are kept for health.')
    }
    if (request.is404) throw notFound(request.method, path)
    if (calls.closing && !isOpenTo) throw new SvcError('lifecycle.closed')
    return false
  }

  return function gate(request: FastifyRequest, reply: FastifyReply): boolean | Promise<boolean> {
    const { headers } = request
    reply.headers(answerHeaders(request.id, undefined))
    refuseRepeatedHeaders(request.raw.rawHeaders)
    const path = canonicalPath(request.raw.url ?? '')
    if (headers.host === undefined) throw new SvcError('request.invalid', 'The Host header is missing.')

    const { contract } = request.routeOptions.config
    if (tokens.trusted || contract?.access.class === 'open') doors.checkHost(headers)
    const isReturn = contract?.isReturn === true && request.method === contract.method
    request.allowedOrigin = doors.checkOrigin(headers, { isForOwnPage: contract?.isForOwnPage === true, isReturn })
    const open = isOpen(contract, request.raw.url ?? '')
    if (request.allowedOrigin !== undefined) reply.headers(answerHeaders(request.id, request.allowedOrigin))
    if (isPreflight(request)) {
      reply.code(204).headers(PREFLIGHT_HEADERS).send()
      return true
    }

    if (request.is404 && !path.startsWith('/v2/')) return lost(request, reply, path)
    const asked = open ? undefined : authenticate(request)
    return asked === undefined ? pass(request, reply, path, open) : asked.then(() => pass(request, reply, path, open))
  }
}

/** What stands for a credential must be there: without it the caller is asked as everywhere. */
function isOpen(contract: Pick<RouteContract, 'access'> | undefined, target: string): boolean {
  if (contract?.access.class !== 'open') return false
  const { credential } = contract.access
  const query = target.indexOf('?')
  return credential === undefined || (query !== -1 && (new URLSearchParams(target.slice(query + 1)).get(credential) ?? '') !== '')
}

/** Outside the API there is nothing to protect; a caller who says who it is is still written down. */
async function identify(request: FastifyRequest, tokens: TokenSource): Promise<void> {
  if (request.headers.authorization === undefined) return
  try {
    request.caller = await tokens.authenticate(request.headers.authorization)
  } catch {
    request.caller = null
  }
}

function isPreflight(request: FastifyRequest): boolean {
  return (
    request.method === 'OPTIONS' && request.allowedOrigin !== undefined && request.headers['access-control-request-method'] !== undefined
  )
}
