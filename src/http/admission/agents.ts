/**
 * What a program that an agent has started may ask of the server that started it, where that has a token: what is listed here, whatever
 * token it shows. Everything else answers permissions, configures, trusts, or leads to credentials: that is for the person.
 *
 * I1 An operation is known by the path of its contract, so that no spelling of a path makes another one of it; what plugins contribute, by the path itself.
 * I2 Who is at the other end of a connection is asked once for each, when it first asks for something that is not listed.
 */
import type { Socket } from 'node:net'
import { SvcError } from '../../protocol/errors.js'

/** The other end of a connection, by its ports. */
export interface PeerPorts {
  readonly port: number
  readonly ourPort: number
}

interface Open {
  readonly path: RegExp
  /** Only what changes nothing. */
  readonly isRead?: true
}

/** Of sessions: what a person lets go on, runs without rules, or brings in. */
const OF_PERSONS = String.raw`(?!\/import$|\/[^/]+\/(?:shell|queue\/release)$)`
const OPEN: readonly Open[] = [
  { path: /^\/v2\/(?:health|meta|openapi\.json|runtime|identity|capabilities|directories|events|artifacts)(?:\/|$)/ },
  { path: new RegExp(String.raw`^\/v2\/sessions${OF_PERSONS}(?:\/|$)`) },
  { path: /^\/v2\/(?:execution-activity|session-catalog|agents|commands|skills|tools|inspector)(?:\/|$)/, isRead: true },
  { path: /^\/v2\/providers(?!.*\/(?:auth|oauth|connections))(?:\/|$)/, isRead: true },
  { path: /^\/v2\/interactions(?:\/|$)/, isRead: true },
  { path: /^\/v2\/plugins\/dev\.svc\.(?:subagents|goals)(?:\/|$)/ },
  { path: /^\/v2\/plugins\/dev\.svc\.(?:vcs|lsp|search|semantic)(?:\/|$)/, isRead: true },
]
const LOOPBACK = /^(?:::ffff:)?127\.|^::1$/

export function isOpenToAgents(method: string, path: string): boolean {
  const isRead = method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
  return OPEN.some((each) => each.path.test(path) && (isRead || each.isRead !== true))
}

export interface AgentCheck {
  /** Throws `auth.agent_forbidden`. */
  (request: { readonly method?: string | undefined; readonly socket: Socket }, path: string): void
}

export function createAgentCheck(isAgent: (peer: PeerPorts) => boolean): AgentCheck {
  const verdicts = new WeakMap<Socket, boolean>()

  function verdictOf(socket: Socket): boolean {
    const { remoteAddress = '', remotePort: port, localPort: ourPort } = socket
    if (!LOOPBACK.test(remoteAddress) || port === undefined || ourPort === undefined) return false
    return isAgent({ port, ourPort })
  }

  return ({ method = '', socket }, path) => {
    if (isOpenToAgents(method, path)) return
    const verdict = verdicts.get(socket) ?? verdictOf(socket)
    verdicts.set(socket, verdict) // I2
    if (verdict) throw new SvcError('auth.agent_forbidden')
  }
}
