/**
 * What a program that an agent has started may ask of the server that started it, where that has a token: what is listed here, whatever
 * token it shows. Everything else answers permissions, configures, trusts, or leads to credentials: that is for the person.
 *
 * I1 An operation is known by the path of its contract, so that no spelling of a path makes another one of it; what plugins contribute, by the path itself.
 * I2 Who is at the other end of a connection is asked once for each, when it first asks for something that is not listed.
 * I3 What a body may say only for a person (`personFields` of a contract: rules of a session, its directory) is looked at when it is read.
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

/** Of sessions: what a person lets go on, runs without rules, brings in, or takes back, files with it; agents of others, which have no rules of ours. */
const OF_PERSONS = String.raw`(?!\/import$|\/external\/|\/[^/]+\/(?:shell|queue\/release|undo|redo|revert|unrevert|external\/options)$)`
const OPEN: readonly Open[] = [
  { path: /^\/v2\/(?:health|meta|openapi\.json|runtime|identity|capabilities|directories|events|artifacts)(?:\/|$)/ },
  { path: new RegExp(String.raw`^\/v2\/sessions${OF_PERSONS}(?:\/|$)`) },
  { path: /^\/v2\/(?:execution-activity|session-catalog|agents|commands|skills|tools|inspector)(?:\/|$)/, isRead: true },
  { path: /^\/v2\/providers(?!.*\/(?:auth|oauth|connections))(?:\/|$)/, isRead: true },
  { path: /^\/v2\/interactions(?:\/|$)/, isRead: true },
  { path: /^\/v2\/plugins\/dev\.svc\.(?:subagents|goals)(?:\/|$)/ },
  { path: /^\/v2\/plugins\/dev\.svc\.(?:vcs|lsp|search|semantic)(?:\/|$)/, isRead: true },
]
export function isOpenToAgents(method: string, path: string): boolean {
  const isRead = method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
  return OPEN.some((each) => each.path.test(path) && (isRead || each.isRead !== true))
}

interface Asking {
  readonly method?: string | undefined
  readonly socket: Socket
}

/** Each rejects with `auth.agent_forbidden`. */
export interface AgentCheck {
  /** Undefined: anybody may ask. */
  operation(request: Asking, path: string): Promise<void> | undefined
  /** What is asked is for a person, whatever the operation. */
  person(request: Asking): Promise<void>
}

/** `isAgent` tells of the other end of a connection on this machine, at whichever of its addresses; of another machine it knows nothing. */
export function createAgentCheck(isAgent: (peer: PeerPorts) => Promise<boolean>): AgentCheck {
  const verdicts = new WeakMap<Socket, Promise<boolean>>()

  async function verdictOf({ remotePort: port, localPort: ourPort }: Socket): Promise<boolean> {
    return port !== undefined && ourPort !== undefined && isAgent({ port, ourPort })
  }

  async function person({ socket }: Asking): Promise<void> {
    const verdict = verdicts.get(socket) ?? verdictOf(socket)
    verdicts.set(socket, verdict) // I2
    if (await verdict) throw new SvcError('auth.agent_forbidden')
  }

  return {
    person,
    operation(request, path) {
      return isOpenToAgents(request.method ?? '', path) ? undefined : person(request)
    },
  }
}
