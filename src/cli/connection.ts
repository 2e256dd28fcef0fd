/**
 * Where commands find their server: at an address, the one that uses our state directory, or inside this process. All are driven by
 * `svc/client`.
 *
 * I1 One server uses a state directory: who meets its lock waits for that server to answer, or for its end.
 * I2 A server inside a process ends once no other command uses it: it can no longer be found when that is looked at for the last time.
 * I3 What an agent has started does not use the server of that agent as its operator: it gets a server and a state directory of its
 *    own, which go with it.
 * I4 A server whose configuration holds for one command is found by no other, and one that leaves nothing has a state directory that goes
 *    with its process, however that ends in order.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join as joinPath } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { stayLeanNoMore } from '../platform/node/heap.js'
import { nodePaths } from '../platform/node/paths.js'
import { MARK, OF_TERMINAL } from '../platform/node/process/program-families.js'
import { createClient } from '../published/client/client.js'
import { PLATFORM } from '../published/client/platform.js'
import { createTransport, type Outgoing } from '../published/client/transport.js'
import type { Client } from '../published/client/client-types.js'
import { SvcError } from '../protocol/errors.js'
import { loopbackFetch } from './loopback-fetch.js'
import { watchInterrupts } from './terminal/interruption.js'
import { writeError } from './terminal/output.js'
import { explainLock, hasUsers, noteUse, type Presence, readPresence } from '../server/presence.js'
import type { RunningService } from '../server/composition.js'

export interface Connection {
  readonly client: Client
  /** The success of a call as it arrives, for answers too large to be kept. */
  open(request: Outgoing): Promise<Response>
  /** Origin, such as `http://127.0.0.1:4096`. */
  readonly url: string
  readonly hasToken: boolean
  /** The server is inside this process. */
  readonly isOwn: boolean
  /** Stops the embedded server, if there is one, as soon as no other command uses it. */
  close(): Promise<void>
}

/** The token of running servers; read before the environment is scrubbed. */
const TOKEN = process.env['SVC_AGENT_TOKEN']
/** Some svc has started this process for an agent; in a terminal of svc it is a person who does. */
const IS_OF_AGENT = isOfAgent(process.env[MARK])
/** For a server that starts or ends, ms. */
const PATIENCE = 15_000
const PAUSE = 100

/** A connection to the server at `url`, to the one that uses our state directory, or to one of our own that only commands of this user find. */
export async function connect(url: string | undefined, options: Own = {}): Promise<Connection> {
  if (url !== undefined) return connectTo(url)
  const { isApart = false, isEphemeral = false, configuration } = options
  const { state } = nodePaths(process.env)
  if (configuration !== undefined) process.env['SVC_AGENT_CONFIG_CONTENT'] = configuration
  const startOwn = prepareOwn(configuration !== undefined)
  if (isEphemeral) return startEphemeral(startOwn, state)
  if (configuration !== undefined) return startAlone(startOwn, state)
  for (const deadline = Date.now() + PATIENCE; ; await delay(PAUSE)) {
    const joined = isApart && IS_OF_AGENT && readPresence(state) !== undefined ? 'refused' : await join(state)
    if (joined === 'refused') return startApart(startOwn) // I3
    if (joined !== undefined) return joined
    try {
      return await startOwn()
    } catch (error) {
      const isHeld = error instanceof SvcError && error.code === 'resource.conflict'
      if (!isHeld || Date.now() > deadline) throw explainLock(error, state)
    }
  }
}

interface Own {
  /** For what an agent has started: see I3. */
  readonly isApart?: boolean
  /** On a state directory of its own, which is removed; sign-ins and keys are those of the usual one. */
  readonly isEphemeral?: boolean
  /** Text that stands for `SVC_AGENT_CONFIG_CONTENT`. */
  readonly configuration?: string | undefined
}

/** A connection to a running server; nothing is sent before the first call. */
export function connectTo(url: string, token = TOKEN): Connection {
  return { ...doorsOf(url, token), url, hasToken: token !== undefined, isOwn: false, close: () => Promise.resolve() }
}

function doorsOf(baseUrl: string, token: string | undefined): Pick<Connection, 'client' | 'open'> {
  const options = { baseUrl, token, fetch: loopbackFetch }
  return {
    client: createClient(options),
    open: (request) => createTransport(options, PLATFORM).exchange(request, (response) => Promise.resolve(response)),
  }
}

/** A connection to the server that uses our state directory, if one runs. */
export async function connectToRunning(): Promise<Connection | undefined> {
  const joined = await join(nodePaths(process.env).state)
  return joined === 'refused' ? undefined : joined
}

/** The server that uses the state directory, if it answers. */
async function join(state: string): Promise<Connection | 'refused' | undefined> {
  if (readPresence(state) === undefined) return undefined
  const leave = noteUse(state)
  const holder = readPresence(state)
  const verdict = holder?.kind === 'run' ? await (await import('../server/door.js')).askAtDoor(state) : { token: TOKEN }
  if (holder !== undefined && verdict !== undefined && 'token' in verdict && (await isThere(holder))) {
    return { ...connectTo(holder.url, verdict.token), close: () => Promise.resolve(leave()) }
  }
  leave()
  return verdict !== undefined && 'refused' in verdict ? 'refused' : undefined
}

async function startApart(startOwn: () => Promise<Connection>): Promise<Connection> {
  writeError('an agent runs this: it has a server of its own, whose conversations are gone when it ends\n', 'dim')
  return startRemoved(startOwn)
}

async function startEphemeral(startOwn: () => Promise<Connection>, usual: string): Promise<Connection> {
  process.env['SVC_AGENT_AUTH_PATH'] ??= joinPath(usual, 'auth.json')
  return startRemoved(startOwn)
}

/** On a state directory that is made for this and removed with it, also where a second Ctrl-C ends the process at once. */
async function startRemoved(startOwn: () => Promise<Connection>): Promise<Connection> {
  const state = mkdtempSync(joinPath(tmpdir(), 'svc-apart-'))
  process.env['SVC_AGENT_STATE_DIR'] = state
  const remove = () => rmSync(state, { recursive: true, force: true })
  process.once('exit', remove)
  const own = await startOwn()
  const close = async () => {
    await own.close()
    remove()
  }
  return { ...own, close }
}

/** The server that runs has a configuration of its own. */
async function startAlone(startOwn: () => Promise<Connection>, state: string): Promise<Connection> {
  try {
    return await startOwn()
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== 'resource.conflict') throw error
    const message = `another svc uses ${state}, and its configuration stays as it is: --ephemeral has a server of its own, or stop the other first`
    throw new SvcError('resource.conflict', message, {}, { cause: error })
  }
}

/** A mark is that of the server and a part of its own, which for a terminal begins with `OF_TERMINAL`. */
function isOfAgent(mark: string | undefined): boolean {
  return mark !== undefined && !mark.includes(`.${OF_TERMINAL}`)
}

/** A note may outlive its server. */
async function isThere({ url }: Presence): Promise<boolean> {
  try {
    return (await createClient({ baseUrl: url, fetch: loopbackFetch }).health()).healthy
  } catch {
    return false
  }
}

/** Starts a server on a free loopback port; may be called again after it has failed. Other commands do not find one that is alone. */
function prepareOwn(isAlone = false): () => Promise<Connection> {
  let loading: ReturnType<typeof load> | undefined
  return async () => {
    loading ??= load()
    const inside = await loading
    const token = randomBytes(32).toString('base64url')
    const options = { hostname: '127.0.0.1', port: 0, origins: [], hosts: [], token, kind: 'run' } as const
    const service = await inside.start(options).catch((error: unknown) => {
      throw ofOurs(error)
    })
    if (isAlone) service.hide()
    return {
      ...doorsOf(service.url, token),
      url: service.url,
      hasToken: true,
      isOwn: true,
      close: () => endOwn(service, inside.state),
    }
  }
}

async function load() {
  stayLeanNoMore()
  const [{ prepareInside }, { keptLog }] = await Promise.all([import('./embedded.js'), import('./kept-log.js')])
  return prepareInside(keptLog(process.env, 'error'))
}

/** The server is a bundle of its own: its errors are not of our class. */
function ofOurs(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof SvcError || error.name !== 'SvcError') return error
  const { code, message, details } = error as SvcError
  return new SvcError(code, message, details, { cause: error })
}

/** Waits until no other command uses the server; Ctrl-C waits no longer. */
async function endOwn(service: RunningService, state: string): Promise<void> {
  const { signal, forget } = watchInterrupts(() => undefined)
  if (hasUsers(state)) writeError('other commands use the server of this one; it ends with them, or at Ctrl-C\n', 'dim')
  while (!signal.aborted) {
    while (hasUsers(state) && !signal.aborted) await delay(PAUSE, undefined, { signal }).catch(() => undefined)
    const show = service.hide()
    if (!hasUsers(state)) break
    show()
  }
  forget()
  await service.stop()
}
