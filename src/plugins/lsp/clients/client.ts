/**
 * One language server for one project of a workspace: its actor, its program, what it was told and what it found (subsystems e.4 to e.6).
 *
 * I1 Whoever asks it starts it, and waits for the one handshake. While it backs off only those wait whom it has served before.
 * I2 An error it answers is that answer; only the loss of its program breaks it.
 */
import { chartOf } from '../../../kernel/machine/chart.js'
import { type Actor, createActor, fromPromise } from 'xstate'
import type { NativeHost } from '../../../ports/plugin.js'
import { type LspClientEvent, type LspClientInput, lspClientMachine } from '../../../machines/lsp/lsp-client.machine.js'
import { createLane } from '../../../kernel/lane.js'
import { reached } from '../../../kernel/reached.js'
import type { ConfiguredAdapter } from '../configured.js'
import { createDiagnostics, type Diagnostics } from './diagnostics.js'
import type { OpenDocument } from './documents.js'
import { lookAt } from './findings.js'
import { closeServer, type Running, type Server, type ServerDeps, type ServerPlace, startServer } from './running.js'

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

export interface ClientDeps extends ServerDeps {
  readonly actors: NativeHost['actors']
  onDiagnostics(): void
}

type ClientActor = Actor<typeof lspClientMachine>

export function createClient(deps: ClientDeps, place: ServerPlace): Client {
  const { adapter, directory, root, configured } = place
  const { clock, log } = deps.effects
  const diagnostics = createDiagnostics(deps.onDiagnostics)
  const server: Server = {
    deps,
    place,
    diagnostics,
    opened: undefined,
    running: undefined,
    onLost: (reason) => tell(actor, { type: 'server.lost', reason }),
  }
  const actor: ClientActor = createActor(logicOf(server), { id: `lsp:${adapter}:${root}`, input: { adapter, directory, root }, clock })
  actor.subscribe({ error: (error) => log.error('the actor of a language server crashed', { adapter, cause: String(error) }) })
  deps.actors.add(actor, 'lsp-client')
  actor.start()
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
      return server.running
    },
    ready: (signal) => ready(actor, server, signal),
    async sync({ documents }, path, languageId, text) {
      const before = documents.get(path)
      const document = await documents.sync(path, languageId, text)
      if (document.version !== before?.version) diagnostics.await(path)
      return document
    },
    look: (running, document, ms, signal) => lookAt(diagnostics, running, document, { clock, ms, signal }),
    async retire() {
      tell(actor, { type: 'retire.requested' })
      await reached(actor)
    },
  }
}

/** The machine asks for three at most: a start, its end while that goes on, and the last end. */
const AT_ONCE = 3

/** What its machine asks for, one after the other: a start that was given up ends before what it left is closed. */
function logicOf(server: Server): typeof lspClientMachine {
  const lane = createLane({ most: AT_ONCE })
  return chartOf(lspClientMachine).provide({
    actors: {
      start: fromPromise<void, LspClientInput>(({ signal }) => lane.run(() => startServer(server, signal))),
      close: fromPromise<void, LspClientInput>(() => lane.run(() => closeServer(server))),
    },
  })
}

/** I1 */
async function ready(actor: ClientActor, server: Server, signal: AbortSignal): Promise<Running | undefined> {
  const isSettled = (snapshot: ReturnType<ClientActor['getSnapshot']>) => snapshot.hasTag('settled')
  if (!actor.getSnapshot().hasTag('starting')) await reached(actor, isSettled, signal)
  const before = actor.getSnapshot()
  if (before.hasTag('waiting')) {
    if (!before.context.hasServed) return undefined
    await reached(actor, (snapshot) => !snapshot.hasTag('waiting'), signal)
  }
  if (signal.aborted) return undefined
  tell(actor, { type: 'query.asked' })
  await reached(actor, isSettled, signal)
  return actor.getSnapshot().hasTag('ready') ? server.running : undefined
}

function tell(actor: ClientActor, event: LspClientEvent): void {
  if (actor.getSnapshot().status === 'active') actor.send(event)
}
