/**
 * A session with a server, by the official client library, which is loaded when the first is opened.
 *
 * I1 What was opened is closed when opening fails; `close` ends it with everything that belongs to it.
 * I2 Nothing a server defines is compiled or run: its schemas are data for whoever calls its tools.
 */
import { cut } from '../../../kernel/cut.js'
import type * as Mcp from '@modelcontextprotocol/client'
import type {
  Client,
  CreateMessageRequest,
  CreateMessageResult,
  ElicitRequest,
  ElicitResult,
  JsonSchemaValidatorResult,
  Transport,
} from '@modelcontextprotocol/client'
import type { NativeHost } from '../../../ports/plugin.js'
import type { ProjectProgram } from '../../../ports/programs.js'
import { toFailure } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import { commandLine, type McpConfig, type McpRemote, samplingOf, substituteVariables } from '../../../protocol/mcp/mcp-config.js'
import { withinTime } from '../../../kernel/patience.js'
import { isSecretName } from '../../../protocol/text/secrets.js'
import { createGuardedHttp } from './guarded-http.js'
import { listOffers, type OfferKind, type Offers } from './lists.js'
import type { Secrets } from './secrets.js'
import { createStdioTransport } from './stdio.js'

export type Library = typeof Mcp

/** What stands for the person who signed in to a server. */
export interface Authorization {
  token(): Promise<string | undefined>
  onUnauthorized(context: { readonly response: Response }): Promise<void>
  /** What was allowed is not enough: who signs in next is asked for this as well. */
  needs(scope: string): void
}

export interface SessionDeps {
  readonly programs: Pick<NativeHost['programs'], 'open'>
  readonly effects: Pick<NativeHost['effects'], 'fetch' | 'network' | 'childEnv' | 'clock' | 'log'>
  readonly secrets: Secrets
  /** Variables that `{env:NAME}` stands for. */
  readonly variables: Readonly<Record<string, string | undefined>>
  readonly version: string
}

export interface SessionPlace {
  readonly server: string
  readonly directory: string
  readonly config: McpConfig
  readonly program: ProjectProgram
  /** Absent: nobody signs in to this server. */
  readonly authorization: Authorization | undefined
}

export interface SessionListener {
  onLost(reason: string): void
  onChanged(kind: OfferKind): void
  /** A question for the person; answers what the server is told. */
  onAsked(request: ElicitRequest['params'], signal: AbortSignal): Promise<ElicitResult>
  /** A question for the model, of a server that may ask some. What it throws is told as a refusal. */
  onSampled(request: CreateMessageRequest['params'], signal: AbortSignal): Promise<CreateMessageResult>
}

export interface Session {
  readonly client: Client
  /** As they were when it was opened. */
  readonly offers: Offers
  /** The server gave it a name, which it can forget. */
  readonly hasId: boolean
  /** Never rejects. */
  close(): Promise<void>
}

const CLOSE = 2000
const LEVELS: Readonly<Record<string, 'debug' | 'info' | 'warn'>> = {
  warning: 'warn',
  error: 'warn',
  critical: 'warn',
  alert: 'warn',
  emergency: 'warn',
}
const TOLD = 1000
/** Of a question for the model that the person, or a bound, refuses. */
const REFUSED = -1

/** Rejects with what the library or the server says. */
export async function openSession(
  deps: SessionDeps,
  place: SessionPlace,
  listener: SessionListener,
  signal: AbortSignal,
): Promise<Session> {
  const library = await import('@modelcontextprotocol/client')
  const mayTell = lineAllowance(deps.effects.clock)
  const { config } = place
  if (config.type === 'local') {
    const { environment = {}, env = {} } = config
    const own = substituteVariables({ ...env, ...environment }, deps.variables)
    const { program } = place
    const started = { program, words: commandLine(config) }
    noteSecrets(deps.secrets, { ...env, ...environment }, own)
    const transport = createStdioTransport({
      effects: deps.effects,
      server: place.server,
      open: async (streams) => deps.programs.open(started, { ...streams, cwd: place.directory, env: { ...deps.effects.childEnv, ...own } }),
      mayTell,
    })
    return begin({ deps, library, place, listener, mayTell }, transport, signal)
  }
  const flood = new AbortController()
  const options = httpOptions(deps, place, config, () => flood.abort())
  const about = { deps, library, place, listener, mayTell, flood: flood.signal }
  const streamable = new library.StreamableHTTPClientTransport(new URL(config.url), options)
  try {
    return await begin(about, streamable, signal)
  } catch (error) {
    if (!isLegacy(library, error) || signal.aborted) throw error
    return begin(about, new library.SSEClientTransport(new URL(config.url), options), signal)
  }
}

function httpOptions(deps: SessionDeps, { authorization }: SessionPlace, config: McpRemote, onFlood: () => void) {
  const headers = substituteVariables(config.headers, deps.variables)
  noteSecrets(deps.secrets, config.headers, headers)
  return {
    fetch: createGuardedHttp(deps.effects, config, onFlood),
    requestInit: { headers },
    ...(authorization && {
      authProvider: {
        token: () => authorization.token(),
        onUnauthorized: (context: { response: Response }) => authorization.onUnauthorized(context),
      },
    }),
    reconnectionOptions: { initialReconnectionDelay: 250, maxReconnectionDelay: 5000, reconnectionDelayGrowFactor: 2, maxRetries: 5 },
    onInsufficientScope: 'throw' as const,
  }
}

/** What is named like a credential, or stands in a variable instead of the configuration. */
function noteSecrets(secrets: Secrets, written: Readonly<Record<string, string>>, values: Readonly<Record<string, string>>): void {
  secrets.note(Object.entries(values).flatMap(([name, value]) => (isSecretName(name) || written[name] !== value ? [value] : [])))
}

interface About {
  readonly deps: SessionDeps
  readonly library: Library
  readonly place: SessionPlace
  readonly listener: SessionListener
  readonly mayTell: () => boolean
  /** It sends without end, and the connection is to end. */
  readonly flood?: AbortSignal
}

async function begin(
  { deps, library, place, listener, mayTell, flood }: About,
  transport: Transport,
  signal: AbortSignal,
): Promise<Session> {
  const { clock, log } = deps.effects
  const { server, directory, config } = place
  const asking = { timeout: config.timeout, signal }
  const over = new AbortController()
  let reason = 'the server ended the connection'
  const client = new library.Client(
    { name: 'svc', version: deps.version },
    {
      capabilities: { roots: {}, elicitation: { form: {}, url: {} }, ...(samplingOf(config) !== undefined && { sampling: {} }) },
      jsonSchemaValidator: { getValidator: () => accepting }, // I2
    },
  )
  client.setRequestHandler('roots/list', () => ({
    roots: [{ uri: fileAddress(directory), name: directory.split('/').at(-1) ?? directory }],
  }))
  client.setRequestHandler('elicitation/create', ({ params }, { mcpReq }) => listener.onAsked(params, mcpReq.signal))
  if (samplingOf(config) !== undefined)
    client.setRequestHandler('sampling/createMessage', async ({ params }, { mcpReq }) => {
      try {
        return await listener.onSampled(params, mcpReq.signal)
      } catch (error) {
        throw new library.ProtocolError(REFUSED, toFailure(error).message)
      }
    })
  client.setNotificationHandler('notifications/message', ({ params: { level, data } }) => {
    const text = typeof data === 'string' ? data : (JSON.stringify(data) ?? '')
    if (mayTell()) log[LEVELS[level] ?? 'debug']('a server says', { server, text: cut(text, TOLD, '') })
  })
  client.setNotificationHandler('notifications/tools/list_changed', () => listener.onChanged('tools'))
  client.setNotificationHandler('notifications/prompts/list_changed', () => listener.onChanged('prompts'))
  client.setNotificationHandler('notifications/resources/list_changed', () => listener.onChanged('resources'))
  Object.assign(client, {
    onerror(error: Error) {
      reason = deps.secrets.hide(error.message)
      if (mayTell()) log.debug('a connection to a server reports', { server, cause: cut(error.message, TOLD, '') })
    },
    onclose() {
      if (!over.signal.aborted) listener.onLost(reason)
    },
  })
  const close = async () => {
    over.abort()
    flood?.removeEventListener('abort', drown)
    const http = transport instanceof library.StreamableHTTPClientTransport ? transport : undefined
    const leave = http?.sessionId === undefined ? Promise.resolve() : http.terminateSession()
    await withinTime(clock, leave, CLOSE, 'the server does not end the session').catch(() => undefined)
    await client.close().catch(() => undefined)
    await transport.close().catch(() => undefined)
  }
  const drown = () => {
    reason = 'it sends without end'
    void transport.close().catch(() => undefined)
  }
  flood?.addEventListener('abort', drown, { once: true })
  try {
    await client.connect(transport, asking)
    const offers = await listOffers(client, asking)
    return {
      client,
      offers,
      get hasId() {
        return transport.sessionId !== undefined
      },
      close,
    }
  } catch (error) {
    await close()
    throw error instanceof library.SdkError && error.code === library.SdkErrorCode.ConnectionClosed
      ? new Error(reason, { cause: error })
      : error
  }
}

function accepting<T>(data: unknown): JsonSchemaValidatorResult<T> {
  return isAny<T>(data) ? { valid: true, data, errorMessage: undefined } : { valid: false, data: undefined, errorMessage: '' }
}

function isAny<T>(_data: unknown): _data is T {
  return true
}

/** A server of the first kind answers the first message with some refusal that is not about who asks. */
function isLegacy({ SdkHttpError }: Library, error: unknown): boolean {
  if (!(error instanceof SdkHttpError)) return false
  const { status } = error
  return status >= 400 && status < 500 && status !== 401 && status !== 403
}

function fileAddress(path: string): string {
  return `file://${path.split('/').map(encodeURIComponent).join('/')}`
}

function lineAllowance({ monotonic }: Pick<NativeHost['effects']['clock'], 'monotonic'>): () => boolean {
  let minute = Number.NEGATIVE_INFINITY
  let told = 0
  return () => {
    const now = Math.floor(monotonic() / 60_000)
    if (now !== minute) told = 0
    minute = now
    return ++told <= LIMITS.mcp.logLines
  }
}
