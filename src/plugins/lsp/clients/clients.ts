/**
 * The language servers of all workspaces (subsystems e.1, e.4).
 *
 * I1 At most one for each workspace, project and adapter. One whose command, environment or settings have changed is retired, as is one that
 *    is not configured any more.
 * I2 Their number is bounded: the one used longest ago is retired.
 */
import type { NativeHost } from '../../../actors/plugin/native/native.js'
import { LIMITS } from '../../../protocol/limits.js'
import { documentLanguage, matchScore } from '../../../protocol/lsp/adapters.js'
import type { Adapters, ConfiguredAdapter } from '../configured.js'
import { type Client, createClient } from './client.js'
import { createRoots } from './roots.js'

export interface Fitting {
  readonly client: Client
  /** Of the document, as the server is told. */
  readonly language: string
}

export interface Clients {
  /** The servers for a file, at most three; none of them need run. */
  for(directory: string, path: string): Promise<readonly Fitting[]>
  /** Of those that fit the file, the ones that run. */
  runningFor(directory: string, path: string): Promise<readonly Fitting[]>
  /** Of one directory. */
  in(directory: string): readonly Client[]
  /** The server of one project, if it was ever asked. */
  of(directory: string, root: string, adapter: ConfiguredAdapter): Client | undefined
  /** Ends those of directories that fit; resolves when nothing of them runs. */
  retire(fits: (directory: string) => boolean): Promise<void>
  /** As `retire` of all, for good. */
  stop(): Promise<void>
}

export interface ClientsDeps {
  readonly host: Pick<NativeHost, 'effects' | 'actors' | 'config'>
  readonly adapters: Adapters
  readonly version: string
  onDiagnostics(): void
}

export function createClients({ host, adapters: configured, version, onDiagnostics }: ClientsDeps): Clients {
  const { effects, actors, config } = host
  const roots = createRoots(effects)
  const clients = new Map<string, { readonly client: Client; readonly text: string }>()
  const retiring = new Set<Promise<void>>()
  const over = new AbortController()

  const keyOf = (directory: string, root: string, id: string) => [directory, root, id].join('\0')
  const textOf = ({ command, endpoint, env, initializationOptions, settings, documentLanguageId }: ConfiguredAdapter) =>
    JSON.stringify([command, endpoint ?? null, env, initializationOptions, settings, documentLanguageId])

  function retire(key: string): void {
    const gone = clients.get(key)
    clients.delete(key)
    if (gone === undefined) return
    const work = gone.client.retire().finally(() => retiring.delete(work))
    retiring.add(work)
  }

  function clientOf(directory: string, root: string, adapter: ConfiguredAdapter): Client {
    const key = keyOf(directory, root, adapter.id)
    const text = textOf(adapter)
    const known = clients.get(key)
    if (known?.text === text) {
      clients.delete(key)
      clients.set(key, known)
      return known.client
    }
    retire(key)
    const place = { adapter: adapter.id, directory, root, configured: adapter }
    const client = createClient({ effects, actors, version, onDiagnostics }, place)
    clients.set(key, { client, text })
    const [oldest] = clients.keys()
    if (clients.size > LIMITS.lsp.clients && oldest !== undefined) retire(oldest)
    return client
  }

  async function fittingAdapters(directory: string, path: string): Promise<readonly ConfiguredAdapter[]> {
    const adapters = configured((await config(directory))['lsp'])
    for (const [key, { client }] of clients)
      if (client.directory === directory && !adapters.some(({ id }) => id === client.adapter.id)) retire(key)
    const name = path.slice(path.lastIndexOf('/') + 1)
    const scored = adapters
      .filter(({ fault, command, endpoint }) => fault === undefined && (command.length > 0 || endpoint !== undefined))
      .map((adapter) => ({ adapter, score: matchScore(adapter, name) }))
      .toSorted((a, b) => b.score - a.score)
    const tier = Math.floor((scored[0]?.score ?? 0) / 100)
    if (tier === 0) return []
    return scored.flatMap(({ adapter, score }) => (Math.floor(score / 100) === tier ? [adapter] : [])).slice(0, LIMITS.lsp.perFile)
  }

  const languageOf = (adapter: ConfiguredAdapter, path: string) =>
    adapter.documentLanguageId ?? documentLanguage(adapter, path.slice(path.lastIndexOf('/') + 1))

  return {
    async for(directory, path) {
      const fitting: Fitting[] = []
      for (const adapter of await fittingAdapters(directory, path)) {
        const root = await roots.of(directory, path, adapter)
        if (over.signal.aborted) return []
        fitting.push({ client: clientOf(directory, root, adapter), language: languageOf(adapter, path) })
      }
      return fitting
    },
    async runningFor(directory, path) {
      const running = [...clients.values()].some(({ client }) => client.directory === directory && client.isReady)
      if (!running) return []
      const fitting: Fitting[] = []
      for (const adapter of await fittingAdapters(directory, path)) {
        const known = clients.get(keyOf(directory, await roots.of(directory, path, adapter), adapter.id))
        if (known?.client.isReady === true && known.text === textOf(adapter))
          fitting.push({ client: known.client, language: languageOf(adapter, path) })
      }
      return fitting
    },
    in: (directory) => [...clients.values()].flatMap(({ client }) => (client.directory === directory ? [client] : [])),
    of(directory, root, adapter) {
      const known = clients.get(keyOf(directory, root, adapter.id))
      return known !== undefined && known.text === textOf(adapter) ? known.client : undefined
    },
    async retire(fits) {
      for (const [key, { client }] of clients) if (fits(client.directory)) retire(key)
      await Promise.all(retiring)
    },
    async stop() {
      over.abort()
      for (const key of clients.keys()) retire(key)
      await Promise.all(retiring)
    },
  }
}
