/** Where the workflow files of a context are, lowest precedence first (subsystems a.1). */
import { isWithin } from '../../../protocol/caller.js'
import type { Effects } from '../../../ports/effects.js'
import { dirname, joinPath, resolvePath } from '../../../protocol/text/paths.js'

/** A configuration directory; its workflow files are in `workflow/` and `workflows/`. */
export interface Root {
  /** Canonical when it exists. */
  readonly path: string
  /** The workspace it belongs to, for files of a project; undefined for files of the installation. */
  readonly owner: string | undefined
  /** Canonical directory that files must really lie in, whatever links say; undefined = anywhere. */
  readonly within: string | undefined
}

/** What workflows are looked at for: a workspace, or the installation itself (`scope=installation`). */
export interface Context {
  /** Root that activation ids are made of. */
  readonly root: string
  /** Canonical. */
  readonly directory: string
  readonly isInstallation: boolean
}

export interface PlaceOptions {
  /** `SVC_AGENT_CONFIG_DIR`. */
  readonly configDirectory: string | undefined
  /** `SVC_AGENT_DISABLE_PROJECT_CONFIG` is set: workspaces have no files of their own. */
  readonly withoutProjects: boolean
}

type PlaceEffects = Pick<Effects, 'files' | 'paths'>

export const PROJECT_DIRECTORY = '.svc'
const INSTALLATION = 'svc-installation:'

/** Whether a root is that of the installation, and no path. */
export function isInstallationRoot(root: string): boolean {
  return root.startsWith(INSTALLATION)
}

export function workspaceContext(directory: string): Context {
  return { root: directory, directory, isInstallation: false }
}

/** Its root is no path, so that its activations never meet those of a workspace. */
export function installationContext({ paths }: Pick<Effects, 'paths'>): Context {
  return { root: `${INSTALLATION}${paths.config}`, directory: paths.config, isInstallation: true }
}

/**
 * The configuration root, each `.svc` from the worktree top down to the workspace, `~/.svc`, `SVC_AGENT_CONFIG_DIR`. Each
 * place once; one that the installation also names is the installation's. Outside a worktree a workspace has its own `.svc` alone.
 */
export async function rootsOf(effects: PlaceEffects, context: Context, options: PlaceOptions): Promise<readonly Root[]> {
  const { paths } = effects
  const installation = [paths.config, joinPath(paths.home, PROJECT_DIRECTORY)]
  if (options.configDirectory !== undefined) installation.push(pathFrom(paths, options.configDirectory))
  const [config = paths.config, ...others] = installation
  const isBare = context.isInstallation || options.withoutProjects || isWithin(await canonicalOf(effects, paths.config), context.directory)
  const projects = isBare ? [] : await projectRoots(effects, context.directory)
  const named = (path: string): Root => ({ path, owner: undefined, within: undefined })
  const kept = new Map<string, Root>()
  for (const root of [named(config), ...projects, ...others.map(named)]) {
    const path = await canonicalOf(effects, root.path)
    if (root.within !== undefined && !isWithin(root.within, path)) continue
    if (!kept.has(path) || root.owner === undefined) kept.set(path, { ...root, path })
  }
  return [...kept.values()]
}

/** Where files managed through the API are written. */
export function managedFolder(context: Context): string {
  return joinPath(context.isInstallation ? context.directory : joinPath(context.directory, PROJECT_DIRECTORY), 'workflows')
}

async function projectRoots(effects: PlaceEffects, directory: string): Promise<readonly Root[]> {
  const lineage: string[] = []
  for (let at = directory; ; at = dirname(at)) {
    lineage.unshift(at)
    if (await holdsRepository(effects, at)) return lineage.map((owner) => projectRoot(owner, at))
    if (at === '/') return [projectRoot(directory, directory)]
  }
}

function projectRoot(owner: string, within: string): Root {
  return { path: joinPath(owner, PROJECT_DIRECTORY), owner, within }
}

async function holdsRepository({ files }: PlaceEffects, directory: string): Promise<boolean> {
  const stat = await files.stat(joinPath(directory, '.git')).catch(() => undefined)
  return stat?.kind === 'file' || stat?.kind === 'directory'
}

async function canonicalOf({ files }: PlaceEffects, path: string): Promise<string> {
  return files.realPath(path).catch(() => path)
}

function pathFrom(paths: Effects['paths'], path: string): string {
  if (path === '~') return paths.home
  return path.startsWith('~/') ? joinPath(paths.home, path.slice(2)) : resolvePath(paths.cwd, path)
}
