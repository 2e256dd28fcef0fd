/**
 * The program of one language server: how it is started and greeted, what it tells, and how it is ended (subsystems e.4, e.6).
 *
 * I1 At most one is open; what is heard of one that was let go of counts for nothing.
 * I2 What it has found stays until something new comes, also over a restart.
 */
import * as z from 'zod'
import type { NativeHost } from '../../../ports/plugin.js'
import type { ProjectProgram } from '../../../ports/programs.js'
import type { LspClientInput } from '../../../machines/lsp/lsp-client.machine.js'
import { SvcError } from '../../../protocol/errors.js'
import { isRecord } from '../../../protocol/text/json.js'
import { LIMITS } from '../../../protocol/limits.js'
import { type ConfiguredAdapter, splitEndpoint } from '../configured.js'
import { openProgram, type Program } from '../link/connection.js'
import { initializeParams, readTraits, type ServerTraits } from '../link/handshake.js'
import { type OpenLine, programLine, socketLine } from '../link/lines.js'
import { answerServer } from '../link/requests.js'
import { fileUri, pathOfUri } from './addresses.js'
import type { Diagnostics } from './diagnostics.js'
import { createDocuments, type Documents } from './documents.js'
import { messageOf } from '../../../protocol/message-of.js'

/** A server that has been greeted. */
export interface Running {
  readonly program: Program
  readonly traits: ServerTraits
  readonly documents: Documents
}

export interface ServerDeps {
  readonly effects: Pick<NativeHost['effects'], 'clock' | 'files' | 'network' | 'childEnv' | 'log'>
  readonly programs: Pick<NativeHost['programs'], 'open'>
  readonly version: string
}

export interface ServerPlace extends LspClientInput {
  readonly configured: ConfiguredAdapter
  /** What is started; undefined = it runs already, and is reached. */
  readonly program: ProjectProgram | undefined
}

/** What there is of one server, and what of it runs. */
export interface Server {
  readonly deps: ServerDeps
  readonly place: ServerPlace
  readonly diagnostics: Diagnostics
  opened: Program | undefined
  running: Running | undefined
  /** Its program is gone, and nobody ended it. */
  onLost(reason: string): void
}

/** Starts and greets it; what was started is gone when it rejects. */
export async function startServer(server: Server, signal: AbortSignal): Promise<void> {
  await closeServer(server) // I4 of the machine
  const { deps, place, diagnostics } = server
  const { adapter, root, configured } = place
  const program = await openServer(server, signal)
  try {
    const { initializationOptions, settings } = configured
    const names = { root, rootUri: fileUri(root), rootName: nameOf(root) }
    const params = initializeParams({ ...names, initializationOptions, version: deps.version })
    const traits = readTraits(await program.request('initialize', params, { ms: LIMITS.lsp.initialize, signal }))
    diagnostics.restart()
    program.notify('initialized', {})
    if (settings !== undefined) program.notify('workspace/didChangeConfiguration', { settings })
    server.running = { program, traits, documents: createDocuments(deps.effects.files, program, traits) }
  } catch (error) {
    deps.effects.log.info('a language server did not start', {
      adapter,
      root,
      cause: messageOf(error),
    })
    await closeServer(server)
    throw error instanceof SvcError ? error : new SvcError('request.unprocessable', reasonOf(error), {}, { cause: error })
  }
}

/** Says goodbye and ends its program. Never rejects. */
export async function closeServer(server: Server): Promise<void> {
  const program = server.opened
  const wasRunning = server.running !== undefined
  server.opened = undefined
  server.running = undefined
  if (program === undefined) return
  if (wasRunning) {
    await program.request('shutdown', undefined, { ms: LIMITS.lsp.shutdown }).catch(() => undefined)
    if (server.place.configured.endpoint === undefined) program.notify('exit') // What runs for others as well is left.
  }
  await program.end()
}

async function openServer(server: Server, signal: AbortSignal): Promise<Program> {
  const { deps, place } = server
  const { adapter, root, configured } = place
  const open = await lineOf(server, signal)
  signal.throwIfAborted()
  let mine: Program | undefined
  const asked = { rootUri: fileUri(root), rootName: nameOf(root), settings: configured.settings }
  const started = await openProgram({
    effects: deps.effects,
    adapter,
    open,
    onRequest: (method, params) => answerServer(asked, method, params),
    onNotification(method, params) {
      if (mine !== undefined) hear(server, mine, method, params)
    },
    onLost(reason) {
      if (mine === undefined || server.opened !== mine) return
      deps.effects.log.info('a language server is lost', { adapter, root, reason })
      server.onLost(reason)
    },
  })
  mine = started
  server.opened = started
  return started
}

async function lineOf({ deps, place }: Server, signal: AbortSignal): Promise<OpenLine> {
  const { root, configured, program } = place
  const { command, endpoint, env } = configured
  const { effects, programs } = deps
  const [host, port] = splitEndpoint(endpoint)
  if (host !== undefined && port !== undefined) return socketLine(effects, { host, port, signal })
  if (program === undefined) throw new SvcError('request.unprocessable', 'It has neither a program nor an address.')
  const started = { program, words: command }
  return programLine(async (streams) => programs.open(started, { ...streams, cwd: root, env: { ...effects.childEnv, ...env } }))
}

function hear({ running, diagnostics }: Server, program: Program, method: string, params: unknown): void {
  if (method !== 'textDocument/publishDiagnostics' || running?.program !== program || !isRecord(params)) return
  const { uri, version, diagnostics: items } = params
  const path = typeof uri === 'string' ? pathOfUri(uri) : undefined
  if (path === undefined) return
  const current = running.documents.get(path)?.version
  const of = typeof version === 'number' ? version : undefined
  diagnostics.accept({ path, version: of, items, encoding: running.traits.encoding, current })
}

function nameOf(root: string): string {
  return root.split('/').at(-1) || root
}

function reasonOf(error: unknown): string {
  if (error instanceof z.ZodError) return 'it does not answer "initialize" as the protocol has it'
  return messageOf(error)
}
