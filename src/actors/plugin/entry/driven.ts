/**
 * Configuration entries into plugin processes (plugin-protocol §9.1–9.4).
 *
 * I1 Paths of an entry are absolute or lie below the configuration directory, never below a workspace; a bare name that
 *    the search path leads into the workspace is refused (threat-model C5).
 * I2 The process gets what the entry asks for as far as the host grants it; a missing grant never keeps it from starting.
 */
import { isAbsolute, resolve } from 'node:path'
import { expandHome } from '../../../machines/permission/permission.js'
import { isWithin } from '../../../protocol/caller.js'
import type { HostCapability } from '../../../protocol/plugin/plugin.js'
import type { Effects } from '../../../ports/effects.js'
import type { ProcessEntry } from '../../resource/config/entries.js'
import type { NpmCache } from './npm-cache.js'
import { type ProcessSpec, pluginEnvironment } from '../process/process-spec.js'
import { type Sandbox, sandboxPolicy } from './sandbox.js'
import { findScript, scriptReads } from './script-file.js'

export interface DrivenDeps {
  readonly effects: Pick<Effects, 'files' | 'processes' | 'childEnv' | 'env' | 'paths'>
  readonly sandbox: Sandbox
  readonly npm: NpmCache
  /** Absolute path of Node. */
  readonly node: string
  /** What the host grants to plugins of workspaces. */
  readonly grants: ReadonlySet<HostCapability>
  /** Address of this server, once it is known. */
  serverUrl(): string | undefined
}

export type Driven = { readonly spec: ProcessSpec } | Unavailable
/** A sentence for people: the plugin is degraded until the next rebuild. */
interface Unavailable {
  readonly unavailable: string
}

/** How to start an entry in a canonical workspace directory. Never rejects; an npm package that is absent is being installed afterwards. */
export async function resolveDriven(deps: DrivenDeps, entry: ProcessEntry, workspace: string): Promise<Driven> {
  const command = await commandOf(deps, entry, workspace)
  if ('unavailable' in command) return command
  const policy = sandboxPolicy(entry.sandbox, deps.effects.env)
  const wrapped = await deps.sandbox.wrap(policy, { ...command, cwd: workspace, network: entry.network })
  if ('unavailable' in wrapped) return wrapped
  const serverUrl = deps.serverUrl()
  return {
    spec: {
      pluginId: entry.id,
      place: { scope: 'workspace', workspace },
      ...(entry.revision !== undefined && { revision: entry.revision }),
      config: entry.config,
      timeoutMs: entry.timeoutMs,
      directory: workspace,
      ...wrapped,
      env: pluginEnvironment(deps.effects, { pluginId: entry.id, directory: workspace, serverUrl, overrides: entry.env }),
      capabilities: new Set(entry.capabilities.filter((name) => deps.grants.has(name))), // I2
      ...(entry.hosts !== undefined && { listedHosts: entry.hosts }),
      eventNamespaces: [entry.id],
    },
  }
}

/** Changes when the entry can be started and could not before, or the other way round; starts nothing (plugin-protocol §3.5). */
export async function drivenSignature(deps: Pick<DrivenDeps, 'effects' | 'npm'>, entry: ProcessEntry, workspace: string): Promise<string> {
  const { effects, npm } = deps
  switch (entry.form) {
    case 'serve':
      return `${entry.id}:${'unavailable' in (await findServed(effects, entry.command[0], workspace)) ? 0 : 1}`
    case 'entry':
      return `${entry.id}:${(await findScript(effects.files, pathIn(effects, entry.path), effects.paths.home)) === undefined ? 0 : 1}`
    case 'npm':
      return `${entry.id}:${(await npm.isInstalled(entry.spec)) ? 1 : 0}`
  }
}

interface Command {
  readonly program: string
  readonly args: readonly string[]
  readonly reads: readonly string[]
}

async function commandOf(deps: DrivenDeps, entry: ProcessEntry, workspace: string): Promise<Command | Unavailable> {
  const { effects, npm, node } = deps
  const { files } = effects
  const { home } = effects.paths
  switch (entry.form) {
    case 'serve': {
      const [name, ...args] = entry.command
      const found = await findServed(effects, name, workspace)
      if ('unavailable' in found) return found
      const stray = await strayArgument(effects, args, workspace)
      if (stray === undefined) return { ...found, args, reads: await readsOf(effects, args) }
      return { unavailable: `the argument "${stray}" names a file of the workspace; name a file by its absolute path` }
    }
    case 'entry': {
      const script = await findScript(files, pathIn(effects, entry.path), home)
      if (script === undefined) {
        return { unavailable: `the entry "${entry.path}" is neither a file nor a package with main, index.mjs or index.js; ${SAID_HOW}` }
      }
      return { program: node, args: [script.file], reads: await scriptReads(files, script, home) }
    }
    case 'npm': {
      const found = await npm.resolve(entry.spec)
      return 'unavailable' in found ? found : { program: node, args: [found.file], reads: [found.slot] }
    }
  }
}

async function findServed(
  effects: DrivenDeps['effects'],
  name: string | undefined,
  workspace: string,
): Promise<{ readonly program: string } | Unavailable> {
  if (name === undefined || name === '') return { unavailable: 'the "serve" list is empty: it has to begin with a program' }
  if (name.includes('/')) {
    const program = pathIn(effects, name)
    const stat = await effects.files.stat(program).catch(() => undefined)
    if (stat?.kind === 'file') return { program }
    return { unavailable: `the program "${program}" does not exist; ${SAID_HOW}` }
  }
  const program = await effects.processes.find(name)
  if (program === undefined) return { unavailable: `the program "${name}" was not found on the search path` }
  const real = await effects.files.realPath(program).catch(() => program)
  if (!isWithin(workspace, program) && !isWithin(workspace, real)) return { program }
  return { unavailable: `the search path leads to "${program}" in the workspace; name it by its absolute path if that is meant` } // I1
}

/** The program runs in the workspace: an interpreter would take the script from there. I1 */
async function strayArgument({ files }: DrivenDeps['effects'], args: readonly string[], workspace: string): Promise<string | undefined> {
  for (const argument of args.slice(0, SCRIPT_ARGUMENTS)) {
    if (argument === '' || argument.startsWith('-') || isAbsolute(argument)) continue
    const stat = await files.stat(resolve(workspace, argument)).catch(() => undefined)
    if (stat?.kind === 'file') return argument
  }
  return undefined
}

/** Scripts among the arguments of an interpreter: absolute paths of files. */
async function readsOf({ files, paths }: DrivenDeps['effects'], args: readonly string[]): Promise<readonly string[]> {
  const reads = await Promise.all(
    args.slice(0, SCRIPT_ARGUMENTS).map(async (argument) => {
      const stat = isAbsolute(argument) ? await files.stat(argument).catch(() => undefined) : undefined
      const script = stat?.kind === 'file' ? await findScript(files, argument, paths.home) : undefined
      return script === undefined ? [] : scriptReads(files, script, paths.home)
    }),
  )
  return [...new Set(reads.flat())]
}

const SCRIPT_ARGUMENTS = 16
const SAID_HOW = 'a path is absolute or relative to the configuration directory'

function pathIn({ paths }: Pick<Effects, 'paths'>, path: string): string {
  return resolve(paths.config, expandHome(path, paths.home)) // I1
}
