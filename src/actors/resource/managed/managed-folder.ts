/**
 * Where the managed files of a scope are (subsystems b.13; threat-model F1–F3). The configuration root of the installation
 * may be reached through a link, as many people keep theirs; nothing below it, and nothing in a workspace, may be one.
 */
import { dirname, join } from 'node:path'
import { reachedThrough } from '../../../protocol/text/exposure.js'
import { isWithin } from '../../../protocol/caller.js'
import { SvcError } from '../../../protocol/errors.js'
import type { ResourceScope } from '../../../protocol/resource/managed.js'
import type { Effects } from '../../../ports/effects.js'
import type { ManagedPlace } from '../../../ports/managed.js'
import { isTruthy } from '../../../protocol/system/variables.js'
import { PROJECT_DIRECTORY } from '../config/config-files.js'

export type FolderEffects = Pick<Effects, 'files' | 'env' | 'paths'>

/** The place of a call. A scope in the body and another one in the query are refused. Throws `management.invalid_request`. */
export function placeOf(
  { paths }: Pick<Effects, 'paths'>,
  directory: string,
  { asked, body }: { readonly asked: ResourceScope | undefined; readonly body?: ResourceScope | undefined },
): ManagedPlace {
  if (body !== undefined && asked !== undefined && body !== asked) {
    throw new SvcError('management.invalid_request', `The body says scope "${body}" and the query "${asked}".`)
  }
  const scope = body ?? asked ?? 'workspace'
  if (scope === 'installation') return { scope, directory: paths.config }
  if (isWithin(paths.config, directory)) {
    throw new SvcError('management.invalid_request', 'The configuration of the installation is no workspace; use scope=installation.')
  }
  return { scope, directory }
}

/** The folder that holds `agents`, `commands` and `skills`, spelled as the configuration spells it. */
export function managedRoot({ paths }: Pick<Effects, 'paths'>, { scope, directory }: ManagedPlace): string {
  return scope === 'installation' ? paths.config : join(directory, PROJECT_DIRECTORY)
}

/** Whether what is in a folder of a place is ours to manage: no link leads there. */
export async function isPlain({ files, paths }: FolderEffects, place: ManagedPlace, folder: string): Promise<boolean> {
  const root = managedRoot({ paths }, place)
  const steps = place.scope === 'installation' ? [] : [root]
  for (const path of [...steps, folder]) {
    const found = await files.entry(path).catch(() => undefined)
    if (found !== undefined && found.kind !== 'directory') return false
  }
  return true
}

/**
 * The canonical folder of a place that is written to; it may not exist yet. Throws `management.read_only` where a link leads
 * elsewhere, where others could change what is written, or where it would not be read.
 */
export async function writableFolder(effects: FolderEffects, place: ManagedPlace, name: string): Promise<string> {
  const { files, env } = effects
  if (place.scope === 'workspace' && isTruthy(env['SVC_AGENT_DISABLE_PROJECT_CONFIG'])) {
    throw new SvcError(
      'management.read_only',
      'Project configuration is switched off by SVC_AGENT_DISABLE_PROJECT_CONFIG; it is not written.',
    )
  }
  const root = managedRoot(effects, place)
  if (!(await isPlain(effects, place, join(root, name)))) {
    throw new SvcError('management.read_only', `${join(root, name)} is not written: a link or a file is in its place.`, { folder: root })
  }
  const canonical = join(await canonicalAsFar(files, root), name)
  const exposed = await files.exposure(await existing(files, canonical))
  if (exposed === undefined) return canonical
  throw new SvcError('management.read_only', `${canonical} would not be read: it ${reachedThrough(exposed)}.`, { folder: canonical })
}

/** The canonical path of what exists, and the names of the rest. */
async function canonicalAsFar(files: Effects['files'], path: string): Promise<string> {
  const canonical = await files.realPath(path).catch(() => undefined)
  if (canonical !== undefined || dirname(path) === path) return canonical ?? path
  return join(await canonicalAsFar(files, dirname(path)), path.slice(path.lastIndexOf('/') + 1))
}

async function existing(files: Effects['files'], path: string): Promise<string> {
  if (dirname(path) === path || (await files.entry(path).catch(() => undefined)) !== undefined) return path
  return existing(files, dirname(path))
}
