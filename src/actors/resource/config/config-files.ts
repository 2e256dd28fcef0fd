/** Which files make the configuration of a directory, in which order, and how far each is trusted (subsystems b.1). */
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { expandHome } from '../../../machines/permission/permission.js'
import { isWithin } from '../../../protocol/caller.js'
import { TOOLS_DIRECTORY } from '../../../protocol/plugin/tool-files.js'
import type { ConfigDiagnostic } from '../../../protocol/resource/config.js'
import { isTruthy } from '../../../protocol/system/variables.js'
import type { Effects } from '../../../ports/effects.js'
import type { FileProbe } from '../../../ports/watched.js'

/** `installation`: written by the operator. `workspace`: content that came with a project; it narrows, never widens (threat-model W3). */
export type Trust = 'installation' | 'workspace'

/** A place that configuration may come from. */
export interface Origin {
  readonly path: string
  readonly trust: Trust
  /** Canonical directory that files found here must really lie in; undefined = anywhere. */
  readonly within: string | undefined
}

export type Step =
  /** `isNamed`: somebody asked for exactly this file, so its absence is worth a word. */
  | { readonly type: 'file'; readonly origin: Origin; readonly isNamed?: true }
  | { readonly type: 'mcp'; readonly origin: Origin }
  | { readonly type: 'text'; readonly name: string; readonly text: string }
  /** The Markdown entries of a configuration directory. */
  | { readonly type: 'markdown'; readonly origin: Origin }

export interface LayerPlan {
  /** Top of the Git worktree, or the directory itself. */
  readonly worktree: string
  readonly inGit: boolean
  /** From weak to strong: later wins. */
  readonly steps: readonly Step[]
  readonly diagnostics: readonly ConfigDiagnostic[]
}

const PROJECT_FILES = ['svc.json', 'svc.jsonc'] as const
const DIRECTORY_FILES = ['config.json', 'config.jsonc', ...PROJECT_FILES] as const
const MCP_FILES = ['mcp.json', 'mcp.jsonc'] as const
export const PROJECT_DIRECTORY = '.svc'

type PlanEffects = Pick<Effects, 'env' | 'paths'>

/**
 * The layers of a canonical directory: installation files; project files from the worktree top (or the root of the
 * file system) down; configuration directories (installation, each `.svc`, `~/.svc`, `SVC_AGENT_CONFIG_DIR`), each
 * with its files, then `mcp.json`, then Markdown; the file of `SVC_AGENT_CONFIG`; the text of
 * `SVC_AGENT_CONFIG_CONTENT`. A file takes part once, at its first place: the files of the installation root stay
 * below the project files. A directory in the configuration root stands for the installation: it has no project layers.
 */
export async function planLayers(probe: FileProbe, effects: PlanEffects, directory: string): Promise<LayerPlan> {
  const { env, paths } = effects
  const top = await findWorktree(probe, directory)
  const worktree = top ?? directory
  const isInstallation = isWithin((await probe.canonical(paths.config)) ?? paths.config, directory)
  const isOff = isInstallation || isTruthy(env['SVC_AGENT_DISABLE_PROJECT_CONFIG'])
  const lineage = isOff ? [] : ancestors(directory, top ?? '/')
  const project = (path: string, ancestor: string): Origin => ({ path, trust: 'workspace', within: top ?? ancestor })

  const directories = await distinctDirectories(probe, [
    installation(paths.config),
    ...lineage.map((ancestor) => project(join(ancestor, PROJECT_DIRECTORY), ancestor)),
    installation(join(paths.home, PROJECT_DIRECTORY)),
    ...fromEnvironment(env['SVC_AGENT_CONFIG_DIR'], paths).map(installation),
  ])

  const steps: Step[] = [
    ...DIRECTORY_FILES.map((name): Step => ({ type: 'file', origin: installation(join(paths.config, name)) })),
    ...lineage.flatMap((ancestor) =>
      PROJECT_FILES.map((name): Step => ({ type: 'file', origin: project(join(ancestor, name), ancestor) })),
    ),
    ...(await Promise.all(directories.kept.map((origin) => directorySteps(probe, origin)))).flat(),
    ...fromEnvironment(env['SVC_AGENT_CONFIG'], paths).map((path): Step => ({ type: 'file', origin: installation(path), isNamed: true })),
  ]
  const content = env['SVC_AGENT_CONFIG_CONTENT']
  if (content !== undefined && content.trim() !== '') steps.push({ type: 'text', name: 'SVC_AGENT_CONFIG_CONTENT', text: content })
  return { worktree, inGit: top !== undefined, steps: distinctFiles(steps), diagnostics: directories.diagnostics }
}

/** Configuration directories of the installation, whether they exist or not. */
export function installationDirectories({ env, paths }: PlanEffects): readonly string[] {
  return [paths.config, join(paths.home, PROJECT_DIRECTORY), ...fromEnvironment(env['SVC_AGENT_CONFIG_DIR'], paths)]
}

/** Where plugins and tools of a directory may lie. */
export function pluginRoots({ paths }: Pick<PlanEffects, 'paths'>, directory: string): readonly string[] {
  return [paths.config, join(directory, PROJECT_DIRECTORY, 'plugins'), join(directory, PROJECT_DIRECTORY, TOOLS_DIRECTORY)]
}

/** The nearest ancestor (or the directory itself) that holds `.git`, found without running version control. */
export async function findWorktree(probe: Pick<FileProbe, 'kind'>, directory: string): Promise<string | undefined> {
  for (const ancestor of ancestors(directory, '/').toReversed()) {
    const kind = await probe.kind(join(ancestor, '.git'))
    if (kind === 'file' || kind === 'directory') return ancestor
  }
  return undefined
}

/** `top`, …, `directory`: outermost first; `top` must contain `directory`. */
export function ancestors(directory: string, top: string): readonly string[] {
  const lineage = [directory]
  for (let current = directory; current !== top && dirname(current) !== current; ) {
    current = dirname(current)
    lineage.push(current)
  }
  return lineage.toReversed()
}

function installation(path: string): Origin {
  return { path, trust: 'installation', within: undefined }
}

async function directorySteps(probe: FileProbe, origin: Origin): Promise<Step[]> {
  const present = new Set((await probe.list(origin.path)).map((entry) => entry.name))
  const at = (name: string): Origin => ({ ...origin, path: join(origin.path, name) })
  return [
    ...DIRECTORY_FILES.filter((name) => present.has(name)).map((name): Step => ({ type: 'file', origin: at(name) })),
    ...MCP_FILES.filter((name) => present.has(name)).map((name): Step => ({ type: 'mcp', origin: at(name) })),
    { type: 'markdown', origin },
  ]
}

/** Existing directories, once each by canonical path; one that the installation also names is the installation's. */
async function distinctDirectories(probe: FileProbe, origins: readonly Origin[]) {
  const kept = new Map<string, Origin>()
  const diagnostics: ConfigDiagnostic[] = []
  for (const origin of origins) {
    if ((await probe.kind(origin.path)) !== 'directory') continue
    const canonical = (await probe.canonical(origin.path)) ?? origin.path
    const known = kept.get(canonical)
    if (known === undefined || origin.trust === 'installation') kept.set(canonical, { ...origin, path: known?.path ?? origin.path })
  }
  for (const [canonical, origin] of kept) {
    if (origin.within === undefined || isWithin(origin.within, canonical)) continue
    kept.delete(canonical)
    diagnostics.push({ level: 'warning', path: 'config', message: `${origin.path} is not read: it leads outside ${origin.within}` })
  }
  return { kept: [...kept.values()], diagnostics }
}

function distinctFiles(steps: readonly Step[]): readonly Step[] {
  const seen = new Set<string>()
  return steps.filter((step) => {
    if (step.type !== 'file') return true
    const isNew = !seen.has(step.origin.path)
    seen.add(step.origin.path)
    return isNew
  })
}

function fromEnvironment(value: string | undefined, paths: Effects['paths']): readonly string[] {
  if (value === undefined || value === '') return []
  const path = expandHome(value, paths.home)
  return [isAbsolute(path) ? resolve(path) : resolve(paths.cwd, path)]
}
