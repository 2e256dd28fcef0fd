/**
 * Questions to the language servers of a file (subsystems e.5 to e.8).
 *
 * I1 Every question opens the file at the servers it goes to, as it is on disk.
 * I2 A server that is missing, cannot do it, fails or is late answers nothing; the others answer.
 */
import type { NativeHost } from '../../ports/plugin.js'
import type { InRun } from '../../ports/programs.js'
import { canonicalPath } from '../../protocol/text/canonical-path.js'
import { type Caller, mayUseDirectory } from '../../protocol/caller.js'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import type { LspCapability, LspTouched } from '../../protocol/lsp/lsp.js'
import type { LspDiagnostic, LspDocumentSymbol } from '../../protocol/lsp/lsp-records.js'
import { type Place, toServer } from '../../protocol/lsp/text-positions.js'
import { diagnosticsOf } from './answers/places.js'
import { createReading, type Reading } from './answers/reading.js'
import { symbolsOf } from './answers/symbols.js'
import { fileUri } from './clients/addresses.js'
import type { Client } from './clients/client.js'
import type { Running } from './clients/running.js'
import type { Clients, Fitting } from './clients/clients.js'
import type { OpenDocument } from './clients/documents.js'
import type { LspProvider } from './link/handshake.js'

export interface FileTarget {
  readonly directory: string
  /** Canonical. */
  readonly path: string
  readonly signal: AbortSignal
  /** The run that asks: its rules hold for what would start. */
  readonly run?: InRun
}

/** A server that has the file open. */
export interface Asked {
  readonly client: Client
  readonly running: Running
  readonly document: OpenDocument
  readonly reading: Reading
  readonly signal: AbortSignal
  request(method: string, params: object): Promise<unknown>
  /** From bytes to the units of the server. */
  at(place: Place): Place
}

interface Needs {
  readonly provider: LspProvider
  readonly capability?: LspCapability
}

type Question<Answer> = (asked: Asked) => Promise<readonly Answer[]>

export interface Queries {
  /** Canonical path of a file that the caller may ask about. Throws `request.forbidden`. */
  target(caller: Caller, directory: string, file: string, signal: AbortSignal): Promise<FileTarget>
  /** What each server that can do it answers, together. */
  ask<Answer>(target: FileTarget, needs: Needs, question: Question<Answer>): Promise<Answer[]>
  /** Symbols of whole projects by name, of servers that run. Nothing is started. */
  symbols(directory: string, query: string, signal: AbortSignal): Promise<LspDocumentSymbol[]>
  /** What is wrong in a file, as far as its servers say within two seconds. */
  diagnostics(target: FileTarget): Promise<LspDiagnostic[]>
  /** What is known to be wrong; nobody is asked. */
  known(client: Client, path: string, language: string): Promise<LspDiagnostic[]>
  touch(target: FileTarget, text: string | undefined): Promise<LspTouched[]>
  /** As `touch`, of servers that run already, and what they find then. Nothing is started. */
  changed(target: FileTarget, ms: number): Promise<readonly Fitting[]>
}

/** What is asked with. */
interface QueryDeps {
  readonly effects: Pick<NativeHost['effects'], 'files' | 'log'>
  readonly clients: Clients
}

export function createQueries({ effects }: Pick<NativeHost, 'effects'>, clients: Clients): Queries {
  const { files } = effects
  const deps: QueryDeps = { effects, clients }
  return {
    async target(caller, directory, file, signal) {
      const path = await canonicalPath((each) => files.realPath(each), file.startsWith('/') ? file : `${directory}/${file}`)
      if (!mayUseDirectory(caller, path)) throw new SvcError('request.forbidden', 'The file is outside of what the caller may use.')
      return { directory, path, signal }
    },
    ask: (target, needs, question) => ask(deps, target, needs, question),
    known: (client, path, language) => known(deps, client, path, language),
    symbols: (directory, query, signal) => symbolsIn(deps, directory, query, signal),
    diagnostics: (target) => diagnosticsIn(deps, target),
    touch: async (target, text) =>
      each(deps, await clients.for(target.directory, target.path, target.run), (one) =>
        told(deps, one, target, text, LIMITS.lsp.touchWait),
      ),
    changed: (target, ms) => changed(deps, target, ms),
  }
}

/** I2 */
async function quietly<T>({ effects }: QueryDeps, client: Client, work: () => Promise<readonly T[]>): Promise<readonly T[]> {
  try {
    return await work()
  } catch (error) {
    effects.log.debug('a language server gave no answer', {
      adapter: client.adapter.id,
      cause: error instanceof Error ? error.message : String(error),
    })
    return []
  }
}

async function each<T>(deps: QueryDeps, fitting: readonly Fitting[], work: (one: Fitting) => Promise<readonly T[]>): Promise<T[]> {
  return (await Promise.all(fitting.map((one) => quietly(deps, one.client, () => work(one))))).flat()
}

/** The running server, started where it may be. */
async function readyOf({ client, mayStart }: Fitting, signal: AbortSignal): Promise<Running | undefined> {
  return mayStart ? client.ready(signal) : client.running
}

function readingOf(
  { effects: { files } }: QueryDeps,
  { client, language }: Pick<Fitting, 'client' | 'language'>,
  running: Running | undefined,
  encoding = running?.traits.encoding ?? 'utf-16',
): Reading {
  return createReading({ files, directory: client.directory, language, encoding, documents: running?.documents })
}

async function ask<Answer>(
  deps: QueryDeps,
  target: FileTarget,
  { provider, capability }: Needs,
  question: Question<Answer>,
): Promise<Answer[]> {
  return each(deps, await deps.clients.for(target.directory, target.path, target.run), async (one) => {
    const { client, language } = one
    if (capability !== undefined && client.adapter.without.includes(capability)) return []
    const { path, signal } = target
    const running = await readyOf(one, signal)
    if (running?.traits.has(provider) !== true) return []
    const document = await client.sync(running, path, language)
    return question({
      client,
      running,
      document,
      reading: readingOf(deps, one, running),
      signal,
      request: (method, params) => running.program.request(method, params, { ms: LIMITS.lsp.request, signal }),
      at: (place) => toServer(document.lines, place, running.traits.encoding),
    })
  })
}

async function symbolsIn(deps: QueryDeps, directory: string, query: string, signal: AbortSignal): Promise<LspDocumentSymbol[]> {
  const ready = deps.clients.in(directory).filter((client) => client.isReady)
  const fitting = ready.map((client) => ({ client, language: client.adapter.language ?? client.adapter.id, mayStart: false }))
  return each(deps, fitting, async (one) => {
    const running = one.client.adapter.without.includes('workspace_symbols') ? undefined : one.client.running
    if (running?.traits.has('workspaceSymbolProvider') !== true) return []
    const answer = await running.program.request('workspace/symbol', { query }, { ms: LIMITS.lsp.request, signal })
    return symbolsOf(answer, fileUri(one.client.root), readingOf(deps, one, running))
  })
}

async function known(deps: QueryDeps, client: Client, path: string, language: string): Promise<LspDiagnostic[]> {
  const found = client.diagnostics.of(path)
  if (found === undefined) return []
  return diagnosticsOf(found.items, fileUri(path), readingOf(deps, { client, language }, client.running, found.encoding))
}

async function diagnosticsIn(deps: QueryDeps, target: FileTarget): Promise<LspDiagnostic[]> {
  return each(deps, await deps.clients.for(target.directory, target.path, target.run), async (one) => {
    const { client, language } = one
    const { path, signal } = target
    await quietly(deps, client, async () => {
      const running = await readyOf(one, signal)
      if (running !== undefined) await client.look(running, await client.sync(running, path, language), LIMITS.lsp.diagnosticsWait, signal)
      return []
    })
    return known(deps, client, path, language) // What was found stays, also while the server is broken.
  })
}

async function told(
  deps: QueryDeps,
  one: Fitting,
  { path, signal }: FileTarget,
  text: string | undefined,
  ms: number,
): Promise<LspTouched[]> {
  const { client, language } = one
  const running = await readyOf(one, signal)
  if (running === undefined) return []
  const document = await client.sync(running, path, language, text)
  running.documents.saved(document)
  if (running.traits.pull !== undefined) await client.look(running, document, ms, signal)
  const cachedDiagnostics = client.diagnostics.of(path)?.items.length ?? 0
  return [{ language, path: readingOf(deps, one, running).displayed(path), notified: true, cachedDiagnostics }]
}

async function changed(deps: QueryDeps, { directory, path, signal }: FileTarget, ms: number): Promise<readonly Fitting[]> {
  return each(deps, await deps.clients.runningFor(directory, path), async (one) => {
    const { running } = one.client
    if (running === undefined) return []
    const document = await one.client.sync(running, path, one.language)
    running.documents.saved(document)
    await one.client.look(running, document, ms, signal)
    return [one]
  })
}
