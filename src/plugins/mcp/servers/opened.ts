/**
 * What of one server is open, and what it offers (subsystems f.2).
 *
 * I1 What it offers stays offered while a lost connection can be made anew, and goes when it is ended or cannot be made.
 */
import type { NativeHost, ToolContext } from '../../../ports/plugin.js'
import type { McpConnected, McpConnectionEvent, McpConnectionInput } from '../../../machines/mcp/mcp-connection.machine.js'
import type { ProjectProgram } from '../../../ports/programs.js'
import type { McpConfig } from '../../../protocol/mcp/mcp-config.js'
import { troubleOf } from '../link/failures.js'
import { listOffers, NO_OFFERS, type OfferKind, type Offers } from '../link/lists.js'
import { type Authorization, openSession, type Session, type SessionDeps, type SessionListener } from '../link/session.js'
import { type Answering, listenFor } from './asking.js'
import { createReadingAnew, type ReadingAnew } from './reading-anew.js'
import { messageOf } from '../../../protocol/message-of.js'

export interface ConnectionDeps extends SessionDeps, Answering {
  readonly actors: NativeHost['actors']
  readonly programs: Pick<NativeHost['programs'], 'open' | 'isDenied'>
  /** What is offered has changed. */
  onOffers(kind: OfferKind | 'all'): void
}

export interface ConnectionPlace extends McpConnectionInput {
  readonly config: McpConfig
  readonly program: ProjectProgram
  readonly authorization: Authorization | undefined
  /** Its authorization server takes no client that it does not know. */
  isUnregistered(): boolean
}

export interface Server {
  readonly deps: ConnectionDeps
  readonly place: ConnectionPlace
  /** Those it is working on now. */
  readonly calls: Set<ToolContext>
  readonly changed: ReadingAnew
  readonly listener: SessionListener
  session: Session | undefined
  offers: Offers
  /** An attempt to connect has settled, one way or the other. */
  wasTried: boolean
}

/** `tell`: what its machine hears. */
export function createServer(deps: ConnectionDeps, place: ConnectionPlace, tell: (event: McpConnectionEvent) => void): Server {
  const { clock, log } = deps.effects
  const calls = new Set<ToolContext>()
  const changed = createReadingAnew(
    clock,
    (kinds) => readAnew(server, kinds),
    () => log.warn('a server says again and again that its lists have changed', { server: place.server }),
  )
  const listener: SessionListener = {
    onLost: (reason) => tell({ type: 'connection.lost', reason }),
    onChanged: changed.note,
    ...listenFor(deps, calls),
  }
  const server: Server = { deps, place, calls, changed, listener, session: undefined, offers: NO_OFFERS, wasTried: false }
  return server
}

/** Opens a session, hands over what the server offers, and closes what it opened when it fails. */
export async function openServer(server: Server, signal: AbortSignal): Promise<McpConnected> {
  const { deps, place, listener } = server
  const { log } = deps.effects
  await closeServer(server) // I4 of the machine
  try {
    const opened = await openSession(deps, place, listener, signal).catch((error: unknown) => {
      throw deps.secrets.hidden(error)
    })
    server.session = opened
    if (signal.aborted) await closeServer(server)
    else {
      for (const [kind, { cut }] of Object.entries(opened.offers))
        if (cut !== undefined) log.warn('a server offers more than is used', { server: place.server, list: kind, reason: cut })
      setOffers(server, opened.offers, 'all')
    }
    return 'connected'
  } catch (error) {
    setOffers(server, NO_OFFERS, 'all')
    if (signal.aborted) throw error
    const trouble = troubleOf(await import('@modelcontextprotocol/client'), error, false)
    if (trouble === 'authorization' && place.authorization !== undefined) return place.isUnregistered() ? 'unregistered' : 'unauthorised'
    const cause = messageOf(error)
    log.info('a server is not connected', { server: place.server, directory: place.directory, cause })
    throw error
  } finally {
    server.wasTried = true
  }
}

export async function closeServer(server: Server): Promise<void> {
  const closing = server.session
  server.session = undefined
  await closing?.close()
}

/** Nothing is offered any more: it is ended on purpose. */
export function withdrawOffers(server: Server): void {
  setOffers(server, NO_OFFERS, 'all')
}

async function readAnew(server: Server, kinds: readonly OfferKind[]): Promise<void> {
  const { deps, place } = server
  const { client } = server.session ?? {}
  if (client === undefined) return
  try {
    const next = await listOffers(client, { timeout: place.config.timeout, signal: new AbortController().signal })
    if (server.session?.client !== client) return
    const differ = kinds.filter((kind) => JSON.stringify(next[kind]) !== JSON.stringify(server.offers[kind]))
    const [first] = differ
    if (first === undefined) return
    const changed = Object.fromEntries(differ.map((kind) => [kind, next[kind]]))
    setOffers(server, { ...server.offers, ...changed }, differ.length === 1 ? first : 'all')
  } catch (error) {
    deps.effects.log.info('what a server offers could not be read anew', { server: place.server, cause: String(error) })
  }
}

function setOffers(server: Server, next: Offers, kind: OfferKind | 'all'): void {
  if (next === server.offers) return
  server.offers = next
  server.deps.onOffers(kind)
}
