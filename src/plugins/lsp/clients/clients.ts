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
import { createLru, type Lru } from '../../../kernel/lru.js'
import { createPool, type Pool } from '../../../kernel/served.js'
import type { Adapters, ConfiguredAdapter } from '../configured.js'
import { CARGO, type ProgramOf } from '../programs.js'
import { type Access, accessTo } from './access.js'
import { type Client, createClient } from './client.js'
import { type AskCargo, createRoots, type Roots } from './roots.js'
import type { ServerPlace } from './running.js'

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

export interface ClientsDeps {
  readonly host: Pick<NativeHost, 'effects' | 'actors' | 'config' | 'programs'>
  readonly adapters: Adapters
  readonly programOf: ProgramOf
  readonly version: string
  onDiagnostics(): void
}

/** What they are asked about, and those there are. */
interface Servers extends Pick<ClientsDeps, 'adapters' | 'programOf'>, Pick<ClientsDeps['host'], 'effects' | 'config' | 'programs'> {
  readonly pool: Pool<ServerPlace, Client>
  readonly roots: Roots
  /** Directories in which somebody asked about a file. */
  readonly asked: Lru<string, true>
}

export function createClients({ host, adapters, programOf, version, onDiagnostics }: ClientsDeps): Clients {
  const { effects, actors, config, programs } = host
  const servers: Servers = {
    effects,
    config,
    programs,
    adapters,
    programOf,
    pool: createPool(
      (place: ServerPlace) => createClient({ effects, actors, programs, version, onDiagnostics }, place),
      LIMITS.lsp.clients,
    ),
    roots: createRoots(effects),
    asked: createLru(LIMITS.lsp.looks),
  }
  const { pool } = servers
  return {
    for: (directory, path, run) => fittingFor(servers, directory, path, run),
    waiting: (directory, path, run) => waitingFor(servers, directory, path, run),
    async obstacles(directory, path, run) {
      const fitting = await fittingAdapters(servers, directory, path)
      const all = await Promise.all(fitting.map(async (each) => accessTo(servers, directory, each, run)))
      return all.flatMap(({ message }) => message ?? [])
    },
    wasAsked: (directory) => servers.asked.get(directory) === true,
    runningFor: (directory, path) => runningFor(servers, directory, path),
    in: (directory) => pool.all().filter((client) => client.directory === directory),
    of(directory, root, adapter) {
      const known = pool.known(keyOf(directory, root, adapter.id))
      return known !== undefined && textOf(known.adapter) === textOf(adapter) ? known : undefined
    },
    retire: (fits, adapter) => pool.retire((client) => fits(client.directory) && (adapter === undefined || adapter === client.adapter.id)),
    stop: () => pool.stop(),
  }
}

const keyOf = (directory: string, root: string, id: string): string => [directory, root, id].join('\0')

/** I1: what makes it another server. */
function textOf({ command, endpoint, env, initializationOptions, settings, documentLanguageId }: ConfiguredAdapter): string {
  return JSON.stringify([command, endpoint ?? null, env, initializationOptions, settings, documentLanguageId])
}

function languageOf(adapter: ConfiguredAdapter, path: string): string {
  return adapter.documentLanguageId ?? documentLanguage(adapter, nameOf(path))
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

async function fittingFor(servers: Servers, directory: string, path: string, run: InRun | undefined): Promise<readonly Fitting[]> {
  const { pool, roots, asked } = servers
  const fitting: Fitting[] = []
  for (const adapter of await fittingAdapters(servers, directory, path)) {
    asked.set(directory, true)
    const access = await accessTo(servers, directory, adapter, run)
    const mayStart = access.type === 'free'
    if (!mayStart && access.type !== 'denied') {
      void pool.retire((client) => client.directory === directory && client.adapter.id === adapter.id) // I3
    } else {
      const root = await roots.of(directory, path, adapter, await askCargo(servers, adapter, access))
      if (pool.over.aborted) return []
      const client = mayStart ? clientOf(servers, directory, root, adapter, access) : runningOf(servers, directory, root, adapter)
      if (client !== undefined) fitting.push({ client, language: languageOf(adapter, path), mayStart })
    }
  }
  return fitting
}

async function waitingFor(servers: Servers, directory: string, path: string, run: InRun): Promise<readonly ProjectProgram[]> {
  const { programs } = servers
  const found: ProjectProgram[] = []
  for (const adapter of await fittingAdapters(servers, directory, path)) {
    const { type, program } = await accessTo(servers, directory, adapter, run)
    if (type !== 'waits' || program === undefined || (await programs.isDenied(program, run))) continue
    if ((await programs.find(adapter.command[0] ?? '', directory)) !== undefined) found.push(program)
  }
  return found
}

async function runningFor(servers: Servers, directory: string, path: string): Promise<readonly Fitting[]> {
  const isAny = servers.pool.all().some((client) => client.directory === directory && client.isReady)
  if (!isAny) return []
  const fitting: Fitting[] = []
  for (const adapter of await fittingAdapters(servers, directory, path)) {
    const client = runningOf(servers, directory, await servers.roots.of(directory, path, adapter, undefined), adapter)
    if (client !== undefined) fitting.push({ client, language: languageOf(adapter, path), mayStart: false })
  }
  return fitting
}

async function fittingAdapters(
  { config, adapters: configured, pool }: Servers,
  directory: string,
  path: string,
): Promise<readonly ConfiguredAdapter[]> {
  const adapters = configured((await config(directory))['lsp'])
  void pool.retire((client) => client.directory === directory && !adapters.some(({ id }) => id === client.adapter.id))
  const name = nameOf(path)
  const scored = adapters
    .filter(({ fault, command, endpoint }) => fault === undefined && (command.length > 0 || endpoint !== undefined))
    .map((adapter) => ({ adapter, score: matchScore(adapter, name) }))
    .toSorted((a, b) => b.score - a.score)
  const tier = Math.floor((scored[0]?.score ?? 0) / 100)
  if (tier === 0) return []
  return scored.flatMap(({ adapter, score }) => (Math.floor(score / 100) === tier ? [adapter] : [])).slice(0, LIMITS.lsp.perFile)
}

function clientOf(
  { pool }: Servers,
  directory: string,
  root: string,
  adapter: ConfiguredAdapter,
  { program, isConfined }: Access,
): Client | undefined {
  const place = { adapter: adapter.id, directory, root, configured: adapter, program }
  return pool.of(keyOf(directory, root, adapter.id), `${isConfined} ${textOf(adapter)}`, place)
}

/** The running server of a project, by its directory or, where a build tool was not asked, of one that holds it. */
function runningOf({ pool }: Servers, directory: string, root: string, adapter: ConfiguredAdapter): Client | undefined {
  const fits = (client: Client) => client.root === root || (adapter.rootStrategy === 'cargoMetadata' && isWithin(client.root, root))
  const all = pool.all().filter((client) => client.directory === directory && client.adapter.id === adapter.id)
  const running = all.filter((client) => client.isReady && fits(client) && textOf(client.adapter) === textOf(adapter))
  return running.toSorted((a, b) => b.root.length - a.root.length)[0]
}

/** Of one that may start and is there, which is asked for the project of a file. */
async function askCargo(
  { effects, programs, pool }: Servers,
  { rootStrategy, command, env: own }: ConfiguredAdapter,
  { program, type }: Access,
): Promise<AskCargo | undefined> {
  if (rootStrategy !== 'cargoMetadata' || program === undefined || type !== 'free') return undefined
  if ((await programs.find(command[0] ?? '', program.directory)) === undefined) return undefined
  const env = { ...effects.childEnv, ...own, RUSTUP_AUTO_INSTALL: '0' }
  const { cargo: timeoutMs, cargoBytes: captureBytes } = LIMITS.lsp
  return async (cwd) => programs.run({ program, words: CARGO }, { cwd, env, signal: pool.over, timeoutMs, captureBytes })
}
