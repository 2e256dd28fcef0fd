/**
 * One language server for one project of a workspace: its actor, its program, what it was told and what it found (subsystems e.4 to e.6).
 *
 * I1 Whoever asks it starts it, and waits for the one handshake. While it backs off only those wait whom it has served before.
 * I2 An error it answers is that answer; only the loss of its program breaks it.
 * I3 What it has found stays until something new comes, also over a restart.
 */
import { createActor, fromPromise } from 'xstate'
import * as z from 'zod'
import type { NativeHost } from '../../../ports/plugin.js'
import type { ProjectProgram } from '../../../ports/programs.js'
import { type LspClientEvent, type LspClientInput, lspClientMachine } from '../../../machines/lsp/lsp-client.machine.js'
import { SvcError } from '../../../protocol/errors.js'
import { isRecord } from '../../../protocol/text/json.js'
import { LIMITS } from '../../../protocol/limits.js'
import { sleep } from '../../../kernel/patience.js'
import { type ConfiguredAdapter, splitEndpoint } from '../configured.js'
import { openProgram, type Program } from '../link/connection.js'
import { initializeParams, readTraits, type ServerTraits } from '../link/handshake.js'
import { type OpenLine, programLine, socketLine } from '../link/lines.js'
import { answerServer } from '../link/requests.js'
import { fileUri, pathOfUri } from './addresses.js'
import { createDiagnostics, type Diagnostics } from './diagnostics.js'
import { createDocuments, type Documents, type OpenDocument } from './documents.js'

/** A server that has been greeted. */
export interface Running {
  readonly program: Program
  readonly traits: ServerTraits
  readonly documents: Documents
}

export interface Client {
  readonly adapter: ConfiguredAdapter
  readonly root: string
  readonly directory: string
  readonly diagnostics: Diagnostics
  readonly isReady: boolean
  /** Why it is broken; undefined = it is not. */
  readonly reason: string | undefined
  /** The running server, which is started when it does not run; undefined when it cannot be had. */
  ready(signal: AbortSignal): Promise<Running | undefined>
  /** The running server; undefined when it does not run. Nothing is started. */
  readonly running: Running | undefined
  /** Tells the server what a file holds. Rejects when the file cannot be read. */
  sync(running: Running, path: string, languageId: string, text?: string): Promise<OpenDocument>
  /** Asks for what is wrong in a file, or waits for it, `ms` at most. */
  look(running: Running, document: OpenDocument, ms: number, signal: AbortSignal): Promise<void>
  /** Resolves when nothing of it runs. */
  retire(): Promise<void>
}

export interface ClientDeps {
  readonly effects: Pick<NativeHost['effects'], 'clock' | 'files' | 'network' | 'childEnv' | 'log'>
  readonly programs: Pick<NativeHost['programs'], 'open'>
  readonly actors: NativeHost['actors']
  readonly version: string
  onDiagnostics(): void
}

export interface ClientPlace extends LspClientInput {
  readonly configured: ConfiguredAdapter
  /** What is started; undefined = it runs already, and is reached. */
  readonly program: ProjectProgram | undefined
}

const Report = z.looseObject({
  kind: z.string(),
  items: z.unknown().optional(),
  relatedDocuments: z.record(z.string(), z.looseObject({ kind: z.string(), items: z.unknown().optional() })).nullish(),
})

export function createClient(deps: ClientDeps, { configured, program: wanted, ...place }: ClientPlace): Client {
  const { clock, files, childEnv, log } = deps.effects
  const { root, directory, adapter } = place
  const rootUri = fileUri(root)
  const rootName = root.split('/').at(-1) || root
  const diagnostics = createDiagnostics(deps.onDiagnostics)
  let running: Running | undefined
  let opened: Program | undefined
  let starting: Promise<unknown> = Promise.resolve()

  async function start(signal: AbortSignal): Promise<void> {
    await close() // I4 of the machine
    const open = await lineOf(signal)
    signal.throwIfAborted()
    let mine: Program | undefined
    const started = await openProgram({
      effects: deps.effects,
      adapter,
      open,
      onRequest: (method, params) => answerServer({ rootUri, rootName, settings: configured.settings }, method, params),
      onNotification(method, params) {
        if (mine !== undefined) hear(mine, method, params)
      },
      onLost(reason) {
        if (mine === undefined || opened !== mine) return
        log.info('a language server is lost', { adapter, root, reason })
        tell({ type: 'server.lost', reason })
      },
    })
    mine = started
    opened = started
    try {
      const { initializationOptions } = configured
      const params = initializeParams({ root, rootUri, rootName, initializationOptions, version: deps.version })
      const traits = readTraits(await started.request('initialize', params, { ms: LIMITS.lsp.initialize, signal }))
      diagnostics.restart()
      started.notify('initialized', {})
      if (configured.settings !== undefined) started.notify('workspace/didChangeConfiguration', { settings: configured.settings })
      running = { program: started, traits, documents: createDocuments(files, started, traits) }
    } catch (error) {
      log.info('a language server did not start', { adapter, root, cause: error instanceof Error ? error.message : String(error) })
      await close()
      throw error instanceof SvcError ? error : new SvcError('request.unprocessable', reasonOf(error), {}, { cause: error })
    }
  }

  async function lineOf(signal: AbortSignal): Promise<OpenLine> {
    const { command, endpoint, env } = configured
    const [host, port] = splitEndpoint(endpoint)
    if (host !== undefined && port !== undefined) return socketLine(deps.effects, { host, port, signal })
    if (wanted === undefined) throw new SvcError('request.unprocessable', 'It has neither a program nor an address.')
    const started = { program: wanted, words: command }
    return programLine(async (streams) => deps.programs.open(started, { ...streams, cwd: root, env: { ...childEnv, ...env } }))
  }

  async function close(): Promise<void> {
    const program = opened
    const wasRunning = running !== undefined
    opened = undefined
    running = undefined
    if (program === undefined) return
    if (wasRunning) {
      await program.request('shutdown', undefined, { ms: LIMITS.lsp.shutdown }).catch(() => undefined)
      if (configured.endpoint === undefined) program.notify('exit') // What runs for others as well is left.
    }
    await program.end()
  }

  function hear(program: Program, method: string, params: unknown): void {
    if (method !== 'textDocument/publishDiagnostics' || running?.program !== program || !isRecord(params)) return
    const { uri, version, diagnostics: items } = params
    const path = typeof uri === 'string' ? pathOfUri(uri) : undefined
    if (path === undefined) return
    const current = running.documents.get(path)?.version
    const of = typeof version === 'number' ? version : undefined
    diagnostics.accept({ path, version: of, items, encoding: running.traits.encoding, current })
  }

  const logic = lspClientMachine.provide({
    actors: {
      start: fromPromise<void, LspClientInput>(({ signal }) => {
        const work = starting.then(() => start(signal))
        starting = work.catch(() => undefined)
        return work
      }),
      close: fromPromise<void, LspClientInput>(async () => {
        await starting
        await close()
      }),
    },
  })
  const actor = createActor(logic, { id: `lsp:${adapter}:${root}`, input: place, clock })
  actor.subscribe({ error: (error) => log.error('the actor of a language server crashed', { adapter, cause: String(error) }) })
  deps.actors.add(actor, 'lsp-client')
  actor.start()

  function tell(event: LspClientEvent): void {
    if (actor.getSnapshot().status === 'active') actor.send(event)
  }

  /** Resolves once it is in a state that is meant, or has ended. */
  function reached(isMeant: (snapshot: ReturnType<typeof actor.getSnapshot>) => boolean, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const isOver = (snapshot = actor.getSnapshot()) => snapshot.status !== 'active' || isMeant(snapshot)
      if (isOver() || signal.aborted) return resolve()
      const end = () => {
        subscription.unsubscribe()
        signal.removeEventListener('abort', end)
        resolve()
      }
      const subscription = actor.subscribe({
        next(snapshot) {
          if (isOver(snapshot)) end()
        },
        complete: end,
        error: end,
      })
      signal.addEventListener('abort', end, { once: true })
    })
  }

  const settled = (signal: AbortSignal) => reached((snapshot) => snapshot.hasTag('settled'), signal)

  async function pull({ program, traits, documents }: Running, { path, uri, version }: OpenDocument, ms: number, signal: AbortSignal) {
    const identifier = traits.pull?.identifier
    const params = { textDocument: { uri }, ...(identifier !== undefined && { identifier }) }
    const report = Report.parse(await program.request('textDocument/diagnostic', params, { ms, signal }))
    const { encoding } = traits
    if (report.kind === 'full') diagnostics.accept({ path, version, items: report.items, encoding, current: documents.get(path)?.version })
    for (const [address, other] of Object.entries(report.relatedDocuments ?? {})) {
      const at = pathOfUri(address)
      if (at !== undefined && other.kind === 'full')
        diagnostics.accept({ path: at, version: undefined, items: other.items, encoding, current: undefined })
    }
  }

  /** Resolves when something is accepted for the file, `ms` later at the latest. */
  async function published(path: string, ms: number, signal: AbortSignal): Promise<void> {
    const done = new AbortController()
    const late = sleep(clock, ms, AbortSignal.any([signal, done.signal]))
    await Promise.race([diagnostics.next(path), late])
    done.abort()
  }

  return {
    adapter: configured,
    root,
    directory,
    diagnostics,
    get isReady() {
      return actor.getSnapshot().hasTag('ready')
    },
    get reason() {
      const snapshot = actor.getSnapshot()
      return snapshot.hasTag('broken') ? snapshot.context.reason : undefined
    },
    get running() {
      return running
    },
    async ready(signal) {
      if (!actor.getSnapshot().matches('starting')) await settled(signal)
      const before = actor.getSnapshot()
      if (before.matches('backingOff')) {
        if (!before.context.hasServed) return undefined // I1
        await reached((snapshot) => !snapshot.matches('backingOff'), signal)
      }
      if (signal.aborted) return undefined
      tell({ type: 'query.asked' })
      await settled(signal)
      return actor.getSnapshot().hasTag('ready') ? running : undefined
    },
    async sync({ documents }, path, languageId, text) {
      const before = documents.get(path)
      const document = await documents.sync(path, languageId, text)
      if (document.version !== before?.version) diagnostics.await(path)
      return document
    },
    async look(mine, document, ms, signal) {
      if (mine.traits.pull !== undefined) return pull(mine, document, ms, signal).catch(() => undefined)
      if (!diagnostics.isAwaited(document.path)) return
      const { path, version } = document
      const begun = clock.monotonic()
      await published(path, ms, signal)
      if (version > 0 || diagnostics.isAwaited(path) || diagnostics.of(path) !== undefined) return
      // Of a file it was just told of, a server may say that nothing is wrong before it has looked.
      await published(path, Math.min(LIMITS.lsp.settle, ms - (clock.monotonic() - begun)), signal)
    },
    async retire() {
      tell({ type: 'retire.requested' })
      await reached(() => false, new AbortController().signal)
    },
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof z.ZodError) return 'it does not answer "initialize" as the protocol has it'
  return error instanceof Error ? error.message : String(error)
}
