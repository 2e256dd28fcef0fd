/**
 * The language servers of all workspaces (subsystems e.1, e.4; choice 34).
 *
 * I1 At most one for each workspace, project and adapter. One whose command, environment or settings have changed is retired, as is one that
 *    is not configured any more.
 * I2 Their number is bounded: the one used longest ago is retired.
 * I3 One that may not start is not there; one that rules of a run deny is used in it while it runs, and started by others.
 */
import type { NativeHost } from '../../../ports/plugin.js'
import type { InRun, ProjectProgram } from '../../../ports/programs.js'
import { isWithin } from '../../../protocol/caller.js'
import { LIMITS } from '../../../protocol/limits.js'
import { documentLanguage, matchScore } from '../../../protocol/lsp/adapters.js'
import { createLru } from '../../../kernel/lru.js'
import type { Adapters, ConfiguredAdapter } from '../configured.js'
import { CARGO, type ProgramOf } from '../programs.js'
import { type Client, createClient } from './client.js'
import { type AskCargo, createRoots } from './roots.js'

export interface Fitting {
  readonly client: Client
  /** Of the document, as the server is told. */
  readonly language: string
  /** Whether it may be started for this question. */
  readonly mayStart: boolean
}

export interface Clients {
  /** The servers for a file that may be asked, at most three; none of them need run. */
  for(directory: string, path: string, run?: InRun): Promise<readonly Fitting[]>
  /** The programs of servers for a file that wait for somebody to accept them. Those that rules of the run deny are none. */
  waiting(directory: string, path: string, run: InRun): Promise<readonly ProjectProgram[]>
  /** Why servers for a file may not start for the run, in words. */
  obstacles(directory: string, path: string, run: InRun): Promise<readonly string[]>
  /** Whether somebody asked servers about a file there, whatever came of it. */
  wasAsked(directory: string): boolean
  /** Of those that fit the file, the ones that run. */
  runningFor(directory: string, path: string): Promise<readonly Fitting[]>
  /** Of one directory. */
  in(directory: string): readonly Client[]
  /** The server of one project, if it was ever asked. */
  of(directory: string, root: string, adapter: ConfiguredAdapter): Client | undefined
  /** Ends those of directories that fit, of one adapter when it is named; resolves when nothing of them runs. */
  retire(fits: (directory: string) => boolean, adapter?: string): Promise<void>
  /** As `retire` of all, for good. */
  stop(): Promise<void>
}

/** `waits` for an act; `none`: it cannot start whatever somebody does here; `denied` by rules of the run. */
interface Access {
  readonly type: 'free' | 'denied' | 'waits' | 'none'
  readonly program: ProjectProgram | undefined
  readonly isConfined: boolean
  /** Why it does not start, for people. */
  readonly message: string | null
}

export interface ClientsDeps {
  readonly host: Pick<NativeHost, 'effects' | 'actors' | 'config' | 'programs'>
  readonly adapters: Adapters
  readonly programOf: ProgramOf
  readonly version: string
  onDiagnostics(): void
}

export function createClients({ host, adapters: configured, programOf, version, onDiagnostics }: ClientsDeps): Clients {
  const { effects, actors, config, programs } = host
  const asked = createLru<string, true>(LIMITS.lsp.looks)
  const roots = createRoots(effects)
  const clients = new Map<string, { readonly client: Client; readonly text: string; readonly isConfined: boolean }>()
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

  function clientOf(directory: string, root: string, adapter: ConfiguredAdapter, { program, isConfined }: Access): Client {
    const key = keyOf(directory, root, adapter.id)
    const text = textOf(adapter)
    const known = clients.get(key)
    if (known?.text === text && known.isConfined === isConfined) {
      clients.delete(key)
      clients.set(key, known)
      return known.client
    }
    retire(key)
    const place = { adapter: adapter.id, directory, root, configured: adapter, program }
    const client = createClient({ effects, actors, programs, version, onDiagnostics }, place)
    clients.set(key, { client, text, isConfined })
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

  /** I3 */
  async function accessTo(directory: string, adapter: ConfiguredAdapter, run: InRun | undefined): Promise<Access> {
    const program = await programOf(directory, adapter)
    if (program === undefined) return { type: 'free', program, isConfined: false, message: null }
    const { state, message } = await programs.standing(program)
    const isConfined = state === 'confined'
    if (message !== null) return { type: state === 'waiting' ? 'waits' : 'none', program, isConfined, message }
    if (run === undefined || !(await programs.isDenied(program, run))) return { type: 'free', program, isConfined, message }
    return { type: 'denied', program, isConfined, message: `A rule of this agent denies the line of the language server "${adapter.id}".` }
  }

  /** Of one that may start and is there, which is asked for the project of a file. */
  async function askCargo(
    { rootStrategy, command, env: own }: ConfiguredAdapter,
    { program, type }: Access,
  ): Promise<AskCargo | undefined> {
    if (rootStrategy !== 'cargoMetadata' || program === undefined || type !== 'free') return undefined
    if ((await programs.find(command[0] ?? '', program.directory)) === undefined) return undefined
    const env = { ...effects.childEnv, ...own, RUSTUP_AUTO_INSTALL: '0' }
    const { cargo: timeoutMs, cargoBytes: captureBytes } = LIMITS.lsp
    return async (cwd) => programs.run({ program, words: CARGO }, { cwd, env, signal: over.signal, timeoutMs, captureBytes })
  }

  /** The running server of a project, by its directory or, where a build tool was not asked, of one that holds it. */
  function runningOf(directory: string, root: string, adapter: ConfiguredAdapter): Client | undefined {
    const text = textOf(adapter)
    const fits = ({ client }: { readonly client: Client }) =>
      client.root === root || (adapter.rootStrategy === 'cargoMetadata' && isWithin(client.root, root))
    const all = [...clients.values()].filter((each) => each.client.directory === directory && each.client.adapter.id === adapter.id)
    const running = all.filter((each) => each.text === text && each.client.isReady && fits(each))
    return running.toSorted((a, b) => b.client.root.length - a.client.root.length)[0]?.client
  }

  return {
    async for(directory, path, run) {
      const fitting: Fitting[] = []
      for (const adapter of await fittingAdapters(directory, path)) {
        asked.set(directory, true)
        const access = await accessTo(directory, adapter, run)
        const mayStart = access.type === 'free'
        if (!mayStart && access.type !== 'denied') {
          for (const [key, { client }] of clients) if (client.directory === directory && client.adapter.id === adapter.id) retire(key)
        } else {
          const root = await roots.of(directory, path, adapter, await askCargo(adapter, access))
          if (over.signal.aborted) return []
          const client = mayStart ? clientOf(directory, root, adapter, access) : runningOf(directory, root, adapter)
          if (client !== undefined) fitting.push({ client, language: languageOf(adapter, path), mayStart })
        }
      }
      return fitting
    },
    async waiting(directory, path, run) {
      const found: ProjectProgram[] = []
      for (const adapter of await fittingAdapters(directory, path)) {
        const { type, program } = await accessTo(directory, adapter, run)
        if (type !== 'waits' || program === undefined || (await programs.isDenied(program, run))) continue
        if ((await programs.find(adapter.command[0] ?? '', directory)) !== undefined) found.push(program)
      }
      return found
    },
    async obstacles(directory, path, run) {
      const all = await Promise.all((await fittingAdapters(directory, path)).map(async (each) => accessTo(directory, each, run)))
      return all.flatMap(({ message }) => message ?? [])
    },
    wasAsked: (directory) => asked.get(directory) === true,
    async runningFor(directory, path) {
      const running = [...clients.values()].some(({ client }) => client.directory === directory && client.isReady)
      if (!running) return []
      const fitting: Fitting[] = []
      for (const adapter of await fittingAdapters(directory, path)) {
        const client = runningOf(directory, await roots.of(directory, path, adapter, undefined), adapter)
        if (client !== undefined) fitting.push({ client, language: languageOf(adapter, path), mayStart: false })
      }
      return fitting
    },
    in: (directory) => [...clients.values()].flatMap(({ client }) => (client.directory === directory ? [client] : [])),
    of(directory, root, adapter) {
      const known = clients.get(keyOf(directory, root, adapter.id))
      return known !== undefined && known.text === textOf(adapter) ? known.client : undefined
    },
    async retire(fits, adapter) {
      for (const [key, { client }] of clients)
        if (fits(client.directory) && (adapter === undefined || adapter === client.adapter.id)) retire(key)
      await Promise.all(retiring)
    },
    async stop() {
      over.abort()
      for (const key of clients.keys()) retire(key)
      await Promise.all(retiring)
    },
  }
}
